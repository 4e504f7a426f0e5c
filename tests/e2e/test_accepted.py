"""A real API server, with strict validation, accepts every object that the hook can answer with."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from devcluster.api import NAMESPACES, Api, path_of
from devcluster.cluster import DevCluster
from devcluster.control_plane import ControlPlane
from devcluster.sync_requests import Object, service
from ingress_manager.core.annotations import HTTP, KEYS, PROFILE, TLS
from ingress_manager.core.settings import Settings
from ingress_manager.core.settings_parser import parse
from tests.core import made_up
from tests.core.test_cases import CASES
from tests.core.test_properties import desired_for
from tests.e2e.objects import RESOURCES, create

GOLDEN = [pytest.param(made, id=f"{case.name}-{number}") for case in CASES for number, made in enumerate(case.objects)]


def accepted(api: Api, sent: Object) -> Object:
    """Return an object as the API server would store it. Raises ApiError when it would not."""
    namespace = sent["metadata"]["namespace"]
    if api.get(NAMESPACES, namespace) is None:
        create(api, NAMESPACES, namespace)
    return api.request("POST", path_of(RESOURCES[sent["kind"]], namespace), params={"dryRun": "All"}, body=sent)


@pytest.mark.parametrize("sent", GOLDEN)
def test_a_golden_object_comes_back_as_it_was_sent(sent: Object, empty_cluster: ControlPlane) -> None:
    stored = accepted(empty_cluster.api, sent)
    assert stored["spec"] == sent["spec"], "no default is added: it would look like drift"
    assert {key: stored["metadata"][key] for key in sent["metadata"]} == sent["metadata"]


@given(made_up.valid_services() | made_up.WITH_ENTRANCES, made_up.settings())
def test_what_is_made_up_at_random_is_accepted(empty_cluster: ControlPlane, parent: Object, settings: Settings) -> None:
    for made in desired_for(parent, settings) or desired_for(parent, Settings()):
        accepted(empty_cluster.api, made)


FULL = """
defaults: {outputs: [ingress, httproute], gateway: {name: web, namespace: infrastructure}}
limits: {pathTypes: [Prefix, Exact, ImplementationSpecific]}
profiles:
  full:
    outputs: [ingress, httproute]
    annotations: {}
    filters: [{type: ExtensionRef, extensionRef: {group: traefik.io, kind: Middleware, name: login}}]
    timeouts: {request: 60s, backendRequest: 30s}
    retry: {attempts: 3, codes: [502, 503], backoff: 100ms}
"""
"""Settings whose profile states all that a profile can state of a rule of an HTTPRoute."""


@pytest.mark.gate
@pytest.mark.parametrize("key", KEYS)
@given(data=st.data())
def test_an_annotation_beside_a_full_profile_is_accepted(key: str, data: st.DataObject, serving: DevCluster) -> None:
    right = made_up.WORDS[key] if key != PROFILE else st.just("full")
    made = desired_for(service({HTTP: "true", TLS: "true", PROFILE: "full", key: data.draw(right)}), parse(FULL))
    assume(made)
    for each in made:  # without the label, with which only ingress-manager may create it
        accepted(serving.api, each | {"metadata": {"name": each["metadata"]["name"], "namespace": "both"}})
