"""The Certificates that cert-manager's own rules make of Ingresses and of a Gateway.

The rules run as they are published. cert-manager's controller isn't run: the Certificates are what it is asked for.
"""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from devcluster import build
from devcluster.sync_requests import Object, body, service, sync_request
from hooks.sync import answer
from ingress_manager.core.policy import Policy
from ingress_manager.core.settings import parse
from tests.docs.test_docs import blocks
from tools import golang

pytestmark = pytest.mark.thorough

CASES: list[Object] = yaml.safe_load(Path(__file__).with_name("certificates.yaml").read_text(encoding="utf-8"))
OF_THE_PAGE = {
    "defaults": {
        "host": "{service}.example.com",
        "tls": {
            "enabled": True,
            "secret": "{service}-tls",
            "annotations": {"cert-manager.io/cluster-issuer": "letsencrypt"},
        },
    }
}


def ingresses(name: str, annotations: dict[str, str], policy: Policy) -> list[Object]:
    """Return the Ingresses that a Service gets, as they are stored: each has a uid."""
    parent = service({"ingress/http": "true"} | annotations)
    parent["metadata"]["name"] = name
    answered = answer(body(sync_request(parent)), policy)
    assert answered.status == 200, answered.body
    made = [each for each in json.loads(answered.body)["attachments"] if each["kind"] == "Ingress"]
    for each in made:
        each["metadata"]["uid"] = each["metadata"]["name"]
    return made


def certificates(objects: list[Object]) -> Any:
    """Return the Certificates that cert-manager makes of objects, one after the other, and its Events."""
    if reason := golang.lacking("certificates"):
        pytest.skip(reason)
    ended = subprocess.run(
        [build.get("certificates", print)],
        input=yaml.safe_dump_all(objects),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


def hosts(made: Any) -> dict[str, list[str]]:
    """Return what is certified, by the Secret's name, which is the Certificate's, too."""
    assert {each["metadata"]["name"] == each["spec"]["secretName"] for each in made["certificates"]} <= {True}
    return {each["spec"]["secretName"]: each["spec"]["dnsNames"] for each in made["certificates"]}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["why"])
def test_cert_manager_makes_the_certificates_that_the_table_says(case: Object) -> None:
    policy = parse(json.dumps(case.get("settings", OF_THE_PAGE)))
    objects = [
        ingress
        for name, stated in case["services"].items()
        for annotations in (stated if isinstance(stated, list) else [stated])
        for ingress in ingresses(name, annotations, policy)
    ]
    made = certificates(objects)
    assert hosts(made) == case["certificates"]
    told = [event for event in made["events"] if event.startswith("Warning")]
    assert len(told) == len(case.get("events", []))
    assert all(sentence in event for event, sentence in zip(told, case.get("events", []), strict=True)), told
    for each in made["certificates"]:
        assert each["spec"]["issuerRef"] == {
            "name": "letsencrypt",
            "kind": "ClusterIssuer",
            "group": "cert-manager.io",
        }
        [owner] = each["metadata"]["ownerReferences"]
        assert (owner["kind"], owner["controller"]) == ("Ingress", True)


def test_cert_manager_makes_the_certificate_of_a_gateways_listener_with_a_hostname() -> None:
    [gateway] = [yaml.safe_load(block) for block in blocks("tls.md", "yaml") if "kind: Gateway" in block]
    tls = gateway["spec"]["listeners"][0]["tls"]
    # What the API server adds.
    tls["mode"] = "Terminate"
    tls["certificateRefs"] = [{"group": "", "kind": "Secret", **each} for each in tls["certificateRefs"]]
    made = certificates([gateway])
    assert hosts(made) == {"apps-example-com": ["*.apps.example.com"]}
    del gateway["spec"]["listeners"][0]["hostname"]
    made = certificates([gateway])
    assert hosts(made) == {}
    assert len(made["events"]) == 1
