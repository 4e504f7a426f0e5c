"""The folder monitoring/ matches what runs: the alerts, the dashboard's queries, and Prometheus' targets."""

import json
import re
from typing import Any

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from devcluster.build import REPOSITORY
from hooks.app import create_app, create_webhook
from hooks.settings_file import SettingsFile
from ingress_manager.core.settings import Settings
from tests.manifests.objects import find, ports, template

FOLDER = REPOSITORY / "monitoring"
ALERTS: dict[str, Any] = yaml.safe_load((FOLDER / "prometheusrule.yaml").read_text(encoding="utf-8"))["spec"]
RULES: list[dict[str, Any]] = [rule for group in ALERTS["groups"] for rule in group["rules"]]
DASHBOARD: dict[str, Any] = json.loads((FOLDER / "dashboard.json").read_text(encoding="utf-8"))
PAGE = (REPOSITORY / "docs/monitoring.md").read_text(encoding="utf-8")


def test_the_page_has_a_section_for_each_alert_which_links_to_it() -> None:
    assert re.findall(r"^### (.*)$", PAGE, re.MULTILINE) == [rule["alert"] for rule in RULES]
    for rule in RULES:
        # A heading's anchor in Markdown.
        assert rule["annotations"]["runbook_url"].endswith(f"/docs/monitoring.md#{rule['alert'].lower()}")


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("ingress-manager", "manifests"),
        ("ingress-manager-admission", "manifests/admission"),
        ("metacontroller", "metacontroller"),
        ("ingress-manager-gateway", "gateway"),
    ],
)
def test_each_podmonitor_selects_the_pods_of_its_deployment_and_names_a_port_of_theirs(name: str, folder: str) -> None:
    spec = find("monitoring", "PodMonitor", name)["spec"]
    assert template(folder, name)["metadata"]["labels"][spec["jobLabel"]] in str(spec["selector"])
    [endpoint] = spec["podMetricsEndpoints"]
    assert endpoint["port"] in ports(folder, name)


def shown() -> dict[str, set[str]]:
    """Return the sample names of both programs' metrics, each with its labels."""
    made = (create(SettingsFile(Settings(), "0" * 64)) for create in (create_app, create_webhook))
    hook, webhook = (each.test_client().get("/metrics").text for each in made)
    return {
        sample.name: sample.labels.keys() - {"le"}
        for text in (hook, webhook)
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_the_page_on_monitoring_lists_the_metrics_with_their_labels() -> None:
    listed = dict(re.findall(r"^- `(ingress_manager_\w+)(?:\{([\w,]+)\})?`", PAGE, re.MULTILINE))
    own = {
        re.sub(r"_(bucket|count|sum)$", "", name): ",".join(sorted(labels))
        for name, labels in shown().items()
        if name.startswith("ingress_manager_")
    }
    assert listed == own


def test_our_metrics_in_alerts_and_the_dashboard_exist() -> None:
    expressions = " ".join([*(rule["expr"] for rule in RULES), json.dumps(DASHBOARD["panels"])])
    asked = {*re.findall(r"\bingress_manager_\w+", expressions)}
    assert asked
    assert asked <= shown().keys()
