"""The manifests and the image fit each other and the hook. What the API server says of them: tests/e2e."""

import json
import re
from collections.abc import Iterable
from itertools import product

import msgspec
import pytest
import yaml

from devcluster.build import REPOSITORY
from hooks import gunicorn_conf
from ingress_manager.commands.reading.rights import RIGHTS, Right, Where
from ingress_manager.core.namespace_policy import in_namespace
from ingress_manager.core.policy import BUILT_IN_DEFAULTS, Defaults, Limits, Policy, Tls
from ingress_manager.core.settings import parse
from tests.manifests.objects import (
    FOLDERS,
    Build,
    Object,
    container,
    find,
    one,
    ports,
    rendered,
    selects,
    template,
    uncommented,
)

POLICY, BINDING = "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"
DEPLOYMENTS = [
    (folder, item["metadata"]["name"])
    for folder in FOLDERS
    for item in rendered(folder)
    if item["kind"] == "Deployment"
]
"""Each folder with the name of a Deployment in it."""


# Every folder.


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


POLICIES = [item["metadata"]["name"] for item in rendered("metacontroller/listenerset") if item["kind"] == POLICY]


@pytest.mark.parametrize("name", POLICIES)
def test_each_policy_is_enforced_and_one_line_of_the_readme_leaves_it_out(name: str, build: Build) -> None:
    policy, _ = policy_and_binding(name, "metacontroller/listenerset")
    assert policy["spec"]["failurePolicy"] == "Fail"
    readme = (REPOSITORY / "metacontroller/README.md").read_text(encoding="utf-8")
    [line] = re.findall(r"^- {target: .*$", readme, re.MULTILINE)
    patches = yaml.safe_load(line.replace("ingress-manager-size", name))
    left = build({"resources": ["../metacontroller/listenerset"], "patches": patches})
    assert left == [item for item in rendered("metacontroller/listenerset") if item["metadata"]["name"] != name]


READ, ALL = {"list", "watch"}, {"list", "watch", "create", "update", "delete"}
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
    "metacontroller/listenerset": {
        "services": READ | {"get"},
        "ingresses.networking.k8s.io": ALL,
        "httproutes.gateway.networking.k8s.io": ALL,
        "listenersets.gateway.networking.k8s.io": ALL,
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
}
"""What each grants; the roles for people, which stand in manifests/, are compared below."""


@pytest.mark.parametrize("folder", GRANTED)
def test_each_may_do_what_it_needs_and_no_more(folder: str) -> None:
    stated = {(verb, resource) for resource, verbs in GRANTED[folder].items() for verb in verbs}
    assert granted(rule for item in rendered(folder) for rule in item.get("rules", ())) == stated


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


@pytest.mark.parametrize(("folder", "name"), [("manifests", "ingress-manager"), ("gateway", "not-found")])
def test_a_pod_has_time_to_finish_what_is_under_way(folder: str, name: str) -> None:
    pause = container(folder, name)["lifecycle"]["preStop"]["sleep"]["seconds"]
    assert template(folder, name)["spec"]["terminationGracePeriodSeconds"] > pause + gunicorn_conf.graceful_timeout


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
    choices = re.findall(r"Without this line: ([\w.]+\w)\b.*\n +#(\w+):", SETTINGS)
    assert choices == [("example.com", "host"), ("any", "hosts"), ("any", "classes")]


@pytest.mark.parametrize(
    ("shipped", "shared"),
    [(SETTINGS, uncommented(SETTINGS)), (settings_of(VALUES), settings_of(uncommented(VALUES)))],
    ids=["manifests", "chart"],
)
def test_the_settings_are_what_is_built_in_and_without_the_comment_signs_each_namespace_has_its_own_hosts(
    shipped: str, shared: str
) -> None:
    assert parse(shipped) == Policy().whole
    policy = parse(shared)
    own = in_namespace(policy, "team-a")
    assert own.default_host("shop") == "shop.team-a.apps.example.com"
    hosts = ["shop.team-a.apps.example.com", "shop.team-b.apps.example.com", "team-a.apps.example.com", "example.com"]
    assert [own.allows_host(host) for host in hosts] == [True, False, False, False]
    assert [own.allows_class(name) for name in ("nginx", "internal", None)] == [True, False, False]
    # Nothing else is different.
    defaults = msgspec.structs.replace(policy.defaults, host=BUILT_IN_DEFAULTS.host)
    limits = msgspec.structs.replace(policy.limits, hosts="any", classes="any")
    assert msgspec.structs.replace(policy, defaults=defaults, limits=limits) == Policy().whole


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


# The roles for people hold what the table of the commands' rights says.

LOOKING = ("audit", "check", "render", "status")
LEFT_OUT = {("list", "secrets"), ("get", "secrets"), ("get", "services/proxy")}
"""Who may do this has it from elsewhere."""

TO_VIEW = (
    "decoratorcontrollers.metacontroller.k8s.io",
    "gateways.gateway.networking.k8s.io",
    "httproutes.gateway.networking.k8s.io",
    "ingressclasses.networking.k8s.io",
    "listenersets.gateway.networking.k8s.io",
)
"""What Kubernetes' own role `view` lacks."""

QUESTION = ("create", "subjectaccessreviews.authorization.k8s.io")
"""It is asked by creating something that the API server doesn't store."""


def granted(rules: Iterable[Object]) -> set[tuple[str, str]]:
    """Return what rules allow: verbs, and resources as kubectl names them."""
    return {
        (verb, f"{plural}.{group}".rstrip("."))
        for rule in rules
        for group in rule["apiGroups"]
        for plural in rule["resources"]
        for verb in rule["verbs"]
    }


def needed(commands: Iterable[str], *where: Where) -> set[tuple[str, str]]:
    """Return what commands need there, with the options that write."""
    rights: list[Right] = [each for command in commands for each in RIGHTS[command] if each.where in where]
    return {(verb, each.resource) for each in rights for verb in each.verbs.split()}


def test_who_looks_gets_what_the_commands_need_and_may_write_nothing_and_see_no_secret() -> None:
    cluster_wide = granted(find("manifests", "ClusterRole", "ingress-manager-viewer")["rules"])
    # kubectl gets one of what it may list, which tells nobody more.
    lists = {("get", resource) for verb, resource in cluster_wide if verb == "list"}
    assert cluster_wide == (needed(LOOKING, Where.READ, Where.GATEWAYS, Where.ALL) - LEFT_OUT) | lists
    beside_the_hook = granted(find("manifests", "Role")["rules"])
    assert beside_the_hook == needed(LOOKING, Where.HOOK) - LEFT_OUT
    to_view = granted(find("manifests", "ClusterRole", "ingress-manager-aggregate-to-view")["rules"])
    everything = cluster_wide | beside_the_hook | to_view
    assert {verb for verb, _ in everything - {QUESTION}} == {"get", "list", "watch"}
    assert {"secrets", "services/proxy"}.isdisjoint(resource for _, resource in everything)
    assert to_view == set(product(("get", "list", "watch"), TO_VIEW))
    assert granted(rule for item in rendered("manifests") for rule in item.get("rules", ())) == everything


def test_who_looks_reads_one_configmap_which_is_that_of_the_settings() -> None:
    [rule] = [rule for rule in find("manifests", "Role")["rules"] if "configmaps" in rule["resources"]]
    assert rule["resourceNames"] == [find("manifests", "ConfigMap")["metadata"]["name"]]


def test_the_mover_of_the_page_has_what_adopt_and_release_need_and_no_more() -> None:
    roles = yaml.safe_load_all((REPOSITORY / "docs/commands/examples/mover.yaml").read_text(encoding="utf-8"))
    namespace, beside_the_hook = (granted(role["rules"]) for role in roles)
    assert namespace == needed(("adopt", "release"), Where.READ)
    # By the hook's name; to look for it takes rights to the whole cluster.
    assert beside_the_hook == {("get", "deployments.apps"), ("get", "configmaps")}
