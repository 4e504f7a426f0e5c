"""Certificates for the gateway, and visitors who come by HTTPS.

An Ingress names the Secret itself. For HTTPRoutes, a listener of the Gateway does.
"""

import base64
import contextlib
import http.client
import socket
import ssl
from collections.abc import Iterator
from dataclasses import dataclass

import trustme

from devcluster import gateway, overlay
from devcluster.api import wait_for
from devcluster.gateway import LOOPBACK, Answer
from tests.e2e.objects import GATEWAYS, SECRETS, create
from tests.e2e.traffic import IN_A_ROW, ON, PATIENCE, Place

NAME = "certificate"
"""The Secret's name."""


@dataclass(frozen=True)
class Certificate:
    """A Secret that the gateway serves, and the annotations of a Service that asks for TLS with it."""

    place: Place
    namespace: str
    annotations: dict[str, str]

    def store(self, certificate: trustme.LeafCert) -> None:
        """Create the Secret."""
        data = {"tls.crt": certificate.cert_chain_pems[0], "tls.key": certificate.private_key_pem}
        encoded = {key: base64.b64encode(pem.bytes()).decode() for key, pem in data.items()}
        create(self.place.api, SECRETS, NAME, self.namespace, type="kubernetes.io/tls", data=encoded)


@contextlib.contextmanager
def served(place: Place) -> Iterator[Certificate]:
    """Yield a Certificate that is served once it is stored; remove all of it at the end."""
    if place.namespace == "ingress":
        certificate = Certificate(place, place.namespace, {**ON, "ingress/tls-secret": NAME})
        listening: contextlib.AbstractContextManager[None] = contextlib.nullcontext()
    else:
        certificate = Certificate(place, gateway.NAME, {**ON, "ingress/tls": "true"})
        listening = https_listener(place)
    with listening:
        try:
            yield certificate
        finally:
            place.api.delete(SECRETS, NAME, certificate.namespace)


@contextlib.contextmanager
def https_listener(place: Place) -> Iterator[None]:
    """Add a listener `https` with the certificate to the Gateway while in the context."""
    found = place.api.get(GATEWAYS, overlay.CLASS, gateway.NAME)
    assert found is not None
    listeners = found["spec"]["listeners"]
    https = {
        "name": "https",
        "protocol": "HTTPS",
        "port": place.gateway.https_port,
        "tls": {"mode": "Terminate", "certificateRefs": [{"name": NAME}]},
        "allowedRoutes": {"namespaces": {"from": "All"}},
    }
    place.api.patch(GATEWAYS, overlay.CLASS, {"spec": {"listeners": [*listeners, https]}}, gateway.NAME)
    try:
        yield
    finally:
        place.api.patch(GATEWAYS, overlay.CLASS, {"spec": {"listeners": listeners}}, gateway.NAME)


def trusting(ca: trustme.CA) -> ssl.SSLContext:
    """Return what a visitor needs who trusts this authority alone."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    ca.configure_trust(context)
    return context


def ask_by_tls(place: Place, host: str, context: ssl.SSLContext) -> Answer:
    """Return the answer to `GET /` on a new connection. Raises ssl.SSLError where the certificate isn't trusted."""
    with (
        socket.create_connection((LOOPBACK, place.gateway.https_port), timeout=PATIENCE) as plain,
        context.wrap_socket(plain, server_hostname=host) as connection,
    ):
        visitor = http.client.HTTPConnection(host)
        visitor.sock = connection
        visitor.request("GET", "/")
        response = visitor.getresponse()
        headers = {key.lower(): value for key, value in response.getheaders()}
        return Answer(response.status, headers, response.read().decode())


def until_served(place: Place, host: str, context: ssl.SSLContext) -> Answer:
    """Return the answer once both Traefiks answer the host with 200, and with a certificate that is trusted."""

    def check() -> Answer | None:
        try:
            answers = [ask_by_tls(place, host, context) for _ in range(IN_A_ROW)]
        except OSError:  # another certificate; or a Traefik that takes up a change ends a connection
            return None
        return answers[0] if all(answer.status == 200 for answer in answers) else None

    return wait_for(check, PATIENCE, what=f"a certificate for {host}")
