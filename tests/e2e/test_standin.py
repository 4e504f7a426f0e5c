"""The stand-in is held to the real Metacontroller: it plays the story, and what stands is what the other makes."""

import contextlib
from concurrent.futures import ThreadPoolExecutor

from devcluster import gateway
from devcluster.cluster import DevCluster
from devcluster.programs import find_metacontroller
from devcluster.story import steps_for
from tests.e2e import test_promises
from tests.e2e.conftest import fresh_stage, require
from tests.histories.rounds import Plan, play


def test_the_stand_in_plays_the_story_and_writes_nothing_when_nothing_changes() -> None:
    require("standin")
    with DevCluster("standin", gateway=0 if gateway.lacking() else 1) as cluster:
        with fresh_stage(cluster, "a") as stage:
            for step in steps_for(stage):
                step.play(stage)
        with fresh_stage(cluster, "b") as stage:
            test_promises.test_an_ingress_is_written_once_and_an_event_that_changes_nothing_writes_nothing(
                cluster, stage
            )


def test_without_faults_each_step_has_its_effect_with_metacontroller_and_with_the_stand_in() -> None:
    """After each step nothing is left to be done. In which order an engine writes is promised by nobody."""
    require("standin")
    plan = Plan("short-6804", 15, 16, faults=False)
    engines = ("metacontroller", "standin") if find_metacontroller() else ("standin",)
    with contextlib.ExitStack() as exits, ThreadPoolExecutor() as pool:
        clusters = [exits.enter_context(DevCluster(engine)) for engine in engines]
        for wrong in pool.map(lambda cluster: play(cluster, plan), clusters):
            assert not wrong, "\n\n".join(wrong)


def test_with_faults_nothing_is_left_to_be_done_in_the_end(engine: str) -> None:
    # A cluster of its own: others would not bear the faults, nor wait for a back-off.
    plan = Plan("short-3", 16, 20, faults=True)
    with DevCluster(engine) as cluster:
        wrong = play(cluster, plan)
    assert not wrong, "\n\n".join(wrong)
    assert {*plan.kills} == {"", "hook", "engine"}
