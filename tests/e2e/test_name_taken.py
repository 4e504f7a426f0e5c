"""When the name of an Ingress is taken: what the Service's owner sees, and what becomes of it."""

import contextlib
from collections.abc import Iterator

import pytest

from devcluster import engines
from devcluster.api import INGRESSES, SERVICES, Object, wait_for
from devcluster.cluster import DevCluster
from devcluster.story import Stage
from tests.e2e.audit import write_requests
from tests.e2e.objects import CLUSTER_BINDINGS, by_hand, create

pytestmark = pytest.mark.gate


def test_a_service_made_again_while_the_garbage_collector_lags_has_its_ingress_soon_after(
    cluster: DevCluster, stage: Stage
) -> None:
    stage.create_service("shop", {"ingress/http": "true"})
    old = stage.until_ingress("shop", "the Ingress", lambda _: True)
    with cluster.control_plane.controller_manager.paused():
        stage.api.delete(SERVICES, "shop", stage.namespace)
        stage.create_service("shop", {"ingress/http": "true"})
        met = ("create", "shop", 409)
        stage.until("AlreadyExists", lambda: met in write_requests(cluster, stage, "ingresses"))
        assert stage.ingress("shop") == old
    service = stage.api.get(SERVICES, "shop", stage.namespace)
    assert service is not None

    def owners() -> list[str]:
        found = stage.ingress("shop") or {"metadata": {"ownerReferences": []}}
        return [reference["uid"] for reference in found["metadata"]["ownerReferences"]]

    wait_for(lambda: owners() == [service["metadata"]["uid"]], 10, what="the Ingress of the new Service")


@pytest.fixture
def server_side(cluster: DevCluster) -> Iterator[None]:
    """Let Metacontroller apply on the server's side, and do everything, as by its own manifests."""
    subjects = [{"kind": "ServiceAccount", "name": engines.NAME, "namespace": engines.NAME}]
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}
    create(cluster.api, CLUSTER_BINDINGS, "metacontroller-all", subjects=subjects, roleRef=role)
    before = cluster.engine.command
    with contextlib.ExitStack() as exits:
        exits.callback(restart_engine, cluster, before)
        exits.callback(cluster.api.delete, CLUSTER_BINDINGS, "metacontroller-all")
        restart_engine(cluster, [*before, "--apply-strategy=server-side-apply"])
        yield


def restart_engine(cluster: DevCluster, command: list[str]) -> None:
    cluster.engine.kill()
    cluster.engine.command = command
    cluster.engine.start()


@pytest.mark.usefixtures("server_side")
def test_no_ingress_by_hand_is_taken_over_by_a_metacontroller_that_applies_on_the_servers_side(stage: Stage) -> None:
    """One has another spec than the Service asks for, the other one the same."""
    stage.create_service("own", {"ingress/http": "true"})
    own = stage.until_ingress("own", "an Ingress that it makes", lambda _: True)
    assert own["metadata"]["managedFields"][0]["operation"] == "Apply"
    same = {**own, "metadata": {"name": "same", "namespace": stage.namespace}}
    same["spec"]["rules"][0]["http"]["paths"][0]["backend"]["service"]["name"] = "same"
    strangers: dict[str, Object] = {
        "other": stage.api.create(INGRESSES, by_hand(stage.namespace, "other", "elsewhere.example.com", "backend")),
        "same": stage.api.create(INGRESSES, same),
    }
    for name, stranger in strangers.items():
        stage.create_service(name, {"ingress/http": "true"})
        stage.until_event(name, "start Metacontroller without --apply-strategy=server-side-apply")
        assert stage.ingress(name) == stranger
        stage.annotate(name, None)
    stage.annotate("own", None)
    stage.until("the end of its own", lambda: stage.ingress("own") is None)
    assert {name: stage.ingress(name) for name in strangers} == strangers
