"""The vocabulary end to end: opting out, a pause with new settings, and the largest Ingress."""

import json
import re
from typing import Any

import pytest
import yaml

from devcluster.api import SERVICES, Object
from devcluster.cluster import DevCluster
from devcluster.story import Stage
from tests.e2e.conftest import fresh_stage

TWO_PORTS = [{"name": "http", "port": 80}, {"name": "metrics", "port": 9090}]


def published(stage: Stage) -> None:
    """Create the Service shop with two ports, and wait for its Ingress."""
    stage.create_service("shop", {"ingress/http": "true"})
    set_ports(stage, *TWO_PORTS)
    stage.until_ingress("shop", "the Ingress", lambda _: True)


def annotate(stage: Stage, changes: dict[str, str | None]) -> Object:
    """Set annotations, and return the Service."""
    return stage.api.patch(SERVICES, "shop", {"metadata": {"annotations": changes}}, stage.namespace)


def set_ports(stage: Stage, *ports: dict[str, Any]) -> None:
    stage.api.patch(SERVICES, "shop", {"spec": {"ports": list(ports)}}, stage.namespace)


@pytest.mark.gate
def test_opting_out_works_whatever_else_is_wrong(stage: Stage) -> None:
    published(stage)
    before = stage.ingress("shop")
    annotate(stage, {"ingress/host": "A", "ingress/path": "x", "ingress/routes": "[", "ingress/hots": "x"})
    message = stage.until_event(
        "shop", "ingress/hots is not an annotation of ingress-manager; did you mean ingress/host?"
    )
    assert 'ingress/host: "A" must be lower case' in message
    assert stage.ingress("shop") == before
    stage.annotate("shop", "false")
    stage.until("no Ingress", lambda: stage.ingress("shop") is None)


def test_while_a_namespace_is_paused_nothing_changes_in_it_and_no_event_says_so(
    cluster: DevCluster, stage: Stage
) -> None:
    """Others go on. Afterwards, new settings are followed."""
    published(stage)
    before = stage.ingress("shop")
    settings = yaml.safe_load(cluster.settings_file.read_text())
    try:
        cluster.restart_hook(settings | {"namespaces": {stage.namespace: {"paused": True}}})
        paused = answers_429(cluster)
        annotate(stage, {"ingress/host": "Wrong"})
        stage.until("an answer of the paused hook", lambda: answers_429(cluster) > paused)
        with fresh_stage(cluster, f"{stage.namespace}-beside") as beside:
            published(beside)
        assert stage.ingress("shop") == before
        # An Event may say that the hook was down during its restart. None says that it is paused, or names the mistake.
        assert not [event for event in stage.events("shop") if "429" in event or "ingress/host" in event]
        own = {"defaults": {"class": "internal", "tls": {"enabled": True}}, "limits": {"hosts": ["*.example.org"]}}
        general = settings["defaults"] | {"host": "{service}.example.org"}
        cluster.restart_hook(settings | {"defaults": general, "namespaces": {stage.namespace: own}})
        annotate(stage, {"ingress/host": None})
        ingress = stage.until_ingress("shop", "the new settings", lambda found: "tls" in found["spec"])
        assert ingress["spec"]["ingressClassName"] == "internal"
        assert ingress["spec"]["tls"] == [{"hosts": ["shop.example.org"]}]
    finally:
        cluster.restart_hook(settings)


def answers_429(cluster: DevCluster) -> int:
    """Return how often the hook has answered that it is paused, from its log."""
    return len(re.findall(r'"status": ?429', cluster.hook.log_path.read_text()))


def test_the_largest_ingress_that_we_accept_can_be_stored(stage: Stage) -> None:
    """Metacontroller stores it twice: as the object, and as an annotation."""
    published(stage)
    hosts = ",".join(f"h{i}.example.com" for i in range(100))
    annotate(stage, {"ingress/path": f"/{'x' * 830}", "ingress/host": hosts})
    large = stage.until_ingress("shop", "the long paths", lambda found: len(found["spec"]["rules"]) == 100)
    assert len(json.dumps(large["spec"], separators=(",", ":"))) > 95_000
    ampersands = ",".join(f"h{i}.example.com" for i in range(15))
    annotate(stage, {"ingress/path": "/" + "&" * 1000, "ingress/host": ampersands})
    stage.until_ingress("shop", "the long paths", lambda found: len(found["spec"]["rules"]) == 15)
