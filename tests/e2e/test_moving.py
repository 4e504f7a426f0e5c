"""The commands of docs/moving-in.md and docs/moving-out.md, as they are written; test_uninstall.py has the last two."""

import re

import pytest

from devcluster.api import INGRESSES, NAMESPACES, SERVICES
from devcluster.build import REPOSITORY
from devcluster.cluster import DevCluster
from devcluster.story import Stage
from tests.e2e.test_adopt import create_pair, is_ours, settle, sh

pytestmark = pytest.mark.thorough


def commands_of(page: str) -> list[str]:
    """Return the commands of a page of the docs."""
    text = (REPOSITORY / "docs" / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


def test_an_ingress_moves_in_and_out_again(cluster: DevCluster) -> None:
    cluster.api.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team-a"}})
    stage = Stage(cluster.api, "team-a", ingress_class=cluster.ingress_class)
    before = create_pair(stage, "shop", "shop", stage.ingress_class or "nginx")
    out = [command for command in commands_of("moving-out.md") if "uninstall" not in command]
    for commands, moved_in in ((commands_of("moving-in.md"), True), (out, False)):
        assert len(commands) > 2
        for command in commands:
            ended = sh(cluster, command, cluster.kubeconfig)
            assert ended.returncode == 0, ended.stderr
            assert ended.stdout.strip() != ""
        settle(stage)
        now = stage.api.get(INGRESSES, "shop", "team-a")
        assert now is not None
        assert (now["metadata"]["uid"], now["spec"]) == (before["metadata"]["uid"], before["spec"])
        assert is_ours(now) is moved_in
    stage.api.delete(SERVICES, "shop", "team-a")
    cluster.api.delete(NAMESPACES, "team-a")
