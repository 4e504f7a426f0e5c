"""The manifests and the image fit each other and the hook. What the API server says of them: tests/e2e."""

import copy
import itertools
import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from devcluster.build import REPOSITORY
from devcluster.manifests import FOLDERS, find, rendered
from hooks import gunicorn_conf
from hooks.app import create_app
from hooks.settings_file import SettingsFile
from ingress_manager.core.kubernetes import API_VERSIONS
from ingress_manager.core.policy import BUILT_IN_DEFAULTS, Defaults, Limits, Policy, Tls, in_namespace
from ingress_manager.core.settings import FILE_VARIABLE, parse
from tests.manifests.objects import Build, Object, container, one, ports, selects, template, uncommented
from tools import install

POLICY, BINDING = "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"
DEPLOYMENTS = [
    (folder, item["metadata"]["name"])
    for folder in FOLDERS
    for item in rendered(folder)
    if item["kind"] == "Deployment"
]
"""Each folder with the name of a Deployment in it."""


def routes(method: str) -> set[str]:
    """Return the paths that the hook answers."""
    rules = create_app(SettingsFile(Policy(), "")).url_map.iter_rules()
    return {rule.rule for rule in rules if method in (rule.methods or ())}


# Every folder.


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_object_is_stated_once_and_is_in_the_folders_own_namespace(folder: str) -> None:
    names = [(item["kind"], item["metadata"].get("namespace"), item["metadata"]["name"]) for item in rendered(folder)]
    assert len(set(names)) == len(names)
    cluster_wide = {
        "Namespace",
        "ClusterRole",
        "ClusterRoleBinding",
        "DecoratorController",
        "IngressClass",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
    }
    namespace = find(folder, "Namespace")["metadata"]["name"]
    for item in rendered(folder):
        expected = None if item["kind"] in cluster_wide else namespace
        assert item["metadata"].get("namespace") == expected, f"{item['kind']} {item['metadata']['name']}"


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_selector_selects_the_pods_of_one_deployment(folder: str) -> None:
    pods = {name: template(folder, name)["metadata"]["labels"] for where, name in DEPLOYMENTS if where == folder}

    def selected(selector: dict[str, str]) -> list[str]:
        return [name for name, labels in pods.items() if selects(selector, labels)]

    for name in pods:
        assert selected(find(folder, "Deployment", name)["spec"]["selector"]["matchLabels"]) == [name]
        for constraint in template(folder, name)["spec"].get("topologySpreadConstraints", []):
            assert selected(constraint["labelSelector"]["matchLabels"]) == [name]
    for item in rendered(folder):
        match item:
            case (
                {"kind": "Service", "spec": {"selector": selector}}
                | {"kind": "PodDisruptionBudget", "spec": {"selector": {"matchLabels": selector}}}
                | {"kind": "NetworkPolicy", "spec": {"podSelector": {"matchLabels": selector}}}
            ):
                assert len(selected(selector)) == 1


@pytest.mark.parametrize("folder", ["manifests", "manifests/sample"])
def test_a_service_leads_to_a_port_of_the_container(folder: str) -> None:
    for port in find(folder, "Service")["spec"]["ports"]:
        assert port["targetPort"] in ports(folder)


@pytest.mark.parametrize(("folder", "name"), DEPLOYMENTS)
def test_no_pod_can_write_a_file_and_each_asks_for_what_it_needs(folder: str, name: str) -> None:
    """tests/e2e/test_manifests.py shows that they meet the restricted Pod Security Standard."""
    own = container(folder, name)
    assert own["securityContext"]["readOnlyRootFilesystem"] is True
    assert own["resources"]["requests"].keys() == {"cpu", "memory"}
    assert own["resources"]["limits"].keys() == {"memory"}


@pytest.mark.parametrize(("folder", "name"), [found for found in DEPLOYMENTS if found[1] != "hello"])
def test_two_replicas_outlive_the_loss_or_the_drain_of_a_node(folder: str, name: str) -> None:
    assert find(folder, "Deployment", name)["spec"]["replicas"] == 2
    assert find(folder, "PodDisruptionBudget", name)["spec"]["maxUnavailable"] == 1


# Metacontroller and the DecoratorController.


def test_the_decoratorcontroller_leads_to_a_route_of_the_hook() -> None:
    webhook = find("metacontroller", "DecoratorController")["spec"]["hooks"]["sync"]["webhook"]
    service = find("manifests", "Service")
    named = {key: webhook["service"][key] for key in ("name", "namespace")}
    assert named.items() <= service["metadata"].items()
    assert webhook["service"]["protocol"] == "http"
    [port] = [port for port in service["spec"]["ports"] if port["port"] == webhook["service"]["port"]]
    assert ports("manifests")[port["targetPort"]] == gunicorn_conf.PORT
    assert webhook["path"] in routes("POST")


def test_the_decoratorcontroller_takes_every_service_writes_to_none_and_updates_ingresses() -> None:
    spec = find("metacontroller", "DecoratorController")["spec"]
    # A selector would make a finalize hook necessary, and that puts a finalizer on Services; ignoreStatusChanges would
    # ignore a changed port.
    assert spec["resources"] == [{"apiVersion": "v1", "resource": "services"}]
    # The default never updates an Ingress.
    [attachment] = spec["attachments"]
    assert attachment["updateStrategy"] == {"method": "InPlace"}
    # A finalize hook would put a finalizer on Services. With a customize hook, Metacontroller would walk over all
    # Services at each event of an Ingress.
    assert spec["hooks"].keys() == {"sync"}
    assert spec["hooks"]["sync"]["version"] == "v2"


def test_services_are_never_resynced_all_at_once() -> None:
    assert "resyncPeriodSeconds" not in find("metacontroller", "DecoratorController")["spec"]
    # By default every 30 minutes.
    assert "--cache-flush-interval=24h" in container("metacontroller")["args"]


def policy_and_binding(name: str, folder: str = "metacontroller") -> tuple[Object, Object]:
    """Return the admission policy of that name, and the binding that makes the API server enforce it."""
    objects = rendered(folder)
    [policy] = [item for item in objects if (item["kind"], item["metadata"]["name"]) == (POLICY, name)]
    [binding] = [item for item in objects if item["kind"] == BINDING and item["spec"]["policyName"] == name]
    assert binding["spec"]["validationActions"] == ["Deny"]
    return policy, binding


POLICIES = [item["metadata"]["name"] for item in rendered("metacontroller/httproute") if item["kind"] == POLICY]


@pytest.mark.parametrize("name", POLICIES)
def test_each_policy_is_enforced_and_one_line_of_the_readme_leaves_it_out(name: str, build: Build) -> None:
    policy, _ = policy_and_binding(name, "metacontroller/httproute")
    # A name that is taken is no danger: the policy only says so earlier.
    assert policy["spec"]["failurePolicy"] == ("Ignore" if name.endswith("name-taken") else "Fail")
    readme = (REPOSITORY / "metacontroller/README.md").read_text(encoding="utf-8")
    [line] = re.findall(rf"^- {{target: {{name: {name}}}.*$", readme, re.MULTILINE)
    left = build({"resources": ["../metacontroller/httproute"], "patches": yaml.safe_load(line)})
    assert left == [item for item in rendered("metacontroller/httproute") if item["metadata"]["name"] != name]


def test_the_folder_with_the_decoratorcontroller_alone_is_part_of_the_whole_installation() -> None:
    whole, alone = rendered("metacontroller"), rendered("metacontroller/controller")
    assert sorted(item["kind"] for item in alone) == [
        "ClusterRole",
        "ClusterRoleBinding",
        "DecoratorController",
        *(4 * ["ValidatingAdmissionPolicy"]),
        *(4 * ["ValidatingAdmissionPolicyBinding"]),
    ]
    assert all(item in whole for item in alone)


HTTPROUTE_ADDS = {
    ("DecoratorController", "ingress-manager"): (
        ("spec", "attachments"),
        {
            "apiVersion": "gateway.networking.k8s.io/v1",
            "resource": "httproutes",
            # The default never updates an HTTPRoute.
            "updateStrategy": {"method": "InPlace"},
        },
    ),
    ("ClusterRole", "ingress-manager"): (
        ("rules",),
        {
            "apiGroups": ["gateway.networking.k8s.io"],
            "resources": ["httproutes"],
            "verbs": ["list", "watch", "create", "update", "delete"],
        },
    ),
    (POLICY, "ingress-manager-owner-guard"): (
        ("spec", "matchConstraints", "resourceRules"),
        {
            "apiGroups": ["gateway.networking.k8s.io"],
            "apiVersions": ["v1"],
            "operations": ["UPDATE"],
            "resources": ["httproutes"],
        },
    ),
}
"""What metacontroller/httproute/ adds to objects of metacontroller/controller/: to which list, and what."""


def test_the_folder_for_httproutes_is_the_controller_with_what_httproutes_need_and_nothing_else() -> None:
    expected = copy.deepcopy(rendered("metacontroller/controller"))
    for item in expected:
        if added := HTTPROUTE_ADDS.get((item["kind"], item["metadata"]["name"])):
            path, entry = added
            target: Any = item
            for key in path:
                target = target[key]
            target.append(entry)
    expected += policy_and_binding("ingress-manager-httproute-name-taken", "metacontroller/httproute")
    assert sorted(rendered("metacontroller/httproute"), key=str) == sorted(expected, key=str)


def test_the_folder_for_httproutes_serves_the_version_that_the_hook_makes() -> None:
    attachments = find("metacontroller/httproute", "DecoratorController")["spec"]["attachments"]
    assert [item["apiVersion"] for item in attachments] == [*API_VERSIONS.values()]


LOOK, READ, ALL = {"get", "list"}, {"list", "watch"}, {"list", "watch", "create", "update", "delete"}
GRANTED = {
    "metacontroller": {
        "services": READ | {"get"},
        "namespaces": READ,
        "events": {"create", "patch"},
        "ingresses.networking.k8s.io": ALL,
        "compositecontrollers.metacontroller.k8s.io": READ,
        "controllerrevisions.metacontroller.k8s.io": READ,
        "decoratorcontrollers.metacontroller.k8s.io": READ,
        "leases.coordination.k8s.io": {"create", "get", "update"},
    },
    "metacontroller/httproute": {
        "services": READ | {"get"},
        "ingresses.networking.k8s.io": ALL,
        "httproutes.gateway.networking.k8s.io": ALL,
    },
    "gateway": {
        "nodes": READ,
        "secrets": READ,
        "services": READ,
        "endpointslices.discovery.k8s.io": READ,
        "ingressclasses.networking.k8s.io": READ,
        "ingresses.networking.k8s.io": READ,
        "ingresses/status.networking.k8s.io": {"update"},
    },
    "manifests": {
        "services": LOOK,
        "events": LOOK,
        "configmaps": {"get"},
        "namespaces": LOOK,
        "pods": {"list"},
        "deployments.apps": LOOK,
        "statefulsets.apps": LOOK,
        "validatingadmissionpolicies.admissionregistration.k8s.io": LOOK,
        "validatingadmissionpolicybindings.admissionregistration.k8s.io": LOOK,
        "validatingwebhookconfigurations.admissionregistration.k8s.io": LOOK,
        "customresourcedefinitions.apiextensions.k8s.io": {"get"},
        "subjectaccessreviews.authorization.k8s.io": {"create"},
        "ingresses.networking.k8s.io": LOOK,
        "httproutes.gateway.networking.k8s.io": LOOK | READ,
        "gateways.gateway.networking.k8s.io": LOOK | READ,
        "ingressclasses.networking.k8s.io": LOOK | READ,
        "networkpolicies.networking.k8s.io": LOOK,
        "endpointslices.discovery.k8s.io": LOOK,
        "decoratorcontrollers.metacontroller.k8s.io": LOOK | READ,
    },
}


@pytest.mark.parametrize("folder", GRANTED)
def test_each_may_do_what_it_needs_and_no_more(folder: str) -> None:
    granted: dict[str, set[str]] = {}
    for rule in [rule for item in rendered(folder) for rule in item.get("rules", [])]:
        for group, resource in itertools.product(rule["apiGroups"], rule["resources"]):
            granted.setdefault(f"{resource}.{group}".rstrip("."), set()).update(rule["verbs"])
    assert granted == GRANTED[folder]


@pytest.mark.parametrize(
    ("name", "resources", "components"),
    [
        ("metacontroller", ["../metacontroller"], []),
        ("ingress-manager-gateway", ["../gateway"], ["../gateway/gateway-api"]),
    ],
)
def test_every_role_is_bound_to_the_account_of_those_who_need_it(
    name: str, resources: list[str], components: list[str], build: Build
) -> None:
    objects = build({"resources": resources, "components": components})
    spec = one(objects, "Deployment", name)["spec"]["template"]["spec"]
    account = one(objects, "ServiceAccount", spec["serviceAccountName"])["metadata"]
    bindings = [item for item in objects if item["kind"].endswith("RoleBinding")]
    roles = [(item["kind"], item["metadata"]["name"]) for item in objects if item["kind"] in {"ClusterRole", "Role"}]
    assert sorted((item["roleRef"]["kind"], item["roleRef"]["name"]) for item in bindings) == sorted(roles)
    subject = {"kind": "ServiceAccount", "name": account["name"], "namespace": account["namespace"]}
    assert [item["subjects"] for item in bindings] == [[subject]] * len(bindings)


def test_replicas_of_metacontroller_elect_a_leader_with_the_lease_they_may_write() -> None:
    arguments = container("metacontroller")["args"]
    role = find("metacontroller", "Role")
    assert "--leader-election" in arguments
    assert f"--leader-election-namespace={role['metadata']['namespace']}" in arguments
    # The default of --leader-election-id.
    assert [rule["resourceNames"] for rule in role["rules"] if "resourceNames" in rule] == [["metacontroller"]]


def test_the_command_that_has_every_service_synced_names_metacontrollers_deployment() -> None:
    metadata = find("metacontroller", "Deployment")["metadata"]
    command = f"kubectl rollout restart deployment {metadata['name']} --namespace {metadata['namespace']}\n"
    assert command in (REPOSITORY / "metacontroller/README.md").read_text(encoding="utf-8")


def test_metacontrollers_version_is_the_same_on_every_page_that_names_its_crds() -> None:
    version = container("metacontroller")["image"].rpartition(":")[2]
    pages = [*(REPOSITORY / "docs").glob("*.md"), *REPOSITORY.glob("*.md"), REPOSITORY / "metacontroller/README.md"]
    texts = [install.METACONTROLLER_CRDS, *(page.read_text(encoding="utf-8") for page in pages)]
    named = [found for text in texts for found in re.findall(r"metacontroller/metacontroller/([^/]+)/manifests", text)]
    assert len(named) >= 3
    assert set(named) == {version}


# The hook.


def test_only_metacontroller_may_ask_the_hook_and_the_hook_may_ask_nobody() -> None:
    spec = find("manifests", "NetworkPolicy")["spec"]
    [rule] = spec["ingress"]
    [peer] = rule["from"]
    [port] = rule["ports"]
    namespace = find("metacontroller", "Namespace")["metadata"]["name"]
    assert peer["namespaceSelector"] == {"matchLabels": {"kubernetes.io/metadata.name": namespace}}
    [expression] = peer["podSelector"]["matchExpressions"]
    assert (expression["key"], expression["operator"]) == ("app.kubernetes.io/name", "In")
    # The second is that of the pods of Metacontroller's Helm chart.
    assert expression["values"] == [
        template("metacontroller")["metadata"]["labels"][expression["key"]],
        "metacontroller-helm",
    ]
    assert port["port"] in ports("manifests")
    assert spec["policyTypes"] == ["Ingress", "Egress"]
    assert "egress" not in spec


def test_the_hook_has_no_credentials() -> None:
    assert find("manifests", "ServiceAccount")["automountServiceAccountToken"] is False
    assert template("manifests")["spec"]["automountServiceAccountToken"] is False
    assert not [item["kind"] for item in rendered("manifests") if item["kind"].endswith(("RoleBinding", "Secret"))]


@pytest.mark.parametrize("probe", ["startupProbe", "readinessProbe", "livenessProbe"])
def test_a_probe_asks_for_a_route_of_the_hook(probe: str) -> None:
    get = container("manifests")[probe]["httpGet"]
    assert get["path"] in routes("GET")
    assert get["port"] in ports("manifests")


@pytest.mark.parametrize(("folder", "name"), [("manifests", "ingress-manager"), ("gateway", "not-found")])
def test_a_pod_has_time_to_finish_what_is_under_way(folder: str, name: str) -> None:
    pause = container(folder, name)["lifecycle"]["preStop"]["sleep"]["seconds"]
    assert template(folder, name)["spec"]["terminationGracePeriodSeconds"] > pause + gunicorn_conf.graceful_timeout


def test_the_settings_are_where_the_hook_looks_for_them() -> None:
    [variable] = container("manifests")["env"]
    [mount] = container("manifests")["volumeMounts"]
    [volume] = template("manifests")["spec"]["volumes"]
    config = find("manifests", "ConfigMap")
    path = Path(variable["value"])
    assert variable["name"] == FILE_VARIABLE
    assert mount["name"] == volume["name"]
    assert mount["mountPath"] == str(path.parent)
    assert volume["configMap"]["name"] == config["metadata"]["name"]
    assert parse(config["data"][path.name]) == Policy()


SETTINGS = (REPOSITORY / "manifests/settings.yaml").read_text(encoding="utf-8")
VALUES = (REPOSITORY / "charts/ingress-manager/values.yaml").read_text(encoding="utf-8")


def settings_of(values: str) -> str:
    """Return the settings in values of the chart."""
    return json.dumps(yaml.safe_load(values)["settings"])


def test_the_settings_file_states_every_setting_or_says_beside_it_what_is_built_in() -> None:
    stated = yaml.safe_load(uncommented(SETTINGS))
    assert tuple(stated) == Policy.__struct_encode_fields__
    assert tuple(stated["defaults"]) == Defaults.__struct_encode_fields__
    assert tuple(stated["defaults"]["tls"]) == Tls.__struct_encode_fields__
    assert tuple(stated["limits"]) == Limits.__struct_encode_fields__
    choices = re.findall(r"Left out: ([\w.]+\w)\b.*\n +#(\w+):", SETTINGS)
    assert choices == [("example.com", "host"), ("any", "hosts"), ("any", "classes")]


@pytest.mark.parametrize(
    ("shipped", "shared"),
    [(SETTINGS, uncommented(SETTINGS)), (settings_of(VALUES), settings_of(uncommented(VALUES)))],
    ids=["manifests", "chart"],
)
def test_the_settings_are_what_is_built_in_and_without_the_comment_signs_each_namespace_has_its_own_hosts(
    shipped: str, shared: str
) -> None:
    assert parse(shipped) == Policy()
    policy = parse(shared)
    own = in_namespace(policy, "team-a")
    assert own.default_host("shop") == "shop.team-a.apps.example.com"
    hosts = ["shop.team-a.apps.example.com", "shop.team-b.apps.example.com", "team-a.apps.example.com", "example.com"]
    assert [own.allows_host(host) for host in hosts] == [True, False, False, False]
    assert [own.allows_class(name) for name in ("nginx", "internal", None)] == [True, False, False]
    # Nothing else is different.
    defaults = msgspec.structs.replace(policy.defaults, host=BUILT_IN_DEFAULTS.host)
    limits = msgspec.structs.replace(policy.limits, hosts="any", classes="any")
    assert msgspec.structs.replace(policy, defaults=defaults, limits=limits) == Policy()
