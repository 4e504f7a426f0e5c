"""Which tools keep an object, by its field managers: tests/commands/adopt has labels and annotations."""

from typing import Any

import pytest

from ingress_manager.commands.plans.deployers import about_service, deployers_of, not_yet
from ingress_manager.commands.reading.manifests import Item, Origin

BEFORE = "before this, or another value in the"


def item(*managers: str, **metadata: Any) -> Item:
    """Return a Service that these have written, each as "NAME OPERATION"."""
    entries = [dict(zip(("manager", "operation"), manager.split(), strict=True)) for manager in managers]
    metadata = {"name": "shop", "namespace": "team-a", "managedFields": entries} | metadata
    return Item({"apiVersion": "v1", "kind": "Service", "metadata": metadata}, Origin("", "team-a"))


@pytest.mark.parametrize(
    ("managers", "names", "is_before"),
    [
        (["helm Apply", "kubectl-annotate Update"], ["Helm"], True),
        (["helm-controller Apply"], ["Helm"], True),
        (["kubectl Apply", "metacontroller Update"], ["kubectl apply"], True),
        (["argocd-controller Update"], ["Argo CD"], False),
        (["argocd-controller Apply", "kubectl Apply"], ["Argo CD"], False),
        (["kubectl-patch Update", "kubectl-create Update"], [], False),
    ],
    ids=str,
)
def test_a_tool_is_known_by_its_field_manager_and_whether_it_refuses_what_others_have_set(
    managers: list[str], names: list[str], is_before: bool
) -> None:
    found = item(*managers)
    assert [deployer.name for deployer in deployers_of(found)] == names
    assert [BEFORE in sentence for sentence in about_service(found)] == [is_before for _ in names]


@pytest.mark.parametrize("entries", [None, "kubectl", [None, {}, {"manager": 1}]], ids=str)
def test_field_managers_that_no_api_server_has_are_nobodys(entries: Any) -> None:
    assert deployers_of(item(managedFields=entries)) == []


def test_what_flux_takes_off_waits_for_git_and_nothing_waits_where_nothing_is_annotated() -> None:
    ingress, service = item(), item("kustomize-controller Apply")
    assert list(not_yet(ingress, [(service, {})])) == []
    assert list(not_yet(ingress, [(service, {"ingress/http": "true"})])) == [
        "Flux keeps Service shop, and takes off annotations that Git doesn't have: put them into Git first"
    ]
