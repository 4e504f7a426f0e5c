"""The installation is found by what it is, under any name."""

from typing import Any

import pytest

from ingress_manager.commands.reading.manifests import Item
from ingress_manager.commands.reading.settings import RESOURCE, Installation, named_by
from tests.commands.commands import Cluster, listing, put, run, settings_on_a_cluster

HOOK = settings_on_a_cluster("defaults: {class: internal}\n", "tools", "hook")
[CONTROLLER] = HOOK[RESOURCE]["items"]
SHOP = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "shop", "annotations": {"ingress/http": "true"}}}
SERVICES = {"services": listing({**SHOP, "spec": {"ports": [{"port": 80}]}})}
WEBHOOK = ("spec", "hooks", "sync", "webhook")
SAID = "With the settings of the ConfigMap tools/hook-settings-abc.\n"


@pytest.mark.parametrize(
    ("path", "value", "found"),
    [
        (("metadata", "name"), "ingress-manager", Installation("tools", "hook")),
        (WEBHOOK, {"url": "http://127.0.0.1:8080/sync"}, None),
        ((*WEBHOOK, "service", "name"), "--all", None),
        (("metadata", "name"), "acme", None),
    ],
)
def test_the_controller_names_the_service_of_its_hook(path: tuple[str, ...], value: Any, found: Any) -> None:
    assert named_by([Item(put(CONTROLLER, path, value))]) == found


def test_the_settings_are_those_of_the_installation(cluster: Cluster) -> None:
    cluster.answers = HOOK | SERVICES
    ended = run("render")
    assert (ended.status, ended.err) == (0, SAID)
    assert "ingressClassName: internal" in ended.out
    assert cluster.calls[1:] == [
        f"get --output=json -- {RESOURCE}",
        "get --output=json --namespace=tools -- deployment/hook",
        "get --output=json --namespace=tools -- configmap/hook-settings-abc",
    ]
    del cluster.answers[RESOURCE]
    assert "The settings could not be looked at: Error from server: no; --settings FILE" in run("render").err
    cluster.answers[RESOURCE] = listing()
    assert "no DecoratorController leads to a hook; --settings FILE names them" in run("render").err
