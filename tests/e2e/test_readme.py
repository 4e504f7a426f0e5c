"""The README's commands that need a cluster, run as they are written, except for files from the Internet."""

import re
import subprocess

from devcluster.build import REPOSITORY
from devcluster.control_plane import ControlPlane
from devcluster.story import PATIENCE, STORY
from tests.docs.test_readme import blocks
from tests.e2e.shell import sh


def test_make_demo_tells_the_story(engine: str) -> None:
    ended = subprocess.run(
        ["make", "demo", f"ENGINE={engine}"],  # noqa: S607
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=PATIENCE * 10,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    told = " ".join(ended.stdout.split())
    for step in STORY:
        assert f"{step.done} → {step.happens}" in told
    assert len(re.findall(r"✔ +\d+\.", ended.stdout)) == len(STORY)
    assert ("the stand-in" if engine == "standin" else "driven by Metacontroller") in ended.stdout
    assert "\x1b" not in ended.stdout, "colour only on a terminal"


def test_the_commands_of_kubectl_install_what_they_are_for(empty_cluster: ControlPlane) -> None:
    commands = [line for block in blocks("sh") for line in block.splitlines() if line.startswith("kubectl ")]
    assert len(commands) == 2
    for command in commands:
        sh(empty_cluster, command)
    for kind, namespace, name in (
        ("service", "sample", "hello"),
        ("deployment", "ingress-manager-gateway", "ingress-manager-gateway"),
        ("deployment", "ingress-manager-gateway", "not-found"),
    ):
        assert name in empty_cluster.kubectl("get", kind, "--namespace", namespace, name)
