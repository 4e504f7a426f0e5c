"""The Helm chart makes what kustomize makes, and each value does what it says. On a cluster: tests/e2e."""

import json
import re
from typing import Any

import pytest

from ingress_manager.core.settings import parse
from tests.golden import Case
from tests.helm import by_name, cases, changes, lacking, rendered, template
from tests.manifests.objects import build
from tools import chart

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(lacking() is not None, reason=lacking() or ""),
]


def comparable(objects: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return what stands where in each object, without labels and hashes, and with what the settings say.

    The Namespace is left out: whoever runs Helm names it, and makes it. Helm's users expect the label of the release.
    """
    own = [item for item in objects if item["kind"] != "Namespace"]
    text = re.sub(r"(ingress-manager-settings)-[0-9a-z]{10}", r"\1", json.dumps(own))
    labels = re.compile(r"(^|\.)metadata\.labels\.|\.app\.kubernetes\.io/instance$")
    return {
        name: {
            place: parse(value) if place == "data.settings.yaml" else value
            for place, value in there.items()
            if not labels.search(place)
        }
        for name, there in by_name(json.loads(text.replace(r"\n\n", r"\n"))).items()  # kustomize leaves lines empty
    }


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
    values: dict[str, Any], folders: list[str], components: list[str]
) -> None:
    resources = ["../manifests", *(f"../{each}" for each in folders)]
    built = build({"resources": resources, "components": [f"../{each}" for each in components]})
    # The chart doesn't install the gateway.
    own = [item for item in built if item["metadata"]["name"] != "ingress-manager-gateway"]
    assert comparable(rendered(values)) == comparable(own)


@pytest.mark.parametrize("case", cases().values(), ids=lambda case: case.name)
def test_values_change_what_their_case_says_and_nothing_else(case: Case) -> None:
    assert changes(case) == case.stated["becomes"], "`make cases` writes it"


OWN = cases()["admission-with-a-certificate-of-ones-own"].stated["values"]["admission"]
HTTPROUTE = {"defaults": {"outputs": ["httproute"]}}
LISTENERSET = {"defaults": {"gateway": {"name": "web", "namespace": "edge", "listenerSets": {"port": 443}}}}


def webhook(**values: Any) -> dict[str, Any]:
    """Return values with the webhook enabled."""
    return {"admission": {"enabled": True, **values}}


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (webhook(certManager={"enabled": False}), "certManager.enabled is false, so secretName must name the Secret"),
        (webhook(**OWN | {"caBundle": ""}), "and caBundle must be its authority, as PEM; caBundle is empty"),
        (webhook(**OWN | {"secretName": ""}), "and caBundle must be its authority, as PEM; secretName is empty"),
        (
            webhook(**OWN | {"certManager": {"enabled": True}}),
            "caBundle is that of a certificate of yours, so certManager.enabled must be false",
        ),
        ({"settings": {"admission": {"deny": True}}}, "admission.deny is true, so admission.enabled must be true"),
        ({"settings": HTTPROUTE}, "the outputs have httproute, so httproute.enabled must be true"),
        (
            {"settings": {"namespaces": {"team-a": LISTENERSET}}},
            "a gateway has listenerSets, so httproute.listenerSets must be true",
        ),
        ({"replicas": 3}, "at '': additional properties 'replicas' not allowed"),
        ({"image": {"digest": "latest"}}, "at '/image/digest': 'latest' does not match pattern"),
        ({"settings": {"host": "x"}}, "at '/settings': additional properties 'host' not allowed"),
        ({"settings": {"paused": "yes"}}, "at '/settings/paused': got string, want boolean"),
    ],
)
def test_values_that_are_wrong_or_would_not_work_together_are_refused(values: dict[str, Any], said: str) -> None:
    done = template(values)
    assert done.returncode != 0
    assert said in done.stderr


def test_a_label_that_helm_would_leave_out_is_refused() -> None:
    """With all labels, and with what selects by them. A NetworkPolicy would then let in every pod."""
    labels = [path for path in chart.comments() if chart.LABELS.search(path[-1])]
    values: dict[str, Any] = {}
    for *above, name in labels:
        (values.setdefault(above[0], {}) if above else values)[name] = {"x" * 318: "x"}
    assert template(values).stderr.count("invalid propertyName") == len(labels) == 8
