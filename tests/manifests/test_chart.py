"""The Helm chart makes what kustomize makes, and each value does what it says. On a cluster: tests/e2e."""

import copy
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from ingress_manager.core.settings import parse
from tests.docs.test_docs import blocks
from tests.helm import RELEASE, by_default, cases, changes, helm, lacking, of_helm_test, rendered, template
from tests.hooks.test_server import free_port
from tests.manifests.objects import Build, Object, one, selects
from tools import chart
from tools.golden import Case

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(lacking() is not None, reason=lacking() or ""),
]

INSTANCE = "app.kubernetes.io/instance"


def comparable(objects: list[dict[str, Any]]) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the objects by kind and name, without labels and hashes, and with the settings that a ConfigMap states.

    The Namespace is left out: whoever runs Helm names it, and makes it. So is what `helm test` makes.
    """
    found = {}
    own = [item for item in objects if item["kind"] != "Namespace" and not of_helm_test(item)]
    for item in copy.deepcopy(own):
        drop_labels(item)
        if item["kind"] == "ConfigMap":
            item["data"] = {
                name: parse(text) if name == "settings.yaml" else text for name, text in item["data"].items()
            }
        without_hash(item)
        found[item["kind"], item["metadata"]["name"]] = item
    return found


def drop_labels(value: Any) -> None:
    """Take the labels off all metadata, and the label of the release, which Helm's users expect, off all selectors."""
    for inside in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        drop_labels(inside)
    if isinstance(value, dict):
        value.pop(INSTANCE, None)
        if isinstance(value.get("metadata"), dict):
            value["metadata"].pop("labels", None)


def without_hash(value: Any) -> None:
    """Take the hash off the ConfigMap's name wherever it stands, and kustomize's empty lines out of texts."""
    for key, inside in (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    ):
        if isinstance(inside, str):
            value[key] = re.sub(r"^(ingress-manager-settings)-[0-9a-z]{10}$", r"\1", inside.replace("\n\n", "\n"))
        without_hash(inside)


MONITORING = {"podMonitor": {"enabled": True}, "prometheusRule": {"enabled": True}, "dashboard": {"enabled": True}}


ADMISSION = {"admission": {"enabled": True}}


@pytest.mark.parametrize(
    ("values", "folders", "components"),
    [
        ({}, ["metacontroller/controller"], []),
        ({"httproute": {"enabled": True}}, ["metacontroller/httproute"], []),
        ({"httproute": {"enabled": True, "listenerSets": True}}, ["metacontroller/listenerset"], []),
        (
            MONITORING | ADMISSION,
            ["metacontroller/controller", "monitoring"],
            ["manifests/admission", "manifests/admission/cert-manager"],
        ),
        (
            # Helm hands on `enabled`, by which another chart chooses this one.
            ADMISSION | {"openshift": True, "enabled": True},
            ["metacontroller/controller"],
            ["manifests/admission", "manifests/admission/cert-manager", "manifests/openshift"],
        ),
    ],
    ids=["controller", "httproute", "listenerset", "monitoring and admission", "openshift"],
)
def test_the_chart_makes_the_objects_that_kustomize_makes(
    values: dict[str, Any], folders: list[str], components: list[str], build: Build
) -> None:
    resources = ["../manifests", *(f"../{each}" for each in folders)]
    built = build({"resources": resources, "components": [f"../{each}" for each in components]})
    # The chart doesn't install the gateway.
    own = [item for item in built if item["metadata"]["name"] != "ingress-manager-gateway"]
    assert comparable(rendered(values)) == comparable(own)


@pytest.mark.parametrize("case", cases().values(), ids=lambda case: case.name)
def test_values_change_what_their_case_says_and_nothing_else(case: Case) -> None:
    assert changes(case) == case.stated["becomes"], "`make cases` writes it"


OWN = cases()["admission-with-a-certificate-of-ones-own"].stated["values"]
ELSEWHERE = {"fullnameOverride": "x" * 63, "nameOverride": "y" * 63, "metacontroller": {"namespace": "operators"}}


def test_whatever_it_is_called_the_api_server_finds_what_answers_it_by_a_name_of_its_certificate() -> None:
    objects = [item for item in rendered(ADMISSION | ELSEWHERE, "mine") if not of_helm_test(item)]
    name, label = f"{'x' * 53}-admission", {"app.kubernetes.io/name": f"{'y' * 53}-admission", INSTANCE: "mine"}
    hook, own = [one(objects, "Deployment", each) for each in ("x" * 63, name)]
    assert not selects(hook["spec"]["selector"]["matchLabels"], own["spec"]["template"]["metadata"]["labels"])
    assert own["spec"]["selector"]["matchLabels"] == label
    assert one(objects, "Service", name)["spec"]["selector"] == label
    assert one(objects, "PodDisruptionBudget", name)["spec"]["selector"]["matchLabels"] == label
    assert one(objects, "NetworkPolicy", name)["spec"]["podSelector"]["matchLabels"] == label
    configuration = one(objects, "ValidatingWebhookConfiguration", "x" * 63)
    [webhook] = configuration["webhooks"]
    assert webhook["clientConfig"]["service"] == {"name": name, "namespace": RELEASE, "path": "/admit"}
    [expression] = webhook["namespaceSelector"]["matchExpressions"]
    assert expression["values"] == ["kube-system", RELEASE, "operators"]
    assert configuration["metadata"]["annotations"] == {"cert-manager.io/inject-ca-from": f"{RELEASE}/{name}"}
    certificate = one(objects, "Certificate", name)["spec"]
    assert certificate["dnsNames"][0] == f"{name}.{RELEASE}.svc"
    [_, volume] = own["spec"]["template"]["spec"]["volumes"]
    assert volume["secret"]["secretName"] == certificate["secretName"] == f"{name}-tls"
    authority = one(objects, "Issuer", certificate["issuerRef"]["name"])["spec"]["ca"]["secretName"]
    assert one(objects, "Certificate", f"{name}-ca")["spec"]["secretName"] == authority == f"{name}-ca"


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"certManager": {"enabled": False}}, "certManager.enabled is false, so secretName must name the Secret"),
        ({**OWN["admission"], "caBundle": ""}, "and caBundle must be its authority, as PEM; caBundle is empty"),
        ({**OWN["admission"], "secretName": ""}, "and caBundle must be its authority, as PEM; secretName is empty"),
        (
            {**OWN["admission"], "certManager": {"enabled": True}},
            "caBundle is that of a certificate of yours, so certManager.enabled must be false",
        ),
    ],
    ids=["nothing", "no authority", "no secret", "both"],
)
def test_a_webhook_whose_certificate_nobody_can_know_or_trust_is_refused(values: dict[str, Any], said: str) -> None:
    done = template({"admission": {"enabled": True, **values}})
    assert done.returncode != 0
    assert said in done.stderr


def test_settings_that_deny_are_refused_while_the_api_server_asks_nobody() -> None:
    values = {"settings": {"admission": {"deny": True}}}
    assert "admission.deny is true, so admission.enabled must be true" in template(values).stderr
    assert template(values | ADMISSION).returncode == 0


def test_values_and_settings_that_are_wrong_are_all_named() -> None:
    image = {"name": "x", "digest": "latest"}
    done = template({"replicas": 3, "image": image, "settings": {"host": "x", "paused": "yes"}})
    assert done.returncode != 0
    for said in (
        "at '': additional properties 'replicas' not allowed",
        "at '/image': additional properties 'name' not allowed",
        "at '/image/digest': 'latest' does not match pattern '^(sha256:[0-9a-f]{64})?$'",
        "at '/settings': additional properties 'host' not allowed",
        "at '/settings/paused': got string, want boolean",
    ):
        assert said in done.stderr


RESTRICTED = {tuple(name.split(".")) for name in chart.RULES if name != "settings"}
"""The values of text that can't be just anything: Kubernetes allows few characters there."""

HOSTILE = [
    "x\ny: z",
    "1\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: more}\nx:",
    "{{ .Release.Name }}{{",
    '"\\',
    "!!binary x",
    "null",
    " # x",
    "\u2028\t\x00x",
    "x" * 300,
]


def everywhere(text: str) -> dict[str, Any]:
    """Return values in which everything that may hold any text holds this one."""
    filled: dict[str, Any] = {
        **MONITORING,
        "admission": {"enabled": True},
        "settings": {"defaults": {"host": text, "annotations": {text: text}}},
    }
    free = {"str": text, "dict": {text: text}, "list": [{text: text}]}
    for leaf in chart.leaves():
        *above, name = leaf.path
        if type(leaf.default).__name__ in free and leaf.path not in {*RESTRICTED, ("settings",)}:
            section = filled
            for key in above:
                section = section.setdefault(key, {})
            section[name] = free[type(leaf.default).__name__]
    return filled


@cache
def made_everywhere(text: str) -> list[dict[str, Any]]:
    """Return the objects with such values, without hashes, and with the settings read."""
    objects = rendered(everywhere(text))
    for item in objects:
        without_hash(item)
        if "settings.yaml" in item.get("data", {}):
            item["data"]["settings.yaml"] = yaml.safe_load(item["data"]["settings.yaml"])
    return objects


def replaced(value: Any, text: str, by: str) -> Any:
    """Return a value with a text replaced wherever it stands."""
    if isinstance(value, dict):
        return {replaced(key, text, by): replaced(inside, text, by) for key, inside in value.items()}
    if isinstance(value, list):
        return [replaced(inside, text, by) for inside in value]
    return value.replace(text, by) if isinstance(value, str) else value


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_a_text_stays_where_its_value_belongs_whatever_it_is(text: str) -> None:
    assert made_everywhere(text) == replaced(made_everywhere("PLACE"), "PLACE", text)


@pytest.mark.parametrize("text", HOSTILE[:5], ids=ascii)
def test_a_text_that_kubernetes_can_not_take_is_refused(text: str) -> None:
    values: dict[str, Any] = {}
    for *above, name in RESTRICTED:
        (values.setdefault(above[0], {}) if above else values)[name] = text
    said = template(values).stderr
    assert [path for path in RESTRICTED if f"at '/{'/'.join(path)}'" not in said] == []


def test_a_label_that_helm_would_leave_out_is_refused() -> None:
    """With all labels, and with what selects by them. A NetworkPolicy would then let in every pod."""
    labels = [
        leaf.path for leaf in chart.leaves() if re.search("(Labels|labels|Annotations|nodeSelector)$", leaf.path[-1])
    ]
    values: dict[str, Any] = {}
    for *above, name in labels:
        (values.setdefault(above[0], {}) if above else values)[name] = {"x" * 318: "x"}
    assert template(values).stderr.count("invalid propertyName") == len(labels) == 8


HTTPROUTE = {"defaults": {"outputs": ["httproute"]}}
LISTENERSET = {"defaults": {"gateway": {"name": "web", "namespace": "edge", "listenerSets": {"port": 443}}}}


@pytest.mark.parametrize("is_of_namespace", [False, True], ids=["all", "a namespace"])
@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (HTTPROUTE, "the outputs have httproute, so httproute.enabled must be true"),
        (LISTENERSET, "a gateway has listenerSets, so httproute.listenerSets must be true"),
    ],
    ids=["httproute", "listenerset"],
)
def test_settings_that_ask_for_a_kind_are_refused_while_metacontroller_makes_none(
    settings: dict[str, Any], said: str, is_of_namespace: bool
) -> None:
    done = template({"settings": {"namespaces": {"team-a": settings}} if is_of_namespace else settings})
    assert done.returncode != 0
    assert said in done.stderr


def test_the_page_shows_values_that_the_chart_has(tmp_path: Path) -> None:
    options: list[str | Path] = []
    for number, block in enumerate(blocks("helm.md", "yaml")):
        (tmp_path / f"{number}.yaml").write_text(block, encoding="utf-8")
        options += ["--values", tmp_path / f"{number}.yaml"]
    done = helm("template", RELEASE, chart.CHART, *options)
    assert done.returncode == 0, done.stderr


def notes(*options: str) -> str:
    """Return what Helm tells whoever installs the chart. No cluster is asked."""
    done = helm("install", RELEASE, chart.CHART, "--namespace", RELEASE, "--dry-run=client", *options)
    assert done.returncode == 0, done.stderr
    return done.stdout.partition("NOTES:\n")[2]


UNLIMITED = "limits.hosts is any, so every namespace may claim every host"


@pytest.mark.parametrize(
    ("hosts", "said"), [([], 1), (["settings.limits.hosts=any"], 1), (["settings.limits.hosts={a.example.com}"], 0)]
)
def test_the_notes_warn_while_every_namespace_may_claim_every_host(hosts: list[str], said: int) -> None:
    assert notes(*(option for stated in hosts for option in ("--set", stated))).count(UNLIMITED) == said


# What `helm test` makes: only its pod gets to the hook, and its script says whether the hook answers.

NAMED = cases()["name"].stated["values"]
CHANGED_LABELS = {"commonLabels": {"app.kubernetes.io/instance": "mine", "app.kubernetes.io/component": "hook"}}


@pytest.mark.parametrize("values", [{}, NAMED, CHANGED_LABELS], ids=["none", "name", "labels"])
def test_nothing_of_the_hook_selects_the_tests_pod_and_only_the_tests_policy_lets_it_in(values: dict[str, Any]) -> None:
    objects = rendered(values, "mine")
    mine, others = ([item for item in objects if of_helm_test(item) is its] for its in (True, False))
    test, hook = one(mine, "Pod")["metadata"]["labels"], one(others, "Deployment")["spec"]["template"]
    own = one(others, "NetworkPolicy")["spec"]["podSelector"]["matchLabels"]
    for selector in (own, one(others, "Service")["spec"]["selector"]):
        assert selects(selector, hook["metadata"]["labels"])
        assert not selects(selector, test)
    policy = one(mine, "NetworkPolicy")["spec"]
    [rule] = policy["ingress"]
    [peer] = rule["from"]
    assert policy["podSelector"]["matchLabels"] == own
    assert policy["policyTypes"] == ["Ingress"]
    assert rule["ports"] == [{"port": "http"}]
    assert peer.keys() == {"podSelector"}, "only pods of its own namespace"
    assert selects(peer["podSelector"]["matchLabels"], test)
    assert not selects(peer["podSelector"]["matchLabels"], hook["metadata"]["labels"])


def script_against(pod: Object, port: int) -> subprocess.CompletedProcess[str]:
    """Run the script of a pod, as it stands there, against a port of this machine, without trying again."""
    [container] = pod["spec"]["containers"]
    [python, *rest] = container["command"]
    assert python == "python"
    stated = {each["name"]: each["value"] for each in container["env"]}
    environment = os.environ | stated | {"HOOK": f"127.0.0.1:{port}", "SECONDS_TO_TRY": "0"}
    return subprocess.run(
        [sys.executable, *rest], env=environment, capture_output=True, text=True, check=False, timeout=60
    )


def test_it_fails_with_a_sentence_where_nothing_listens() -> None:
    port = free_port()
    done = script_against(one(by_default(), "Pod"), port)
    assert done.returncode == 1
    assert done.stderr.startswith(f"The hook doesn't answer at 127.0.0.1:{port}: ConnectionRefusedError(")
    assert done.stderr.endswith("See whether its pods are ready.\n")
