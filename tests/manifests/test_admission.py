"""The component that answers at `kubectl apply` fits the hook beside it, its own program and its certificate.

Which changes the API server asks about, and what becomes of them: tests/e2e/test_admission.py.
"""

import importlib
from pathlib import Path

import pytest

from hooks import admission_conf
from hooks.app import create_webhook
from hooks.settings_file import SettingsFile
from ingress_manager.core.policy import Policy
from tests.manifests.objects import Build, Object, find, one, rendered

NAME = "ingress-manager-admission"
FOLDERS = ["../manifests/admission", "../manifests/admission/cert-manager"]


@pytest.fixture
def objects(build: Build) -> list[Object]:
    """Return the hook with both components, with an image and a setting that a kustomization states once."""
    image = {"name": "registry.example.com/ingress-manager", "newName": "example.com/own", "newTag": "1.2.3"}
    settings = {"name": "ingress-manager-settings", "namespace": "ingress-manager", "behavior": "merge"}
    paused = {**settings, "literals": ["settings.yaml=paused: true"]}
    return build(
        {"resources": ["../manifests"], "components": FOLDERS, "images": [image], "configMapGenerator": [paused]}
    )


def test_its_pods_have_the_hooks_image_and_a_change_of_the_settings_rolls_both(objects: list[Object]) -> None:
    pods = [one(objects, "Deployment", name)["spec"]["template"]["spec"] for name in ("ingress-manager", NAME)]
    assert {pod["containers"][0]["image"] for pod in pods} == {"example.com/own:1.2.3"}
    [config] = {pod["volumes"][0]["configMap"]["name"] for pod in pods}
    assert config != find("manifests", "ConfigMap")["metadata"]["name"]
    assert pods[0]["containers"][0]["securityContext"] == pods[1]["containers"][0]["securityContext"]
    before = {(item["kind"], item["metadata"]["name"]) for item in rendered("manifests")}
    assert len({(item["kind"], item["metadata"]["name"]) for item in objects} & before) == len(before) - 1


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
    [variable] = container["env"]
    assert str(Path(variable["value"]).parent) == settings["mountPath"]

    served = create_webhook(SettingsFile(Policy(), "")).test_client()
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert container[probe]["httpGet"]["port"] == port["name"]
        assert served.get(container[probe]["httpGet"]["path"]).status_code == 200
    [webhook] = one(objects, "ValidatingWebhookConfiguration")["webhooks"]
    asked = webhook["clientConfig"]["service"]
    assert served.post(asked["path"]).status_code == 400, "and not 404"
    [named] = one(objects, "Service", asked["name"])["spec"]["ports"]
    assert (named["port"], named["targetPort"]) == (443, port["name"]), "443 is the API server's default"


def test_cert_manager_makes_a_certificate_for_the_name_that_the_api_server_asks_and_the_webhook_trusts_its_authority(
    objects: list[Object],
) -> None:
    own, authority = (one(objects, "Certificate", name)["spec"] for name in (NAME, f"{NAME}-ca"))
    configuration = one(objects, "ValidatingWebhookConfiguration")
    asked = configuration["webhooks"][0]["clientConfig"]["service"]
    assert own["dnsNames"][0] == f"{asked['name']}.{asked['namespace']}.svc"
    [_, volume] = one(objects, "Deployment", NAME)["spec"]["template"]["spec"]["volumes"]
    assert own["secretName"] == volume["secret"]["secretName"]
    injected = {"cert-manager.io/inject-ca-from": f"{asked['namespace']}/{NAME}"}
    assert configuration["metadata"]["annotations"] == injected
    issuer = one(objects, "Issuer", own["issuerRef"]["name"])["spec"]
    assert issuer == {"ca": {"secretName": authority["secretName"]}}
