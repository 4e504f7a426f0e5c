"""Filters and timeouts on a real API server: it judges as we do."""

from typing import Any

import msgspec
import pytest

from devcluster.api import CRDS, HTTPROUTES, ApiError, path_of
from devcluster.control_plane import ControlPlane
from ingress_manager.core.filters import Filter, rewrites_prefix
from ingress_manager.core.kubernetes import Object
from tests.core.test_filters import RIGHT, WRONG, made
from tests.e2e.objects import new

PREFIX = {"path": {"type": "PathPrefix", "value": "/a"}}
EXACT = {"path": {"type": "Exact", "value": "/b"}}
OF_REDIRECTS = {
    "filter.requestRedirect must be nil if the filter.type is not RequestRedirect",
    "filter.requestRedirect must be specified for RequestRedirect filter.type",
    "May specify either httpRouteFilterRequestRedirect or httpRouteFilterRequestRewrite, but not both",
    "RequestRedirect filter cannot be repeated",
}
"""Rules of the CRD that nothing of ours can break: no profile may have such a filter."""


def rules_of(schema: Object) -> set[str]:
    """Return the messages of all rules in a schema, but those for redirects."""
    found = {rule["message"] for rule in schema.get("x-kubernetes-validations", ())}
    for name, each in schema.get("properties", {}).items():
        if name != "requestRedirect":
            found |= rules_of(each)
    return found | (rules_of(schema["items"]) if "items" in schema else set())


@pytest.fixture(scope="module")
def rule_of_crd(empty_cluster: ControlPlane) -> Object:
    """Return what the CRD says of the fields of a rule."""
    crd = empty_cluster.api.get(CRDS, "httproutes.gateway.networking.k8s.io")
    assert crd
    [version] = [each for each in crd["spec"]["versions"] if each["name"] == "v1"]
    fields: Object = version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    rule: Object = fields["rules"]["items"]["properties"]
    return rule


def sent(plane: ControlPlane, stated: Object, *matches: Object) -> Object:
    """Return a rule with these filters and timeouts as the API server would store it. Raises ApiError."""
    rule = {"matches": list(matches), "backendRefs": [{"name": "shop", "port": 80}], **stated}
    route = new(HTTPROUTES, "shop", "default", spec={"rules": [rule]})
    stored = plane.api.request("POST", path_of(HTTPROUTES, "default"), params={"dryRun": "All"}, body=route)
    rules: list[Object] = stored["spec"]["rules"]
    return rules[0]


@pytest.mark.parametrize("row", RIGHT, ids=lambda row: row["what"])
def test_what_is_right_comes_back_as_it_was_sent(row: dict[str, Any], empty_cluster: ControlPlane) -> None:
    stored = sent(empty_cluster, made(row), PREFIX)
    assert {key: stored.get(key, []) for key in made(row)} == made(row), "no default is added: it would look like drift"
    for matches in ((PREFIX, EXACT), (EXACT,)):
        if rewrites_prefix(msgspec.convert(row.get("filters", []), list[Filter])):
            with pytest.raises(ApiError, match="exactly one PathPrefix match must be specified"):
                sent(empty_cluster, made(row), *matches)
        else:
            sent(empty_cluster, made(row), *matches)


def test_what_is_wrong_is_refused_by_every_rule_of_the_crd(rule_of_crd: Object, empty_cluster: ControlPlane) -> None:
    rules = rules_of(rule_of_crd["filters"]) | rules_of(rule_of_crd["timeouts"])
    unbroken = rules - OF_REDIRECTS
    for row in WRONG:
        refusal = ""
        try:
            sent(empty_cluster, {key: row[key] for key in ("filters", "timeouts") if key in row}, PREFIX)
        except ApiError as error:
            refusal = str(error)
        assert bool(refusal) != ("stricter" in row), (row["what"], refusal)
        unbroken = {message for message in unbroken if message not in refusal}
    assert rules > OF_REDIRECTS
    assert unbroken == set(), "a row is missing"
