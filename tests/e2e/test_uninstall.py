"""`uninstall-plan` on a real cluster: ingress-manager goes, and its Ingresses stay, or go as well."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from devcluster import gateway
from devcluster.api import CRDS, HTTPROUTES, INGRESSES, NAMESPACES, SERVICES, Resource
from devcluster.cluster import DevCluster
from devcluster.story import Stage
from tests.e2e.conftest import SERVING_SETTINGS
from tests.e2e.mover import Watch
from tests.e2e.test_adopt import is_ours, sh
from tests.e2e.test_moving import commands_of

pytestmark = pytest.mark.thorough

CLUSTER_ROLES = Resource("rbac.authorization.k8s.io/v1", "clusterroles", "ClusterRole", namespaced=False)
POLICIES = Resource(
    "admissionregistration.k8s.io/v1", "validatingadmissionpolicies", "ValidatingAdmissionPolicy", namespaced=False
)


@pytest.fixture
def installed(engine: str) -> Iterator[DevCluster]:
    """Yield a cluster of the test's own."""
    if reason := gateway.lacking():
        pytest.skip(reason)
    with DevCluster(engine, settings=SERVING_SETTINGS, gateway=1, httproute=True) as cluster:
        cluster.api.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "both"}})
        yield cluster


@pytest.mark.parametrize("keep", [True, False], ids=["keep", "remove"])
def test_it_leaves_every_ingress_or_none_and_nothing_of_itself(
    installed: DevCluster, tmp_path: Path, keep: bool
) -> None:
    stage = Stage(installed.api, "both", installed.gateway)
    stage.create_service("shop", {"ingress/http": "true"})
    ingress = stage.until_ingress("shop", "the Ingress", lambda _: True)
    route = stage.until("the HTTPRoute", lambda: stage.api.get(HTTPROUTES, "shop", "both"))
    backend = {"service": {"name": "shop", "port": {"number": 80}}}
    strangers = {"name": "stranger", "namespace": "both", "labels": {"app.kubernetes.io/managed-by": "ingress-manager"}}
    made = {"apiVersion": INGRESSES.api_version, "kind": "Ingress", "metadata": strangers}
    stranger = stage.api.create(INGRESSES, {**made, "spec": {"defaultBackend": backend}})

    commands = "\n".join(line for line in commands_of("moving-out.md") if "uninstall" in line)
    with Watch(stage.api, "both") as watch:
        commands = commands if keep else commands.replace("--keep", "--remove")
        ended = sh(installed, commands, installed.kubeconfig, tmp_path)
        assert ended.returncode == 0, ended.stderr
        if keep:
            stage.api.delete(SERVICES, "shop", "both")
    assert watch.deleted() == (set() if keep else {"shop"})
    for resource, before in ((INGRESSES, ingress), (HTTPROUTES, route)):
        now = stage.api.get(resource, "shop", "both")
        assert (now is not None) is keep
        if now is not None:
            assert (now["metadata"]["uid"], now["spec"]) == (before["metadata"]["uid"], before["spec"])
            assert not is_ours(now)
    assert stage.ingress("stranger") == stranger
    services = stage.api.list(SERVICES, "both")
    assert [service["metadata"]["name"] for service in services if "annotations" in service["metadata"]] == []

    for resource in (CLUSTER_ROLES, POLICIES, CRDS):
        names = [found["metadata"]["name"] for found in stage.api.list(resource)]
        assert [name for name in names if "metacontroller" in name or name.startswith("ingress-manager-h")] == []
    stage.until(
        "the namespaces to go",
        lambda: not {"ingress-manager", "metacontroller"} & {n["metadata"]["name"] for n in stage.api.list(NAMESPACES)},
    )
