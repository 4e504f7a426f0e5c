"""When the name of an Ingress is taken: what the admission policy denies, and what the Service's owner sees."""

import re
from typing import Any

import pytest

from devcluster.api import INGRESSES, NAMESPACES, SERVICES, ApiError, Object, Resource, path_of, wait_for
from devcluster.build import REPOSITORY
from devcluster.cluster import DevCluster
from devcluster.control_plane import ControlPlane
from devcluster.story import Stage
from tests.e2e.audit import until_create_met_an_existing_ingress
from tests.e2e.objects import CONFIG_MAPS, by_hand, create, new

pytestmark = pytest.mark.gate

LABEL = {"app.kubernetes.io/managed-by": "ingress-manager"}
DECORATOR = "metacontroller.k8s.io/decorator-controller"
OURS = {DECORATOR: "ingress-manager"}
NAMESPACE = "name-taken"


def ingress(namespace: str, name: str, **metadata: Any) -> Object:
    return by_hand(namespace, name, "elsewhere.example.com", "elsewhere", metadata=metadata)


@pytest.fixture(scope="module")
def plane(empty_cluster: ControlPlane) -> ControlPlane:
    """Return an API server with the policy and a namespace in which a Service and a ConfigMap are named shop."""
    api = empty_cluster.api
    empty_cluster.kubectl("apply", "--filename", str(REPOSITORY / "metacontroller/controller/name-taken.yaml"))
    create(api, NAMESPACES, NAMESPACE)
    create(api, CONFIG_MAPS, "shop", NAMESPACE)
    Stage(api, NAMESPACE).create_service("shop", {})
    return empty_cluster


def owner(plane: ControlPlane, resource: Resource, **fields: Any) -> dict[str, list[Object]]:
    """Return the ownerReferences of an Ingress that belongs to the object named shop."""
    found = plane.api.get(resource, "shop", NAMESPACE)
    assert found is not None
    reference = {"apiVersion": "v1", "kind": resource.kind, "name": "shop", "uid": found["metadata"]["uid"]}
    return {"ownerReferences": [reference | fields]}


def answer(plane: ControlPlane, name: str, **metadata: Any) -> int:
    """Return the API server's status for a create of such an Ingress, as a dry run."""
    try:
        body = ingress(NAMESPACE, name, **metadata)
        plane.api.request("POST", path_of(INGRESSES, NAMESPACE), params={"dryRun": "All"}, body=body)
    except ApiError as error:
        return error.status
    return 201


DENIED, ALREADY_EXISTS = 403, 409
ENTRANCES = ("shop", "shop.internal")
"""What the Ingresses of the Service are called."""


@pytest.mark.parametrize(
    ("existing", "owned_by", "status"),
    [
        pytest.param({}, None, DENIED, id="somebody's"),
        pytest.param({"labels": {"app.kubernetes.io/managed-by": "Helm"}}, None, DENIED, id="Helm's"),
        pytest.param({"labels": LABEL}, None, ALREADY_EXISTS, id="one with our label"),
        pytest.param({"annotations": OURS}, None, DENIED, id="one with our annotation and no owner"),
        pytest.param({"annotations": OURS}, (SERVICES, {}), DENIED, id="one that the Service does not control"),
        pytest.param(
            {"annotations": OURS}, (CONFIG_MAPS, {"controller": True}), DENIED, id="one that another kind controls"
        ),
        pytest.param(
            {"annotations": {DECORATOR: "other"}},
            (SERVICES, {"controller": True}),
            DENIED,
            id="one of another DecoratorController",
        ),
        pytest.param(
            {"annotations": OURS}, (SERVICES, {"controller": True}), ALREADY_EXISTS, id="ours, without its label"
        ),
    ],
)
def test_a_create_of_ours_is_denied_where_an_ingress_that_is_not_ours_has_the_name(
    plane: ControlPlane, existing: dict[str, Any], owned_by: tuple[Resource, dict[str, Any]] | None, status: int
) -> None:
    owners = owner(plane, owned_by[0], **owned_by[1]) if owned_by else {}
    for name in ENTRANCES:
        plane.api.create(INGRESSES, ingress(NAMESPACE, name, **existing, **owners))
    plane.api.create(INGRESSES, ingress(NAMESPACE, "later"))
    try:
        # The policy sees the Ingresses a moment after they were made, in the same order.
        wait_for(lambda: answer(plane, "later", annotations=OURS) == DENIED, what="the policy's view of the Ingresses")
        for name in ENTRANCES:
            assert answer(plane, name, annotations=OURS) == status
            assert answer(plane, name) == ALREADY_EXISTS, "a person's create is not the policy's business"
        assert answer(plane, "free", annotations=OURS) == 201, "an Ingress of another name is not in the way"
    finally:
        for name in (*ENTRANCES, "later"):
            plane.api.delete(INGRESSES, name, NAMESPACE)


def test_the_event_says_what_the_readme_of_metacontroller_says(stage: Stage) -> None:
    readme = (REPOSITORY / "metacontroller/README.md").read_text(encoding="utf-8")
    quoted = " ".join(line.removeprefix("> ") for line in re.findall(r"^> .*$", readme, re.MULTILINE))
    stage.api.create(INGRESSES, by_hand(stage.namespace, "blog", "elsewhere.example.com", "blog"))
    stage.create_service("blog", {"ingress/http": "true"})
    stage.until_event("blog", quoted.replace("team-a/", f"{stage.namespace}/"))


def test_adopt_is_not_offered_for_an_ingress_that_leads_elsewhere(stage: Stage) -> None:
    stage.api.create(INGRESSES, ingress(stage.namespace, "blog"))
    stage.create_service("blog", {"ingress/http": "true"})
    says = "is left alone; another entrance of this Service, such as web.ingress/http, has an Ingress of another name"
    stage.until_event(
        "blog", f"Ingress {stage.namespace}/blog is in the way: it was not made by ingress-manager and {says}"
    )
    backend = {"service": {"name": "shop", "port": {"number": 80}}}
    stage.api.create(INGRESSES, new(INGRESSES, "shop.web", stage.namespace, spec={"defaultBackend": backend}))
    stage.create_service("shop", {"web.ingress/http": "true"})
    stage.until_event("shop", f"`ingress-manager adopt {stage.namespace}/shop.web` makes it ingress-manager's while it")


def test_a_service_made_again_while_the_garbage_collector_lags_has_its_ingress_soon_after(
    cluster: DevCluster, stage: Stage
) -> None:
    stage.create_service("shop", {"ingress/http": "true"})
    old = stage.until_ingress("shop", "the Ingress", lambda _: True)
    with cluster.control_plane.controller_manager.paused():
        stage.api.delete(SERVICES, "shop", stage.namespace)
        stage.create_service("shop", {"ingress/http": "true"})
        until_create_met_an_existing_ingress(cluster, stage, "shop")
        assert stage.ingress("shop") == old
    service = stage.api.get(SERVICES, "shop", stage.namespace)
    assert service is not None

    def owners() -> list[str]:
        found = stage.ingress("shop") or {"metadata": {"ownerReferences": []}}
        return [reference["uid"] for reference in found["metadata"]["ownerReferences"]]

    wait_for(lambda: owners() == [service["metadata"]["uid"]], 10, what="the Ingress of the new Service")
