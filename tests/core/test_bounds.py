"""What one Service can cost: the worst ones that the API server takes are answered with little work.

Work is counted in lines of our code that are run, which is the same on every machine; `make bench` takes the times.
"""

import gc
import sys
import tracemalloc
from types import CodeType, FrameType
from typing import Any

import pytest

from devcluster.worst import COPIED, filled, worst_requests
from hooks.sync import Answer, answer
from ingress_manager.core.policy import OUTPUT_NAMES, Gateway, NamespaceSettings, Policy

WORST = dict(worst_requests())
MOST_LINES = 600_000
"""The worst of them takes about 500,000: some lines for each of 40,000 ports, or annotations. A loop inside another
loop would take millions."""

MOST_BYTES = 16 * 1024 * 1024


LIMITED = Policy(
    copied=dict.fromkeys((COPIED, *filled("a.b/", 8000), *filled("", 8000)), "any"),
    namespaces={"*": NamespaceSettings(hosts=tuple(f"*.s{number}.example.com" for number in range(1000)))},
)
"""Settings under which every host is compared with many patterns, and many annotations are copied."""


BOTH = Policy(outputs=OUTPUT_NAMES, gateway=Gateway(name="web", namespace="infrastructure"))


def lines_run(body: bytes, policy: Policy) -> tuple[int, Answer]:
    """Return how many lines of hooks/ are run for an answer, and the answer."""
    count = 0
    ours: dict[CodeType, bool] = {}

    def trace(frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal count
        code = frame.f_code
        if code not in ours:
            ours[code] = "/hooks/" in code.co_filename
        count += event == "line" and ours[code]
        return trace if ours[code] else None

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        answered = answer(body, policy)
    finally:
        sys.settrace(before)
    return count, answered


@pytest.mark.parametrize(
    "policy",
    [Policy(), LIMITED, pytest.param(BOTH, marks=pytest.mark.thorough)],
    ids=["default settings", "many patterns", "both outputs"],
)
@pytest.mark.parametrize("name", WORST)
def test_the_worst_service_costs_little_work_and_memory(name: str, policy: Policy) -> None:
    lines, answered = lines_run(WORST[name], policy)
    assert answered.status in {200, 422}
    # What is copied is decided for each output.
    assert lines <= MOST_LINES * len(policy.outputs)
    tracemalloc.start()
    try:
        answer(WORST[name], policy)
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
