"""The component that answers at `kubectl apply` fits the hook beside it, its own program and its certificate.

Which changes the API server asks about, and what becomes of them: tests/e2e/test_admission.py.
"""

import importlib
from pathlib import Path

import pytest
import yaml

from hooks import admission_conf
from hooks.app import create_webhook
from hooks.settings_file import SettingsFile
from ingress_manager.core.policy import Policy
from tests.manifests.objects import Build, Object, by_name, find, kustomizations, one, rendered

NAME = "ingress-manager-admission"
FOLDERS = ["../manifests/admission", "../manifests/admission/cert-manager"]


@pytest.fixture
def objects(build: Build) -> list[Object]:
    """Return the hook with both components."""
    return build({"resources": ["../manifests"], "components": FOLDERS})


def test_it_changes_nothing_of_the_hook(objects: list[Object]) -> None:
    assert [item for item in objects if item in rendered("manifests")] == rendered("manifests")


def test_its_pods_are_the_hooks_but_for_what_tls_needs_and_a_change_of_the_settings_rolls_both(build: Build) -> None:
    """With the image, and the name of the ConfigMap, that a kustomization states once."""
    image = {
        "name": "ghcr.io/ingress-manager/ingress-manager",
        "newName": "example.com/own",
        "newTag": "1.2.3",
    }
    settings = {"name": "ingress-manager-settings", "namespace": "ingress-manager", "behavior": "merge"}
    built = build(
        {
            "resources": ["../manifests"],
            "components": FOLDERS,
            "images": [image],
            "configMapGenerator": [{**settings, "literals": ["settings.yaml=paused: true"]}],
        }
    )
    hook, own = one(built, "Deployment", "ingress-manager"), one(built, "Deployment", NAME)
    pod, hooks = own["spec"]["template"]["spec"], hook["spec"]["template"]["spec"]
    [container], [hooks_container] = pod["containers"], hooks["containers"]
    assert container["image"] == hooks_container["image"] == "example.com/own:1.2.3"
    assert container["securityContext"] == hooks_container["securityContext"]
    assert pod["volumes"][:1] == hooks["volumes"]
    [config] = [item["metadata"]["name"] for item in built if item["kind"] == "ConfigMap"]
    assert pod["volumes"][0]["configMap"]["name"] == config != find("manifests", "ConfigMap")["metadata"]["name"]
    for field in ("securityContext", "automountServiceAccountToken", "serviceAccountName", "nodeSelector"):
        assert pod[field] == hooks[field]


def test_the_command_serves_the_routes_that_the_probes_and_the_api_server_ask_on_the_port_that_they_ask(
    objects: list[Object],
) -> None:
    [container] = one(objects, "Deployment", NAME)["spec"]["template"]["spec"]["containers"]
    _, _, configuration, application = container["command"]
    assert importlib.import_module(configuration.removeprefix("python:")) is admission_conf
    module, _, factory = application.removesuffix("()").partition(":")
    assert callable(getattr(importlib.import_module(module), factory))
    [port] = container["ports"]
    assert {int(each.rpartition(":")[2]) for each in admission_conf.bind} == {port["containerPort"]}
    [settings, tls] = container["volumeMounts"]
    assert {str(Path(each).parent) for each in (admission_conf.certfile, admission_conf.keyfile)} == {tls["mountPath"]}
    assert {Path(each).name for each in (admission_conf.certfile, admission_conf.keyfile)} == {"tls.crt", "tls.key"}
    [variable] = container["env"]
    assert str(Path(variable["value"]).parent) == settings["mountPath"]

    served = create_webhook(SettingsFile(Policy(), "")).test_client()
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert container[probe]["httpGet"]["port"] == port["name"]
        assert served.get(container[probe]["httpGet"]["path"]).status_code == 200
    [webhook] = one(objects, "ValidatingWebhookConfiguration")["webhooks"]
    asked = webhook["clientConfig"]["service"]
    assert served.post(asked["path"]).status_code == 400, "and not 404"
    metadata = one(objects, "Service", asked["name"])["metadata"]
    assert metadata["namespace"] == asked["namespace"]
    [named] = one(objects, "Service", asked["name"])["spec"]["ports"]
    assert (named["port"], named["targetPort"]) == (443, port["name"]), "443 is the API server's default"


def test_the_api_server_waits_a_second_and_writes_without_an_answer_and_never_asks_about_what_the_cluster_needs(
    objects: list[Object],
) -> None:
    [webhook] = one(objects, "ValidatingWebhookConfiguration")["webhooks"]
    fields = ("failurePolicy", "timeoutSeconds", "sideEffects", "matchPolicy")
    assert [webhook[field] for field in fields] == ["Ignore", 1, "None", "Equivalent"]
    [rule] = webhook["rules"]
    assert (rule["operations"], rule["resources"]) == (["CREATE", "UPDATE"], ["services", "services/status"])
    [expression] = webhook["namespaceSelector"]["matchExpressions"]
    own = [find(folder, "Namespace")["metadata"]["name"] for folder in ("manifests", "metacontroller")]
    assert (expression["operator"], expression["values"]) == ("NotIn", ["kube-system", *own])


def test_cert_manager_makes_a_certificate_for_the_name_that_the_api_server_asks_and_the_webhook_trusts_its_authority(
    objects: list[Object],
) -> None:
    own, authority = (one(objects, "Certificate", name)["spec"] for name in (NAME, f"{NAME}-ca"))
    configuration = one(objects, "ValidatingWebhookConfiguration")
    [webhook] = configuration["webhooks"]
    asked = webhook["clientConfig"]["service"]
    assert own["dnsNames"][0] == f"{asked['name']}.{asked['namespace']}.svc"
    [_, volume] = one(objects, "Deployment", NAME)["spec"]["template"]["spec"]["volumes"]
    assert own["secretName"] == volume["secret"]["secretName"]
    injected = {"cert-manager.io/inject-ca-from": f"{asked['namespace']}/{NAME}"}
    assert configuration["metadata"]["annotations"] == injected
    issuer = one(objects, "Issuer", own["issuerRef"]["name"])["spec"]
    assert issuer == {"ca": {"secretName": authority["secretName"]}}


@pytest.mark.parametrize("components", [FOLDERS, FOLDERS[:1]], ids=["cert-manager", "one's own"])
def test_one_line_moves_it_with_the_hook_to_another_namespace(components: list[str], build: Build) -> None:
    [shown] = [each for each in kustomizations("metacontroller/README.md") if "transformers" in each]
    both = {"resources": ["../manifests"], "components": components}
    before = build(both)
    text = yaml.safe_dump([item for item in before if item["kind"] != "Namespace"])
    for there in ("namespace: {}\n", "- {}\n", f"{NAME}.{{}}.svc", "inject-ca-from: {}/"):
        text = text.replace(there.format("ingress-manager"), there.format("platform"))
    after = build(shown | both)
    assert one(after, "Namespace")["metadata"]["name"] == "platform"
    own = [item for item in after if item["kind"] != "Namespace"]
    assert by_name(own) == by_name(yaml.safe_load(text))
