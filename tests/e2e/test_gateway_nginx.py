"""The class nginx at the gateway: what our configuration, our rights and our policy decide. All else is Traefik's."""

import base64
import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest
import yaml

from devcluster.api import INGRESSES, NAMESPACES, SERVICES, Object, path_of, wait_for
from devcluster.backend import Backend
from devcluster.build import REPOSITORY
from devcluster.cluster import DevCluster
from devcluster.gateway import USER, Answer, answers, lacking
from devcluster.story import Stage
from tests.e2e.objects import SECRETS, backend, create, new
from tests.e2e.people import said
from tests.e2e.test_rights import is_allowed

FOLDER = REPOSITORY / "gateway/ingress-nginx"
ADDRESS = "127.0.0.9"
KEY = "nginx.ingress.kubernetes.io/"
PORT = 8085

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


pytestmark = pytest.mark.usefixtures("served")


@contextmanager
def class_nginx(cluster: DevCluster, address: str) -> Iterator[None]:
    """Have what the component applies, and one more Traefik, which has its configuration, at an address of loopback."""
    if reason := lacking():
        pytest.skip(reason)
    assert cluster.gateway
    files = [
        option for name in ("ingressclass", "rbac", "name-collisions") for option in ("-f", f"{FOLDER}/{name}.yaml")
    ]
    cluster.kubectl("apply", *files)
    wait_for(lambda: is_allowed(cluster, USER, "watch", "configmaps", ""), 30, what="the right to read ConfigMaps")

    def change(static: Object) -> None:
        static["providers"] |= yaml.safe_load((FOLDER / "provider.yaml").read_text())

    traefik, [probes, *_] = cluster.gateway.beside(address, change), cluster.gateway.internal_ports
    traefik.start()
    traefik.wait_ready(lambda: answers(probes, "/ping", address=address))
    yield
    traefik.kill()
    cluster.kubectl("delete", *files)


@pytest.fixture(scope="module")
def served(cluster: DevCluster) -> Iterator[None]:
    """Have the class nginx served at ADDRESS."""
    with class_nginx(cluster, ADDRESS):
        yield


@pytest.fixture
def shop(stage: Stage) -> Iterator[Stage]:
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


def ingress(stage: Stage, name: str, annotations: dict[str, str], service: str = "shop", path: str = "/") -> Object:
    """Return an Ingress of the class nginx with a host of its own. No Pod runs here: the Service's address is asked."""
    metadata = {
        "annotations": {f"{KEY}{key}": annotations[key] for key in annotations} | {f"{KEY}service-upstream": "true"}
    }
    paths = [{"path": path, "pathType": "ImplementationSpecific", "backend": backend(service, PORT)}]
    rules = [{"host": f"{name}.{stage.namespace}.example.com", "http": {"paths": paths}}]
    return new(INGRESSES, name, stage.namespace, metadata, spec={"ingressClassName": "nginx", "rules": rules})


def ask(stage: Stage, name: str, headers: dict[str, str] | None = None) -> Answer:
    assert stage.gateway
    return stage.gateway.ask(f"{name}.{stage.namespace}.example.com", "/x(", headers=headers, address=ADDRESS)


def test_what_protects_is_served_closed_and_what_ingress_nginx_leaves_closed_stays_so(shop: Stage) -> None:
    for number, (what, (annotations, _)) in enumerate(SAID.items()):
        service = "elsewhere" if what == "a Service elsewhere" else "shop"
        path = "/x(" if "use-regex" in annotations else "/"
        shop.api.create(INGRESSES, ingress(shop, f"said-{number}", annotations, service, path))
    shop.api.create(INGRESSES, ingress(shop, "last", {}))
    shop.until("the last one's answer", lambda: ask(shop, "last").status == 200)
    found = {what: ask(shop, f"said-{number}") for number, what in enumerate(SAID)}
    assert {what: "page" if answer.is_the_404_page else answer.status for what, answer in found.items()} == {
        what: becomes for what, (_, becomes) in SAID.items()
    }
    # What holds for each request holds here, too; and the status is ingress-nginx's to write.
    assert "X-Original-Url" not in json.loads(ask(shop, "last", {"X-Original-Url": "/secret"}).body)["headers"]
    assert ask(shop, "last", {"X-Large": "x" * 70000}).status == 431
    assert (shop.ingress("last") or {})["status"] == {"loadBalancer": {}}


def test_an_ingress_whose_names_run_together_with_another_namespaces_is_denied(shop: Stage) -> None:
    other = Stage(shop.api, f"{shop.namespace}-blue")
    create(shop.api, NAMESPACES, other.namespace)

    def refused(stage: Stage, name: str, annotations: dict[str, str]) -> str | None:
        path, made = path_of(INGRESSES, stage.namespace), ingress(stage, name, annotations)
        return said(lambda: shop.api.request("POST", path, params={"dryRun": "All"}, body=made))

    told = shop.until("the policy to know the namespace", lambda: refused(shop, "blue-shop", {}))
    assert (
        f"could not tell a route of Ingress {shop.namespace}/blue-shop from one of namespace {other.namespace}" in told
    )
    assert "give the Ingress a name that does not begin with blue-" in told
    assert "could not tell a canary" in (refused(other, "shop", {"canary": "true"}) or "")
    assert "the gateway ends TLS itself" in (refused(shop, "shop", {"ssl-passthrough": "true"}) or "")
    assert (refused(shop, "blueshop", {}), refused(other, "shop", {})) == (None, None)
    shop.api.delete(NAMESPACES, other.namespace)
