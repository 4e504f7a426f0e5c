"""The installation is found by what it is, under any name, or by the name that a person gives."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from ingress_manager.commands.reading.installations import RESOURCE, Installation, named_by
from ingress_manager.commands.reading.manifests import read
from ingress_manager.commands.uninstall.plan import HOOK as HOOK_OBJECTS
from ingress_manager.core.kubernetes import Object
from tests.commands.commands import HTTPROUTES, INGRESSES, LISTENERSETS, Cluster, installed, listing, put, run
from tests.commands.commands import settings_on_a_cluster as named_by_default

HOOK = installed("tools", "hook")


def found_in(objects: Iterable[Object]) -> Installation | None:
    return named_by(read(json.dumps(listing(*objects))).items)


def test_an_installation_of_any_name_is_found_by_the_service_of_its_hook() -> None:
    assert found_in([installed("tools", "other", "acme")[0], HOOK[0]]) == Installation("tools", "hook")


WEBHOOK = ("spec", "hooks", "sync", "webhook")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (WEBHOOK, {"url": "http://127.0.0.1:8080/sync"}),
        ((*WEBHOOK, "service", "name"), "--all"),
        (("metadata", "name"), "acme"),
    ],
)
def test_another_controller_names_none(path: tuple[str, ...], value: Any) -> None:
    assert found_in([put(HOOK[0], path, value)]) is None


# The commands.

SHOP = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "shop", "annotations": {"ingress/http": "true"}}}
SHOP |= {"spec": {"ports": [{"port": 80}]}}
CONFIGMAP = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"settings.yaml": "defaults: {class: internal}\n"}}


def on_a_cluster(installation: list[Object]) -> dict[str, Object]:
    """Return what kubectl says of a cluster with an installation, or with a part of one."""
    return {
        **named_by_default("defaults: {class: by-name}\n"),
        **dict.fromkeys(("services", "services,ingresses"), listing(SHOP)),
        **dict.fromkeys((INGRESSES, HTTPROUTES, LISTENERSETS, "compositecontrollers.metacontroller.k8s.io"), listing()),
        RESOURCE: listing(*installation[:1]),
        **({"deployment/hook": installation[1]} if installation[1:] else {}),
        "configmap/hook-settings": CONFIGMAP,
    }


def test_the_settings_are_those_of_the_installation(cluster: Cluster) -> None:
    cluster.answers = on_a_cluster(HOOK)
    ended = run("render")
    assert (ended.status, ended.err) == (0, "With the settings of the ConfigMap tools/hook-settings.\n")
    assert "ingressClassName: internal" in ended.out
    assert cluster.calls[1:] == [
        f"get --output=json -- {RESOURCE}",
        "get --output=json --namespace=tools -- deployment/hook",
        "get --output=json --namespace=tools -- configmap/hook-settings",
    ]


def test_one_that_is_named_is_not_looked_for(cluster: Cluster) -> None:
    cluster.answers = {"services": listing(SHOP), "deployment/hook": HOOK[1], "configmap/hook-settings": CONFIGMAP}
    ended = run("render", "--installation", "tools/hook")
    assert (ended.status, ended.err) == (0, "With the settings of the ConfigMap tools/hook-settings.\n")


def test_why_a_hook_is_looked_for_by_its_name_is_told(cluster: Cluster) -> None:
    cluster.answers = on_a_cluster(HOOK[:1])
    why = "because Error from server: no; --installation names another."
    assert f"The installation is looked for as ingress-manager/ingress-manager, {why}" in run("render").err


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
