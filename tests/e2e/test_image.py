"""The whole story of the demo, told by the hook in a container: its image, run as the manifests say."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from devcluster import gateway
from devcluster.cluster import DevCluster
from devcluster.story import steps_for
from tests.e2e.conftest import fresh_stage, require
from tests.tools.image import built, inspected
from tools.containers import docker, serving

NAME = f"ingress-manager-story-{os.getpid()}"


def container(port: int, settings: Path) -> Sequence[str]:
    """Return the command that runs the hook in a container, on a port of this machine's loopback."""
    return serving(NAME, built(), port, settings)


def test_the_story_passes_against_the_container(record_property: Callable[[str, object], None]) -> None:
    image = inspected(built())["Id"].removeprefix("sha256:")
    require("standin")
    try:
        with DevCluster(hook=container, gateway=0 if gateway.lacking() else 1) as cluster:
            with fresh_stage(cluster, "story") as stage:
                steps = steps_for(stage)
                for step in steps:
                    step.play(stage)
            serves = docker("inspect", "--format={{.Image}}", NAME).stdout.strip().removeprefix("sha256:")
            assert serves == image, "the hook was the container"
            record_property("figures", f"{len(steps)} steps of the story, driven by {cluster.engine_name}")
    finally:
        docker("rm", "--force", NAME, check=False)
