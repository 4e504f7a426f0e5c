"""The gateway as it is shipped: what it serves, what it answers where nothing is, and what it may do on the cluster."""

import base64
import itertools
import json
from collections.abc import Iterator
from contextlib import ExitStack, closing
from typing import Any

import pytest
import yaml

from devcluster.api import INGRESSES, NAMESPACES, SERVICES, Object, path_of, wait_for
from devcluster.backend import Backend
from devcluster.build import REPOSITORY
from devcluster.cluster import DevCluster
from devcluster.gateway import USER, Answer, Gateway, lacking
from devcluster.story import Stage, served_by
from tests.e2e.objects import SECRETS, backend, by_hand, create, new
from tests.e2e.people import is_allowed, said, tenant_of

PORT = 8085
"""The port of a Service that is asked for something."""


@pytest.fixture
def gateway(stage: Stage) -> Gateway:
    """Return the gateway of the shared cluster."""
    if reason := lacking():
        pytest.skip(reason)
    assert stage.gateway
    return stage.gateway


@pytest.fixture
def host(stage: Stage) -> str:
    """Return a host of the test's own."""
    return f"{stage.namespace}.example.com"


@pytest.fixture
def shop(stage: Stage, gateway: Gateway, host: str) -> Iterator[str]:
    """Yield the name of a Service that the gateway serves on the test's host."""
    service = stage.create_service("shop", {"ingress/http": "true", "ingress/host": host}, PORT)
    with Backend(service):
        stage.until("an answer of the Service", lambda: served_by(stage, "shop", gateway.ask(host)))
        yield "shop"


@pytest.fixture
def victim(stage: Stage, gateway: Gateway, host: str) -> Iterator[Stage]:
    """Yield a namespace whose name is that of the test's and goes on; the gateway serves its Service `shop`."""
    victim = Stage(stage.api, f"{stage.namespace}-a-b", gateway)
    create(stage.api, NAMESPACES, victim.namespace)
    service = victim.create_service("shop", {"ingress/http": "true", "ingress/host": host}, PORT)
    with Backend(service):
        victim.until("an answer of the Service", lambda: served_by(victim, "shop", gateway.ask(host)))
        yield victim
        assert served_by(victim, "shop", gateway.ask(host))
    stage.api.delete(NAMESPACES, victim.namespace)


def test_a_service_whose_name_runs_together_with_another_namespaces_takes_none_of_its_requests(
    cluster: DevCluster, stage: Stage, victim: Stage, host: str
) -> None:
    """Traefik keeps one of two with one name, and takes repeated `-` for one. Not even an Ingress comes to be."""
    api = stage.exits.enter_context(closing(tenant_of(cluster.control_plane, stage.namespace)))
    tenant = Stage(api, stage.namespace)
    together = f"of namespace {stage.namespace} from one of namespace {victim.namespace}: their names run together, as"
    for name in ("a-b-shop", "a--b-shop", "a-b--shop"):
        tenant.create_service(name, {"ingress/http": "true", "ingress/host": f"{name}.{host}"}, PORT)
        said = stage.until_event(name, "could not tell a Service")
        assert f"{together} {victim.namespace}-shop-{PORT}; give the Service a name that, joined with its port," in said
        assert "does not begin with a-b-, or use an HTTPRoute" in said
        assert stage.ingress(name) is None
    # The name of a route has the host, too.
    tenant.create_service("a", {"ingress/http": "true", "ingress/host": f"b.shop.{host}"}, PORT)
    said = stage.until_event("a", "could not tell a route")
    assert f"as {victim.namespace}-shop-{host.replace('.', '-')}; give the Service a name" in said
    assert stage.ingress("a") is None
    for name in ("ab-shop", "a-bshop"):
        tenant.create_service(name, {"ingress/http": "true", "ingress/host": f"{name}.{host}"}, PORT)
        stage.until_ingress(name, "the Ingress of a Service whose name doesn't run together", lambda _: True)


def test_somebody_who_may_write_ingresses_takes_none_of_anothers_requests_either(
    cluster: DevCluster, stage: Stage, victim: Stage, host: str
) -> None:
    tenant = tenant_of(cluster.control_plane, stage.namespace, rights=[SERVICES, INGRESSES])
    stage.exits.enter_context(closing(tenant))
    by_class: Object = {"ingressClassName": "ingress-manager"}

    def ingress(name: str, service: str, port: int | str, spec: Object = by_class, **metadata: Any) -> Object:
        return by_hand(stage.namespace, name, f"x.{host}", service, port, metadata=metadata, **spec)

    annotated = {"annotations": {"kubernetes.io/ingress.class": "ingress-manager"}}
    by_secret = by_class | {"tls": [{"secretName": "a-b-shop-tls"}]}
    denied = [
        (ingress("x", "a--b-shop", PORT), "a Service"),
        (ingress("x", "a--b-shop", PORT, {}, **annotated), "a Service"),
        (ingress("x", "a", f"b-shop-{PORT}"), "a Service"),
        (ingress("a.b", "x", PORT), f"a route of Ingress {stage.namespace}/a.b"),
        (ingress("x", "x", PORT, by_secret), "a Secret"),
    ]
    for made, what in denied:
        refused = said(lambda made=made: tenant.create(INGRESSES, made))  # type: ignore[misc]
        assert refused is not None, made
        assert f"the gateway could not tell {what}" in refused
        assert f"from one of namespace {victim.namespace}: their names run together" in refused
    for made in (
        ingress("port", "a", PORT),
        ingress("other-class", "a-b-shop", PORT, {"ingressClassName": "internal"}),
        ingress("no-class", "a-b-shop", PORT, {}),
    ):
        tenant.create(INGRESSES, made)
    for spec in (by_class, {"ingressClassName": None}):
        change = {"metadata": annotated if spec is not by_class else {}, "spec": spec}
        refused = said(lambda change=change: tenant.patch(INGRESSES, "other-class", change, stage.namespace))  # type: ignore[misc]
        assert refused is not None


def test_an_ingress_from_before_the_namespace_can_lose_its_finalizers_and_ask_for_nothing_new(
    stage: Stage, host: str
) -> None:
    stage.create_service("a-b-shop", {"ingress/http": "true", "ingress/host": host}, PORT)
    stage.until_ingress("a-b-shop", "the Ingress", lambda _: True)
    later = f"{stage.namespace}-a-b"
    stage.api.patch(INGRESSES, "a-b-shop", {"metadata": {"finalizers": ["example.com/held"]}}, stage.namespace)
    create(stage.api, NAMESPACES, later)
    ports = itertools.count(1)

    def denied() -> bool:
        change = {"spec": by_hand(stage.namespace, "a-b-shop", host, "a-b-shop", next(ports))["spec"]}
        return said(lambda: stage.api.patch(INGRESSES, "a-b-shop", change, stage.namespace)) is not None

    stage.until("the policy to know the namespace", denied)
    stage.api.delete(SERVICES, "a-b-shop", stage.namespace)
    stage.api.patch(INGRESSES, "a-b-shop", {"metadata": {"finalizers": None}}, stage.namespace)
    stage.until("no Ingress", lambda: stage.ingress("a-b-shop") is None)
    stage.api.delete(NAMESPACES, later)


def test_what_nobody_serves_is_the_404_pages(gateway: Gateway, host: str, shop: str) -> None:
    answer = gateway.ask(f"nobody.{host}", "/somewhere?secret=1", tls=True, headers={"Accept": "text/html"})
    assert answer.is_the_404_page
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert f"nobody.{host}/somewhere" in answer.body
    assert shop not in answer.body


def test_with_the_component_https_redirect_http_is_sent_to_https(
    cluster: DevCluster, stage: Stage, gateway: Gateway, host: str, shop: str
) -> None:
    file = cluster.folder / "traefik-1/own/https-redirect.yaml"
    file.write_text((REPOSITORY / "gateway/https-redirect/https-redirect.yaml").read_text())
    try:
        answer = stage.until_answer(host, "a redirect", lambda found: found.status == 301)
        assert answer.headers["location"].startswith(f"https://{host}")
        assert gateway.ask("nobody.example.com").status == 301
        assert gateway.ask(host, method="POST").status == 308
        assert served_by(stage, shop, gateway.ask(host, tls=True))
        assert served_by(stage, shop, gateway.ask(host, "/.well-known/acme-challenge/x"))
    finally:
        file.unlink()
    stage.until_answer(host, "an answer of the Service", lambda found: served_by(stage, shop, found))


# The class nginx: what our configuration, our rights and our policy decide. All else is Traefik's.

NGINX = REPOSITORY / "gateway/ingress-nginx"
ADDRESS = "127.0.0.9"
KEY = "nginx.ingress.kubernetes.io/"

SAID: dict[str, tuple[dict[str, str], int | str]] = {
    "nothing": ({}, 200),
    "visitors from elsewhere alone": ({"whitelist-source-range": "192.0.2.0/24"}, 403),
    "a password": ({"auth-type": "basic", "auth-secret": "passwords"}, 401),
    "another namespace's passwords": ({"auth-type": "basic", "auth-secret": "kube-system/passwords"}, "page"),
    "a snippet": ({"configuration-snippet": "return 418;"}, "page"),
    "headers from a ConfigMap": ({"custom-headers": "kube-system/headers"}, 503),
    "a wrong regular expression": ({"use-regex": "true"}, "page"),
    "a Service elsewhere": ({}, 503),
}
"""The annotations of an Ingress, and the answer: the 404 page, or a status."""


@pytest.fixture(scope="module")
def class_nginx(cluster: DevCluster) -> Iterator[None]:
    """Have what the component applies, and one more Traefik, which has its configuration, at ADDRESS."""
    if reason := lacking():
        pytest.skip(reason)
    assert cluster.gateway
    applied = ("ingressclass", "rbac", "name-collisions")
    files = [option for name in applied for option in ("-f", f"{NGINX}/{name}.yaml")]
    cluster.kubectl("apply", *files)
    wait_for(lambda: is_allowed(cluster.api, USER, "watch", "configmaps", ""), 30, what="the right to read ConfigMaps")

    def change(static: Object) -> None:
        static["providers"] |= yaml.safe_load((NGINX / "provider.yaml").read_text())

    with cluster.gateway.beside(ADDRESS, change):
        yield
    cluster.kubectl("delete", *files)


@pytest.fixture
def nginx(stage: Stage) -> Iterator[Stage]:
    """Yield a namespace with a Service `shop`, and an ExternalName that leads to this machine."""
    create(
        stage.api, SERVICES, "elsewhere", stage.namespace, spec={"type": "ExternalName", "externalName": "localhost"}
    )
    users = {"auth": base64.b64encode(b"somebody:$apr1$x$y").decode()}
    with ExitStack() as exits:
        for namespace in (stage.namespace, "kube-system"):
            create(stage.api, SECRETS, "passwords", namespace, data=users)
            exits.callback(stage.api.delete, SECRETS, "passwords", namespace)
        exits.enter_context(Backend(stage.create_service("shop", {}, PORT)))
        yield stage


def of_class_nginx(
    stage: Stage, name: str, annotations: dict[str, str], service: str = "shop", path: str = "/"
) -> Object:
    """Return an Ingress of the class nginx with a host of its own. No Pod runs here: the Service's address is asked."""
    metadata = {
        "annotations": {f"{KEY}{key}": annotations[key] for key in annotations} | {f"{KEY}service-upstream": "true"}
    }
    paths = [{"path": path, "pathType": "ImplementationSpecific", "backend": backend(service, PORT)}]
    rules = [{"host": f"{name}.{stage.namespace}.example.com", "http": {"paths": paths}}]
    return new(INGRESSES, name, stage.namespace, metadata, spec={"ingressClassName": "nginx", "rules": rules})


def ask_beside(stage: Stage, name: str, headers: dict[str, str] | None = None) -> Answer:
    assert stage.gateway
    return stage.gateway.ask(f"{name}.{stage.namespace}.example.com", "/x(", headers=headers, address=ADDRESS)


@pytest.mark.usefixtures("class_nginx")
def test_what_protects_is_served_closed_and_what_ingress_nginx_leaves_closed_stays_so(nginx: Stage) -> None:
    for number, (what, (annotations, _)) in enumerate(SAID.items()):
        service = "elsewhere" if what == "a Service elsewhere" else "shop"
        path = "/x(" if "use-regex" in annotations else "/"
        nginx.api.create(INGRESSES, of_class_nginx(nginx, f"said-{number}", annotations, service, path))
    nginx.api.create(INGRESSES, of_class_nginx(nginx, "last", {}))
    nginx.until("the last one's answer", lambda: ask_beside(nginx, "last").status == 200)
    found = {what: ask_beside(nginx, f"said-{number}") for number, what in enumerate(SAID)}
    assert {what: "page" if answer.is_the_404_page else answer.status for what, answer in found.items()} == {
        what: becomes for what, (_, becomes) in SAID.items()
    }
    # What holds for each request holds here, too; and the status is ingress-nginx's to write.
    assert "X-Original-Url" not in json.loads(ask_beside(nginx, "last", {"X-Original-Url": "/secret"}).body)["headers"]
    assert ask_beside(nginx, "last", {"X-Large": "x" * 70000}).status == 431
    assert (nginx.ingress("last") or {})["status"] == {"loadBalancer": {}}


@pytest.mark.usefixtures("class_nginx")
def test_an_ingress_whose_names_run_together_with_another_namespaces_is_denied(nginx: Stage) -> None:
    other = Stage(nginx.api, f"{nginx.namespace}-blue")
    create(nginx.api, NAMESPACES, other.namespace)

    def refused(stage: Stage, name: str, annotations: dict[str, str]) -> str | None:
        path, made = path_of(INGRESSES, stage.namespace), of_class_nginx(stage, name, annotations)
        return said(lambda: nginx.api.request("POST", path, params={"dryRun": "All"}, body=made))

    told = nginx.until("the policy to know the namespace", lambda: refused(nginx, "blue-shop", {}))
    assert (
        f"could not tell a route of Ingress {nginx.namespace}/blue-shop from one of namespace {other.namespace}" in told
    )
    assert "give the Ingress a name that does not begin with blue-" in told
    assert "could not tell a canary" in (refused(other, "shop", {"canary": "true"}) or "")
    assert (refused(nginx, "blueshop", {}), refused(other, "shop", {})) == (None, None)
    nginx.api.delete(NAMESPACES, other.namespace)
