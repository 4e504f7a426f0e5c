"""An estate of hand-written Ingresses of the class nginx, as the gateway's component serves it; estate.yaml has it.

What ingress-nginx answers is stated there: no package registry has it.
"""

import contextlib
import json
import re
import ssl
import threading
import time
from collections.abc import Iterator
from functools import partial
from http.client import HTTPConnection
from socket import create_connection, socket
from typing import NamedTuple

import pytest
import trustme
import werkzeug
from werkzeug.serving import make_server

from devcluster.api import INGRESSES, NAMESPACES, SERVICES, Api, Object, path_of, wait_for
from devcluster.build import REPOSITORY
from devcluster.cluster import DevCluster
from devcluster.gateway import USER, Gateway, lacking
from ingress_manager.commands.leaving.judge import FIELDS, AtGateway, judge
from tests.e2e.estate import ESTATE, KEY, NAMESPACE, PORT, Request, ingress, stated
from tests.e2e.objects import CONFIG_MAPS, SECRETS, create, new
from tests.e2e.people import said, sh
from tests.e2e.traffic import with_class_nginx

NGINX = REPOSITORY / "gateway/ingress-nginx"
ADDRESS = "127.0.0.9"
PASSWORDS = "ann:$apr1$somesalt$..ZeRvGlKotUj3Cak5iHh."
"""That of ann is `secret`."""
TOLD = "application/json"
"""The type of what the Services answer."""


class Estate(NamedTuple):
    """The Ingresses of the estate by their titles, and the gateway that serves them."""

    api: Api
    gateway: Gateway
    ingresses: dict[str, Object]
    authority: trustme.CA

    def denied(self, title: str, name: str = "again", namespace: str = NAMESPACE, **more: str) -> str:
        """Return why another Ingress that is as this one is denied; "": it isn't."""
        like = self.ingresses[title]
        metadata = {"annotations": like["metadata"]["annotations"] | more}
        return self.said("POST", new(INGRESSES, name, namespace, metadata, spec=like["spec"]))

    def change_denied(self, title: str, **metadata: Object) -> str:
        """Return why a change of the metadata of the Ingress itself is denied; "": it isn't."""
        return self.said("PATCH", {"metadata": metadata}, self.ingresses[title]["metadata"]["name"])

    def said(self, method: str, body: Object, name: str = "") -> str:
        """Return what the policies say against a write."""
        path = path_of(INGRESSES, body["metadata"].get("namespace", NAMESPACE), name)
        return said(lambda: self.api.request(method, path, params={"dryRun": "All"}, body=body)) or ""

    def ask(self, host: str, request: Request) -> str:
        """Send a request, as often as it says, and return the last answer in the words of the estate's file."""
        name = request.host.replace("{host}", host)
        try:
            return [self.send(name, request) for _ in range(request.times)][-1]
        except OSError:
            return "nothing"

    def send(self, host: str, request: Request) -> str:
        """Send a request on a connection of its own, and return the answer. Raises OSError."""
        gateway = self.gateway
        stream = create_connection((ADDRESS, gateway.https_port if request.tls else gateway.http_port), 10)
        with self.secured(stream, host, request) if request.tls else stream as ready:
            connection = HTTPConnection(ADDRESS)
            connection.sock = ready
            body = b"x" * request.body or None
            connection.request(request.method, request.ask, body, {"Host": host, **request.headers})
            answer = connection.getresponse()
            text = answer.read()
        told = [str(answer.status)]
        arrived = json.loads(text) if answer.headers.get("Content-Type") == TOLD else {}
        if answer.status == 404 and "content-security-policy" in answer.headers:
            return "page"
        if answer.status == 200 and answer.headers.get("X-By"):
            told.append(answer.headers["X-By"])
        told += [arrived["path"]] if arrived and answer.status == 200 else []
        told += [answer.headers["Location"]] if "Location" in answer.headers else []
        told += [f"{key}: {arrived.get('headers', {}).get(key, 'none')}" for key in request.got]
        told += [f"{key}: {answer.headers.get(key, 'none')}" for key in request.see]
        return re.sub(r"(route=)\w+", r"\1…", " ".join(told))

    def secured(self, stream: socket, host: str, request: Request) -> ssl.SSLSocket:
        """Return a connection by TLS, with a certificate of the authority where the request has one."""
        context = ssl._create_unverified_context()  # noqa: S323 - Traefik's own certificate is signed by nobody
        if request.certificate:
            self.authority.issue_cert("visitor.example.com").configure_cert(context)
        return context.wrap_socket(stream, server_hostname=request.name or host)


def shop(name: str, request: werkzeug.Request) -> werkzeug.Response:
    """Answer as the query of a request says, and tell what arrived. The Service `auth` lets a header in."""
    asked = request.args
    time.sleep(asked.get("sleep", 0.0, float))
    status, told = asked.get("status", 200, int), {"X-By": name}
    if name == "auth":
        told |= {"X-User": "ann", "Set-Cookie": "of-auth"}
        status = {None: 401, "refuse": 403}.get(request.headers.get("X-Pass"), 200)
    if "location" in asked:
        told["Location"] = asked["location"]
    if "cookie" in asked:
        told["Set-Cookie"] = f"{asked['cookie']}; Path=/inside"
    if "size" in asked:
        return werkzeug.Response(b"x" * int(asked["size"]), status, told)
    arrived = {"name": name, "path": request.environ["RAW_URI"], "headers": dict(request.headers)}
    return werkzeug.Response(json.dumps(arrived), status, told, content_type=TOLD)


@pytest.fixture(scope="module")
def estate(cluster: DevCluster) -> Iterator[Estate]:
    """Yield the estate, as the gateway serves it: its Ingresses are from before the policy that denies some.

    What the component applies is there, and one more Traefik, which has its configuration, at ADDRESS.
    """
    if reason := lacking():
        pytest.skip(reason)
    assert cluster.gateway
    api, authority = cluster.api, trustme.CA()
    with contextlib.ExitStack() as exits:

        def applied(*names: str) -> None:
            files = [option for name in names for option in ("-f", f"{NGINX}/{name}.yaml")]
            cluster.control_plane.kubectl("apply", *files)
            exits.callback(cluster.control_plane.kubectl, "delete", *files)

        applied("ingressclass", "rbac", "name-collisions")
        may_read = f"kubectl auth can-i watch configmaps --all-namespaces --as={USER}"
        sh(cluster.control_plane, f"until {may_read}; do sleep 0.1; done")
        exits.enter_context(with_class_nginx(cluster, ADDRESS))
        create(api, NAMESPACES, NAMESPACE)
        exits.callback(api.delete, NAMESPACES, NAMESPACE)
        for namespace in (NAMESPACE, "kube-system"):
            create(api, SECRETS, "passwords", namespace, stringData={"auth": PASSWORDS})
        exits.callback(api.delete, SECRETS, "passwords", "kube-system")
        create(api, SECRETS, "authority", NAMESPACE, stringData={"ca.crt": authority.cert_pem.bytes().decode()})
        create(api, CONFIG_MAPS, "headers", NAMESPACE, data={"X-Group": "staff"})
        services = {row.to for row in ESTATE.values()} | {"auth", "other"}
        urls = {name: exits.enter_context(answering(api, name, authority)) for name in sorted(services)}
        ingresses = {title: api.create(INGRESSES, ingress(title, urls["auth"])) for title in ESTATE}
        made = Estate(api, cluster.gateway, ingresses, authority)
        last = ESTATE["the wildcard, with a longer path"].requests[0]
        wait_for(lambda: made.ask("", last) == last.answer, 30, what="the last one's answer")
        applied("closed")
        wait_for(lambda: made.denied("ModSecurity"), 30, what="the policy to take effect")
        yield made


@contextlib.contextmanager
def answering(api: Api, name: str, authority: trustme.CA) -> Iterator[str]:
    """Have a Service, and what answers for it; yield its URL."""
    service = create(api, SERVICES, name, NAMESPACE, spec={"ports": [{"port": PORT}]})
    address = service["spec"]["clusterIP"]
    context = None
    if name == "safe":
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert(name).configure_cert(context)
    app = werkzeug.Request.application(partial(shop, name))
    with make_server(address, PORT, app, threaded=True, ssl_context=context) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield f"http://{address}:{PORT}"
        server.shutdown()


@pytest.mark.parametrize("title", ESTATE)
def test_the_gateway_answers_what_the_estate_says(estate: Estate, title: str) -> None:
    requests = ESTATE[title].requests
    host = estate.ingresses[title]["spec"]["rules"][0].get("host", "")
    wanted = [request.answer.replace("{host}", host) for request in requests]
    assert [estate.ask(host, request) for request in requests] == wanted


@pytest.mark.parametrize("title", [title for title in ESTATE if ESTATE[title].ingress_class == "nginx"])
def test_what_would_be_open_is_denied_unless_it_stood_before(estate: Estate, title: str) -> None:
    stands = estate.ingresses[title]
    opened = [each for each in judge(*stated(stands)) if each.row.gateway is AtGateway.OPEN]
    told = estate.denied(title)
    assert any(f"{each.key} would be" in told and each.row.but in told for each in opened) == bool(told) == bool(opened)
    assert estate.change_denied(title, labels={"from": "before"}) == ""
    # Of a rule without a host, the annotation alone isn't open.
    opened = [each for each in opened if each.row.but != FIELDS["certificate-of-every-host"].but]
    assert bool(estate.change_denied("plain", annotations=stands["metadata"]["annotations"])) == bool(opened)


def test_an_ingress_whose_names_run_together_with_another_namespaces_is_denied(estate: Estate) -> None:
    other = f"{NAMESPACE}-blue"
    create(estate.api, NAMESPACES, other)
    told = wait_for(lambda: estate.denied("plain", "blue-shop"), 30, what="the policy to know the namespace")
    assert f"could not tell a route of Ingress {NAMESPACE}/blue-shop from one of namespace {other}" in told
    assert "give the Ingress a name that does not begin with blue-" in told
    assert "could not tell a canary" in estate.denied("plain", "shop", other, **{f"{KEY}canary": "true"})
    assert estate.denied("plain", "blueshop") == estate.denied("plain", "shop", other) == ""
    estate.api.delete(NAMESPACES, other)
