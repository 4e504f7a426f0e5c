"""The story, and what a Service's owner and other people can do beside it."""

import pytest

from devcluster.api import INGRESSES, SERVICES
from devcluster.cluster import DevCluster
from devcluster.story import Stage, routes, steps_for
from tests.e2e.audit import until_create_met_an_existing_ingress

pytestmark = pytest.mark.gate


def test_the_story(stage: Stage) -> None:
    for step in steps_for(stage):
        step.play(stage)


def test_a_service_that_waits_for_its_ingress_is_removed_and_so_is_that(stage: Stage) -> None:
    stage.create_service("shop", {"ingress/http": "true"})
    stage.until_ingress("shop", "the Ingress", lambda _: True)
    stage.api.delete(SERVICES, "shop", stage.namespace, propagation="Foreground")
    stage.until("no Ingress", lambda: stage.ingress("shop") is None)
    stage.until("no Service", lambda: stage.api.get(SERVICES, "shop", stage.namespace) is None)


def test_what_others_add_to_our_ingress_stays(stage: Stage) -> None:
    """An ingress controller, or cert-manager, may write annotations of its own."""
    stage.create_service("shop", {"ingress/http": "true"})
    stage.until_ingress("shop", "the Ingress", lambda _: True)
    mark = {"metadata": {"annotations": {"example.com/mark": "kept"}, "labels": {"team": "a"}}}
    stage.api.patch(INGRESSES, "shop", mark, stage.namespace)
    stage.api.patch(SERVICES, "shop", {"spec": {"ports": [{"name": "http", "port": 81}]}}, stage.namespace)
    ingress = stage.until_ingress("shop", "the new port", lambda found: routes(found)[0][4] == 81)
    assert ingress["metadata"]["annotations"]["example.com/mark"] == "kept"
    assert ingress["metadata"]["labels"] == {"app.kubernetes.io/managed-by": "ingress-manager", "team": "a"}


def test_an_ingress_without_metacontrollers_annotation_is_left_alone_until_it_is_put_back(
    cluster: DevCluster, stage: Stage
) -> None:
    stage.create_service("shop", {"ingress/http": "true"})
    stage.until_ingress("shop", "the Ingress", lambda _: True)
    key = "metacontroller.k8s.io/decorator-controller"
    lost = stage.api.patch(INGRESSES, "shop", {"metadata": {"annotations": {key: None}}}, stage.namespace)
    stage.api.patch(SERVICES, "shop", {"spec": {"ports": [{"name": "http", "port": 81}]}}, stage.namespace)
    until_create_met_an_existing_ingress(cluster, stage, "shop")
    assert stage.ingress("shop") == lost
    assert stage.events("shop") == []
    stage.api.patch(INGRESSES, "shop", {"metadata": {"annotations": {key: "ingress-manager"}}}, stage.namespace)
    stage.until_ingress("shop", "the new port", lambda found: routes(found)[0][4] == 81)
