"""The promises, checked with the API server's own records: the audit log, managedFields and the authorizer."""

from typing import Any

import pytest

from devcluster.api import INGRESSES, SERVICES, Resource
from devcluster.cluster import DevCluster
from devcluster.story import Stage
from tests.e2e.audit import READS, done_by_the_engine, write_requests, writes

REVIEWS = Resource("authorization.k8s.io/v1", "subjectaccessreviews", "SubjectAccessReview", namespaced=False)


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


def test_a_strangers_ingress_is_never_written_to(cluster: DevCluster, stage: Stage) -> None:
    metadata = {"name": "shop", "namespace": stage.namespace}
    made = {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": metadata}
    stranger = stage.api.create(INGRESSES, {**made, "spec": {"rules": [{"host": "blog.example.com"}]}})
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


@pytest.mark.parametrize(
    ("allowed", "verbs", "resource", "namespace"),
    [
        (True, "get list watch", "services", None),
        (False, "create update patch delete deletecollection", "services", None),
        (False, "update patch", "services/status", None),
        (False, "update patch", "services/finalizers", None),
        (True, "list watch create update delete", "ingresses.networking.k8s.io", None),
        (False, "deletecollection", "ingresses.networking.k8s.io", None),
        (False, "update patch", "ingresses.networking.k8s.io/status", None),
        (False, "get list watch create update patch delete", "secrets", None),
        (False, "get list watch create update patch delete", "secrets", "metacontroller"),
        (False, "get list watch create update patch delete", "configmaps", None),
        (False, "get list watch create update patch delete", "pods", None),
        (False, "create", "pods/exec", None),
        (False, "get list watch create update patch delete", "deployments.apps", None),
        (False, "create", "serviceaccounts/token", None),
        (False, "impersonate", "users", None),
        (False, "get list watch create update patch delete", "clusterroles.rbac.authorization.k8s.io", None),
        (False, "bind escalate", "clusterroles.rbac.authorization.k8s.io", None),
        (True, "list watch", "namespaces", None),
        (False, "create update patch delete", "namespaces", None),
        (True, "create patch", "events", None),
        (False, "get list watch delete", "events", None),
        (True, "list watch", "decoratorcontrollers.metacontroller.k8s.io", None),
        (False, "create update patch delete", "decoratorcontrollers.metacontroller.k8s.io", None),
        (True, "create", "leases.coordination.k8s.io", "metacontroller"),
        (False, "create get update", "leases.coordination.k8s.io", "kube-system"),
    ],
)
def test_the_api_servers_authorizer_says_what_metacontroller_may_do(
    cluster: DevCluster, allowed: bool, verbs: str, resource: str, namespace: str | None
) -> None:
    name, _, subresource = resource.partition("/")
    plural, _, group = name.partition(".")
    for verb in verbs.split():
        asked = {
            "verb": verb,
            "group": group,
            "resource": plural,
            "subresource": subresource,
            "namespace": namespace or "",
        }
        review = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": {"user": cluster.engine_user, "groups": GROUPS, "resourceAttributes": asked},
        }
        answer = cluster.api.create(REVIEWS, review)
        assert answer["status"]["allowed"] is allowed, f"{verb} {resource} in {namespace or 'all namespaces'}"


GROUPS = ["system:serviceaccounts", "system:serviceaccounts:metacontroller", "system:authenticated"]


def test_the_engine_never_tries_what_it_may_not_do(cluster: DevCluster, stage: Stage) -> None:
    until_seen(stage, "shop")
    refused = [
        (event["verb"], event["requestURI"])
        for event in cluster.audit_events()
        if event["user"]["username"] == cluster.engine_user
        and event["annotations"]["authorization.k8s.io/decision"] == "forbid"
    ]
    assert refused == []
