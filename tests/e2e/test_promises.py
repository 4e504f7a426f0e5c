"""The promises, checked with the API server's own records: the audit log, managedFields and the authorizer."""

from typing import Any

import pytest

from devcluster.api import INGRESSES, SERVICES
from devcluster.cluster import DevCluster
from devcluster.story import Stage
from tests.e2e.audit import READS, done_by_the_engine, write_requests, writes
from tests.e2e.objects import by_hand

pytestmark = pytest.mark.gate


def until_seen(stage: Stage, name: str) -> None:
    """Wait until everything done before has been synced: until a Service annotated later has its Ingress."""
    stage.create_service(name, {"ingress/http": "true"})
    stage.until_ingress(name, "the Ingress of a Service annotated later", lambda _: True)


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
    verbs = {event["verb"] for event in done_by_the_engine(cluster, "services")}
    assert verbs <= READS
    assert verbs, "the audit log holds what the engine did to Services"


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


def test_a_strangers_ingress_is_never_written_to(cluster: DevCluster, stage: Stage) -> None:
    stranger = stage.api.create(INGRESSES, by_hand(stage.namespace, "shop", "blog.example.com", "blog"))
    stage.create_service("shop", {"ingress/http": "true"})
    stage.until_event("shop", "is in the way")
    stage.annotate("shop", "yes")
    stage.until_event("shop", "must be")
    stage.annotate("shop", "false")
    until_seen(stage, "later")
    stage.api.delete(SERVICES, "shop", stage.namespace)
    until_seen(stage, "last")
    assert stage.ingress("shop") == stranger
    assert writes(cluster, stage, "ingresses") == [("create", "later"), ("create", "last")]
    # 409 is possible before the API server's own cache knows of the stranger's Ingress.
    tried = {(verb, status) for verb, name, status in write_requests(cluster, stage, "ingresses") if name == "shop"}
    assert ("create", 403) in tried
    assert tried <= {("create", 403), ("create", 409)}
