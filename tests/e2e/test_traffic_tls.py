"""TLS at the gateway: each name gets its certificate, and what happens where there is none."""

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
    trusting,
    until_certificate,
)
from tests.e2e.objects import SECRETS
from tests.e2e.traffic import ON, Place, backend

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


@by_httproute
def test_an_httproute_with_tls_is_not_served_by_plain_http(place: Place, host: str) -> None:
    place.until_404_page(host)


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
