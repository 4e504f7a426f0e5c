"""The component that answers at `kubectl apply` fits the hook beside it, its own program and its certificate.

Which changes the API server asks about, and what becomes of them: tests/e2e/test_admission.py.
"""

from pathlib import Path

import pytest

from devcluster.api import Object
from hooks import admission_conf
from hooks.app import create_webhook
from hooks.settings_file import SettingsFile
from ingress_manager.core.policy import Policy
from tests.manifests.objects import build, one

NAME = "ingress-manager-admission"


@pytest.fixture(scope="module")
def objects() -> list[Object]:
    """Return the hook with both components."""
    components = ["../manifests/admission", "../manifests/admission/cert-manager"]
    return build({"resources": ["../manifests"], "components": components})


def test_it_listens_where_it_is_asked_and_answers_the_probes(objects: list[Object]) -> None:
    """That the command serves what the API server asks for is seen on a cluster."""
    [container] = one(objects, "Deployment", NAME)["spec"]["template"]["spec"]["containers"]
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
    [named] = one(objects, "Service", NAME)["spec"]["ports"]
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
