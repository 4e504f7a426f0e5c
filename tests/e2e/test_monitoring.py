"""A real Prometheus scrapes the real hook, Metacontroller and Traefik, and finds what its alerts and panels ask for.

When the alerts fire, promtool tries: tests/manifests.
"""

import contextlib
import copy
import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import requests
import yaml

from devcluster import build, gateway
from devcluster.api import INGRESSES, SERVICES, wait_for
from devcluster.cluster import DevCluster, install_crds
from devcluster.errors import NotReady
from devcluster.manifests import find
from devcluster.ports import ReservedPort
from devcluster.story import Stage
from tests.e2e.conftest import fresh_stage, require
from tests.e2e.objects import by_hand
from tests.e2e.shell import commands_of, sh
from tests.manifests.monitoring import ALERTS, RULES, crds, expressions, scraped
from tools import golang

LOOPBACK = "127.0.0.1"
API_SERVER = "apiserver"
PATIENCE = 30.0
"""Seconds that Prometheus may take to see something: it looks each second, but this machine may be busy."""


@dataclass
class Watched:
    """A cluster, and the Prometheus that scrapes it."""

    cluster: DevCluster
    stage: Stage
    url: str

    def get(self, path: str, **parameters: str) -> Any:
        """Return what Prometheus' API answers."""
        answer = requests.get(f"{self.url}/api/v1/{path}", params=parameters, timeout=10)
        assert answer.status_code == 200, answer.text
        return answer.json()["data"]

    def query(self, expression: str) -> list[Any]:
        """Return the samples that an expression gives now, without those that are not a number."""
        found = self.get("query", query=expression)["result"]
        return [sample for sample in found if sample["value"][1] != "NaN"]


def free_port() -> int:
    """Return a port for a server that can't share a reserved one."""
    with contextlib.closing(ReservedPort()) as port:
        return port.number


def configuration(addresses: dict[str, str], cluster: DevCluster) -> dict[str, Any]:
    """Return a configuration of Prometheus: static targets, with what the PodMonitors say of each job.

    `addresses` say where the jobs are found here. The API server is scraped, too, as kube-prometheus-stack does.
    """
    plane = cluster.control_plane
    return {
        "global": {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"},
        "rule_files": ["alerts.yaml"],
        "scrape_configs": [
            {
                "job_name": each.job,
                "metrics_path": each.path,
                "scheme": each.scheme,
                "tls_config": {"insecure_skip_verify": not each.checks_certificate},
                "static_configs": [{"targets": [addresses[each.job]], "labels": {"pod": f"{each.deployment}-0"}}],
            }
            for each in scraped()
        ]
        + [
            {
                "job_name": API_SERVER,
                "scheme": "https",
                "authorization": {"credentials": plane.admin_token},
                "tls_config": {"ca_file": str(plane.ca_file)},
                "static_configs": [{"targets": [plane.url.removeprefix("https://")]}],
            }
        ],
    }


def hurried(groups: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return groups of alerts that fire after a second where they would wait for minutes. All else is as it is."""
    return [
        {**group, "rules": [{**rule, **({"for": "1s"} if "for" in rule else {})} for rule in group["rules"]]}
        for group in groups
    ]


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    """Yield a cluster whose hooks, Metacontroller, Traefik and API server a Prometheus scrapes each second.

    There are no pods, so it finds them by static targets. The alerts don't wait for minutes before they fire.
    """
    require("metacontroller")
    if reason := golang.lacking("prometheus") or gateway.lacking():
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("prometheus")
    with DevCluster("metacontroller", gateway=1, admission=True) as cluster:
        install_crds(cluster.api, crds())
        metrics_port, own_port = free_port(), free_port()
        # On a development cluster, nobody reads Metacontroller's metrics.
        cluster.engine.stop()
        cluster.engine.command[cluster.engine.command.index("--metrics-address=0")] = (
            f"--metrics-address={LOOPBACK}:{metrics_port}"
        )
        cluster.engine.start()
        assert cluster.gateway
        assert cluster.admission
        host, port = cluster.admission.address
        addresses = {
            "ingress-manager": cluster.hook_url.removeprefix("http://"),
            "ingress-manager-admission": f"{host}:{port}",
            "metacontroller": f"{LOOPBACK}:{metrics_port}",
            "ingress-manager-gateway": f"{LOOPBACK}:{cluster.gateway.internal_ports[0]}",
        }
        (folder / "prometheus.yaml").write_text(yaml.safe_dump(configuration(addresses, cluster)))
        (folder / "alerts.yaml").write_text(yaml.safe_dump({"groups": hurried(ALERTS["groups"])}))
        prometheus = cluster.processes.add(
            "prometheus",
            [
                str(build.get("prometheus", print)),
                f"--config.file={folder / 'prometheus.yaml'}",
                f"--storage.tsdb.path={folder / 'data'}",
                f"--web.listen-address={LOOPBACK}:{own_port}",
            ],
        )
        prometheus.start()
        url = f"http://{LOOPBACK}:{own_port}"

        prometheus.wait_ready(lambda: gateway.answers(own_port, "/-/ready"))
        with fresh_stage(cluster, "watched") as stage:
            yield Watched(cluster, stage, url)


def touch(stage: Stage, name: str, number: int) -> None:
    """Change a label of a Service: the hook and the webhook are asked about it."""
    stage.api.patch(SERVICES, name, {"metadata": {"labels": {"touched": str(number)}}}, stage.namespace)


@contextlib.contextmanager
def without_webhook(watched: Watched) -> Iterator[None]:
    """Let nobody answer the API server while in the context."""
    admission = watched.cluster.admission
    assert admission
    admission.process.kill()
    try:
        yield
    finally:
        admission.process.start()
        admission.wait_ready(watched.cluster.api)


def selectors(node: Any) -> Iterator[str]:
    """Yield the selectors of a parsed expression, as Prometheus' API shows it: each an expression of its own."""
    if isinstance(node, list):
        for each in node:
            yield from selectors(each)
    elif isinstance(node, dict):
        if "matchers" in node:
            yield f"{{{','.join(m['name'] + m['type'] + json.dumps(m['value']) for m in node['matchers'])}}}"
        yield from selectors(list(node.values()))


def test_all_that_the_alerts_and_the_dashboard_ask_for_is_there(watched: Watched) -> None:
    """A Service is refused, one can't have its Ingress, one loses it to new settings, and ingress-manager is paused."""
    stage, cluster = watched.stage, watched.cluster
    settings = yaml.safe_load(cluster.settings_file.read_text())
    stage.create_service("refused", {"ingress/http": "yes"})
    stage.api.create(INGRESSES, by_hand(stage.namespace, "taken", "taken.example.com", "taken"))
    stage.create_service("taken", {"ingress/http": "true"})
    stage.until_event("taken", "is in the way")
    with without_webhook(watched):
        stage.create_service("forbidden", {"ingress/http": "true", "ingress/host": "b.example.com"})
    stage.until_ingress("forbidden", "the Ingress", lambda _: True)
    # A rate is that of a counter which was read before it rose.
    wait_for(lambda: watched.query("ingress_manager_removals_total"), PATIENCE, what="a first look at the counters")
    cluster.restart_hook(settings | {"paused": True, "limits": {"hosts": ["a.example.com"]}})
    try:
        asked = {each for rule in RULES for each in selectors(watched.get("parse_query", query=rule["expr"]))}
        assert asked
        missing = asked | set(expressions("1m"))
        touched = itertools.count()

        def all_answered() -> bool:
            # Something must happen between two scrapes, or else there are no rates.
            number = next(touched)
            for name in ("refused", "forbidden"):
                touch(stage, name, number)
            missing.difference_update([each for each in missing if watched.query(each)])
            return not missing

        with contextlib.suppress(NotReady):
            wait_for(all_answered, PATIENCE, what="data for every expression", interval=0.5)
        assert sorted(missing) == []
    finally:
        cluster.restart_hook(settings)


def test_the_commands_of_the_page_can_be_run(watched: Watched) -> None:
    # Metacontroller, as its own manifests install it: they name no port.
    pods = copy.deepcopy(find("metacontroller", "Deployment", "metacontroller"))
    [container] = pods["spec"]["template"]["spec"]["containers"]
    del container["ports"], pods["spec"]["template"]["spec"]["topologySpreadConstraints"]
    container["readinessProbe"]["httpGet"]["port"] = container["livenessProbe"]["httpGet"]["port"] = 8081
    installed = {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": pods["metadata"], "spec": pods["spec"]}
    watched.cluster.kubectl("create", "--filename=-", input=yaml.safe_dump(installed))

    for command in commands_of("docs/monitoring.md"):
        ended = sh(watched.cluster.control_plane, command, check=False)
        # No hook has met a bug. What `audit` and `check` find is an exit status, too.
        expected = {1} if "| grep" in command else {0, 1, 2} if command.startswith("ingress-manager ") else {0}
        assert ended.returncode in expected, f"{command}\n{ended.stderr}"
        if command.endswith("monitoring/"):
            assert ended.stderr == "", "the Prometheus Operator's CRDs know every field"

    jsonpath = "--output=jsonpath={.spec.template.spec.containers[0].ports[0].name}"
    assert (
        watched.cluster.kubectl("get", "statefulset/metacontroller", "--namespace=metacontroller", jsonpath)
        == "metrics"
    )
