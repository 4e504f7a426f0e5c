"""The whole story of the demo, told by the hook in a container: its image, run as the manifests say."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from devcluster import gateway
from devcluster.api import NAMESPACES
from devcluster.cluster import DevCluster
from devcluster.story import Stage, steps_for
from tests.e2e.conftest import require
from tests.tools.image import built, inspected
from tools.containers import docker, serving

NAME = f"ingress-manager-story-{os.getpid()}"


def container(port: int, settings: Path) -> Sequence[str]:
    """Return the command that runs the hook in a container, on a port of this machine's loopback."""
    return serving(NAME, built(), port, settings)


@pytest.mark.thorough
def test_the_story_passes_against_the_container(record_property: Callable[[str, object], None]) -> None:
    image = inspected(built())["Id"].removeprefix("sha256:")
    require("standin")
    try:
        with DevCluster(hook=container, gateway=0 if gateway.lacking() else 1) as cluster:
            cluster.api.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "story"}})
            stage = Stage(cluster.api, "story", cluster.gateway, cluster.ingress_class)
            try:
                steps = steps_for(stage)
                for step in steps:
                    step.play(stage)
            finally:
                stage.close()
            serves = docker("inspect", "--format={{.Image}}", NAME).stdout.strip().removeprefix("sha256:")
            assert serves == image, "the hook was the container"
            record_property("figures", f"{len(steps)} steps of the story, driven by {cluster.engine_name}")
    finally:
        docker("rm", "--force", NAME, check=False)
