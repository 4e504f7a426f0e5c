"""Requests from outside reach the Service, by Ingress and by HTTPRoute, and each change takes effect on them."""

import contextlib
from collections.abc import Iterator

import pytest
import trustme

from devcluster import gateway, overlay
from devcluster.api import INGRESSES, Object, path_of, wait_for
from devcluster.backend import Backend
from devcluster.cluster import DevCluster
from tests.e2e import certificates
from tests.e2e.objects import INGRESS_CLASSES, by_hand, create
from tests.e2e.traffic import ON, Place, backend


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
        wait_for(
            lambda: only(place, "later")["status"]["loadBalancer"].get("ingress") == [{"ip": ADDRESS}],
            what="the address",
        )
        place.until_404_page(place.host("stranger"))
        assert not classes.keys() & written_by_the_gateway(serving)


def test_a_host_with_tls_is_served_with_its_certificate(place: Place) -> None:
    host, ca = place.host("tls"), trustme.CA()
    with (
        certificates.served(place) as certificate,
        place.service("tls", certificate.annotations) as service,
        Backend(service),
    ):
        certificate.store(ca.issue_cert(host))
        answer = certificates.until_served(place, host, certificates.trusting(ca))
        assert backend(answer) == (f"{place.namespace}/tls", 80)
        if place.namespace == "httproute":
            place.until_404_page(host)


def test_a_class_that_a_profile_says_by_the_annotation_is_served_and_no_default_takes_its_place(
    serving: DevCluster,
) -> None:
    place = Place(serving, "ingress")
    default = {"annotations": {"ingressclass.kubernetes.io/is-default-class": "true"}}
    create(place.api, INGRESS_CLASSES, "usual", metadata=default, spec={"controller": "example.com/usual"})
    try:
        wait_for(lambda: usual_class(place, by_hand("ingress", "any", "any.example.com", "any")), what="the default")
        with place.service("by-annotation", {**ON, "ingress/profile": "by-annotation"}) as service, Backend(service):
            place.until_served(place.host("by-annotation"))
            made = only(place, "by-annotation")
            assert "ingressClassName" not in made["spec"]
            assert made["metadata"]["annotations"]["kubernetes.io/ingress.class"] == overlay.CLASS
    finally:
        place.api.delete(INGRESS_CLASSES, "usual")


def usual_class(place: Place, ingress: Object) -> bool:
    """Return whether the API server would give the default class to an Ingress."""
    stored = place.api.request("POST", path_of(INGRESSES, "ingress"), params={"dryRun": "All"}, body=ingress)
    return bool(stored["spec"].get("ingressClassName") == "usual")
