"""What monitoring/ has: the alerts, what the dashboard asks Prometheus, and what Prometheus scrapes."""

import json
from typing import Any, NamedTuple

import yaml

from devcluster.build import REPOSITORY
from devcluster.manifests import rendered

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
        if selects(monitor["spec"]["selector"], pod["metadata"]["labels"])
        for endpoint in monitor["spec"]["podMetricsEndpoints"]
        for container in pod["spec"]["containers"]
        for port in container["ports"]
        if port["name"] == endpoint["port"]
    ]


def namespaces_of(monitor: dict[str, Any]) -> list[str]:
    """Return the namespaces in which a PodMonitor looks for pods: its own, unless it names some."""
    named = monitor["spec"].get("namespaceSelector", {"matchNames": [monitor["metadata"]["namespace"]]})
    return list(named["matchNames"])


def selects(selector: dict[str, Any], labels: dict[str, str]) -> bool:
    """Return whether a label selector, whose expressions say `In` alone, selects an object with these labels."""
    expressions = selector.get("matchExpressions", [])
    assert all(expression["operator"] == "In" for expression in expressions)
    return selector.get("matchLabels", {}).items() <= labels.items() and all(
        labels.get(expression["key"]) in expression["values"] for expression in expressions
    )
