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
from cryptography import x509
from cryptography.x509.oid import NameOID

from devcluster import gateway, overlay
from devcluster.api import Object, wait_for
from devcluster.gateway import LOOPBACK, Answer
from tests.e2e.objects import GATEWAYS, SECRETS, new
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
        """Create the Secret, or change it."""
        secret = secret_of(NAME, self.namespace, certificate)
        if self.place.api.get(SECRETS, NAME, self.namespace) is None:
            self.place.api.create(SECRETS, secret)
        else:
            self.place.api.update(SECRETS, secret)

    def remove(self) -> None:
        """Delete the Secret, if it is there."""
        self.place.api.delete(SECRETS, NAME, self.namespace)


def secret_of(name: str, namespace: str, certificate: trustme.LeafCert) -> Object:
    """Return the Secret that holds a certificate."""
    data = {"tls.crt": certificate.cert_chain_pems[0], "tls.key": certificate.private_key_pem}
    encoded = {key: base64.b64encode(pem.bytes()).decode() for key, pem in data.items()}
    return new(SECRETS, name, namespace, type="kubernetes.io/tls", data=encoded)


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
            certificate.remove()


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


def trusting_all() -> ssl.SSLContext:
    """Return what a visitor needs who checks nothing."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


@contextlib.contextmanager
def tls_connection(place: Place, name: str, context: ssl.SSLContext) -> Iterator[ssl.SSLSocket]:
    """Yield a new connection, on which the visitor has asked for this name. Raises ssl.SSLError."""
    with (
        socket.create_connection((LOOPBACK, place.gateway.https_port), timeout=PATIENCE) as plain,
        context.wrap_socket(plain, server_hostname=name) as connection,
    ):
        yield connection


def name_of_certificate(connection: ssl.SSLSocket) -> str:
    """Return the common name of the certificate that the gateway has shown."""
    shown = connection.getpeercert(binary_form=True)
    assert shown is not None
    [name] = x509.load_der_x509_certificate(shown).subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    return str(name.value)


def ask_by_tls(place: Place, host: str, context: ssl.SSLContext) -> tuple[str, Answer]:
    """Return the common name of the certificate, and the answer to `GET /`. Raises ssl.SSLError."""
    with tls_connection(place, host, context) as connection:
        visitor = http.client.HTTPConnection(host)
        visitor.sock = connection
        visitor.request("GET", "/")
        response = visitor.getresponse()
        headers = {key.lower(): value for key, value in response.getheaders()}
        return name_of_certificate(connection), Answer(response.status, headers, response.read().decode())


def until_certificate(place: Place, host: str, name: str) -> None:
    """Return once both Traefiks show the certificate with this common name to who asks for the host."""
    context = trusting_all()

    def shown() -> str:
        try:
            with tls_connection(place, host, context) as connection:
                return name_of_certificate(connection)
        except OSError as error:  # a Traefik that takes up a change may end a connection
            return str(error)

    def check() -> bool:
        return all(shown() == name for _ in range(IN_A_ROW))

    wait_for(check, PATIENCE, what=f"the certificate {name} for {host}")
