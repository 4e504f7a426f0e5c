"""What one Service can cost: the worst ones that the API server takes are answered with little memory.

How long that takes is measured by the benchmark (bench/core.py).
"""

import gc
import tracemalloc
from collections.abc import Iterable

import pytest

from devcluster.worst import COPIED, filled, largest_settings, worst_requests, worst_requests_for_profiles
from hooks.sync import answer
from ingress_manager.core.annotations import PATH_TYPES
from ingress_manager.core.policy import OUTPUT_NAMES, Defaults, Gateway, Limits, Policy, Tls
from ingress_manager.core.settings import parse

pytestmark = pytest.mark.no_cover  # it would take more of the time than the answers

MOST_BYTES = 16 * 1024 * 1024


LIMITED = Policy(
    limits=Limits(
        hosts=tuple(f"*.s{number}.example.com" for number in range(1000)),
        path_types=PATH_TYPES,
        paths="any",
        copy_annotations=dict.fromkeys((COPIED, *filled("a.b/", 8000), *filled("", 8000)), "any"),
        copy_labels=dict.fromkeys(filled("", 8000), "any"),
    )
)
"""Settings under which every host is compared with many patterns, and many annotations and labels are copied."""


BOTH = Policy(
    Defaults(
        outputs=OUTPUT_NAMES,
        gateway=Gateway(name="web", namespace="infrastructure"),
        tls=Tls(enabled=True, redirect=True),
    )
)
"""Settings under which the most is made."""


@pytest.mark.thorough
@pytest.mark.parametrize(
    "policy",
    [Policy(), LIMITED, BOTH],
    ids=["default settings", "many patterns", "both outputs"],
)
def test_the_worst_services_cost_little_memory(policy: Policy) -> None:
    assert too_expensive(worst_requests(), policy) == {}


def test_a_service_costs_little_memory_however_many_profiles_there_are() -> None:
    assert too_expensive(worst_requests_for_profiles(), parse(largest_settings())) == {}


def too_expensive(requests: Iterable[tuple[str, bytes]], policy: Policy) -> dict[str, int]:
    """Return the bytes that the answers take that take more than MOST_BYTES, by what is bad about the requests."""
    costs = {name: cost(body, policy) for name, body in requests}
    return {name: peak for name, peak in costs.items() if peak > MOST_BYTES}


def cost(body: bytes, policy: Policy) -> int:
    """Return how many bytes the answer takes at most at once."""
    tracemalloc.start()
    try:
        assert answer(body, policy).status in {200, 422}
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.thorough
def test_nothing_of_an_answered_request_is_left_to_the_garbage_collector() -> None:
    """It comes many requests later. Of 200 large Services that were refused, more was kept than the container has."""
    policy = Policy()  # the settings: they stay

    def answered(body: bytes) -> int:
        kept = answer(body, policy)
        return kept.status

    bodies = {**dict(worst_requests()), "no request": b"{"}
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
