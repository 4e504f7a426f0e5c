"""Requests from outside reach the Service, by Ingress and by HTTPRoute, and each change takes effect on them."""

import contextlib
from collections.abc import Iterator

import pytest

from devcluster import gateway
from devcluster.api import INGRESSES, SERVICES, Api, Object, path_of, wait_for
from devcluster.backend import Backend
from devcluster.cluster import DevCluster
from devcluster.gateway import Answer
from tests.e2e.objects import GATEWAY_CLASSES, GATEWAYS, INGRESS_CLASSES, by_hand, create
from tests.e2e.traffic import ON, Place, asking, backend


@pytest.mark.gate
def test_a_service_is_served_once_it_is_annotated(place: Place) -> None:
    host = place.host("annotated")
    with place.service("annotated", {}) as service, Backend(service):
        place.until_404_page(host)
        place.annotate("annotated", ON)
        assert backend(place.until_served(host)) == (f"{place.namespace}/annotated", 80)


def test_a_changed_host_takes_effect(place: Place) -> None:
    old, new = place.host("old"), place.host("new")
    with place.service("host-changes", {**ON, "ingress/host": old}) as service, Backend(service):
        place.until_served(old)
        place.annotate("host-changes", {"ingress/host": new})
        place.until_served(new)
        place.until_404_page(old)


def test_a_changed_path_takes_effect(place: Place) -> None:
    host = place.host("path-changes")
    with place.service("path-changes", {**ON, "ingress/path": "/old"}) as service, Backend(service):
        place.until_served(host, "/old")
        place.annotate("path-changes", {"ingress/path": "/new"})
        place.until_served(host, "/new/cart")
        place.until_404_page(host, "/old")


def test_a_changed_port_takes_effect(place: Place) -> None:
    host, ports = place.host("port-changes"), ({"port": 80}, {"port": 8080})
    with (
        place.service("port-changes", {**ON, "ingress/port": "80"}, ports) as service,
        Backend(service),
        Backend(service, 8080),
    ):
        place.until("the first port", lambda answer: backend_port(answer) == 80, host)
        place.annotate("port-changes", {"ingress/port": "8080"})
        place.until("the other port", lambda answer: backend_port(answer) == 8080, host)


def backend_port(answer: Answer) -> int | None:
    return backend(answer)[1] if answer.status == 200 else None


@pytest.mark.gate
def test_the_404_page_answers_once_the_service_opts_out(place: Place) -> None:
    host = place.host("opts-out")
    with place.service("opts-out") as service, Backend(service):
        place.until_served(host)
        place.annotate("opts-out", {"ingress/http": None})
        place.until_404_page(host)


def test_the_404_page_answers_once_the_service_is_deleted(place: Place) -> None:
    host = place.host("deleted")
    with place.service("deleted") as service, Backend(service):
        place.until_served(host)
        place.api.delete(SERVICES, "deleted", place.namespace)
        place.until_404_page(host)


def test_while_what_was_deleted_is_restored_nothing_but_the_service_and_the_404_page_answers(place: Place) -> None:
    """`python -m bench gateway` measures for how long the page does."""
    host = place.host("restored")
    with place.service("restored") as service, Backend(service):
        place.until_served(host)
        with asking(lambda: answer_of(place.gateway.ask(host))) as answers:
            for number in range(3):
                uid = only(place, "restored")["metadata"]["uid"]
                place.api.delete(place.resource, "restored", place.namespace, uid=uid)
                wait_for(lambda uid=uid: is_another(place, "restored", uid), what="a new one")  # type: ignore[misc]
                # Traefik may still serve what was deleted. It takes up changes in their order: what serves this host
                # has learned of the new one.
                place.annotate("restored", {"ingress/host": f"{host}, {number}.{host}"})
                place.until_served(f"{number}.{host}")
    assert set(answers) <= {f"{place.namespace}/restored", "the 404 page"}


def only(place: Place, name: str) -> Object:
    found = place.api.get(place.resource, name, place.namespace)
    assert found is not None
    return found


def is_another(place: Place, name: str, uid: str) -> bool:
    found = place.api.get(place.resource, name, place.namespace)
    return found is not None and found["metadata"]["uid"] != uid


def answer_of(answer: Answer) -> str:
    if answer.is_the_404_page:
        return "the 404 page"
    return backend(answer)[0] if answer.status == 200 else f"{answer.status} {answer.body}"


def ingress(name: str, host: str, class_name: str | None) -> Object:
    """Return an Ingress in the namespace `ingress` that somebody has made by hand."""
    of_class: Object = {"ingressClassName": class_name} if class_name else {}
    return by_hand("ingress", f"by-hand-{class_name or 'no-class'}", host, name, **of_class)


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


def written_by_the_gateway(cluster: DevCluster, plural: str) -> set[str]:
    """Return the names of the objects that Traefik has written to, from the audit log."""
    return {
        event["objectRef"]["name"]
        for event in cluster.audit_events()
        if event["user"]["username"] == gateway.USER
        and event["verb"] not in ("get", "list", "watch")
        and event.get("objectRef", {}).get("resource") == plural
    }


@pytest.mark.usefixtures("with_an_address")
def test_an_ingress_of_another_class_or_of_none_is_neither_served_nor_written_to(serving: DevCluster) -> None:
    place = Place(serving, "ingress")
    with contextlib.ExitStack() as exits:
        create(place.api, INGRESS_CLASSES, "nginx", spec={"controller": "k8s.io/ingress-nginx"})
        exits.callback(place.api.delete, INGRESS_CLASSES, "nginx")
        service = exits.enter_context(place.service("stranger", {}))
        exits.enter_context(Backend(service))
        for class_name in ("nginx", None):
            stranger = ingress("stranger", place.host("stranger"), class_name)
            place.api.create(INGRESSES, stranger)
            exits.callback(place.api.delete, INGRESSES, stranger["metadata"]["name"], "ingress")
        # Traefik takes up changes in their order: once it serves what came later, it has seen these.
        later = exits.enter_context(place.service("later"))
        exits.enter_context(Backend(later))
        place.until_served(place.host("later"))
        wait_for(lambda: only(place, "later")["status"]["loadBalancer"].get("ingress") == ADDRESS, what="the address")
        place.until_404_page(place.host("stranger"))
        assert not {"by-hand-nginx", "by-hand-no-class"} & written_by_the_gateway(serving, "ingresses")


def test_a_service_that_asks_for_another_class_leaves_its_host_to_the_other_controller(serving: DevCluster) -> None:
    place, host = Place(serving, "ingress"), "one-host.ingress.example.com"
    with contextlib.ExitStack() as exits:
        for name, annotations in (("of-nginx", {"ingress/class": "nginx"}), ("of-the-gateway", {})):
            service = exits.enter_context(place.service(name, {**ON, "ingress/host": host, **annotations}))
            exits.enter_context(Backend(service))
        assert backend(place.until_served(host)) == ("ingress/of-the-gateway", 80)
        place.annotate("of-the-gateway", {"ingress/http": None})
        place.until_404_page(host)


@pytest.mark.usefixtures("with_an_address")
def test_an_httproute_of_a_gateway_of_another_class_is_neither_served_nor_written_to(serving: DevCluster) -> None:
    place, host = Place(serving, "httproute"), "other-gateway.httproute.example.com"
    ours = place.api.get(GATEWAYS, "ingress-manager", gateway.NAME)
    assert ours is not None
    with contextlib.ExitStack() as exits:
        create(place.api, GATEWAY_CLASSES, "other", spec={"controllerName": "example.com/other"})
        exits.callback(place.api.delete, GATEWAY_CLASSES, "other")
        create(place.api, GATEWAYS, "other", gateway.NAME, spec=ours["spec"] | {"gatewayClassName": "other"})
        exits.callback(place.api.delete, GATEWAYS, "other", gateway.NAME)
        service = exits.enter_context(place.service("other-gateway", {}))
        exits.enter_context(Backend(service))
        parent = {"name": "other", "namespace": gateway.NAME, "sectionName": "http"}
        rules = [{"backendRefs": [{"name": "other-gateway", "port": 80}]}]
        spec = {"parentRefs": [parent], "hostnames": [host], "rules": rules}
        create(place.api, place.resource, "by-hand-other-gateway", "httproute", spec=spec)
        exits.callback(place.api.delete, place.resource, "by-hand-other-gateway", "httproute")
        later = exits.enter_context(place.service("later"))
        exits.enter_context(Backend(later))
        place.until_served(place.host("later"))
        wait_for(lambda: "later" in written_by_the_gateway(serving, "httproutes"), what="the status of the later one")
        place.until_404_page(host)
        assert "by-hand-other-gateway" not in written_by_the_gateway(serving, "httproutes")
        assert "other" not in written_by_the_gateway(serving, "gateways")
