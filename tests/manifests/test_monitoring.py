"""The folder monitoring/ fits what runs: the alerts, what the dashboard asks, and what Prometheus scrapes."""

import json
import re
from typing import Any, NamedTuple

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from devcluster.build import REPOSITORY
from devcluster.manifests import find, rendered
from hooks.app import create_app
from hooks.metrics import AdmissionMetrics
from hooks.settings_file import SettingsFile
from ingress_manager.core.policy import Policy
from tests.docs.test_docs import rows

FOLDER = REPOSITORY / "monitoring"
ALERTS: dict[str, Any] = yaml.safe_load((FOLDER / "prometheusrule.yaml").read_text(encoding="utf-8"))["spec"]
RULES: list[dict[str, Any]] = [rule for group in ALERTS["groups"] for rule in group["rules"]]
DASHBOARD: dict[str, Any] = json.loads((FOLDER / "dashboard.json").read_text(encoding="utf-8"))


def expressions(rate_interval: str) -> list[str]:
    """Return what the dashboard asks Prometheus. Grafana itself chooses the interval of rates, four scrapes or more."""
    targets = [target for panel in DASHBOARD["panels"] for target in panel["targets"]]
    return [target["expr"].replace("$__rate_interval", rate_interval) for target in targets]


class Scraped(NamedTuple):
    """A port that Prometheus scrapes of each pod of a Deployment."""

    job: str
    deployment: str
    port_name: str
    port: int
    path: str
    scheme: str = "http"
    checks_certificate: bool = True


def scraped() -> list[Scraped]:
    """Return what the PodMonitors select of the manifests, in their order, as the Prometheus Operator would."""
    monitors = [item for item in rendered("monitoring") if item["kind"] == "PodMonitor"]
    deployments = [
        item
        for folder in ("manifests", "metacontroller", "gateway")
        for item in rendered(folder)
        if item["kind"] == "Deployment"
    ]
    admission = (REPOSITORY / "manifests/admission/deployment.yaml").read_text(encoding="utf-8")
    deployments.append(next(yaml.safe_load_all(admission)))
    return [
        Scraped(
            pod["metadata"]["labels"][monitor["spec"]["jobLabel"]],
            deployment["metadata"]["name"],
            port["name"],
            port["containerPort"],
            endpoint["path"],
            endpoint.get("scheme", "http"),
            not endpoint.get("tlsConfig", {}).get("insecureSkipVerify", False),
        )
        for monitor in monitors
        for deployment in deployments
        if deployment["metadata"]["namespace"] in namespaces_of(monitor)
        for pod in [deployment["spec"]["template"]]
        if monitor_selects(monitor["spec"]["selector"], pod["metadata"]["labels"])
        for endpoint in monitor["spec"]["podMetricsEndpoints"]
        for container in pod["spec"]["containers"]
        for port in container["ports"]
        if port["name"] == endpoint["port"]
    ]


def namespaces_of(monitor: dict[str, Any]) -> list[str]:
    """Return the namespaces in which a PodMonitor looks for pods: its own, unless it names some."""
    named = monitor["spec"].get("namespaceSelector", {"matchNames": [monitor["metadata"]["namespace"]]})
    return list(named["matchNames"])


def monitor_selects(selector: dict[str, Any], labels: dict[str, str]) -> bool:
    """Return whether a label selector, whose expressions say `In` alone, selects an object with these labels."""
    expressions = selector.get("matchExpressions", [])
    assert all(expression["operator"] == "In" for expression in expressions)
    return selector.get("matchLabels", {}).items() <= labels.items() and all(
        labels.get(expression["key"]) in expression["values"] for expression in expressions
    )


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


def test_prometheus_scrapes_the_hook_the_webhook_metacontroller_and_traefik() -> None:
    assert scraped() == [
        Scraped("ingress-manager", "ingress-manager", "http", 8080, "/metrics"),
        Scraped("ingress-manager-admission", "ingress-manager-admission", "https", 8443, "/metrics", "https", False),
        Scraped("ingress-manager-gateway", "ingress-manager-gateway", "internal", 8080, "/metrics"),
        Scraped("metacontroller", "metacontroller", "metrics", 9999, "/metrics"),
    ]


def test_prometheus_alone_is_let_in_to_the_hooks_port() -> None:
    spec = find("monitoring", "NetworkPolicy")["spec"]
    assert spec["podSelector"] == find("manifests", "NetworkPolicy")["spec"]["podSelector"]
    assert spec["policyTypes"] == ["Ingress"]
    [rule] = spec["ingress"]
    [hook] = [each for each in scraped() if each.job == "ingress-manager"]
    assert rule["ports"] == [{"port": hook.port_name}]
    [peer] = rule["from"]
    assert peer["podSelector"] == {"matchLabels": {"app.kubernetes.io/name": "prometheus"}}
    # The gateway's policy names the same namespace.
    [gateways] = [
        gateway["namespaceSelector"]
        for rule in find("gateway", "NetworkPolicy", "ingress-manager-gateway")["spec"]["ingress"]
        for gateway in rule.get("from", [])
    ]
    assert peer["namespaceSelector"] == gateways


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


def test_the_page_on_operating_lists_the_metrics_with_their_labels() -> None:
    listed = dict(
        re.findall(r"^\| `(ingress_manager_\w+)(?:\{(\w+)\})?`", row)[0]
        for row in rows("operating.md", "| metric ")[:-1]
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
