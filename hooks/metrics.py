"""The metrics of the hook, the webhook and the 404 page (not_found/), in Prometheus' text format.

No label names a Service, host or path, because there can be thousands. Counters for all expected statuses, outcomes and
reasons start at 0. Otherwise, Prometheus would see no increase at the first refusal.
"""

import os
from collections.abc import Iterable

import prometheus_client
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info, ProcessCollector

from hooks.admission import OUTCOMES, UNREAD
from hooks.settings_file import SettingsFile
from hooks.sync import REFUSED, REMOVED, Answer
from ingress_manager import __version__
from ingress_manager.core.errors import Reason

SECONDS = (0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5)
STATUSES = ("200", "400", "408", "413", "422", "429", "500")

# Otherwise, each counter would also export its creation time. ProcessCollector already exports the process's.
prometheus_client.disable_created_metrics()  # type: ignore[no-untyped-call]


def make_registry() -> CollectorRegistry:
    """Return a registry with the metrics common to all programs: version, CPU and memory."""
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    build = {"version": __version__, "revision": os.environ.get("INGRESS_MANAGER_REVISION", "")}  # of the image
    Info("ingress_manager_build", "The version and commit of ingress-manager.", registry=registry).info(build)
    return registry


class Metrics:
    def __init__(self, settings_file: SettingsFile, *, is_webhook: bool = False) -> None:
        self.registry = registry = make_registry()
        self._is_webhook = is_webhook
        self.sha256 = settings_file.sha256
        # The webhook's metrics have other names, so that an alert notices when no hook answers Metacontroller.
        settings_name, answer_name = ("admission_settings", "admission") if is_webhook else ("settings", "answer")
        about = "The SHA-256 of the settings file."
        Info(f"ingress_manager_{settings_name}", about, registry=registry).info({"sha256": settings_file.sha256})
        label, values = ("answer", OUTCOMES) if is_webhook else ("code", STATUSES)
        self._answers = make_counter(registry, f"{answer_name}s", f"Answers to requests, by {label}.", label, values)
        name, about = (
            f"ingress_manager_{answer_name}_seconds",
            "Seconds to answer a request, once its body has been read.",
        )
        self._seconds = Histogram(name, about, registry=registry, buckets=SECONDS)
        self._reasons: dict[str, Counter] = {}
        if not is_webhook:
            paused = Gauge("ingress_manager_paused", "1 if the settings pause any namespace.", registry=registry)
            paused.set(bool(settings_file.settings.pauses))
            self._reasons = {
                REFUSED: make_counter(registry, "refusals", "Refused requests, by reason.", "reason", Reason),
                REMOVED: make_counter(registry, "removals", "Forced removals, by reason.", "reason", Reason),
            }

    def count(self, answer: Answer, seconds: float) -> None:
        self._answers.labels(answer.outcome if self._is_webhook else answer.status).inc()
        self._seconds.observe(seconds)
        if answer.problems and answer.outcome in self._reasons:
            for reason in {problem.reason for problem in answer.problems.kept}:
                self._reasons[answer.outcome].labels(reason).inc()

    def count_error(self, status: int) -> None:
        """Count a failed request. The webhook counts it as unread, because the API server writes the Service anyway."""
        self._answers.labels(UNREAD if self._is_webhook else status).inc()


def make_counter(registry: CollectorRegistry, name: str, about: str, label: str, values: Iterable[str]) -> Counter:
    counter = Counter(f"ingress_manager_{name}", about, [label], registry=registry)
    for value in values:
        counter.labels(value)
    return counter
