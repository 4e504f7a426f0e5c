"""The stand-in plays the story, as the real Metacontroller does in the other tests."""

from devcluster import gateway
from devcluster.cluster import DevCluster
from devcluster.story import steps_for
from tests.e2e import test_promises
from tests.e2e.conftest import fresh_stage, require


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
