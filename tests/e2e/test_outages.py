"""Outages: while a part is down, nothing hangs; once it is up again, everything becomes as it should be."""

import re

import yaml

from devcluster.api import SERVICES
from devcluster.cluster import DevCluster
from devcluster.story import Stage, routes

PORT_81 = {"spec": {"ports": [{"name": "http", "port": 81}]}}


def three_services(stage: Stage) -> None:
    for name in ("changed", "deleted", "opted-out"):
        stage.create_service(name, {"ingress/http": "true"})
    for name in ("changed", "deleted", "opted-out"):
        stage.until_ingress(name, f"the Ingress {name}", lambda _: True)


def change_everything(stage: Stage) -> None:
    stage.create_service("created", {"ingress/http": "true"})
    stage.api.patch(SERVICES, "changed", PORT_81, stage.namespace)
    stage.annotate("opted-out", None)
    stage.api.delete(SERVICES, "deleted", stage.namespace)
    stage.until("no Service", lambda: stage.api.get(SERVICES, "deleted", stage.namespace) is None)
    stage.until("no Ingress of the deleted Service", lambda: stage.ingress("deleted") is None)


def until_caught_up(stage: Stage) -> None:
    stage.until_ingress("created", "the Ingress created", lambda _: True)
    stage.until_ingress("changed", "the changed port", lambda found: routes(found)[0][4] == 81)
    stage.until("no Ingress opted-out", lambda: stage.ingress("opted-out") is None)


def test_with_the_hook_down_nothing_hangs_and_it_catches_up(cluster: DevCluster, stage: Stage) -> None:
    three_services(stage)
    cluster.hook.stop()
    try:
        change_everything(stage)
        unreachable = "connection refused" if "stand-in" not in cluster.engine_name else "http error"
        stage.until_event("created", unreachable)
        assert stage.ingress("created") is None
        stage.create_service("of-somebody-else", {})
        stage.until_event("of-somebody-else", unreachable)
        assert routes(stage.ingress("changed") or {})[0][4] == 80
        assert stage.ingress("opted-out") is not None
    finally:
        cluster.restart_hook()
    until_caught_up(stage)


def test_with_the_engine_restarted_in_the_middle_it_catches_up(cluster: DevCluster, stage: Stage) -> None:
    three_services(stage)
    cluster.engine.stop()
    try:
        change_everything(stage)
    finally:
        cluster.engine.start()
    until_caught_up(stage)


def answers_429(cluster: DevCluster) -> int:
    """Return how often the hook has answered that it is paused, from its log."""
    return len(re.findall(r'"status": ?429', cluster.hook.log_path.read_text()))


def test_while_paused_nothing_changes_and_no_event_says_so(cluster: DevCluster, stage: Stage) -> None:
    three_services(stage)
    settings = yaml.safe_load(cluster.settings_file.read_text())
    cluster.restart_hook(settings | {"paused": True})
    try:
        paused = answers_429(cluster)
        stage.annotate("changed", "yes")
        stage.api.patch(SERVICES, "changed", PORT_81, stage.namespace)
        stage.until("an answer of the paused hook", lambda: answers_429(cluster) > paused)
        assert routes(stage.ingress("changed") or {})[0][4] == 80
        # An Event may say that the hook was down during its restart. None says that it is paused, or names the mistake.
        assert not [event for event in stage.events("changed") if "429" in event or "ingress/http" in event]
        stage.annotate("changed", "true")
    finally:
        cluster.restart_hook(settings)
    stage.api.patch(SERVICES, "changed", {"metadata": {"labels": {"touched": "again"}}}, stage.namespace)
    stage.until_ingress("changed", "the changed port", lambda found: routes(found)[0][4] == 81)
