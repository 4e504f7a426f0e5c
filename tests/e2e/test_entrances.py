"""Several entrances of one Service: each has a controller of its own, and goes without the other."""

from collections.abc import Iterator

import pytest

from devcluster.api import Object, wait_for
from devcluster.backend import Backend
from devcluster.cluster import DevCluster
from devcluster.gateway import answers
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
