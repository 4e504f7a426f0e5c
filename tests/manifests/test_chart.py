"""The Helm chart creates the same objects as kustomize, and each value works as described. tests/e2e uses a cluster.

chart.yaml has cases with values; `make cases` writes the resulting changes.
"""

import json
import re
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from devcluster.build import REPOSITORY, built, folder
from devcluster.errors import CommandFailed
from ingress_manager.core.settings_parser import parse
from tests import golden
from tests.golden import Case
from tests.manifests.objects import build
from tools.chart import CHART, LABELS, comments

CASES = REPOSITORY / "tests/chart.yaml"
STATED = {case.name: case for case in golden.read(CASES)}


def why_unavailable() -> str | None:
    return None if built("helm") else "NOT CHECKED WITH HELM: `python -m devcluster build --helm` builds it."


pytestmark = [pytest.mark.thorough, pytest.mark.skipif(why_unavailable() is not None, reason=why_unavailable() or "")]


def template(values: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [folder("helm") / "helm", "template", "ingress-manager", CHART, "--namespace=ingress-manager", "--values=-"],
        input=yaml.safe_dump(values),
        capture_output=True,
        text=True,
        check=False,
    )


def rendered(values: Any) -> list[dict[str, Any]]:
    done = template(values)
    if done.returncode:
        raise CommandFailed(done.stderr)
    return list(yaml.safe_load_all(done.stdout))


def by_name(objects: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return each object as a mapping of paths to values, by its kind and name."""
    return {f"{item['kind']} {item['metadata']['name']}": dict(places(item)) for item in objects}


def places(value: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the path and value of each leaf in an object; a list without mappings is a leaf."""
    inside: Any = ()
    if isinstance(value, dict):
        inside = value.items()
    elif isinstance(value, list) and any(isinstance(each, dict) for each in value):
        inside = enumerate(value)
    for key, each in inside:
        yield from places(each, f"{place}.{key}" if place else str(key))
    if not inside:
        yield place, value


def changes(case: Case) -> str:
    """Return how a case's values change the objects, compared with the default values, line by line."""
    before, after = by_name(rendered({})), by_name(rendered(case.fields["values"]))
    lines = [f"- {name}" for name in before.keys() - after] + [f"+ {name}" for name in after.keys() - before]
    for name in before.keys() & after:
        old, new = before[name], after[name]
        lines += [f"{name} {place}: {json.dumps(value)}" for place, value in new.items() if old.get(place, "") != value]
        lines += [f"{name} {place} is gone" for place in old.keys() - new]
    return "".join(f"{line}\n" for line in sorted(lines))


def comparable(objects: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the paths and values of each object, without labels and hashes, and with the settings parsed.

    The Namespace is left out because Helm's user creates it, and labels because Helm's users expect the release's.
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
        for name, there in by_name(json.loads(text.replace(r"\n\n", r"\n"))).items()  # kustomize leaves empty lines
    }


MONITORING = {key: {"enabled": True} for key in ("podMonitor", "prometheusRule", "dashboard")}
ADMISSION = {"admission": {"enabled": True}}
CONTROLLER, WEBHOOK = "metacontroller/controller", ["manifests/admission", "manifests/admission/cert-manager"]


@pytest.mark.parametrize(
    ("values", "folders", "components"),
    [
        ({}, [CONTROLLER], []),
        ({"httproute": {"enabled": True}}, ["metacontroller/httproute"], []),
        ({"httproute": {"enabled": True, "listenerSets": True}}, ["metacontroller/listenerset"], []),
        (MONITORING | ADMISSION, [CONTROLLER, "monitoring"], WEBHOOK),
        # Helm passes on `enabled`, with which a parent chart selects this one.
        (ADMISSION | {"openshift": True, "enabled": True}, [CONTROLLER], [*WEBHOOK, "manifests/openshift"]),
    ],
    ids=["controller", "httproute", "listenerset", "monitoring and admission", "openshift"],
)
def test_the_chart_equals_kustomize(values: dict[str, Any], folders: list[str], components: list[str]) -> None:
    resources = ["../manifests", *(f"../{each}" for each in folders)]
    built = build({"resources": resources, "components": [f"../{each}" for each in components]})
    # The chart doesn't install the gateway.
    own = [item for item in built if item["metadata"]["name"] != "ingress-manager-gateway"]
    assert comparable(rendered(values)) == comparable(own)


@pytest.mark.parametrize("case", STATED.values(), ids=lambda case: case.name)
def test_values_change_what_their_case_says_and_nothing_else(case: Case) -> None:
    assert changes(case) == case.fields["becomes"], "`make cases` writes it"


OWN = STATED["admission-with-a-certificate-of-ones-own"].fields["values"]["admission"]
HTTPROUTE = {"defaults": {"outputs": ["httproute"]}}
LISTENERSET = {"defaults": {"gateway": {"name": "web", "namespace": "edge", "listenerSets": {"port": 443}}}}


def webhook(**values: Any) -> dict[str, Any]:
    return {"admission": {"enabled": True, **values}}


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (webhook(certManager={"enabled": False}), "certManager.enabled is false, so secretName must name the Secret"),
        (webhook(**OWN | {"caBundle": ""}), "and caBundle must be its authority, as PEM; caBundle is empty"),
        (webhook(**OWN | {"secretName": ""}), "and caBundle must be its authority, as PEM; secretName is empty"),
        (webhook(**OWN | {"certManager": {"enabled": True}}), "of yours, so certManager.enabled must be false"),
        ({"settings": {"admission": {"deny": True}}}, "admission.deny is true, so admission.enabled must be true"),
        ({"settings": HTTPROUTE}, "the outputs have httproute, so httproute.enabled must be true"),
        ({"settings": {"namespaces": {"team-a": LISTENERSET}}}, "so httproute.listenerSets must be true"),
        ({"replicas": 3}, "at '': additional properties 'replicas' not allowed"),
        ({"image": {"digest": "latest"}}, "at '/image/digest': 'latest' does not match pattern"),
        ({"settings": {"host": "x"}}, "at '/settings': additional properties 'host' not allowed"),
        ({"settings": {"paused": "yes"}}, "at '/settings/paused': got string, want boolean"),
    ],
)
def test_invalid_or_incompatible_values_are_refused(values: dict[str, Any], said: str) -> None:
    done = template(values)
    assert done.returncode != 0
    assert said in done.stderr


def test_a_label_that_helm_would_leave_out_is_refused() -> None:
    """Helm would leave out all labels, including selectors, and a NetworkPolicy would then admit every Pod."""
    labels = [path for path in comments() if LABELS.search(path[-1])]
    values: dict[str, Any] = {}
    for *above, name in labels:
        (values.setdefault(above[0], {}) if above else values)[name] = {"x" * 318: "x"}
    assert template(values).stderr.count("invalid propertyName") == len(labels) == 8
