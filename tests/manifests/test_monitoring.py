"""The folder monitoring/ fits what runs: the alerts, what the dashboard asks, and what Prometheus scrapes."""

import json
import re
from typing import Any

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from devcluster.build import REPOSITORY
from hooks.app import create_app
from hooks.metrics import AdmissionMetrics
from hooks.settings_file import SettingsFile
from ingress_manager.core.policy import Policy
from tests.docs.test_docs import rows
from tests.manifests.objects import find, ports, rendered, template

FOLDER = REPOSITORY / "monitoring"
ALERTS: dict[str, Any] = yaml.safe_load((FOLDER / "prometheusrule.yaml").read_text(encoding="utf-8"))["spec"]
RULES: list[dict[str, Any]] = [rule for group in ALERTS["groups"] for rule in group["rules"]]
DASHBOARD: dict[str, Any] = json.loads((FOLDER / "dashboard.json").read_text(encoding="utf-8"))


def expressions(rate_interval: str) -> list[str]:
    """Return what the dashboard asks Prometheus. Grafana itself chooses the interval of rates, four scrapes or more."""
    targets = [target for panel in DASHBOARD["panels"] for target in panel["targets"]]
    return [target["expr"].replace("$__rate_interval", rate_interval) for target in targets]


PAGE = (REPOSITORY / "docs/monitoring.md").read_text(encoding="utf-8")
RUNBOOK = "https://github.com/ingress-manager/ingress-manager/blob/main/docs/monitoring.md"
NAMES = [rule["alert"] for rule in RULES]


# The alerts.


@pytest.mark.parametrize("rule", RULES, ids=NAMES)
def test_an_alert_says_what_is_wrong_and_what_to_do_and_leads_to_its_part_of_the_page(rule: dict[str, Any]) -> None:
    assert rule["labels"]["severity"] in {"critical", "warning"}
    assert rule["annotations"].keys() == {"summary", "description", "runbook_url"}
    for text in (rule["annotations"]["summary"], rule["annotations"]["description"]):
        assert re.fullmatch(r"[A-Z].*[.]", text)
    # As Markdown makes an anchor of a heading.
    assert rule["annotations"]["runbook_url"] == f"{RUNBOOK}#{rule['alert'].lower()}"
    assert re.findall(r"^### (.*)$", PAGE, re.MULTILINE) == NAMES


# What is scraped, and the NetworkPolicy.

SCRAPED = {
    "ingress-manager": "manifests",
    "ingress-manager-admission": "manifests/admission",
    "metacontroller": "metacontroller",
    "ingress-manager-gateway": "gateway",
}
"""The name of each PodMonitor, which is that of a Deployment, and its folder."""


def test_each_podmonitor_selects_the_pods_of_its_deployment_and_names_a_port_of_theirs() -> None:
    monitors = [item for item in rendered("monitoring") if item["kind"] == "PodMonitor"]
    assert [item["metadata"]["name"] for item in monitors] == sorted(SCRAPED)
    for monitor in monitors:
        name, spec = monitor["metadata"]["name"], monitor["spec"]
        label = template(SCRAPED[name], name)["metadata"]["labels"][spec["jobLabel"]]
        assert label in str(spec["selector"])
        [endpoint] = spec["podMetricsEndpoints"]
        assert endpoint["port"] in ports(SCRAPED[name], name)


def test_prometheus_alone_is_let_in_to_the_hooks_port() -> None:
    spec = find("monitoring", "NetworkPolicy")["spec"]
    assert spec["podSelector"] == find("manifests", "NetworkPolicy")["spec"]["podSelector"]
    [rule] = spec["ingress"]
    assert rule["ports"] == [{"port": "http"}]
    [peer] = rule["from"]
    assert peer["podSelector"] == {"matchLabels": {"app.kubernetes.io/name": "prometheus"}}


# What the hook and the webhook show.


def shown() -> dict[str, set[str]]:
    """Return the metrics of both, by the names of their samples: the label of each, if it has one."""
    hook = create_app(SettingsFile(Policy(), "0" * 64)).test_client().get("/metrics").text
    return {
        sample.name: sample.labels.keys() - {"le"}
        for text in (hook, AdmissionMetrics("0.1.0", "0" * 64).text().decode())
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_the_page_on_monitoring_lists_the_metrics_with_their_labels() -> None:
    listed = dict(
        re.findall(r"^\| `(ingress_manager_\w+)(?:\{(\w+)\})?`", row)[0]
        for row in rows("monitoring.md", "| metric ")[:-1]
    )
    own = {
        re.sub(r"_(bucket|count|sum)$", "", name): "".join(labels)
        for name, labels in shown().items()
        if name.startswith("ingress_manager_")
    }
    assert listed == own


def test_what_the_alerts_and_the_dashboard_ask_for_of_ours_is_shown() -> None:
    asked = {
        name
        for expression in [*(rule["expr"] for rule in RULES), *expressions("5m")]
        for name in re.findall(r"\bingress_manager_\w+", expression)
    }
    assert asked
    assert asked <= shown().keys()
