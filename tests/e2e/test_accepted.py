"""A real API server, with strict validation, accepts every object that the hook can answer with."""

import pytest
from hypothesis import given

from devcluster.api import HTTPROUTES, INGRESSES, LISTENERSETS, NAMESPACES, path_of
from devcluster.control_plane import ControlPlane
from devcluster.sync_requests import Object
from ingress_manager.core.policy import Policy
from tests.core import made_up
from tests.core.test_cases import CASES
from tests.core.test_properties import desired_for
from tests.e2e.objects import create

RESOURCES = {"Ingress": INGRESSES, "HTTPRoute": HTTPROUTES, "ListenerSet": LISTENERSETS}
GOLDEN = [pytest.param(made, id=f"{case.name}-{number}") for case in CASES for number, made in enumerate(case.objects)]


def accepted(plane: ControlPlane, sent: Object) -> Object:
    """Return an object as the API server would store it. Raises ApiError when it would not."""
    namespace = sent["metadata"]["namespace"]
    if plane.api.get(NAMESPACES, namespace) is None:
        create(plane.api, NAMESPACES, namespace)
    return plane.api.request("POST", path_of(RESOURCES[sent["kind"]], namespace), params={"dryRun": "All"}, body=sent)


@pytest.mark.parametrize("sent", GOLDEN)
def test_a_golden_object_comes_back_as_it_was_sent(sent: Object, empty_cluster: ControlPlane) -> None:
    stored = accepted(empty_cluster, sent)
    assert stored["spec"] == sent["spec"], "no default is added: it would look like drift"
    assert {key: stored["metadata"][key] for key in sent["metadata"]} == sent["metadata"]


@given(made_up.valid_services() | made_up.WITH_ENTRANCES, made_up.policy())
def test_what_is_made_up_at_random_is_accepted(empty_cluster: ControlPlane, parent: Object, policy: Policy) -> None:
    for made in desired_for(parent, policy) or desired_for(parent, Policy()):
        accepted(empty_cluster, made)
