"""What is missing for a reason: the API server denies it, and `ingress-manager audit` says who, and why."""

import json
from typing import Any

import pytest

from devcluster.api import INGRESSES, WEBHOOKS, ApiError, Object, Resource, path_of, wait_for
from devcluster.cluster import DevCluster
from devcluster.story import Stage
from tests.e2e.objects import POLICIES, POLICY_BINDINGS, by_hand, create
from tests.e2e.shell import run, sh

QUOTAS = Resource("v1", "resourcequotas", "ResourceQuota")
RULE = {"apiGroups": ["networking.k8s.io"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["ingresses"]}


def only_in(namespace: str) -> Object:
    return {"matchLabels": {"kubernetes.io/metadata.name": namespace}}


def quota(stage: Stage) -> list[tuple[Resource, str]]:
    none = {"count/ingresses.networking.k8s.io": "0"}
    create(stage.api, QUOTAS, "none", stage.namespace, spec={"hard": none})
    # The API server counts from what the controller of quotas has written, which doesn't run here.
    status = f"{path_of(QUOTAS, stage.namespace, 'none')}/status"
    stage.api.request("PATCH", status, body={"status": {"hard": none, "used": none}})
    return [(QUOTAS, "none")]


def policy(stage: Stage) -> list[tuple[Resource, str]]:
    name = f"only-the-platform.{stage.namespace}"
    validations = [{"expression": "false", "message": "only the platform may make Ingresses"}]
    spec = {"matchConstraints": {"resourceRules": [RULE]}, "validations": validations}
    create(stage.api, POLICIES, name, spec=spec)
    where = {"namespaceSelector": only_in(stage.namespace)}
    binding = {"policyName": name, "validationActions": ["Deny"], "matchResources": where}
    create(stage.api, POLICY_BINDINGS, name, spec=binding)
    return [(POLICY_BINDINGS, name), (POLICIES, name)]


def webhook(stage: Stage) -> list[tuple[Resource, str]]:
    name = f"gone.{stage.namespace}.example.com"
    hook = {
        "name": name,
        "clientConfig": {"url": "https://127.0.0.1:1/"},
        "rules": [RULE],
        "namespaceSelector": only_in(stage.namespace),
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    create(stage.api, WEBHOOKS, name, webhooks=[hook])
    return [(WEBHOOKS, name)]


OBSTACLES = {
    "the ResourceQuota none is used up; ": quota,
    "the ValidatingAdmissionPolicy only-the-platform.NAMESPACE denies it; ": policy,
    "the admission webhook gone.NAMESPACE.example.com doesn't answer; ": webhook,
}


def is_denied(stage: Stage) -> bool:
    body = by_hand(stage.namespace, "tried", "tried.example.com", "tried")
    try:
        stage.api.request("POST", path_of(INGRESSES, stage.namespace), params={"dryRun": "All"}, body=body)
    except ApiError:
        return True
    return False


def missing(cluster: DevCluster, stage: Stage) -> dict[str, Any]:
    """Return the only thing that is found."""
    settings = f"--current-settings={cluster.settings_file}"
    ended = run(cluster.control_plane, "audit", settings, "-o", "json", "-n", stage.namespace)
    [found] = json.loads(ended.stdout)["findings"]
    assert (found["kind"], ended.returncode) == ("missing", 1), ended.stderr
    return dict(found)


@pytest.mark.parametrize("says", OBSTACLES)
def test_what_is_in_the_way_is_named_and_metacontroller_tries_at_once_when_the_service_changes(
    cluster: DevCluster, stage: Stage, says: str
) -> None:
    stands = OBSTACLES[says](stage)
    try:
        wait_for(lambda: is_denied(stage), 30, what="that the API server knows it")
        stage.create_service("shop", {"ingress/http": "true", "ingress/host": f"{stage.namespace}.example.com"})
        message = stage.until_event("shop", "can't reconcile children")
        found = missing(cluster, stage)
        assert (
            f"isn't there: {says.replace('NAMESPACE', stage.namespace)}Metacontroller said at 20" in found["sentence"]
        )
        assert found["sentence"].endswith(message.removeprefix("Sync error: "))
        sh(cluster.control_plane, found["command"])
    finally:
        for resource, name in stands:
            stage.api.delete(resource, name, stage.namespace if resource.namespaced else None)
    wait_for(lambda: not is_denied(stage), 30, what="that the API server knows that it is gone")
    sh(cluster.control_plane, f"kubectl annotate -n {stage.namespace} service shop example.com/touched=again")
    stage.until_ingress("shop", "the Ingress, at once", lambda _: True)


def test_a_hook_that_does_not_answer_is_what_is_in_the_way(cluster: DevCluster, stage: Stage) -> None:
    cluster.hook.kill()
    try:
        stage.create_service("shop", {"ingress/http": "true", "ingress/host": f"{stage.namespace}.example.com"})
        stage.until_event("shop", "sync hook failed")
        assert "isn't there: the hook doesn't answer as it should; " in missing(cluster, stage)["sentence"]
    finally:
        cluster.hook.start()
        cluster.hook.wait_ready(cluster.hook_ready)
    stage.until_ingress("shop", "the Ingress", lambda _: True)
