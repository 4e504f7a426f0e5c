"""The cost of one Service: answering the worst ones that the API server accepts takes little memory.

The benchmark also measures the time (bench/core.py).
"""

import gc

import pytest

from bench.core import COPIED, WORST_MEMORY, megabytes, worst_requests
from hooks.sync import answer
from ingress_manager.core.annotations import PATH_TYPES
from ingress_manager.core.settings import OUTPUT_NAMES, Defaults, Gateway, Limits, Settings, Tls

pytestmark = pytest.mark.no_cover  # measuring would take longer than the answers

LIMITED = Settings(
    limits=Limits(
        hosts=tuple(f"*.s{number}.example.com" for number in range(100)),
        path_types=PATH_TYPES,
        copy_annotations=dict.fromkeys((COPIED, *(f"a.b/{number}" for number in range(3000))), "any"),
    )
)
"""Settings with many patterns to compare each host with, and many annotations to copy."""

GATEWAY = Gateway(name="web", namespace="infrastructure")
BOTH = Settings(Defaults(outputs=OUTPUT_NAMES, gateway=GATEWAY, tls=Tls(enabled=True, redirect=True)))


@pytest.mark.parametrize("settings", [Settings(), LIMITED, BOTH], ids=["defaults", "many patterns", "both outputs"])
def test_the_worst_services_cost_little_memory(settings: Settings) -> None:
    costs = {name: megabytes(body, settings) for name, body in worst_requests()}
    assert {name: cost for name, cost in costs.items() if cost > WORST_MEMORY} == {}


def test_an_answered_request_leaves_nothing_to_the_garbage_collector() -> None:
    """It runs many requests later, and 200 refused large Services kept more memory than the container has."""
    settings = Settings()  # created once, because settings outlive a request

    def answered(body: bytes) -> int:
        return answer(body, settings).status

    bodies = {**dict(worst_requests()), "no request": b"{"}
    for body in bodies.values():
        answered(body)  # msgspec leaves garbage when it first uses a type
    gc.collect()
    gc.freeze()  # exclude the objects of other tests
    gc.disable()
    try:
        collected = {name: gc.collect() for name, body in bodies.items() if answered(body)}
    finally:
        gc.enable()
        gc.unfreeze()
    assert {name: count for name, count in collected.items() if count} == {}
