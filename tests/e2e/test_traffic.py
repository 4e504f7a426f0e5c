"""Requests from outside reach the Service, by Ingress and by HTTPRoute, and each change takes effect on them."""

import contextlib
from collections.abc import Iterator

import pytest

from devcluster import gateway
from devcluster.api import INGRESSES, SERVICES, Api, Object, path_of, wait_for
from devcluster.backend import Backend
from devcluster.cluster import DevCluster
from devcluster.gateway import Answer
from tests.e2e.objects import INGRESS_CLASSES, by_hand, create
from tests.e2e.traffic import NOBODYS, ON, Place, backend


@pytest.mark.gate
def test_a_service_is_served_once_it_is_annotated_and_no_longer_once_it_opts_out(place: Place) -> None:
    host = place.host("annotated")
    with place.service("annotated", {}) as service, Backend(service):
        place.until_404_page(host)
        place.annotate("annotated", ON)
        assert backend(place.until_served(host)) == (f"{place.namespace}/annotated", 80)
        place.annotate("annotated", {"ingress/http": None})
        place.until_404_page(host)


def test_a_changed_host_path_and_port_take_effect(place: Place) -> None:
    old, new, ports = place.host("old"), place.host("new"), ({"port": 80}, {"port": 8080})
    asked = {**ON, "ingress/host": old, "ingress/port": "80"}
    with place.service("changes", asked, ports) as service, Backend(service), Backend(service, 8080):
        assert backend(place.until_served(old))[1] == 80
        place.annotate("changes", {"ingress/host": new, "ingress/path": "/cart", "ingress/port": "8080"})
        assert backend(place.until_served(new, "/cart/1"))[1] == 8080
        place.until_404_page(old)
        place.until_404_page(new)


def only(place: Place, name: str) -> Object:
    found = place.api.get(place.resource, name, place.namespace)
    assert found is not None
    return found


ADDRESS = [{"ip": "192.0.2.1"}]


@pytest.fixture
def with_an_address(serving: DevCluster) -> Iterator[None]:
    """Give the gateway an address, as a cloud does. Then Traefik writes it to the status of what it serves."""
    address(serving.api, ADDRESS)
    yield
    address(serving.api, None)


def address(api: Api, ingress: list[Object] | None) -> None:
    path = path_of(SERVICES, gateway.NAME, gateway.NAME) + "/status"
    api.request("PATCH", path, body={"status": {"loadBalancer": {"ingress": ingress}}})


def written_by_the_gateway(cluster: DevCluster) -> set[str]:
    """Return the names of the Ingresses that Traefik has written to, from the audit log."""
    return {
        event["objectRef"]["name"]
        for event in cluster.audit_events()
        if event["user"]["username"] == gateway.USER
        and event["verb"] not in ("get", "list", "watch")
        and event.get("objectRef", {}).get("resource") == "ingresses"
    }


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
        wait_for(lambda: only(place, "later")["status"]["loadBalancer"].get("ingress") == ADDRESS, what="the address")
        place.until_404_page(place.host("stranger"))
        assert not classes.keys() & written_by_the_gateway(serving)


# A rule without a host, and a default backend. All other tests expect the 404 page of every other host.


def from_service(place: Place, name: str, answer: Answer) -> bool:
    return answer.status == 200 and backend(answer) == (f"{place.namespace}/{name}", 80)


def until_from(place: Place, name: str, host: str) -> None:
    """Return once both Traefiks send requests to the Service of that name."""
    place.until(f"an answer of {name}", lambda found: from_service(place, name, found), host, "/any/path")


def test_a_rule_without_a_host_answers_for_every_host_that_no_other_rule_names(place: Place) -> None:
    with (
        place.service("of-a-host") as named,
        place.service("of-every-host", {**ON, "ingress/host": "*"}) as every,
        Backend(named),
        Backend(every),
    ):
        until_from(place, "of-every-host", NOBODYS)
        until_from(place, "of-a-host", place.host("of-a-host"))
    place.until_404_page(NOBODYS)


def test_a_default_backend_answers_what_no_rule_matches_and_of_an_ingress_with_rules_nothing(place: Place) -> None:
    annotations = {**ON, "ingress/default-backend": "true", "ingress/port": "80"}
    with place.service("default") as named, place.service("no-rule", {}) as alone, Backend(named), Backend(alone):
        place.annotate("no-rule", {**annotations, "ingress/host": None})
        until_from(place, "no-rule", NOBODYS)
        until_from(place, "default", place.host("default"))
        place.annotate("no-rule", {"ingress/host": place.host("no-rule")})
        until_from(place, "no-rule", place.host("no-rule"))
        if place.namespace == "ingress":
            place.until_404_page(NOBODYS)
        else:
            until_from(place, "no-rule", NOBODYS)
    place.until_404_page(NOBODYS)
