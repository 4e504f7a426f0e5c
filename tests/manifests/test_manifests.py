"""The manifests and the image fit each other and the hook. What the API server says of them: tests/e2e."""

import configparser
import copy
import importlib
import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from devcluster.build import REPOSITORY
from devcluster.manifests import FOLDERS, built, find, rendered
from hooks import gunicorn_conf
from hooks.app import create_app
from hooks.settings_file import SettingsFile, load
from ingress_manager import __version__
from ingress_manager.commands.play.command import CONTENT_TYPES, PAGE
from ingress_manager.core.annotations import HTTP
from ingress_manager.core.policy import Policy
from ingress_manager.core.settings import FILE_VARIABLE

POLICY, BINDING = "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"

SETUP = configparser.ConfigParser(interpolation=None)
SETUP.read(REPOSITORY / "setup.cfg")
DOCKERFILE = (REPOSITORY / "Dockerfile").read_text(encoding="utf-8")
ENTRYPOINT: list[str] = json.loads(re.findall(r"^ENTRYPOINT (.*)$", DOCKERFILE, re.MULTILINE)[-1])


def template(folder: str, name: str | None = None) -> dict[str, Any]:
    """Return the pod template of a folder's only Deployment, or of the one with that name."""
    result: dict[str, Any] = find(folder, "Deployment", name)["spec"]["template"]
    return result


def container(folder: str, name: str | None = None) -> dict[str, Any]:
    """Return the only container of a folder's only Deployment, or of the one with that name."""
    [result] = template(folder, name)["spec"]["containers"]
    assert isinstance(result, dict)
    return result


def ports(folder: str) -> dict[str, int]:
    """Return the ports of that container by name."""
    return {port["name"]: port["containerPort"] for port in container(folder)["ports"]}


def routes(method: str) -> set[str]:
    """Return the paths that the hook answers."""
    rules = create_app(SettingsFile(Policy(), "")).url_map.iter_rules()
    return {rule.rule for rule in rules if method in (rule.methods or ())}


def selects(selector: dict[str, str], labels: dict[str, str]) -> bool:
    """Return whether matchLabels that are not empty, which would select everything, select an object with `labels`."""
    return bool(selector) and selector.items() <= labels.items()


DEPLOYMENTS = [
    ("manifests", "ingress-manager"),
    ("manifests/sample", "hello"),
    ("metacontroller", "metacontroller"),
    ("gateway", "ingress-manager-gateway"),
    ("gateway", "not-found"),
]
"""Each folder with the name of a Deployment in it."""


# Every folder.


def test_every_deployment_is_tested() -> None:
    found = {
        (folder, item["metadata"]["name"])
        for folder in FOLDERS
        for item in rendered(folder)
        if item["kind"] == "Deployment"
    }
    assert found == set(DEPLOYMENTS)


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_object_is_stated_once(folder: str) -> None:
    names = [(item["kind"], item["metadata"].get("namespace"), item["metadata"]["name"]) for item in rendered(folder)]
    assert sorted(map(str, names)) == sorted(map(str, set(names)))


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_namespaced_object_is_in_the_folders_own_namespace(folder: str) -> None:
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
            case {"kind": "Service", "spec": {"selector": selector}}:
                assert len(selected(selector)) == 1
            case {"kind": "PodDisruptionBudget", "spec": {"selector": {"matchLabels": selector}}}:
                assert len(selected(selector)) == 1
            case {"kind": "NetworkPolicy", "spec": {"podSelector": {"matchLabels": selector}}}:
                assert len(selected(selector)) == 1


@pytest.mark.parametrize("folder", ["manifests", "manifests/sample"])
def test_a_service_leads_to_a_port_of_the_container(folder: str) -> None:
    for port in find(folder, "Service")["spec"]["ports"]:
        assert port["targetPort"] in ports(folder)


Checked = Callable[[dict[str, Any], dict[str, Any]], bool]
"""Given the pod's spec, with a securityContext, and the container."""

RESTRICTED: list[tuple[str, Checked]] = [
    ("no namespace of the host", lambda pod, _: not {"hostNetwork", "hostPID", "hostIPC"} & pod.keys()),
    ("no port of the host", lambda _, c: not any("hostPort" in port for port in c.get("ports", []))),
    ("no privileges", lambda _, c: not c["securityContext"].get("privileged")),
    ("no way to gain privileges", lambda _, c: c["securityContext"]["allowPrivilegeEscalation"] is False),
    ("no capability", lambda _, c: c["securityContext"]["capabilities"] == {"drop": ["ALL"]}),
    ("not root", lambda pod, _: pod["securityContext"]["runAsNonRoot"] is True),
    ("no user that is root", lambda pod, _: pod["securityContext"].get("runAsUser") != 0),
    ("seccomp", lambda pod, _: pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}),
    ("no sysctl", lambda pod, _: "sysctls" not in pod["securityContext"]),
    ("only harmless volumes", lambda pod, _: all("configMap" in v for v in pod.get("volumes", []))),
    ("beyond the standard: no writable file", lambda _, c: c["securityContext"]["readOnlyRootFilesystem"] is True),
    ("requests", lambda _, c: c["resources"]["requests"].keys() == {"cpu", "memory"}),
    ("a limit of memory", lambda _, c: c["resources"]["limits"].keys() == {"memory"}),
]


@pytest.mark.parametrize(("folder", "name"), DEPLOYMENTS)
@pytest.mark.parametrize(("rule", "holds"), RESTRICTED, ids=[rule for rule, _ in RESTRICTED])
def test_pods_meet_the_restricted_pod_security_standard(folder: str, name: str, rule: str, holds: Checked) -> None:
    namespace = find(folder, "Namespace")
    assert namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"
    assert holds(template(folder, name)["spec"], container(folder, name)), rule


@pytest.mark.parametrize(("folder", "name"), [found for found in DEPLOYMENTS if found[0] != "manifests/sample"])
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


def policy_and_binding(name: str, folder: str = "metacontroller") -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the admission policy of that name, and the binding that makes the API server enforce it."""
    objects = rendered(folder)
    [policy] = [item for item in objects if (item["kind"], item["metadata"]["name"]) == (POLICY, name)]
    [binding] = [item for item in objects if item["kind"] == BINDING and item["spec"]["policyName"] == name]
    assert binding["spec"]["validationActions"] == ["Deny"]
    return policy, binding


def test_the_policy_of_services_concerns_those_that_carry_the_annotation() -> None:
    policy, binding = policy_and_binding("ingress-manager-service-guard")
    [condition] = policy["spec"]["matchConditions"]
    assert f"annotations[?'{HTTP.key}'].hasValue()" in condition["expression"]
    assert policy["spec"]["failurePolicy"] == "Fail", "nobody gets by with a Service for which it can't be evaluated"
    assert "paramRef" not in binding["spec"]


def test_the_policy_of_owners_knows_our_ingresses_as_metacontroller_marks_them() -> None:
    controller = find("metacontroller", "DecoratorController")["metadata"]["name"]
    policy, _ = policy_and_binding("ingress-manager-owner-guard")
    marked = policy["spec"]["matchConditions"][0]["expression"]
    assert f"annotations[?'metacontroller.k8s.io/decorator-controller'].orValue('') == '{controller}'" in marked


@pytest.mark.parametrize(
    ("folder", "policy_name", "example"),
    [
        ("metacontroller", "ingress-manager-name-taken", "host/ingress.yaml"),
        ("metacontroller/httproute", "ingress-manager-httproute-name-taken", "httproute/httproute.yaml"),
    ],
)
def test_a_policy_of_names_that_are_taken_knows_ours_as_the_hook_and_metacontroller_mark_them(
    folder: str, policy_name: str, example: str
) -> None:
    name = find("metacontroller", "DecoratorController")["metadata"]["name"]
    made = yaml.safe_load((REPOSITORY / "tests/cases" / example).read_text(encoding="utf-8"))
    policy, binding = policy_and_binding(policy_name, folder)
    assert policy["spec"]["paramKind"] == {"apiVersion": made["apiVersion"], "kind": made["kind"]}
    [condition] = policy["spec"]["matchConditions"]
    [validation] = policy["spec"]["validations"]
    marked = f"annotations[?'metacontroller.k8s.io/decorator-controller'].orValue('') == '{name}'"
    assert condition["expression"].endswith(marked)
    assert marked in validation["expression"]

    [selected] = binding["spec"]["paramRef"]["selector"]["matchExpressions"]
    assert selected["operator"] == "NotIn"
    [(label, value)] = made["metadata"]["labels"].items()
    assert (selected["key"], selected["values"]) == (label, [value])


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


POLICIES = ["depth", "name-taken", "owner-guard", "service-guard"]


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        *[(folder, name) for folder in ("metacontroller", "metacontroller/controller") for name in POLICIES],
        *[("metacontroller/httproute", name) for name in [*POLICIES, "httproute-name-taken"]],
    ],
)
def test_each_policy_can_be_left_out_with_one_line_of_the_readme(folder: str, name: str, tmp_path: Path) -> None:
    readme = (REPOSITORY / "metacontroller/README.md").read_text(encoding="utf-8")
    name = f"ingress-manager-{name}"
    [line] = re.findall(rf"^- {{target: {{name: {name}}}.*$", readme, re.MULTILINE)
    base = os.path.relpath(REPOSITORY / folder, tmp_path.resolve())
    (tmp_path / "kustomization.yaml").write_text(f"resources: [{base}]\npatches:\n{line}\n", encoding="utf-8")
    assert built(tmp_path) == [item for item in rendered(folder) if item["metadata"]["name"] != name]


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
    made = yaml.safe_load((REPOSITORY / "tests/cases/httproute/httproute.yaml").read_text(encoding="utf-8"))
    attachments = find("metacontroller/httproute", "DecoratorController")["spec"]["attachments"]
    assert [item["apiVersion"] for item in attachments] == ["networking.k8s.io/v1", made["apiVersion"]]


def granted(folder: str) -> dict[tuple[str, str], set[str]]:
    """Return what the roles of a folder grant: the verbs, by group and resource."""
    found: dict[tuple[str, str], set[str]] = {}
    for item in rendered(folder):
        if item["kind"] in {"ClusterRole", "Role"}:
            for rule in item["rules"]:
                for group in rule["apiGroups"]:
                    for resource in rule["resources"]:
                        found.setdefault((group, resource), set()).update(rule["verbs"])
    return found


def test_metacontroller_may_do_what_it_needs_and_no_more() -> None:
    assert granted("metacontroller") == {
        ("", "services"): {"get", "list", "watch"},
        ("", "namespaces"): {"list", "watch"},
        ("", "events"): {"create", "patch"},
        ("networking.k8s.io", "ingresses"): {"list", "watch", "create", "update", "delete"},
        ("metacontroller.k8s.io", "compositecontrollers"): {"list", "watch"},
        ("metacontroller.k8s.io", "controllerrevisions"): {"list", "watch"},
        ("metacontroller.k8s.io", "decoratorcontrollers"): {"list", "watch"},
        ("coordination.k8s.io", "leases"): {"create", "get", "update"},
    }
    assert granted("metacontroller/httproute") == {
        ("", "services"): {"get", "list", "watch"},
        ("networking.k8s.io", "ingresses"): {"list", "watch", "create", "update", "delete"},
        ("gateway.networking.k8s.io", "httproutes"): {"list", "watch", "create", "update", "delete"},
    }


def test_every_role_is_bound_to_the_account_that_metacontroller_runs_as() -> None:
    objects = rendered("metacontroller")
    account = find("metacontroller", "ServiceAccount")["metadata"]
    assert template("metacontroller")["spec"]["serviceAccountName"] == account["name"]
    bindings = [item for item in objects if item["kind"].endswith("RoleBinding")]
    roles = [(item["kind"], item["metadata"]["name"]) for item in objects if item["kind"] in {"ClusterRole", "Role"}]
    assert sorted((item["roleRef"]["kind"], item["roleRef"]["name"]) for item in bindings) == sorted(roles)
    for binding in bindings:
        [subject] = binding["subjects"]
        assert subject == {"kind": "ServiceAccount", "name": account["name"], "namespace": account["namespace"]}


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
    texts = [page.read_text(encoding="utf-8") for page in pages]
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
    assert not [item["kind"] for item in rendered("manifests") if "Role" in item["kind"] or item["kind"] == "Secret"]


@pytest.mark.parametrize("probe", ["startupProbe", "readinessProbe", "livenessProbe"])
def test_a_probe_asks_for_a_route_of_the_hook(probe: str) -> None:
    get = container("manifests")[probe]["httpGet"]
    assert get["path"] in routes("GET")
    assert get["port"] in ports("manifests")


def test_a_pod_has_time_to_finish_what_is_under_way() -> None:
    pause = container("manifests")["lifecycle"]["preStop"]["sleep"]["seconds"]
    assert template("manifests")["spec"]["terminationGracePeriodSeconds"] > pause + gunicorn_conf.graceful_timeout


def test_the_settings_are_where_the_hook_looks_for_them(tmp_path: Path) -> None:
    [variable] = container("manifests")["env"]
    [mount] = container("manifests")["volumeMounts"]
    [volume] = template("manifests")["spec"]["volumes"]
    config = find("manifests", "ConfigMap")
    path = Path(variable["value"])
    assert variable["name"] == FILE_VARIABLE
    assert mount["name"] == volume["name"]
    assert mount["mountPath"] == str(path.parent)
    assert volume["configMap"]["name"] == config["metadata"]["name"]
    (tmp_path / path.name).write_text(config["data"][path.name], encoding="utf-8")
    assert load(tmp_path / path.name).policy == Policy()


def test_the_settings_file_states_every_setting() -> None:
    stated = yaml.safe_load((REPOSITORY / "manifests/settings.yaml").read_text(encoding="utf-8"))
    assert list(stated) == [field.encode_name for field in msgspec.structs.fields(Policy)]


def test_the_sample_needs_no_other_annotation() -> None:
    assert find("manifests/sample", "Service")["metadata"]["annotations"] == {"ingress/http": "true"}


# The image.


def test_the_version_is_the_same_wherever_it_is_stated() -> None:
    assert container("manifests")["image"].endswith(f"/ingress-manager:{__version__}")
    assert container("gateway", "not-found")["image"] == container("manifests")["image"]
    assert {item["metadata"]["labels"]["app.kubernetes.io/version"] for item in rendered("manifests")} == {__version__}


def test_the_pod_runs_the_images_command() -> None:
    assert not {"command", "args"} & container("manifests").keys()


def test_the_images_command_serves_the_hook_with_its_configuration() -> None:
    program, flag, configuration, application = ENTRYPOINT
    assert (program, flag) == ("gunicorn", "--config")
    assert importlib.import_module(configuration.removeprefix("python:")) is gunicorn_conf
    module, _, factory = application.removesuffix("()").partition(":")
    assert getattr(importlib.import_module(module), factory) is create_app


def test_the_image_states_its_port_and_a_user_that_the_kubelet_can_tell_from_root() -> None:
    assert re.findall(r"^EXPOSE (\d+)$", DOCKERFILE, re.MULTILINE) == [
        str(port) for port in ports("manifests").values()
    ]
    assert re.findall(r"^USER (\d+):\d+$", DOCKERFILE, re.MULTILINE) == ["65532"]


def test_the_build_gets_the_files_it_copies_and_no_others() -> None:
    copied = {
        source
        for line in re.findall(r"^COPY (?!--from)(.*)$", DOCKERFILE, re.MULTILINE)
        for source in line.split()[:-1]
    }
    ignore = (REPOSITORY / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert "*" in ignore
    assert {line.removeprefix("!") for line in ignore if line.startswith("!")} == copied
    assert all((REPOSITORY / source).exists() for source in copied)


def test_the_image_holds_what_setup_cfg_asks_for_and_only_what_has_a_hash() -> None:
    locked = (REPOSITORY / "requirements.txt").read_text(encoding="utf-8").replace("\\\n", "")
    pins = {}
    for line in locked.splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            pin, *hashes = line.split()
            name, _, version = pin.partition("==")
            pins[canonicalize_name(name)] = version
            assert hashes, f"{name} has no hash"
            assert all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", item) for item in hashes), name
    asked_for = SETUP["options"]["install_requires"] + SETUP["options.extras_require"]["hook"]
    for line in asked_for.splitlines():
        if line and not line.startswith("#"):
            requirement = Requirement(line)
            assert pins[canonicalize_name(requirement.name)] in requirement.specifier, (
                "`make lock` pins a version that setup.cfg allows"
            )


START_WITHOUT_THE_MISSING = """
import importlib.metadata, sys

class Missing:
    def find_spec(self, name, *_):
        if name.partition(".")[0] in MISSING:
            raise ModuleNotFoundError(name)

def without_metadata(name):
    raise importlib.metadata.PackageNotFoundError(name)

MISSING = set(sys.argv[1:])
sys.meta_path.insert(0, Missing())
importlib.metadata.version = without_metadata
sys.path.insert(0, "")
from hooks import app, gunicorn_conf, worker
app.create_app()
from not_found import app, conf
app.create_app()
"""


def test_the_image_starts_with_nothing_but_what_is_pinned_and_what_it_copies(tmp_path: Path) -> None:
    """Importing what only the developers have raises an error: their packages, the commands, our own metadata."""
    for source in ("ingress_manager", "hooks", "not_found"):
        ignored = shutil.ignore_patterns("__pycache__", "commands")
        shutil.copytree(REPOSITORY / source, tmp_path / source, ignore=ignored)
    lines = (REPOSITORY / "requirements.txt").read_text(encoding="utf-8")
    pinned = {canonicalize_name(name) for name in re.findall(r"^([\w.-]+)==", lines, re.MULTILINE)}
    missing = [
        module
        for module, names in importlib.metadata.packages_distributions().items()
        if not {canonicalize_name(name) for name in names} & pinned and module != "ingress_manager"
    ]
    assert "pytest" in missing
    command = [sys.executable, "-c", START_WITHOUT_THE_MISSING, *missing]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr


def test_the_package_has_every_file_of_the_page_that_play_serves() -> None:
    patterns = SETUP["options.package_data"]["ingress_manager.commands.play"].split()
    files = {path.relative_to(REPOSITORY / "ingress_manager/commands/play") for path in PAGE.iterdir()}
    assert {file for file in files if any(file.match(pattern) for pattern in patterns)} == files
    assert {file.suffix for file in files} == {*CONTENT_TYPES, ".json"}


def test_hadolint_finds_nothing_in_the_dockerfile() -> None:
    command = [Path(sys.executable).with_name("hadolint"), REPOSITORY / "Dockerfile"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
