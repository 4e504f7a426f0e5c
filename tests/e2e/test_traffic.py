"""Requests from outside reach the Service, by Ingress and by HTTPRoute, and each change takes effect on them."""

import contextlib
from collections.abc import Iterator

import pytest

from devcluster import gateway
from devcluster.api import INGRESSES, Object, wait_for
from devcluster.backend import Backend
from devcluster.cluster import DevCluster
from devcluster.gateway import answers
from tests.e2e.audit import done
from tests.e2e.objects import INGRESS_CLASSES, by_hand, create
from tests.e2e.traffic import ON, PATIENCE, Place, backend


@pytest.mark.gate
def test_a_service_is_served_once_it_is_annotated_and_no_longer_once_it_opts_out(place: Place) -> None:
    host = place.host("annotated")
    with place.service("annotated", {}) as service, Backend(service):
        place.until_404_page(host)
        place.annotate("annotated", ON)
        assert backend(place.until_served(host)) == (f"{place.namespace}/annotated", 80)
        place.annotate("annotated", {"ingress/http": None})
        place.until_404_page(host)


def only(place: Place, name: str) -> Object:
    found = place.api.get(place.resource, name, place.namespace)
    assert found is not None
    return found


ADDRESS = "192.0.2.1"


@pytest.fixture
def with_an_address(serving: DevCluster) -> Iterator[None]:
    """Give the gateway an address, as a cloud does. Then Traefik writes it to the status of what it serves."""
    gateway.give_addresses(serving.api, ADDRESS)
    yield
    gateway.give_addresses(serving.api)


@pytest.mark.usefixtures("with_an_address")
def test_an_ingress_of_another_class_or_of_none_is_neither_served_nor_written_to(serving: DevCluster) -> None:
    place = Place(serving, "ingress")
    with contextlib.ExitStack() as exits:
        create(place.api, INGRESS_CLASSES, "nginx", spec={"controller": "k8s.io/ingress-nginx"})
        exits.callback(place.api.delete, INGRESS_CLASSES, "nginx")
        service = exits.enter_context(place.service("stranger", {}))
        exits.enter_context(Backend(service))
        classes: dict[str, Object] = {"by-hand-nginx": {"ingressClassName": "nginx"}, "by-hand-no-class": {}}
        for name, of_class in classes.items():
            place.api.create(INGRESSES, by_hand("ingress", name, place.host("stranger"), "stranger", **of_class))
            exits.callback(place.api.delete, INGRESSES, name, "ingress")
        # Traefik takes up changes in their order: once it serves what came later, it has seen these.
        later = exits.enter_context(place.service("later"))
        exits.enter_context(Backend(later))
        place.until_served(place.host("later"))
        wait_for(
            lambda: only(place, "later")["status"]["loadBalancer"].get("ingress") == [{"ip": ADDRESS}],
            what="the address",
        )
        place.until_404_page(place.host("stranger"))
        by_the_gateway = done(serving, "ingresses", gateway.USER)
        assert not classes.keys() & {event["objectRef"].get("name") for event in by_the_gateway}


# Several entrances of one Service: each has a controller of its own, and goes without the other.

BESIDE, INSIDE = "127.0.0.7", "inside"
INTERNAL = {"internal.ingress/http": "true"}


@pytest.fixture
def two_controllers(serving: DevCluster) -> Iterator[Place]:
    """Yield the namespace `ingress` while one more Traefik, at an address of its own, serves the class `inside`."""
    assert serving.gateway is not None

    def change(static: Object) -> None:
        static["providers"]["kubernetesIngress"]["ingressClass"] = INSIDE

    create(serving.api, INGRESS_CLASSES, INSIDE, spec={"controller": "traefik.io/ingress-controller"})
    with serving.gateway.beside(BESIDE, change):
        yield Place(serving, "ingress")
    serving.api.delete(INGRESS_CLASSES, INSIDE)


def until_inside(place: Place, hosts: list[str], of: list[str]) -> None:
    """Return once the Traefik of the class `inside` serves these hosts, and no other of some."""
    port = place.gateway.http_port
    wait_for(
        lambda: [host for host in of if answers(port, "/", address=BESIDE, host=host)] == hosts,
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
