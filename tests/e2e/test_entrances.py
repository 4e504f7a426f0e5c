"""Several entrances of one Service: each has a controller of its own, and the promises hold for each by itself."""

from collections.abc import Iterator

import pytest

from devcluster.api import SERVICES, Object, wait_for
from devcluster.backend import Backend
from devcluster.cluster import DevCluster
from devcluster.gateway import answers
from devcluster.story import Stage
from tests.e2e.objects import INGRESS_CLASSES, create
from tests.e2e.test_traffic import only
from tests.e2e.traffic import ON, PATIENCE, Place

ADDRESS, INSIDE = "127.0.0.7", "inside"
INTERNAL = {"internal.ingress/http": "true"}


@pytest.fixture
def two_controllers(serving: DevCluster) -> Iterator[Place]:
    """Yield the namespace `ingress` while one more Traefik, at an address of its own, serves the class `inside`."""
    assert serving.gateway is not None

    def change(static: Object) -> None:
        static["providers"]["kubernetesIngress"]["ingressClass"] = INSIDE

    create(serving.api, INGRESS_CLASSES, INSIDE, spec={"controller": "traefik.io/ingress-controller"})
    traefik, [probes, *_] = serving.gateway.beside(ADDRESS, change), serving.gateway.internal_ports
    traefik.start()
    traefik.wait_ready(lambda: answers(probes, "/ping", address=ADDRESS))
    yield Place(serving, "ingress")
    traefik.kill()
    serving.api.delete(INGRESS_CLASSES, INSIDE)


def until_inside(place: Place, hosts: list[str], of: list[str]) -> None:
    """Return once the Traefik of the class `inside` serves these hosts, and no other of some."""
    port = place.gateway.http_port
    wait_for(
        lambda: [host for host in of if answers(port, "/", address=ADDRESS, host=host)] == hosts,
        PATIENCE,
        what=f"{hosts} alone being served inside",
    )


def test_each_of_two_controllers_serves_its_entrance_and_one_goes_without_the_other(two_controllers: Place) -> None:
    place = two_controllers
    outer, inner = hosts = [place.host("outer"), place.host("inner")]
    more = {"ingress/host": outer, "internal.ingress/host": inner, "internal.ingress/class": INSIDE}
    with place.service("sides", ON | INTERNAL | more) as service, Backend(service):
        place.until_served(outer)
        until_inside(place, [inner], of=hosts)
        place.until_404_page(inner)

        first = only(place, "sides")
        place.annotate("sides", {"internal.ingress/http": None})
        until_inside(place, [], of=hosts)
        place.annotate("sides", INTERNAL)
        until_inside(place, [inner], of=hosts)
        assert only(place, "sides") == first

        second = only(place, "sides.internal")
        place.annotate("sides", {"ingress/http": "false"})
        place.until_404_page(outer)
        until_inside(place, [inner], of=hosts)
        assert only(place, "sides.internal") == second


@pytest.fixture
def entrances(stage: Stage) -> Stage:
    """Return a namespace in which the Service shop has two entrances."""
    stage.create_service("shop", ON | INTERNAL | {"internal.ingress/host": "inner.example.com"})
    for name in ("shop", "shop.internal"):
        stage.until_ingress(name, "the Ingress", lambda _: True)
    return stage


def annotate(stage: Stage, annotations: dict[str, str | None]) -> None:
    stage.api.patch(SERVICES, "shop", {"metadata": {"annotations": annotations}}, stage.namespace)


def test_a_mistake_in_one_entrance_changes_neither_and_the_other_can_still_opt_out(entrances: Stage) -> None:
    before = {name: entrances.ingress(name) for name in ("shop", "shop.internal")}
    annotate(entrances, {"internal.ingress/path": "x", "ingress/host": "other.example.com"})
    entrances.until_event("shop", 'internal.ingress/path: "x" must start with /')
    assert {name: entrances.ingress(name) for name in before} == before
    annotate(entrances, {"ingress/http": "false"})
    entrances.until("no Ingress shop", lambda: entrances.ingress("shop") is None)
    assert entrances.ingress("shop.internal") == before["shop.internal"]
    annotate(entrances, {"internal.ingress/http": None})
    entrances.until("no Ingress at all", lambda: entrances.ingress("shop.internal") is None)
