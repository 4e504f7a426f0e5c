"""What the engine may do, by the API server's authorizer, and what it and Traefik do, by its audit log.

tests/manifests has the whole list of their rights; here are the promises that rest on it.
"""

import pytest
import yaml

from devcluster import engines, gateway
from devcluster.build import REPOSITORY
from devcluster.cluster import DevCluster
from devcluster.story import Stage
from tests.e2e.audit import READS
from tests.e2e.people import is_allowed

EVERYTHING = "get list watch create update patch delete"
FORBIDDEN = [
    "create update patch delete deletecollection: services",
    "update patch: services/status",
    "update patch: services/finalizers",
    "deletecollection: ingresses.networking.k8s.io",
    "update patch: ingresses/status.networking.k8s.io",
    f"{EVERYTHING}: secrets",
    f"{EVERYTHING}: secrets in metacontroller",
    "create get update: leases.coordination.k8s.io in kube-system",
]
"""What the engine may not do: verbs, a kind, and for some a namespace. The others are asked for in all namespaces."""

WATCHED = {"endpointslices", "ingressclasses", "ingresses", "nodes", "secrets", "services"}


@pytest.mark.gate
def test_the_api_servers_authorizer_says_what_metacontroller_may_not_do(cluster: DevCluster) -> None:
    assert is_allowed(cluster.api, engines.USER, "list", "services", ""), "it is who is asked about"
    allowed = []
    for line in FORBIDDEN:
        verbs, _, where = line.partition(": ")
        kind, _, namespace = where.partition(" in ")
        found = [verb for verb in verbs.split() if is_allowed(cluster.api, engines.USER, verb, kind, namespace)]
        allowed += [f"{verb} {where}" for verb in found]
    assert allowed == []


def tried(cluster: DevCluster, user: str) -> set[tuple[str, str, str]]:
    """Return what a user has asked the API server for: verb, kind and subresource. None of it was forbidden."""
    asked = {}
    for event in cluster.audit_events():
        if event["user"]["username"] == user:
            about = event.get("objectRef", {})
            what = (event["verb"], about.get("resource", event["requestURI"]), about.get("subresource", ""))
            asked[what] = event["annotations"]["authorization.k8s.io/decision"]
    assert [what for what, decision in asked.items() if decision == "forbid"] == []
    return set(asked)


@pytest.mark.gate
def test_the_engine_never_tries_what_it_may_not_do(cluster: DevCluster, stage: Stage) -> None:
    stage.create_service("shop", {"ingress/http": "true"})
    stage.until_ingress("shop", "the Ingress", lambda _: True)
    assert {kind for verb, kind, _ in tried(cluster, engines.USER) if verb not in READS} <= {
        "ingresses",
        "events",
        "leases",
    }


def test_traefik_tries_nothing_else_than_it_may_do_watches_all_of_it_and_writes_nothing_but_status(
    serving: DevCluster,
) -> None:
    role, *_ = yaml.safe_load_all((REPOSITORY / "gateway/gateway-api/rbac.yaml").read_text(encoding="utf-8"))
    granted = {kind for rule in role["rules"] if "watch" in rule["verbs"] for kind in rule["resources"]}
    asked = tried(serving, gateway.USER)
    assert {kind for verb, kind, _ in asked if verb == "watch"} == WATCHED | granted
    assert {(verb, part) for verb, _, part in asked if verb not in READS} <= {("update", "status")}
