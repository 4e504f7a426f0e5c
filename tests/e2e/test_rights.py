"""What Metacontroller and Traefik ask for, by the API server's audit log. tests/manifests has all that they may do."""

import pytest
import yaml

from devcluster import engines, gateway
from devcluster.build import REPOSITORY
from devcluster.cluster import DevCluster
from devcluster.story import Stage
from tests.e2e.audit import READS

WATCHED = {"endpointslices", "ingressclasses", "ingresses", "nodes", "secrets", "services"}


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
