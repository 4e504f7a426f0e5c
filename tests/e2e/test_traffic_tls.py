"""TLS at the gateway: a host is served with the certificate that its Service names, or its Gateway."""

import trustme

from devcluster.backend import Backend
from tests.e2e import certificates
from tests.e2e.traffic import Place, backend


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
