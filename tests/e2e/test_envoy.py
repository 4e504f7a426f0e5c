"""ListenerSets for real, by Envoy Gateway and Envoy: each Service with its own certificate, and the way to them.

Not everybody builds Envoy Gateway, which takes six minutes: `make test-all` does.
"""

import asyncio
import base64
import contextlib
import http.client
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

import pytest
import trustme

from devcluster import overlay
from devcluster.api import HTTPROUTES, INGRESSES, LISTENERSETS, NAMESPACES, SERVICES, Object, wait_for
from devcluster.cluster import DevCluster
from devcluster.gateway import LOOPBACK
from tests.e2e.envoy import Envoy, lacking
from tests.e2e.objects import SECRETS, create
from tests.e2e.objects import namespace as make_namespace
from tests.e2e.traffic import asking

PATIENCE = 60.0
PORT = 80
AUTHORITY = trustme.CA()
CONTEXT = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
AUTHORITY.configure_trust(CONTEXT)


@dataclass(frozen=True)
class Site:
    """A cluster with both servers: Traefik, which serves Ingresses, and Envoy, which serves ListenerSets."""

    cluster: DevCluster
    envoy: Envoy
    namespaces: list[str] = field(default_factory=list)
    """Those that a test has made."""

    def namespace(self, name: str) -> None:
        """Make a namespace, which goes with the test."""
        make_namespace(self.cluster.api, name)
        self.namespaces.append(name)

    def settings(self, *outputs: str) -> None:
        """Have settings with these outputs, at once. A namespace has the hosts below its name."""
        defaults = {"class": overlay.CLASS, "outputs": list(outputs), "gateway": self.envoy.gateway}
        self.cluster.restart_hook({"defaults": defaults, "limits": {"hosts": ["*.{namespace}.example.com"]}})
        self.cluster.engine.kill()
        self.cluster.engine.start()

    def service(self, namespace: str, name: str, host: str) -> Object:
        """Create a Service with TLS for a host, and return it."""
        asked = {"ingress/http": "true", "ingress/host": host, "ingress/tls-secret": f"{name}-tls"}
        spec = {"selector": {"app": name}, "ports": [{"port": PORT}]}
        return create(self.cluster.api, SERVICES, name, namespace, {"annotations": asked}, spec=spec)

    def certify(self, namespace: str, name: str, host: str) -> bytes:
        """Give the Secret of a Service a new certificate, and return that as DER."""
        issued = AUTHORITY.issue_cert(host)
        pems = {"tls.crt": issued.cert_chain_pems[0].bytes(), "tls.key": issued.private_key_pem.bytes()}
        data = {key: base64.b64encode(pem).decode() for key, pem in pems.items()}
        api, secret = self.cluster.api, f"{name}-tls"
        if api.get(SECRETS, secret, namespace):
            api.patch(SECRETS, secret, {"data": data}, namespace)
        else:
            create(api, SECRETS, secret, namespace, type="kubernetes.io/tls", data=data)
        return ssl.PEM_cert_to_DER_cert(pems["tls.crt"].decode())

    def made(self, namespace: str) -> list[tuple[str, str]]:
        """Return the kind and name of all that is made in a namespace."""
        kinds = (INGRESSES, LISTENERSETS, HTTPROUTES)
        return [
            (kind.kind, item["metadata"]["name"]) for kind in kinds for item in self.cluster.api.list(kind, namespace)
        ]


@pytest.fixture
def site(servers: Site) -> Iterator[Site]:
    """Yield the servers with no Service."""
    yield servers
    while servers.namespaces:
        servers.cluster.api.delete(NAMESPACES, servers.namespaces.pop())


@pytest.fixture(scope="module")
def servers(engine: str) -> Iterator[Site]:
    """Yield the cluster that these tests share."""
    if reason := lacking():
        pytest.skip(reason)
    with contextlib.closing(Envoy()) as envoy, DevCluster(engine, gateway=1, httproute=True) as cluster:
        envoy.start(cluster)
        yield Site(cluster, envoy)


@dataclass(frozen=True)
class Seen:
    """What a visitor by https has seen."""

    certificate: bytes
    status: int
    body: str
    """The address of the Service that answered."""


def visit(port: int, host: str) -> Seen:
    """Return what a request sees that trusts our authority; raises OSError and HTTPException."""
    connection = http.client.HTTPConnection(host)
    with (
        socket.create_connection((LOOPBACK, port), 10) as stream,
        CONTEXT.wrap_socket(stream, server_hostname=host) as secure,
    ):
        connection.sock = secure
        connection.request("GET", "/")
        answer = connection.getresponse()
        return Seen(secure.getpeercert(binary_form=True) or b"", answer.status, answer.read().decode())


def sees(port: int, host: str, service: Object, certificate: bytes) -> Callable[[], bool]:
    """Return whether a visitor reaches this Service and is shown this certificate."""

    def check() -> bool:
        with contextlib.suppress(OSError, http.client.HTTPException):
            return visit(port, host) == Seen(certificate, 200, service["spec"]["clusterIP"])
        return False

    return check


def sees_none(port: int, host: str) -> bool:
    """Return whether a visitor is shown no certificate for the host."""
    with contextlib.suppress(OSError):
        visit(port, host)
        return False
    return True


@contextlib.contextmanager
def backends(services: Iterable[Object]) -> Iterator[None]:
    """Have one server that answers for all these Services with the address that it was reached at."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        body = writer.get_extra_info("sockname")[0].encode()
        writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
        await writer.drain()
        writer.close()

    addresses = [service["spec"]["clusterIP"] for service in services]
    loop = asyncio.new_event_loop()
    server = loop.run_until_complete(asyncio.start_server(answer, addresses, PORT))
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    yield
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    server.close()
    loop.run_until_complete(server.wait_closed())
    loop.close()


def test_each_team_has_its_own_certificate_as_long_as_its_service_asks_for_it(site: Site) -> None:
    site.settings("httproute")
    api, port = site.cluster.api, site.envoy.https_port
    hosts = {team: f"shop.{team}.example.com" for team in ("team-a", "team-b")}
    services, certificates = {}, {}
    for team, host in hosts.items():
        site.namespace(team)
        certificates[team] = site.certify(team, "shop", host)
        services[team] = site.service(team, "shop", host)
    # A team can have no listener for a host that isn't its own, whatever its certificate says.
    site.certify("team-b", "thief", hosts["team-a"])
    site.service("team-b", "thief", hosts["team-a"])
    with backends(services.values()):
        for team, host in hosts.items():
            check = sees(port, host, services[team], certificates[team])
            wait_for(check, PATIENCE, what=f"the certificate of {team}")
        assert site.made("team-b") == [("ListenerSet", "shop"), ("HTTPRoute", "shop")]
        assert sees_none(port, "nobodys.example.com")

        renewed = site.certify("team-a", "shop", hosts["team-a"])
        wait_for(sees(port, hosts["team-a"], services["team-a"], renewed), PATIENCE, what="the renewed certificate")

        for team, other in (("team-a", "team-b"), ("team-b", None)):
            api.delete(SERVICES, "shop", team)
            wait_for(lambda team=team: sees_none(port, hosts[team]), PATIENCE, what=f"no listener of {team}")  # type: ignore[misc]
            assert other is None or sees(port, hosts[other], services[other], certificates[other])()
    with pytest.raises(ConnectionRefusedError):
        visit(port, hosts["team-b"])


@dataclass
class Visitor:
    """Somebody who asks for each host at the port that their DNS tells, and what they should see."""

    port: int
    wanted: dict[str, Seen]

    def ask(self) -> list[str]:
        """Return the hosts that don't answer as they should."""
        time.sleep(0.005)
        return [host for host, seen in self.wanted.items() if visit(self.port, host) != seen]


def test_nobody_notices_the_way_from_ingresses_with_tls_to_listenersets_and_back(
    site: Site, record_property: Callable[[str, object], None]
) -> None:
    site.settings("ingress")
    site.namespace("moving")
    hosts = {name: f"{name}.moving.example.com" for name in ("shop", "pay", "blog")}
    certificates = {name: site.certify("moving", name, host) for name, host in hosts.items()}
    services = {name: site.service("moving", name, host) for name, host in hosts.items()}
    assert site.cluster.gateway
    old, new = site.cluster.gateway.https_port, site.envoy.https_port

    def until(port: int, *, served: bool = True) -> None:
        for name, host in hosts.items():
            check = sees(port, host, services[name], certificates[name])
            wait_for(lambda: check() if served else sees_none(port, host), PATIENCE, what=f"{host}: {served}")  # noqa: B023

    def versions() -> list[str]:
        return [each["metadata"]["resourceVersion"] for each in site.cluster.api.list(SERVICES, "moving")]

    def switch(*outputs: str) -> float:
        began = time.monotonic()
        site.settings(*outputs)
        until(old, served="ingress" in outputs)
        until(new, served="httproute" in outputs)
        return time.monotonic() - began

    with backends(services.values()):
        until(old)
        untouched = versions()
        wanted = {
            host: Seen(certificates[name], 200, services[name]["spec"]["clusterIP"]) for name, host in hosts.items()
        }
        visitor, late = Visitor(old, wanted), Visitor(old, wanted)

        def move(port: int) -> None:
            """Move the DNS, which some learn later than others."""
            visitor.port = port
            time.sleep(0.5)
            late.port = port
            time.sleep(0.2)

        with asking(visitor.ask) as answers, asking(late.ask) as answers_of_late:
            took = [switch("ingress", "httproute")]
            move(new)
            took.append(switch("httproute"))
            took.append(switch("ingress", "httproute"))
            move(old)
            took.append(switch("ingress"))
        assert versions() == untouched
        for each in (answers, answers_of_late):
            assert [failed for failed in each if failed != []] == []
            assert len(each) > 10
    asked = (len(answers) + len(answers_of_late)) * len(hosts)
    steps = ", ".join(f"{seconds:.1f}" for seconds in took)
    record_property("requests", f"{asked} by https, none lost; the four steps took {steps} s")


def test_200_services_are_served_each_with_its_own_certificate(
    site: Site, record_property: Callable[[str, object], None]
) -> None:
    site.settings("httproute")
    names = [(f"many-{number % 10}", f"shop-{number}") for number in range(200)]
    for namespace in sorted({namespace for namespace, _ in names}):
        site.namespace(namespace)
    certificates = [site.certify(namespace, name, f"{name}.{namespace}.example.com") for namespace, name in names]
    used, began = site.envoy.envoy_gateway.cpu_seconds(), time.monotonic()
    services = [site.service(namespace, name, f"{name}.{namespace}.example.com") for namespace, name in names]
    created = time.monotonic()
    with backends(services):
        for (namespace, name), service, certificate in zip(names, services, certificates, strict=True):
            check = sees(site.envoy.https_port, f"{name}.{namespace}.example.com", service, certificate)
            wait_for(check, 300, what=f"the certificate of {namespace}/{name}")
    took, used = time.monotonic() - began, site.envoy.envoy_gateway.cpu_seconds() - used
    figures = f"{took:.1f} s, of which {created - began:.1f} s to create them"
    record_property("figures", f"all 200 served after {figures}; Envoy Gateway used {used:.1f} s of CPU")
