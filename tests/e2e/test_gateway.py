"""The gateway as shipped: nobody receives another tenant's requests, and each request gets the right answer."""

import json
import re
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from devcluster.api import INGRESSES, NAMESPACES, SERVICES, Object, path_of
from devcluster.backend import Backend
from devcluster.build import REPOSITORY
from devcluster.cluster import DevCluster
from devcluster.gateway import LOOPBACK, Gateway
from devcluster.overlay import GATEWAY_CLASS
from devcluster.story import Stage, served_by
from tests.e2e.objects import backend, by_hand, create, published
from tests.e2e.people import said, tenant_of

PORT = 8085


@pytest.fixture
def host(stage: Stage) -> str:
    return f"{stage.namespace}.example.com"


@pytest.fixture
def victim(stage: Stage, gateway: Gateway, host: str) -> Iterator[Stage]:
    """Yield a second namespace, whose name starts with the test's; the gateway serves its Service `shop`."""
    victim = Stage(stage.api, f"{stage.namespace}-a-b", gateway)
    create(stage.api, NAMESPACES, victim.namespace)
    service = victim.create_service("shop", {"ingress/http": "true", "ingress/host": host}, PORT)
    with Backend(service):
        victim.until("an answer of the Service", lambda: served_by(victim, "shop", gateway.ask(host)))
        yield victim
        assert served_by(victim, "shop", gateway.ask(host))
    stage.api.delete(NAMESPACES, victim.namespace)


def test_an_ambiguous_service_name_is_refused(cluster: DevCluster, stage: Stage, victim: Stage, host: str) -> None:
    """Traefik keeps only one of two equal names, and collapses repeated `-`. Route names also contain the host."""
    api = stage.exits.enter_context(closing(tenant_of(cluster.control_plane, stage.namespace)))
    tenant = Stage(api, stage.namespace)
    together = f"from one of namespace {victim.namespace}: joined with -, their names can be equal, as in"
    by_port = f"{victim.namespace}-shop-{PORT}; give the Service a name that, joined with its port, does not begin with"
    by_host = f"{victim.namespace}-shop-{host.replace('.', '-')}; give the Service a name"
    for name, asked, what in (("a--b-shop", f"x.{host}", by_port), ("a", f"b.shop.{host}", by_host)):
        tenant.create_service(name, {"ingress/http": "true", "ingress/host": asked}, PORT)
        assert f"{together} {what}" in stage.until_event(name, "can't distinguish a")
        assert stage.ingress(name) is None
    tenant.create_service("a-bshop", {"ingress/http": "true", "ingress/host": f"y.{host}"}, PORT)
    stage.until_ingress("a-bshop", "the Ingress of a Service whose name doesn't run together", lambda _: True)


BY_CLASS: Object = {"ingressClassName": GATEWAY_CLASS}
ANNOTATED = {"annotations": {"kubernetes.io/ingress.class": GATEWAY_CLASS}}


def test_ambiguous_ingresses_are_denied(cluster: DevCluster, stage: Stage, victim: Stage, host: str) -> None:
    resources = [SERVICES, INGRESSES]
    tenant = stage.exits.enter_context(closing(tenant_of(cluster.control_plane, stage.namespace, resources=resources)))

    def denied(name: str, service: str, port: int | str = PORT, spec: Object = BY_CLASS, **metadata: Any) -> str:
        """Create an Ingress, and return which of its names is ambiguous, or "" if it is accepted."""
        made = by_hand(stage.namespace, name, f"x.{host}", service, port, metadata=metadata, **spec)
        why = said(lambda: tenant.create(INGRESSES, made))
        [what] = re.findall(rf"can't distinguish (.*) from one of namespace {victim.namespace}: ", why) if why else [""]
        return what.replace(f" of namespace {stage.namespace}", "")

    for service in ("a-b-shop", "a--b-shop", "a-b--shop"):
        assert denied("x", service) == "a Service"
    assert denied("x", "a--b-shop", PORT, {}, **ANNOTATED) == "a Service"
    assert denied("x", "a", f"b-shop-{PORT}") == "a Service", "by its port's name"
    assert denied("a.b", "x") == f"a route of Ingress {stage.namespace}/a.b"
    assert denied("x", "x", PORT, BY_CLASS | {"tls": [{"secretName": "a-b-shop-tls"}]}) == "a Secret"
    assert denied("port", "a") == denied("other-word", "ab-shop") == ""
    assert denied("other-class", "a-b-shop", PORT, {"ingressClassName": "internal"}) == ""
    for change in ({"spec": BY_CLASS}, {"metadata": ANNOTATED, "spec": {"ingressClassName": None}}):
        assert said(partial(tenant.patch, INGRESSES, "other-class", change, stage.namespace)) is not None


def test_an_ingress_that_became_ambiguous_can_be_deleted(stage: Stage, host: str) -> None:
    published(stage, "a-b-shop", {"ingress/host": host})
    later = f"{stage.namespace}-a-b"
    stage.api.patch(INGRESSES, "a-b-shop", {"metadata": {"finalizers": ["example.com/held"]}}, stage.namespace)
    create(stage.api, NAMESPACES, later)
    path, change = path_of(INGRESSES, stage.namespace, "a-b-shop"), {"spec": {"defaultBackend": backend("x", 80)}}
    denied = partial(stage.api.request, "PATCH", path, params={"dryRun": "All"}, body=change)
    stage.until("the policy to know the namespace", lambda: said(denied))
    stage.api.delete(SERVICES, "a-b-shop", stage.namespace)
    stage.api.patch(INGRESSES, "a-b-shop", {"metadata": {"finalizers": None}}, stage.namespace)
    stage.until("no Ingress", lambda: stage.ingress("a-b-shop") is None)
    stage.api.delete(NAMESPACES, later)


ITS_OWN = {"X-Forwarded-For": LOOPBACK, "X-Real-Ip": LOOPBACK, "X-Forwarded-Proto": "http"}
OF_EACH = {*ITS_OWN, "Accept-Encoding", "Host", "X-Forwarded-Host", "X-Forwarded-Port", "X-Forwarded-Server"}


@pytest.mark.gate
def test_a_request_becomes_what_the_table_says(stage: Stage, gateway: Gateway, host: str) -> None:
    for name in ("open", "secret"):
        asked = {"ingress/http": "true", "ingress/host": host, "ingress/path": f"/{name}"}
        stage.exits.enter_context(Backend(stage.create_service(name, asked, PORT)))
        stage.until("an answer", lambda: served_by(stage, name, gateway.ask(host, f"/{name}")))  # noqa: B023
    for row in yaml.safe_load(Path(__file__).with_name("gateway_requests.yaml").read_text(encoding="utf-8")):
        stated = row.get("headers", {}).items()
        headers = {key: "x" * value if isinstance(value, int) else value for key, value in stated}
        answer = gateway.ask(host, row["path"], headers=headers)
        if answer.status != 200:
            assert ("page" if answer.is_the_404_page else answer.status) == row["becomes"], row
            continue
        arrived = json.loads(answer.body)
        assert f"{arrived['service'].rpartition('/')[2]} {arrived['path']}" == row["becomes"], row
        assert {*arrived["headers"]} == {*OF_EACH, *row.get("brings", ())}, row
        assert {key: arrived["headers"][key] for key in ITS_OWN} == ITS_OWN, row


def test_https_redirect_sends_http_to_https(cluster: DevCluster, stage: Stage, gateway: Gateway, host: str) -> None:
    shop = stage.create_service("shop", {"ingress/http": "true", "ingress/host": host}, PORT)
    stage.exits.enter_context(Backend(shop))
    stage.until_answer(host, "an answer of the Service", lambda found: served_by(stage, "shop", found))
    file = cluster.folder / "traefik/own/https-redirect.yaml"
    file.write_text((REPOSITORY / "gateway/https-redirect/https-redirect.yaml").read_text())
    try:
        answer = stage.until_answer(host, "a redirect", lambda found: found.status == 301)
        assert answer.headers["location"].startswith(f"https://{host}")
        assert gateway.ask("nobody.example.com").status == 301
        assert gateway.ask(host, method="POST").status == 308
        assert served_by(stage, "shop", gateway.ask(host, tls=True))
        assert served_by(stage, "shop", gateway.ask(host, "/.well-known/acme-challenge/x"))
    finally:
        file.unlink()
    stage.until_answer(host, "an answer of the Service again", lambda found: served_by(stage, "shop", found))
