"""The installation is found by what it is, under any name, or by the name that a person gives."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from ingress_manager.commands.reading.installations import (
    RESOURCE,
    Installation,
    installation_behind,
    service_of_hook,
)
from ingress_manager.commands.reading.manifests import read
from ingress_manager.commands.uninstall.plan import HOOK as HOOK_OBJECTS
from ingress_manager.core.kubernetes import Object
from tests.commands.commands import HTTPROUTES, INGRESSES, LISTENERSETS, Cluster, installed, listing, put, run
from tests.commands.commands import settings_on_a_cluster as named_by_default

HOOK = installed("tools", "hook")


def found_in(objects: Iterable[Object]) -> Installation | None:
    items = read(json.dumps(listing(*objects))).items
    controllers = [item for item in items if item.kind.endswith("/DecoratorController")]
    return installation_behind(service_of_hook(controllers), items)


def test_an_installation_of_any_name_is_found_by_what_it_is() -> None:
    other = [*installed("tools", "other")[1:], installed("tools", "hook", "acme")[0]]
    assert found_in([*other, *HOOK]) == Installation("tools", "hook", "hook-settings")


WEBHOOK = ("spec", "hooks", "sync", "webhook")


@pytest.mark.parametrize("url", ["http://hook.tools:8080", "https://hook.tools.svc.cluster.local:80/a/b"])
def test_the_service_of_a_hook_may_be_named_by_its_url(url: str) -> None:
    controller, *others = HOOK
    assert found_in([put(controller, WEBHOOK, {"url": url}), *others]) == found_in(HOOK)


@pytest.mark.parametrize(
    ("number", "path", "value"),
    [
        (0, WEBHOOK, {"url": "http://127.0.0.1:8080/sync"}),
        (0, WEBHOOK, {"url": "https://hook.tools.example.com/sync"}),
        (0, (*WEBHOOK, "service", "name"), "--all"),
        (0, ("metadata", "name"), "acme"),
        (1, ("metadata", "namespace"), "elsewhere"),
        (1, ("spec",), {"externalName": "example.com"}),
        (1, ("spec", "selector"), {}),
        (1, ("spec", "selector"), {"app.kubernetes.io/name": "hook", "tier": "back"}),
        (2, ("metadata", "namespace"), "elsewhere"),
        (2, ("metadata", "name"), "--all"),
        (2, ("spec", "template", "spec"), {}),
    ],
)
def test_another_controller_and_another_deployment_are_none(number: int, path: tuple[str, ...], value: Any) -> None:
    objects = [put(each, path, value) if place == number else each for place, each in enumerate(HOOK)]
    assert found_in(objects) is None


# The commands.

SHOP = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "shop", "annotations": {"ingress/http": "true"}}}
SHOP |= {"spec": {"ports": [{"port": 80}]}}
CONFIGMAP = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"settings.yaml": "defaults: {class: internal}\n"}}
BEHIND = "services,deployments.apps"


def on_a_cluster(installation: list[Object]) -> dict[str, Object]:
    """Return what kubectl says of a cluster with an installation, or with a part of one."""
    return {
        **named_by_default("defaults: {class: by-name}\n"),
        **dict.fromkeys(("services", "services,ingresses"), listing(SHOP)),
        **dict.fromkeys((INGRESSES, HTTPROUTES, LISTENERSETS, "compositecontrollers.metacontroller.k8s.io"), listing()),
        RESOURCE: listing(*installation[:1]),
        BEHIND: listing(*installation[1:]),
        "configmap/hook-settings": CONFIGMAP,
    }


def test_the_settings_are_those_of_the_installation(cluster: Cluster) -> None:
    cluster.answers = on_a_cluster(HOOK)
    ended = run("render")
    assert (ended.status, ended.err) == (0, "With the settings of the ConfigMap tools/hook-settings.\n")
    assert "ingressClassName: internal" in ended.out
    assert cluster.calls[1:] == [
        f"get --output=json -- {RESOURCE}",
        f"get --output=json --namespace=tools -- {BEHIND}",
        "get --output=json --namespace=tools -- configmap/hook-settings",
    ]


def test_one_that_is_named_is_not_looked_for(cluster: Cluster) -> None:
    cluster.answers = {"services": listing(SHOP), "deployment/hook": HOOK[2], "configmap/hook-settings": CONFIGMAP}
    ended = run("render", "--installation", "tools/hook")
    assert (ended.status, ended.err) == (0, "With the settings of the ConfigMap tools/hook-settings.\n")


def test_why_a_hook_is_looked_for_by_its_name_is_told(cluster: Cluster) -> None:
    cluster.answers = on_a_cluster(HOOK)
    del cluster.answers[BEHIND]
    by_name = (
        "The installation is looked for as ingress-manager/ingress-manager, because {}; --installation names another."
    )
    assert by_name.format("Error from server: no") in run("render").err
    cluster.answers = on_a_cluster(HOOK[:2])
    assert by_name.format("no Deployment is behind the Service tools/hook") in run("render").err


@pytest.mark.parametrize(
    ("command", "option", "sentence"),
    [
        ("render", "-f", "--installation is for the cluster, not for files"),
        ("render", "--settings", "--installation and --settings exclude each other: both say which settings hold"),
        ("audit", "--current-settings", "--current-settings exclude each other: both say which settings hold"),
    ],
)
def test_what_would_have_no_effect_is_refused(
    command: str, option: str, sentence: str, settings: Callable[[str], Path], cluster: Cluster
) -> None:
    cluster.answers = on_a_cluster(HOOK)
    ended = run(command, "--installation", "hook", option, settings("{}\n"))
    assert (ended.status, ended.err.endswith(f"{sentence}\n")) == (2, True)


def test_the_plan_of_an_uninstallation_leaves_a_namespace_that_may_hold_more(cluster: Cluster) -> None:
    cluster.answers = on_a_cluster(HOOK)
    ended = run("uninstall", "--keep")
    assert (ended.status, ended.err) == (0, "")
    assert [line for line in ended.out.splitlines() if "tools" in line] == [
        "kubectl delete --namespace=tools --cascade=foreground --ignore-not-found -- deployment hook",
        f"kubectl delete --namespace=tools --ignore-not-found -- {HOOK_OBJECTS} hook hook-admission",
        "kubectl delete --namespace=tools --ignore-not-found -- role hook-viewer",
        "kubectl delete --namespace=tools --ignore-not-found -- configmap hook-settings",
    ]
    assert "namespace ingress-manager" not in ended.out
    cluster.answers = on_a_cluster([])
    ended = run("uninstall", "--keep", "--installation", "tools/hook")
    assert ended.err == "The plan goes by the name tools/hook: Error from server: no.\n"
    assert "configmap" not in ended.out
