"""The story, the promises, checked with the API server's own records, and the vocabulary end to end."""

import contextlib
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from devcluster import engines
from devcluster.api import INGRESSES, NAMESPACES, SERVICES, Object, path_of, wait_for
from devcluster.cluster import DevCluster
from devcluster.story import Stage, steps_for
from tests.e2e.audit import READS, done, write_requests, writes
from tests.e2e.objects import CLUSTER_BINDINGS, by_hand, create
from tests.e2e.people import tenant_of


@pytest.mark.gate
def test_the_story(stage: Stage) -> None:
    for step in steps_for(stage):
        step.play(stage)


# The audit log, and managedFields.


def until_seen(stage: Stage, name: str) -> None:
    """Wait until everything done before has been synced: until a Service annotated later has its Ingress."""
    stage.create_service(name, {"ingress/http": "true"})
    stage.until_ingress(name, "the Ingress of a Service annotated later", lambda _: True)


@pytest.mark.gate
def test_a_service_is_never_written_to(cluster: DevCluster, stage: Stage) -> None:
    stage.create_service("shop", {"ingress/http": "true"})
    stage.until_ingress("shop", "the Ingress", lambda _: True)
    stage.annotate("shop", "yes")
    stage.until_event("shop", "must be")
    stage.annotate("shop", None)
    stage.until("no Ingress", lambda: stage.ingress("shop") is None)

    service = stage.api.get(SERVICES, "shop", stage.namespace)
    assert service is not None
    assert {entry["manager"] for entry in service["metadata"]["managedFields"]} == {"devcluster"}
    assert "finalizers" not in service["metadata"]
    verbs = {event["verb"] for event in done(cluster, "services")}
    assert verbs <= READS
    assert verbs, "the audit log holds what the engine did to Services"


@pytest.mark.gate
def test_an_ingress_is_written_once_and_an_event_that_changes_nothing_writes_nothing(
    cluster: DevCluster, stage: Stage
) -> None:
    stage.create_service("shop", {"ingress/http": "true"})
    stage.until_ingress("shop", "the Ingress", lambda _: True)
    changes: list[dict[str, Any]] = [
        {"metadata": {"labels": {"team": "a"}}},
        {"metadata": {"annotations": {"example.com/note": "new"}}},
        {"spec": {"selector": {"app": "other"}}},
    ]
    for change in changes:
        stage.api.patch(SERVICES, "shop", change, stage.namespace)
    stage.api.patch(INGRESSES, "shop", {"metadata": {"labels": {"team": "a"}}}, stage.namespace)
    until_seen(stage, "later")
    assert writes(cluster, stage, "ingresses") == [("create", "shop"), ("create", "later")]
    assert stage.events("shop") == [], "while all is well there is none"


@pytest.mark.gate
def test_a_strangers_ingress_is_never_written_to_and_the_service_has_the_name_once_it_is_free(
    cluster: DevCluster, stage: Stage
) -> None:
    stranger = stage.api.create(INGRESSES, by_hand(stage.namespace, "shop", "blog.example.com", "blog"))
    stage.create_service("shop", {"ingress/http": "true"})
    stage.until_event("shop", "isn't there yet")
    stage.annotate("shop", "yes")
    stage.until_event("shop", "must be")
    stage.annotate("shop", "false")
    until_seen(stage, "later")
    stage.api.delete(SERVICES, "shop", stage.namespace)
    until_seen(stage, "last")
    assert stage.ingress("shop") == stranger
    assert writes(cluster, stage, "ingresses") == [("create", "later"), ("create", "last")]
    tried = {(verb, status) for verb, name, status in write_requests(cluster, stage, "ingresses") if name == "shop"}
    assert tried == {("create", 409)}
    stage.create_service("shop", {"ingress/http": "true"})
    stage.api.delete(INGRESSES, "shop", stage.namespace)
    stage.until_ingress("shop", "the Service's own", lambda found: "ownerReferences" in found["metadata"])


# When the name of an Ingress is taken.


@pytest.mark.gate
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


@pytest.mark.gate
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


# Opting out, and the largest Ingress.

TWO_PORTS = [{"name": "http", "port": 80}, {"name": "metrics", "port": 9090}]


def published(stage: Stage) -> None:
    """Create the Service shop with two ports, and wait for its Ingress."""
    stage.create_service("shop", {"ingress/http": "true"})
    set_ports(stage, *TWO_PORTS)
    stage.until_ingress("shop", "the Ingress", lambda _: True)


def annotate(stage: Stage, changes: dict[str, str | None]) -> Object:
    """Set annotations, and return the Service."""
    return stage.api.patch(SERVICES, "shop", {"metadata": {"annotations": changes}}, stage.namespace)


def set_ports(stage: Stage, *ports: dict[str, Any]) -> None:
    stage.api.patch(SERVICES, "shop", {"spec": {"ports": list(ports)}}, stage.namespace)


@pytest.mark.gate
def test_opting_out_works_whatever_else_is_wrong(stage: Stage) -> None:
    published(stage)
    before = stage.ingress("shop")
    annotate(stage, {"ingress/host": "A", "ingress/path": "x", "ingress/routes": "[", "ingress/hots": "x"})
    message = stage.until_event(
        "shop", "ingress/hots is not an annotation of ingress-manager; did you mean ingress/host?"
    )
    assert 'ingress/host: "A" must be lower case' in message
    assert stage.ingress("shop") == before
    stage.annotate("shop", "false")
    stage.until("no Ingress", lambda: stage.ingress("shop") is None)


def test_the_largest_ingress_that_we_accept_can_be_stored(stage: Stage) -> None:
    """Metacontroller stores it twice: as the object, and as an annotation."""
    published(stage)
    hosts = ",".join(f"h{i}.example.com" for i in range(100))
    annotate(stage, {"ingress/path": f"/{'x' * 830}", "ingress/host": hosts})
    large = stage.until_ingress("shop", "the long paths", lambda found: len(found["spec"]["rules"]) == 100)
    assert len(json.dumps(large["spec"], separators=(",", ":"))) > 95_000
    ampersands = ",".join(f"h{i}.example.com" for i in range(15))
    annotate(stage, {"ingress/path": "/" + "&" * 1000, "ingress/host": ampersands})
    stage.until_ingress("shop", "the long paths", lambda found: len(found["spec"]["rules"]) == 15)


# What failed waits in one queue of Metacontroller's, for all tenants. One of them can't fill it.

PATCHES = 1000
"""If each failed, and made an Event, what fails next would wait for a minute and a half."""


@pytest.mark.parametrize("value", ["yes", "true"])
def test_who_patches_all_the_time_services_that_are_refused_or_whose_name_is_taken_delays_nobody(
    value: str, cluster: DevCluster, stage: Stage
) -> None:
    names = [f"wrong-{number}" for number in range(12)]
    attacker = f"{stage.namespace}-attacker"
    create(stage.api, NAMESPACES, attacker)
    with contextlib.closing(tenant_of(cluster.control_plane, attacker, rights=(SERVICES, INGRESSES))) as tenant:
        for name in names:
            tenant.create(INGRESSES, by_hand(attacker, name, f"{name}.example.com", name))
            Stage(tenant, attacker).create_service(name, {"ingress/http": value})

        def patch(number: int) -> None:
            change = {"metadata": {"labels": {"patched": f"{number}"}}}
            tenant.request("PATCH", path_of(SERVICES, attacker, names[number % 12]), body=change)

        with ThreadPoolExecutor(4) as threads:
            list(threads.map(patch, range(PATCHES)))
    stage.create_service("mistaken", {"ingress/http": "yes"})
    stage.until_event("mistaken", "must be")
    stage.annotate("mistaken", "true")
    stage.until_ingress("mistaken", "the Ingress of the corrected Service", lambda _: True)
    cluster.hook.stop()
    try:
        stage.create_service("unlucky", {"ingress/http": "true"})
        stage.until_event("unlucky", "")
    finally:
        cluster.restart_hook()
    stage.until_ingress("unlucky", "the Ingress of a Service that failed for another reason", lambda _: True)
    stage.api.delete(NAMESPACES, attacker)
