"""What the page on profiles says of Traefik, with the page's own settings, Services and Middleware."""

import http.client
import re
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import trustme
import yaml

from devcluster import gateway
from devcluster.api import CRDS, HTTPROUTES, SERVICES, Api, Object, Resource, wait_for
from devcluster.backend import Backend
from devcluster.build import REPOSITORY
from devcluster.cluster import install_crds
from devcluster.control_plane import ControlPlane
from devcluster.gateway import LOOPBACK
from devcluster.ports import ReservedPort
from devcluster.processes import Processes
from devcluster.programs import find_traefik
from ingress_manager.core.filters import FEATURES, MULTIPLE_MIRRORS, SCHEME_REDIRECT
from tests.docs.test_profiles import EXAMPLES, LEDGER, SSO, made
from tests.e2e import certificates
from tests.e2e.certificates import trusting_all
from tests.e2e.objects import GATEWAY_CLASSES, GATEWAYS, SECRETS, create, namespace
from tests.e2e.traffic import PATIENCE

WEB, INFRASTRUCTURE = "web", "infrastructure"
"""The Gateway that the page's settings name."""

LOGIN = "https://login.example.com/"
MIDDLEWARES = Resource("traefik.io/v1alpha1", "middlewares", "Middleware")
READ_BY_TRAEFIK = [
    *("IngressRoute", "IngressRouteTCP", "IngressRouteUDP", "Middleware", "MiddlewareTCP", "ServersTransport"),
    *("ServersTransportTCP", "TLSOption", "TLSStore", "TraefikService"),
]
"""The kinds that its provider kubernetesCRD waits for."""


def crd(kind: str) -> Object:
    """Return a CustomResourceDefinition of Traefik's, with a spec that may hold anything."""
    plural = f"{kind.lower()}s"
    spec = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1alpha1", "served": True, "storage": True}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.traefik.io"},
        "spec": {
            "group": "traefik.io",
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural, "singular": kind.lower()},
            "versions": [version | {"schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}}],
        },
    }


class Login(BaseHTTPRequestHandler):
    """A login service: who has no cookie is sent to the login."""

    def do_GET(self) -> None:
        self.send_response(200 if self.headers["Cookie"] else 302)
        self.send_header("Location", LOGIN)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as its base calls it
        pass


@contextmanager
def listening(address: str, port: int, handler: type[BaseHTTPRequestHandler]) -> Iterator[int]:
    """Serve at an address while in the context, and yield the port."""
    server = ThreadingHTTPServer((address, port), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


Said = tuple[int, str | None]
"""The status of an answer, and where it redirects to."""


@dataclass(frozen=True)
class Site:
    """The page's Gateway, which a Traefik serves."""

    api: Api
    http_port: int
    https_port: int

    def until(self, wanted: Said, host: str, *, tls: bool = True, cookie: str = "") -> None:
        """Return when a request is answered as wanted."""
        wait_for(lambda: self.ask(host, tls=tls, cookie=cookie) == wanted, PATIENCE, what=f"{wanted} from {host}")

    def ask(self, host: str, *, tls: bool = True, cookie: str = "") -> Said:
        """Return what a request on a connection of its own is answered with."""
        connection = (
            http.client.HTTPSConnection(LOOPBACK, self.https_port, timeout=PATIENCE, context=trusting_all())
            if tls
            else http.client.HTTPConnection(LOOPBACK, self.http_port, timeout=PATIENCE)
        )
        with closing(connection):
            connection.request("GET", "/", headers={"Host": host, "Cookie": cookie})
            answer = connection.getresponse()
            return answer.status, answer.getheader("Location")

    def expose(self, settings: str, service: str) -> Object:
        """Create a Service of the page and what is made for it; return the Service."""
        wanted = yaml.safe_load(service)
        namespace(self.api, wanted["metadata"]["namespace"])
        created = self.api.create(SERVICES, wanted)
        for route in made(settings, service):
            self.api.create(HTTPROUTES, route)
        return created

    def remove(self, service: Object) -> None:
        """Delete a Service, and what was made for it."""
        of = service["metadata"]["namespace"]
        for route in self.api.list(HTTPROUTES, of):
            self.api.delete(HTTPROUTES, route["metadata"]["name"], of)
        self.api.delete(SERVICES, service["metadata"]["name"], of)


@contextmanager
def site(plane: ControlPlane, providers: Object) -> Iterator[Site]:
    """Yield the page's Gateway, served by a Traefik with its provider kubernetesGateway and others."""
    with ExitStack() as exits:
        ports = [exits.enter_context(closing(ReservedPort())).number for _ in range(3)]
        addresses = zip(("web", "websecure", "traefik"), ports, strict=True)
        static = {
            "global": {"checkNewVersion": False, "sendAnonymousUsage": False},
            "entryPoints": {name: {"address": f"{LOOPBACK}:{port}", "reusePort": True} for name, port in addresses},
            "providers": {"kubernetesGateway": {"nativeLBByDefault": True}} | providers,
            "ping": {},
        }
        file = plane.folder / "profiles.yaml"
        file.write_text(yaml.safe_dump(static))
        everywhere = {"allowedRoutes": {"namespaces": {"from": "All"}}}
        with_tls = {"tls": {"certificateRefs": [{"name": certificates.NAME}]}}
        listeners = [
            {"name": "http", "protocol": "HTTP", "port": ports[0]} | everywhere,
            {"name": "https", "protocol": "HTTPS", "port": ports[1]} | everywhere | with_tls,
        ]
        api = plane.api
        create(api, GATEWAYS, WEB, INFRASTRUCTURE, spec={"gatewayClassName": WEB, "listeners": listeners})
        exits.callback(api.delete, GATEWAYS, WEB, INFRASTRUCTURE)
        processes = exits.enter_context(Processes())
        command = [str(find_traefik()), f"--configFile={file}"]
        process = processes.add("traefik", command, env={"KUBECONFIG": str(plane.kubeconfig)})
        process.start()
        exits.callback(process.kill)
        process.wait_ready(lambda: gateway.answers(ports[2], "/ping"))
        yield Site(api, *ports[:2])


@pytest.fixture(scope="module")
def plane(empty_cluster: ControlPlane) -> Iterator[ControlPlane]:
    """Yield an API server with the CRDs of the Gateway API and of Traefik, a GatewayClass and a certificate."""
    if reason := gateway.lacking():
        pytest.skip(reason)
    api, crds = empty_cluster.api, [crd(kind) for kind in READ_BY_TRAEFIK]
    install_crds(api, crds)
    create(api, GATEWAY_CLASSES, WEB, spec={"controllerName": "traefik.io/gateway-controller"})
    namespace(api, INFRASTRUCTURE)
    certificate = trustme.CA().issue_cert("*.example.com")
    data = {"tls.crt": certificate.cert_chain_pems[0], "tls.key": certificate.private_key_pem}
    text = {key: pem.bytes().decode() for key, pem in data.items()}
    create(api, SECRETS, certificates.NAME, INFRASTRUCTURE, type="kubernetes.io/tls", stringData=text)
    yield empty_cluster
    api.delete(GATEWAY_CLASSES, WEB)
    for each in crds:
        api.delete(CRDS, each["metadata"]["name"])


def test_the_settings_of_the_gateway_list_all_that_it_can_do_and_settings_may_ask_for(plane: ControlPlane) -> None:
    page = (REPOSITORY / "gateway" / "README.md").read_text(encoding="utf-8")
    [listed] = re.findall(r"^    supports: (\[.*\])$", page, re.MULTILINE)

    def features() -> list[Object] | None:
        found = plane.api.get(GATEWAY_CLASSES, WEB) or {}
        listed: list[Object] | None = found.get("status", {}).get("supportedFeatures")
        return listed

    with site(plane, {}):
        able = {feature["name"] for feature in wait_for(features, PATIENCE)}
    assert yaml.safe_load(listed) == sorted(able & {*FEATURES.values(), MULTIPLE_MIRRORS, SCHEME_REDIRECT})


LEDGERS_HOST = "ledger.finance.apps.example.com"


def test_nobody_gets_past_the_login_nor_past_a_middleware_that_is_not_there(plane: ControlPlane) -> None:
    middleware = yaml.safe_load(next(block for block in EXAMPLES if "kind: Middleware\n" in block))
    with site(plane, {"kubernetesCRD": {}}) as web, listening(LOOPBACK, 0, Login) as port:
        ledger = web.expose(SSO, LEDGER)
        with Backend(ledger):
            web.until((301, f"https://{LEDGERS_HOST}/"), LEDGERS_HOST, tls=False)
            assert web.ask(LEDGERS_HOST, cookie="in=1") == (404, None)
            middleware["spec"]["forwardAuth"]["address"] = f"http://{LOOPBACK}:{port}/"
            web.api.create(MIDDLEWARES, middleware)
            web.until((302, LOGIN), LEDGERS_HOST)
            assert web.ask(LEDGERS_HOST, cookie="in=1") == (200, None)
            web.api.delete(MIDDLEWARES, middleware["metadata"]["name"], middleware["metadata"]["namespace"])
            web.until((404, None), LEDGERS_HOST, cookie="in=1")
        web.remove(ledger)
