"""The answer at `kubectl apply` on a real API server: who gets which message, and when the webhook is called."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from devcluster.admission import Admission
from devcluster.api import SERVICES, WEBHOOKS, ApiError, Object, path_of, wait_for
from devcluster.cluster import DevCluster
from devcluster.story import Stage
from tests.e2e.conftest import fresh_stage, require_gateway
from tests.e2e.objects import published, service

RIGHT = {"ingress/http": "true", "ingress/path": "/"}
WRONG = RIGHT | {"ingress/path": "nowhere"}
SAID = 'ingress/path: "nowhere" must start with / [invalid-value]'

PATIENCE = 15
"""Seconds that the API server waits for the webhook, because the machine may be busy."""


@pytest.fixture(scope="module")
def asked(engine: str) -> Iterator[DevCluster]:
    require_gateway()
    with DevCluster(engine, admission=True) as running:
        webhooks = running.api.get(WEBHOOKS, "ingress-manager")
        assert webhooks is not None
        # The change takes a moment to become effective. From then on, objects with this label are exempt.
        selector = {"matchExpressions": [{"key": "unasked", "operator": "DoesNotExist"}]}
        webhooks["webhooks"][0] |= {"timeoutSeconds": PATIENCE, "objectSelector": selector}
        running.api.update(WEBHOOKS, webhooks)
        unasked = service("default", "shop", annotations=WRONG, labels={"unasked": ""})
        wait_for(lambda: told(running, unasked, dryRun="All") == (), 30)
        yield running


@pytest.fixture
def stage(asked: DevCluster) -> Iterator[Stage]:
    with fresh_stage(asked) as fresh:
        yield fresh


def admission_of(cluster: DevCluster) -> Admission:
    assert cluster.admission is not None
    return cluster.admission


def restart(cluster: DevCluster) -> None:
    admission_of(cluster).process.kill()
    admission_of(cluster).process.start()
    admission_of(cluster).wait_ready(cluster.api)


def told(cluster: DevCluster, service: Object, **options: str) -> tuple[str, ...]:
    """Return the warnings for creating a Service. Raises ApiError if it is denied."""
    path = path_of(SERVICES, service["metadata"]["namespace"])
    return cluster.api.warnings("POST", path, params=options, body=service)


def test_a_mistake_gets_one_warning_with_the_events_text(asked: DevCluster, stage: Stage) -> None:
    wrong = service(stage.namespace, "shop", annotations=WRONG)
    assert told(asked, wrong, dryRun="All") == told(asked, wrong) == (SAID,)
    assert stage.until_event("shop", SAID).endswith(f"422 body: {SAID}")


def questions(cluster: DevCluster) -> int:
    metrics = cluster.control_plane.kubectl("get", "--raw=/metrics")
    counted = re.findall(r"^apiserver_admission_webhook_request_total{.*} (\S+)$", metrics, re.MULTILINE)
    return int(sum(map(float, counted)))


OTHER = {"example.com/owner": "a"}
MANY = {f"example.com/{number}": "" for number in range(900)}
BALANCED = {"status": {"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}}}
CHANGES: list[tuple[str, dict[str, str], Object, int]] = [
    ("an annotation", RIGHT, {"metadata": {"annotations": {"ingress/path": "/a"}}}, 1),
    ("an annotation of another entrance", OTHER, {"metadata": {"annotations": {"a.ingress/http": "true"}}}, 1),
    ("an annotation that may be one to copy", RIGHT, {"metadata": {"annotations": OTHER}}, 1),
    ("a port", RIGHT, {"spec": {"ports": [{"name": "http", "port": 81}]}}, 1),
    ("the type", RIGHT, {"spec": {"type": "ClusterIP"}}, 1),
    ("the last annotation goes", {"ingress/http": "true"}, {"metadata": {"annotations": None}}, 0),
    ("the same again", RIGHT, {"metadata": {"annotations": RIGHT}}, 0),
    ("a load balancer's status", RIGHT, BALANCED, 0),
    ("a finalizer", RIGHT, {"metadata": {"finalizers": ["example.com/keep"]}}, 0),
    ("a port of a Service that asks for nothing", MANY, {"spec": {"ports": [{"port": 81}]}}, 0),
]
"""Changes to a Service with these annotations, and how often the API server calls the webhook for each."""


def test_the_api_server_asks_only_about_relevant_changes(asked: DevCluster, stage: Stage) -> None:
    seen = {}
    for number, (reason, annotations, change, _) in enumerate(CHANGES):
        # Each has its own name: for a recreated object, the API server would first try to patch its cached version.
        name = f"shop-{number}"
        made = service(stage.namespace, name, annotations=annotations)
        made["spec"]["type"] = "LoadBalancer"
        stage.api.create(SERVICES, made)
        before, path = questions(asked), path_of(SERVICES, stage.namespace, name)
        stage.api.request("PATCH", path + ("/status" if "status" in change else ""), body=change)
        seen[reason] = questions(asked) - before
        stage.api.patch(SERVICES, name, {"metadata": {"finalizers": None}}, stage.namespace)
    assert seen == {reason: count for reason, _, _, count in CHANGES}


def test_the_api_server_asks_about_no_service_in_system_namespaces(asked: DevCluster) -> None:
    for namespace in ("kube-system", "ingress-manager", "metacontroller"):
        assert told(asked, service(namespace, "shop", annotations=WRONG), dryRun="All") == ()


def test_without_an_answer_every_write_goes_through(asked: DevCluster, stage: Stage) -> None:
    with admission_of(asked).process.paused():
        assert told(asked, service(stage.namespace, "stopped", annotations=WRONG)) == ()
    admission_of(asked).process.kill()
    assert told(asked, service(stage.namespace, "killed", annotations=WRONG)) == ()
    restart(asked)


def test_with_deny_only_new_mistakes_are_denied(asked: DevCluster, stage: Stage) -> None:
    def patch(**metadata: Any) -> None:
        stage.api.patch(SERVICES, "shop", {"metadata": metadata}, stage.namespace)

    published(stage)
    patch(annotations=WRONG)
    before = asked.settings_file.read_text()
    asked.settings_file.write_text(yaml.safe_dump({"admission": {"deny": True}}))
    restart(asked)
    try:
        with pytest.raises(ApiError, match=re.escape(SAID)):
            stage.api.create(SERVICES, service(stage.namespace, "another", annotations=WRONG))
        with pytest.raises(ApiError, match="ingress/class"):
            patch(annotations={"ingress/class": "Not_A_Class"})
        patch(finalizers=["example.com/keep"])
        stage.api.delete(SERVICES, "shop", stage.namespace)
        patch(finalizers=None)
        stage.until("no Service", lambda: stage.api.get(SERVICES, "shop", stage.namespace) is None)
        stage.until("no Ingress", lambda: stage.ingress("shop") is None)
    finally:
        asked.settings_file.write_text(before)
        restart(asked)
