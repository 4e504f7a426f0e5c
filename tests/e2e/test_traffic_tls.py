"""TLS at the gateway: each name gets its certificate, and what happens where there is none."""

import ssl
from collections.abc import Iterator

import pytest
import trustme
import yaml

from devcluster.backend import Backend
from tests.e2e import certificates
from tests.e2e.certificates import (
    Certificate,
    ask_by_tls,
    secret_of,
    tls_connection,
    trusting,
    trusting_all,
    until_certificate,
)
from tests.e2e.objects import SECRETS
from tests.e2e.traffic import ON, Place, backend

TRAEFIKS_OWN = "TRAEFIK DEFAULT CERT"

by_ingress = pytest.mark.parametrize("place", ["ingress"], indirect=True)
by_httproute = pytest.mark.parametrize("place", ["httproute"], indirect=True)


@pytest.fixture(scope="module")
def ca() -> trustme.CA:
    """Return the authority that visitors trust."""
    return trustme.CA()


@pytest.fixture(scope="module")
def certificate(place: Place) -> Iterator[Certificate]:
    """Yield the certificate of the Service `tls`, not yet stored."""
    with (
        certificates.served(place) as certificate,
        place.service("tls", certificate.annotations) as service,
        Backend(service),
    ):
        yield certificate


@pytest.fixture(scope="module")
def host(place: Place, certificate: Certificate, ca: trustme.CA) -> str:
    """Return the host of the Service `tls` once it is served with its certificate."""
    host = place.host("tls")
    certificate.store(ca.issue_cert(host, common_name="the first"))
    until_certificate(place, host, "the first")
    place.until_served(host, tls=True)
    return host


def test_a_host_with_tls_is_served_with_its_certificate(place: Place, host: str, ca: trustme.CA) -> None:
    _, answer = ask_by_tls(place, host, trusting(ca))
    assert backend(answer) == (f"{place.namespace}/tls", 80)


def test_another_name_gets_traefiks_own_certificate_and_the_404_page(place: Place, host: str, ca: trustme.CA) -> None:
    other = f"other.{host}"
    with pytest.raises(ssl.SSLCertVerificationError):
        ask_by_tls(place, other, trusting(ca))
    name, answer = ask_by_tls(place, other, trusting_all())
    assert (name, answer.is_the_404_page) == (TRAEFIKS_OWN, True)


@by_ingress
def test_an_ingress_with_tls_is_served_by_plain_http_too(place: Place, host: str) -> None:
    assert backend(place.gateway.ask(host)) == ("ingress/tls", 80)


@by_httproute
def test_an_httproute_with_tls_is_not_served_by_plain_http(place: Place, host: str) -> None:
    place.until_404_page(host)


@by_ingress
def test_an_ingress_without_tls_is_served_by_https_too_with_traefiks_own_certificate(place: Place) -> None:
    with place.service("no-tls") as service, Backend(service):
        place.until_served(place.host("no-tls"), tls=True)
        assert ask_by_tls(place, place.host("no-tls"), trusting_all())[0] == TRAEFIKS_OWN


@by_httproute
@pytest.mark.usefixtures("host")
def test_an_httproute_without_tls_is_not_served_by_https(place: Place) -> None:
    """Although the Gateway has a listener for HTTPS: see the fixture `host`."""
    with place.service("no-tls") as service, Backend(service):
        place.until_served(place.host("no-tls"))
        place.until_404_page(place.host("no-tls"), tls=True)


@by_ingress
def test_each_host_of_a_service_is_served_with_the_certificate_that_is_named_for_it(
    place: Place, ca: trustme.CA
) -> None:
    own, others = place.host("own"), f"*.{place.host('others')}"
    one, wild = others.replace("*", "one"), others.replace("*", "wild")
    hosts = {"own": own, "one": one, "others": others}
    stated = yaml.safe_dump([{"hosts": [host], "secret": f"for-{name}"} for name, host in hosts.items()])
    annotations = {**ON, "ingress/host": f"{own}, {one}, {others}", "ingress/certificates": stated}
    with place.service("several", annotations) as service, Backend(service):
        for name, host in hosts.items():
            issued = ca.issue_cert(host, common_name=f"for {name}")
            place.api.create(SECRETS, secret_of(f"for-{name}", place.namespace, issued))
        for host, name in ((own, "own"), (one, "one"), (wild, "others")):
            until_certificate(place, host, f"for {name}")
            place.until_served(host, tls=True)
            assert backend(ask_by_tls(place, host, trusting(ca))[1]) == ("ingress/several", 80)
    for name in hosts:
        place.api.delete(SECRETS, f"for-{name}", place.namespace)


def test_visitors_may_speak_http_2(place: Place, host: str) -> None:
    context = trusting_all()
    context.set_alpn_protocols(["h2", "http/1.1"])
    with tls_connection(place, host, context) as connection:
        assert connection.selected_alpn_protocol() == "h2"


def test_a_changed_secret_takes_effect(place: Place, host: str, certificate: Certificate, ca: trustme.CA) -> None:
    certificate.store(ca.issue_cert(host, common_name="a newer one"))
    until_certificate(place, host, "a newer one")


def test_a_secret_that_is_made_last_takes_effect(
    place: Place, host: str, certificate: Certificate, ca: trustme.CA
) -> None:
    """An issuer makes it when it sees the Ingress or the Gateway."""
    certificate.remove()
    until_certificate(place, host, TRAEFIKS_OWN)
    certificate.store(ca.issue_cert(host, common_name="the last"))
    until_certificate(place, host, "the last")
