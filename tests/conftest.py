"""How hypothesis runs here."""

from hypothesis import HealthCheck, settings

# No deadline and no complaint of slow input: these machines are noisy, and speed is measured in the benchmark.
settings.register_profile("here", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("here")
