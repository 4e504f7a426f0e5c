"""The stand-in is held to the real Metacontroller: it plays the story, and writes what the other writes."""

import contextlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from devcluster import gateway
from devcluster.cluster import DevCluster
from devcluster.programs import find_metacontroller
from devcluster.story import steps_for
from tests.e2e.conftest import fresh_stage, require
from tests.histories.model import INSIDE
from tests.histories.rounds import Plan, Rounds, Seen, made_up_plan, namespace_of

pytestmark = pytest.mark.thorough

HISTORIES, STEPS = 60, 20


def test_the_stand_in_plays_the_story() -> None:
    require("standin")
    with DevCluster("standin", gateway=0 if gateway.lacking() else 1) as cluster, fresh_stage(cluster, "a") as stage:
        for step in steps_for(stage):
            step.play(stage)


def test_without_faults_each_step_has_its_effect_and_the_stand_in_writes_what_metacontroller_writes(
    record_property: Callable[[str, object], None],
) -> None:
    require("standin")
    # With this seed every limit is tightened when there are Ingresses, there is a pause of some steps, and nearly every
    # value that is right is that of a Service which is accepted.
    plan = made_up_plan("short-6804", HISTORIES, STEPS, faults=False)
    engines = ("metacontroller", "standin") if find_metacontroller() else ("standin",)
    with contextlib.ExitStack() as exits, ThreadPoolExecutor() as pool:
        played = [Rounds(exits.enter_context(DevCluster(engine)), Seen()) for engine in engines]
        for wrong in pool.map(lambda each: each.play(plan), played):
            assert not wrong, "\n\n".join(wrong.values())
    assert all(each.seen.denied for each in played)
    written = [dict(each.writes.to_ingresses) for each in played]
    for left_out in matters_of_time(plan):
        for each in written:
            each.pop(left_out, None)
    assert written[0] == written[-1]
    made = sum(map(len, written[0].values()))
    record_property("figures", f"{HISTORIES} histories of {STEPS} steps, {made} writes, by {len(played)} engines")


def matters_of_time(plan: Plan) -> Iterator[tuple[str, str]]:
    """Yield the names, after their namespaces, at which the writes of an engine depend on when it sees what.

    When it tries again where a stranger has taken the name; and whether it sees that a Service is deleted before it
    sees that the garbage collector has deleted the Ingress. If not, it makes another one, which is deleted as well.
    """
    for number, history in enumerate(plan.histories):
        for step in history:
            if step.kind in {"create stranger's", "delete"}:
                yield namespace_of(number), step.name
                yield namespace_of(number), f"{step.name}{INSIDE}"
