"""`check --live` on a real cluster, and through a real gateway."""

import json
from pathlib import Path

import pytest

from devcluster import gateway
from devcluster.api import INGRESSES, NAMESPACES
from devcluster.cluster import DevCluster
from devcluster.story import Stage
from ingress_manager.commands.reading.rights import RIGHTS
from tests.e2e.objects import by_hand
from tests.e2e.shell import run
from tests.e2e.test_rights_of_commands import HOOK, One, acting_as, give, ones, until_given


def test_with_the_rights_of_the_table_a_service_is_exposed_repaired_and_no_longer_exposed_and_its_namespace_goes(
    cluster: DevCluster, stage: Stage, tmp_path: Path
) -> None:
    if reason := gateway.lacking():
        pytest.skip(reason)
    assert cluster.gateway is not None
    plane, tester = cluster.control_plane, "live-tester"
    # The hook of this cluster has no Service, so that its settings are looked for by its name.
    rights = [*ones(RIGHTS["check"]), One("get", "deployments.apps", HOOK)]
    give(plane, tester, rights)
    until_given(plane, tester, rights)
    at = f"--address=127.0.0.1:{cluster.gateway.http_port}"
    arguments = ("check", "--live", "--output=json", at, "--timeout=60s")
    ended = run(plane, *arguments, "--request=check-live.example.com", kubeconfig=acting_as(plane, tmp_path, tester))
    lines = [line for line in json.loads(ended.stdout)["checks"] if line["part"] == "Live"]
    assert [line["state"] for line in lines] == ["ok"] * 5, ended
    assert "and 404 for a host that nobody has asked for" in lines[1]["sentence"]
    left = {
        each["metadata"]["name"]
        for each in stage.api.list(NAMESPACES)
        if each["metadata"]["name"].startswith("ingress-manager-check-") and each["status"]["phase"] == "Active"
    }
    assert left == set()

    stage.api.create(INGRESSES, by_hand(stage.namespace, "theirs", "check-theirs.example.com", "shop"))
    ended = run(plane, *arguments, "--request=check-theirs.example.com")
    [line] = [line for line in json.loads(ended.stdout)["checks"] if line["part"] == "Live"]
    assert line["sentence"].startswith(f"nothing was tried: Ingress {stage.namespace}/theirs may answer"), line
