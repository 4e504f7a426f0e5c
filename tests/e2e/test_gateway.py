"""The gateway as it is shipped: what it serves, what it answers where nothing is, and what it may do on the cluster."""

import itertools
import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
import yaml

from devcluster.__main__ import welcome
from devcluster.api import HTTPROUTES, INGRESSES, NAMESPACES, SERVICES, Object, Resource, path_of, wait_for
from devcluster.backend import Backend
from devcluster.build import REPOSITORY
from devcluster.cluster import DevCluster
from devcluster.control_plane import ControlPlane
from devcluster.gateway import NAME, USER, Answer, Gateway, lacking
from devcluster.manifests import rendered
from devcluster.story import Stage, served_by
from tests.e2e.tenant import said, tenant_of

REVIEWS = Resource("authorization.k8s.io/v1", "subjectaccessreviews", "SubjectAccessReview", namespaced=False)
PODS = Resource("v1", "pods", "Pod")

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


def is_page(answer: Answer) -> bool:
    return answer.is_the_404_page


def test_a_service_is_served_by_http_and_by_https(stage: Stage, gateway: Gateway, host: str, shop: str) -> None:
    assert served_by(stage, shop, gateway.ask(host))
    # Traefik gives its entry points the new routes one after the other.
    stage.until("an answer by https", lambda: served_by(stage, shop, gateway.ask(host, tls=True)))


@pytest.fixture
def victim(stage: Stage, gateway: Gateway, host: str) -> Iterator[Stage]:
    """Yield a namespace whose name is that of the test's and goes on; the gateway serves its Service `shop`."""
    victim = Stage(stage.api, f"{stage.namespace}-a-b", gateway)
    stage.api.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": victim.namespace}})
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

    def ingress(name: str, service: str, port: Object, spec: Object = by_class, **metadata: Any) -> Object:
        backend = {"service": {"name": service, "port": port}}
        rule = {"host": f"x.{host}", "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": backend}]}}
        return {
            "apiVersion": INGRESSES.api_version,
            "kind": INGRESSES.kind,
            "metadata": {"name": name, "namespace": stage.namespace, **metadata},
            "spec": {"rules": [rule], **spec},
        }

    number: Object = {"number": PORT}
    annotated = {"annotations": {"kubernetes.io/ingress.class": "ingress-manager"}}
    by_secret = by_class | {"tls": [{"secretName": "a-b-shop-tls"}]}
    denied = [
        (ingress("x", "a--b-shop", number), "a Service"),
        (ingress("x", "a--b-shop", number, {}, **annotated), "a Service"),
        (ingress("x", "a", {"name": f"b-shop-{PORT}"}), "a Service"),
        (ingress("a.b", "x", number), f"a route of Ingress {stage.namespace}/a.b"),
        (ingress("x", "x", number, by_secret), "a Secret"),
    ]
    for made, what in denied:
        refused = said(lambda made=made: tenant.create(INGRESSES, made))  # type: ignore[misc]
        assert refused is not None, made
        assert f"the gateway could not tell {what}" in refused
        assert f"from one of namespace {victim.namespace}: their names run together" in refused
    for made in (
        ingress("port", "a", number),
        ingress("other-class", "a-b-shop", number, {"ingressClassName": "internal"}),
        ingress("no-class", "a-b-shop", number, {}),
    ):
        tenant.create(INGRESSES, made)
    for spec in (by_class, {"ingressClassName": None}):
        change = {"metadata": annotated if spec is not by_class else {}, "spec": spec}
        refused = said(lambda change=change: tenant.patch(INGRESSES, "other-class", change, stage.namespace))  # type: ignore[misc]
        assert refused is not None


def test_of_two_namespaces_whose_names_differ_in_repeated_hyphens_the_older_one_has_the_names(
    cluster: DevCluster, stage: Stage, host: str
) -> None:
    time.sleep(1.1)  # their age counts in seconds
    younger = Stage(stage.api, stage.namespace.replace("-", "--"))
    stage.api.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": younger.namespace}})
    annotations = {"ingress/http": "true", "ingress/host": host}
    tenant = stage.exits.enter_context(closing(tenant_of(cluster.control_plane, younger.namespace)))
    Stage(tenant, younger.namespace).create_service("x", annotations, PORT)
    told = younger.until_event("x", "could not tell a Service")
    assert f"from one of namespace {stage.namespace}: it takes repeated - for one, and {stage.namespace} is the" in told
    assert younger.ingress("x") is None
    stage.create_service("x", annotations, PORT)
    stage.until_ingress("x", "the Ingress in the older namespace", lambda _: True)
    stage.api.delete(NAMESPACES, younger.namespace)


def test_an_ingress_from_before_the_namespace_can_lose_its_finalizers_and_ask_for_nothing_new(
    stage: Stage, host: str
) -> None:
    stage.create_service("a-b-shop", {"ingress/http": "true", "ingress/host": host}, PORT)
    stage.until_ingress("a-b-shop", "the Ingress", lambda _: True)
    later = f"{stage.namespace}-a-b"
    stage.api.patch(INGRESSES, "a-b-shop", {"metadata": {"finalizers": ["example.com/held"]}}, stage.namespace)
    stage.api.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": later}})
    ports = itertools.count(1)

    def denied() -> bool:
        backend = {"service": {"name": "a-b-shop", "port": {"number": next(ports)}}}
        rule = {"host": host, "http": {"paths": [{"pathType": "Prefix", "path": "/", "backend": backend}]}}
        change = {"spec": {"rules": [rule]}}
        return said(lambda: stage.api.patch(INGRESSES, "a-b-shop", change, stage.namespace)) is not None

    stage.until("the policy to know the namespace", denied)
    stage.api.delete(SERVICES, "a-b-shop", stage.namespace)
    stage.api.patch(INGRESSES, "a-b-shop", {"metadata": {"finalizers": None}}, stage.namespace)
    stage.until("no Ingress", lambda: stage.ingress("a-b-shop") is None)
    stage.api.delete(NAMESPACES, later)


@pytest.mark.parametrize("tls", [False, True], ids=["http", "https"])
def test_what_nobody_serves_is_the_404_pages(gateway: Gateway, host: str, shop: str, tls: bool) -> None:
    answer = gateway.ask(f"nobody.{host}", "/somewhere?secret=1", tls=tls, headers={"Accept": "text/html"})
    assert answer.is_the_404_page
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert f"nobody.{host}/somewhere" in answer.body
    assert shop not in answer.body


def test_a_path_that_no_ingress_names_is_the_404_pages(stage: Stage, gateway: Gateway, host: str, shop: str) -> None:
    stage.api.patch(SERVICES, shop, {"metadata": {"annotations": {"ingress/path": "/cart"}}}, stage.namespace)
    stage.until_answer(host, "the 404 page for /", is_page)
    assert served_by(stage, shop, gateway.ask(host, "/cart/1"))
    assert gateway.ask(host, "/carts").is_the_404_page
    assert gateway.ask(host, "/carts", tls=True).is_the_404_page


def test_an_ingress_of_another_class_is_not_served(stage: Stage, host: str, shop: str) -> None:
    stage.api.patch(SERVICES, shop, {"metadata": {"annotations": {"ingress/class": "nginx"}}}, stage.namespace)
    stage.until_answer(host, "the 404 page", is_page)


def test_a_default_backend_of_somebody_else_does_not_replace_the_404_page(
    stage: Stage, gateway: Gateway, host: str, shop: str
) -> None:
    metadata = {"name": "everything", "namespace": stage.namespace}
    backend = {"service": {"name": shop, "port": {"number": PORT}}}
    spec: Object = {"ingressClassName": "ingress-manager", "defaultBackend": backend}
    made = {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": metadata}
    stage.api.create(INGRESSES, {**made, "spec": spec})
    # What is created later is served, so this one has been read.
    stage.api.patch(SERVICES, shop, {"metadata": {"annotations": {"ingress/path": "/cart"}}}, stage.namespace)
    stage.until_answer(host, "the 404 page for /", is_page)
    assert gateway.ask(f"nobody.{host}").is_the_404_page


@pytest.mark.parametrize("path", ["/a%2fb", "/a%5Cb", "/a%00", "/a%3bb"])
@pytest.mark.usefixtures("shop")
def test_what_a_backend_may_take_for_another_path_is_refused(gateway: Gateway, host: str, path: str) -> None:
    assert gateway.ask(host, path).status == 400


@pytest.mark.usefixtures("shop")
def test_headers_that_are_too_large_are_refused(gateway: Gateway, host: str) -> None:
    assert gateway.ask(host, headers={"X-Large": "x" * 60_000}).status == 200
    assert gateway.ask(host, headers={"X-Large": "x" * 80_000}).status == 431


def test_what_a_client_claims_about_itself_is_not_believed(
    stage: Stage, gateway: Gateway, host: str, shop: str
) -> None:
    claims = {
        "X-Forwarded-For": "192.0.2.1",
        "X-Forwarded-Host": "elsewhere.example.com",
        "X-Forwarded-Proto": "https",
        "X-Forwarded-Prefix": "/elsewhere",
        "X-Real-Ip": "192.0.2.1",
        "X_Auth_User": "root",
        "X.Auth.User": "root",
    }
    answer = gateway.ask(host, headers=claims)
    assert served_by(stage, shop, answer)
    got = json.loads(answer.body)["headers"]
    assert {key: got.get(key) for key in ("X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip")} == {
        "X-Forwarded-For": "127.0.0.1",
        "X-Forwarded-Host": host,
        "X-Forwarded-Proto": "http",
        "X-Real-Ip": "127.0.0.1",
    }
    assert not {"X-Forwarded-Prefix", "X_Auth_User", "X.Auth.User"} & got.keys()


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


def test_an_ingress_is_told_the_gateways_address(cluster: DevCluster, stage: Stage, shop: str) -> None:
    path = path_of(SERVICES, NAME, NAME) + "/status"
    addresses = [{"ip": "192.0.2.7"}]

    def has_address(ingress: Object) -> bool:
        return bool(ingress["status"]["loadBalancer"].get("ingress") == addresses)

    cluster.api.request("PATCH", path, body={"status": {"loadBalancer": {"ingress": addresses}}})
    try:
        stage.until_ingress(shop, "an Ingress with the gateway's address", has_address)
    finally:
        # Otherwise the Ingresses of all later tests would change once more after they have been created.
        cluster.api.request("PATCH", path, body={"status": {"loadBalancer": {"ingress": None}}})


# What it may do.


@pytest.mark.parametrize(
    ("allowed", "verbs", "resource", "namespace"),
    [
        (True, "list watch", "ingresses.networking.k8s.io", None),
        (True, "update", "ingresses.networking.k8s.io/status", None),
        (False, "create update patch delete deletecollection", "ingresses.networking.k8s.io", None),
        (True, "list watch", "services", None),
        (False, "create update patch delete", "services", None),
        (False, "update patch", "services/status", None),
        (True, "list watch", "secrets", None),
        (False, "get create update patch delete", "secrets", None),
        (False, "get create update patch delete", "secrets", "kube-system"),
        (True, "list watch", "endpointslices.discovery.k8s.io", None),
        (False, "create update patch delete", "endpointslices.discovery.k8s.io", None),
        (True, "list watch", "nodes", None),
        (False, "create update patch delete", "nodes", None),
        (False, "get create", "nodes/proxy", None),
        (True, "list watch", "ingressclasses.networking.k8s.io", None),
        (False, "create update patch delete", "ingressclasses.networking.k8s.io", None),
        (False, "get list watch create update patch delete", "configmaps", None),
        (False, "get list watch create update patch delete", "configmaps", NAME),
        (False, "get list watch create update patch delete", "pods", None),
        (False, "get list watch create update patch delete", "pods", NAME),
        (False, "create", "pods/exec", NAME),
        (False, "get list watch create update patch delete", "deployments.apps", NAME),
        (False, "create", "serviceaccounts/token", NAME),
        (False, "get list watch create update patch delete", "namespaces", None),
        (False, "create patch", "events", None),
        (False, "impersonate", "users", None),
        (False, "get list watch create update patch delete", "clusterroles.rbac.authorization.k8s.io", None),
        (False, "bind escalate", "clusterroles.rbac.authorization.k8s.io", None),
    ],
)
@pytest.mark.usefixtures("gateway")
def test_the_api_servers_authorizer_says_what_traefik_may_do(
    cluster: DevCluster, allowed: bool, verbs: str, resource: str, namespace: str | None
) -> None:
    name, _, subresource = resource.partition("/")
    plural, _, group = name.partition(".")
    for verb in verbs.split():
        asked = {"verb": verb, "group": group, "resource": plural, "subresource": subresource}
        review = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": {
                "user": USER,
                "groups": ["system:serviceaccounts", f"system:serviceaccounts:{NAME}", "system:authenticated"],
                "resourceAttributes": asked | {"namespace": namespace or ""},
            },
        }
        answer = cluster.api.create(REVIEWS, review)
        assert answer["status"]["allowed"] is allowed, f"{verb} {resource} in {namespace or 'all namespaces'}"


def decisions(cluster: DevCluster) -> dict[str, set[tuple[str, str, str]]]:
    """Return what Traefik has asked the API server for, (verb, resource, subresource), by the authorizer's decision."""
    result: dict[str, set[tuple[str, str, str]]] = {"allow": set(), "forbid": set()}
    for event in cluster.audit_events():
        if event["user"]["username"] == USER:
            about = event.get("objectRef", {})
            asked = (event["verb"], about.get("resource", event["requestURI"]), about.get("subresource", ""))
            result[event["annotations"]["authorization.k8s.io/decision"]].add(asked)
    return result


@pytest.mark.usefixtures("shop")
def test_traefik_never_tries_what_it_may_not_do_and_writes_nothing_but_status(cluster: DevCluster) -> None:
    asked = decisions(cluster)
    assert asked["forbid"] == set()
    assert {what for what in asked["allow"] if what[0] not in {"get", "list", "watch"}} <= {
        ("update", "ingresses", "status")
    }
    watched = {resource for verb, resource, _ in asked["allow"] if verb == "watch"}
    assert watched == {"endpointslices", "ingressclasses", "ingresses", "nodes", "secrets", "services"}


# The manifests, as the API server sees them.


def test_the_pods_are_admitted_where_the_restricted_standard_is_enforced(empty_cluster: ControlPlane) -> None:
    if empty_cluster.api.get(NAMESPACES, NAME) is None:
        [namespace] = [item for item in rendered("gateway") if item["kind"] == "Namespace"]
        empty_cluster.api.create(NAMESPACES, namespace)
    deployments = [item for item in rendered("gateway") if item["kind"] == "Deployment"]
    assert len(deployments) == 2
    for deployment in deployments:
        metadata = {"name": deployment["metadata"]["name"], "namespace": NAME}
        spec = deployment["spec"]["template"]["spec"]
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
        empty_cluster.api.request("POST", path_of(PODS, NAME), params={"dryRun": "All"}, body=pod)


# HTTPRoutes.


def test_an_httproute_is_served_and_a_path_that_it_does_not_name_is_the_404_pages(serving: DevCluster) -> None:
    stage = Stage(serving.api, "default", serving.gateway)
    service = stage.create_service("shop", {}, PORT)
    parent = {"name": "ingress-manager", "namespace": NAME, "sectionName": "http"}
    rule: dict[str, Any] = {
        "matches": [{"path": {"type": "PathPrefix", "value": "/cart"}}],
        "backendRefs": [{"name": "shop", "port": PORT}],
    }
    route = {
        "apiVersion": HTTPROUTES.api_version,
        "kind": HTTPROUTES.kind,
        "metadata": {"name": "shop", "namespace": "default"},
        "spec": {"parentRefs": [parent], "hostnames": ["route.example.com"], "rules": [rule]},
    }
    stage.api.create(HTTPROUTES, route)
    gateway = serving.gateway
    assert gateway
    with Backend(service):
        stage.until("the Service", lambda: served_by(stage, "shop", gateway.ask("route.example.com", "/cart")))
        assert gateway.ask("route.example.com", "/carts").is_the_404_page
        assert gateway.ask("route.example.com", "/").is_the_404_page
        assert gateway.ask("nobody.example.com").is_the_404_page

    def accepted() -> bool:
        parents = (stage.api.get(HTTPROUTES, "shop", "default") or {}).get("status", {}).get("parents", [])
        states = {condition["type"]: condition["status"] for parent in parents for condition in parent["conditions"]}
        return states == {"Accepted": "True", "ResolvedRefs": "True"}

    stage.until("the route's status", accepted)
    stage.api.delete(HTTPROUTES, "shop", "default")
    stage.api.delete(SERVICES, "shop", "default")
    asked = decisions(serving)
    assert asked["forbid"] == set()
    writes = {what for what in asked["allow"] if what[0] not in {"get", "list", "watch"}}
    assert {subresource for _, _, subresource in writes} == {"status"}


def test_every_kind_that_traefik_watches_for_httproutes_is_granted_and_no_other(serving: DevCluster) -> None:
    roles = list(yaml.safe_load_all((REPOSITORY / "gateway/gateway-api/rbac.yaml").read_text(encoding="utf-8")))
    read = {kind for rule in roles[0]["rules"] if "watch" in rule["verbs"] for kind in rule["resources"]}
    base = {"endpointslices", "ingressclasses", "ingresses", "nodes", "secrets", "services"}
    watched = {resource for verb, resource, _ in decisions(serving)["allow"] if verb == "watch"}
    assert watched == read | base


# What `make cluster` prints.


def test_the_commands_that_make_cluster_prints_lead_to_an_answer(cluster: DevCluster, gateway: Gateway) -> None:
    printed = [line.strip() for line in welcome(cluster, 0).splitlines()]
    [create] = [line for line in printed if line.startswith("kubectl create service")]
    [annotate] = [line for line in printed if line.startswith("kubectl annotate service")]
    [serve] = [line for line in printed if line.startswith("python3 -m http.server")]
    [named, nobody] = [line for line in printed if line.startswith("curl ")]
    assert gateway.url in named
    environment = cluster.processes.environment({"KUBECONFIG": str(cluster.kubeconfig)})
    environment["PATH"] = f"{cluster.control_plane.programs.kubectl.path.parent}:{environment['PATH']}"

    def run(command: str) -> str:
        return subprocess.check_output(["/bin/sh", "-c", command], env=environment, text=True, cwd=cluster.folder)

    run(create)
    run(annotate)
    server = cluster.processes.add(
        "http.server", ["/bin/sh", "-c", f"exec {serve.removesuffix(' &')}"], env=environment
    )
    server.start()
    try:
        wait_for(lambda: "Directory listing" in run(named), 20, what="an answer of the server")
        assert "404: There is no page here" in run(nobody)
    finally:
        server.stop()
        cluster.api.delete(SERVICES, "web", "default")
