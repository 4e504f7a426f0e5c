"""What one Service can cost: the worst ones that the API server takes are answered with little memory.

How long that takes is measured by the benchmark (bench/core.py).
"""

import gc
import tracemalloc

import pytest

from devcluster.worst import COPIED, filled, worst_requests
from hooks.sync import answer
from ingress_manager.core.policy import OUTPUT_NAMES, Defaults, Gateway, Limits, Policy

WORST = dict(worst_requests())
MOST_BYTES = 16 * 1024 * 1024


LIMITED = Policy(
    limits=Limits(
        hosts=tuple(f"*.s{number}.example.com" for number in range(1000)),
        copy_annotations=dict.fromkeys((COPIED, *filled("a.b/", 8000), *filled("", 8000)), "any"),
    )
)
"""Settings under which every host is compared with many patterns, and many annotations are copied."""


BOTH = Policy(Defaults(outputs=OUTPUT_NAMES, gateway=Gateway(name="web", namespace="infrastructure")))


# Coverage would take more of the time than the answers.
@pytest.mark.no_cover
@pytest.mark.parametrize(
    "policy",
    [Policy(), *(pytest.param(policy, marks=pytest.mark.thorough) for policy in (LIMITED, BOTH))],
    ids=["default settings", "many patterns", "both outputs"],
)
@pytest.mark.parametrize("name", WORST)
def test_the_worst_service_costs_little_memory(name: str, policy: Policy) -> None:
    tracemalloc.start()
    try:
        assert answer(WORST[name], policy).status in {200, 422}
        assert tracemalloc.get_traced_memory()[1] <= MOST_BYTES
    finally:
        tracemalloc.stop()


def test_nothing_of_an_answered_request_is_left_to_the_garbage_collector() -> None:
    """It comes many requests later. Of 200 large Services that were refused, more was kept than the container has."""

    def answered(body: bytes) -> int:
        kept = answer(body, Policy())
        return kept.status

    bodies = {**WORST, "no request": b"{"}
    for body in bodies.values():
        answered(body)  # msgspec leaves something when it meets a type for the first time
    gc.collect()
    gc.freeze()  # what other tests made need not be looked at each time
    gc.disable()
    try:
        left = {name: gc.collect() for name, body in bodies.items() if answered(body)}
    finally:
        gc.enable()
        gc.unfreeze()
    assert {name: count for name, count in left.items() if count} == {}
