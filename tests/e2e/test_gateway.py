"""The gateway as it is shipped: nobody takes another's requests, and what it answers where nothing is."""

import itertools
import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml

from devcluster.api import INGRESSES, NAMESPACES, SERVICES, Object
from devcluster.backend import Backend
from devcluster.build import REPOSITORY
from devcluster.cluster import DevCluster
from devcluster.gateway import LOOPBACK, Gateway, lacking
from devcluster.story import Stage, served_by
from tests.e2e.objects import by_hand, create
from tests.e2e.people import said, tenant_of

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


ITS_OWN = {"X-Forwarded-For": LOOPBACK, "X-Real-Ip": LOOPBACK, "X-Forwarded-Proto": "http"}
OF_EACH = {*ITS_OWN, "Accept-Encoding", "Host", "X-Forwarded-Host", "X-Forwarded-Port", "X-Forwarded-Server"}
"""The headers that arrive with each request."""


@pytest.mark.gate
def test_a_request_becomes_what_the_table_says(stage: Stage, gateway: Gateway, host: str) -> None:
    for name in ("open", "secret"):
        asked = {"ingress/http": "true", "ingress/host": host, "ingress/path": f"/{name}"}
        stage.exits.enter_context(Backend(stage.create_service(name, asked, PORT)))
        stage.until("an answer", lambda: served_by(stage, name, gateway.ask(host, f"/{name}")))  # noqa: B023
    for row in yaml.safe_load(Path(__file__).with_name("gateway_requests.yaml").read_text(encoding="utf-8")):
        headers = {
            key: "x" * value if isinstance(value, int) else value for key, value in row.get("headers", {}).items()
        }
        answer = gateway.ask(host, row["path"], headers=headers)
        if answer.status != 200:
            assert ("page" if answer.is_the_404_page else answer.status) == row["becomes"], row
            continue
        arrived = json.loads(answer.body)
        assert f"{arrived['service'].rpartition('/')[2]} {arrived['path']}" == row["becomes"], row
        assert {*arrived["headers"]} == {*OF_EACH, *row.get("brings", ())}, row
        assert {key: arrived["headers"][key] for key in ITS_OWN} == ITS_OWN, row


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
