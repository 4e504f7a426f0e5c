"""The folder monitoring/ fits what runs, and its alerts fire when they should. On a real Prometheus: tests/e2e."""

import itertools
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from devcluster import build
from devcluster.build import REPOSITORY
from devcluster.manifests import find
from hooks.app import create_app
from hooks.metrics import AdmissionMetrics
from hooks.settings_file import SettingsFile
from ingress_manager.core.policy import Policy
from tests.docs.test_docs import rows
from tests.manifests.monitoring import ALERTS, FOLDER, RULES, Scraped, scraped
from tools import golang

CASES = REPOSITORY / "tests/alerts.yaml"
PAGE = (REPOSITORY / "docs/monitoring.md").read_text(encoding="utf-8")
RUNBOOK = "https://github.com/ingress-manager/ingress-manager/blob/main/docs/monitoring.md"
NAMES = [rule["alert"] for rule in RULES]


def promtool(*arguments: str | Path) -> None:
    """Run promtool; what it finds is the error."""
    if reason := golang.lacking("promtool"):
        pytest.skip(reason)
    command = [build.get("promtool", print), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


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


def test_promtool_finds_nothing_wrong_with_the_alerts() -> None:
    promtool("check", "rules", "--lint=all", "--lint-fatal", FOLDER / "alerts.yaml")


def test_every_alert_fires_and_does_not_in_the_case_next_to_it() -> None:
    cases = yaml.safe_load(CASES.read_text(encoding="utf-8"))["tests"]
    tried = {(test["alertname"], bool(test["exp_alerts"])) for case in cases for test in case["alert_rule_test"]}
    assert tried == set(itertools.product(NAMES, (True, False)))


def test_the_alerts_fire_when_their_cases_say_so(tmp_path: Path) -> None:
    bare = [{**group, "rules": [{**rule, "annotations": {}} for rule in group["rules"]]} for group in ALERTS["groups"]]
    (tmp_path / "alerts.yaml").write_text(yaml.safe_dump({"groups": bare}))
    cases = yaml.safe_load(CASES.read_text(encoding="utf-8"))
    (tmp_path / "cases.yaml").write_text(yaml.safe_dump({"rule_files": ["alerts.yaml"], **cases}))
    promtool("test", "rules", tmp_path / "cases.yaml")


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


# The dashboard.


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
