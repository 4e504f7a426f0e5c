"""A real API server, with strict validation, accepts every Ingress that the hook can answer with.

It also accepts the Service of each attack: one that it refuses would never reach the hook.
"""

from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, Phase, given, settings

from devcluster.api import INGRESSES, NAMESPACES, SERVICES, Resource, path_of
from devcluster.control_plane import ControlPlane
from hooks.policy import Policy
from tests import made_up
from tests.metacontroller import Object
from tests.test_attacks import ATTACKS
from tests.test_cases import CASES
from tests.test_properties import wanted

GOLDEN = [
    case
    for case in (*CASES, *ATTACKS)
    if (case / "ingress.yaml").exists() and yaml.safe_load((case / "ingress.yaml").read_text(encoding="utf-8"))
]


def accepted(plane: ControlPlane, resource: Resource, sent: Object) -> Object:
    """Return an object as the API server would store it. Raises ApiError when it would not."""
    namespace = sent["metadata"]["namespace"]
    if plane.api.get(NAMESPACES, namespace) is None:
        plane.api.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
    return plane.api.request("POST", path_of(resource, namespace), params={"dryRun": "All"}, body=sent)


@pytest.mark.parametrize("case", GOLDEN, ids=lambda path: path.name)
def test_a_golden_ingress_comes_back_as_it_was_sent(case: Path, empty_cluster: ControlPlane) -> None:
    sent = yaml.safe_load((case / "ingress.yaml").read_text(encoding="utf-8"))
    stored = accepted(empty_cluster, INGRESSES, sent)
    assert stored["spec"] == sent["spec"], "no default is added: it would look like drift"
    kept = {key: stored["metadata"][key] for key in sent["metadata"]}
    assert kept == sent["metadata"]


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda path: path.name)
def test_the_service_of_an_attack_is_stored_as_it_was_sent(attack: Path, empty_cluster: ControlPlane) -> None:
    sent = yaml.safe_load((attack / "service.yaml").read_text(encoding="utf-8"))
    assert accepted(empty_cluster, SERVICES, sent)["metadata"]["annotations"] == sent["metadata"]["annotations"]


def test_ingresses_made_up_at_random_are_accepted(empty_cluster: ControlPlane, pytestconfig: pytest.Config) -> None:
    count, enough = 0, 200 if pytestconfig.getoption("--thorough") else 50

    @settings(
        max_examples=enough,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(made_up.valid_services(), made_up.policy())
    def accept(parent: Object, policy: Policy) -> None:
        nonlocal count
        for ingress in wanted(parent, policy) or wanted(parent, Policy()):
            accepted(empty_cluster, INGRESSES, ingress)
            count += 1

    accept()
    assert count >= enough
