"""Installations are found by what they are, under any name, and `--installation` picks one of several."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from ingress_manager.commands.reading.installations import RESOURCE, Installation, installations
from ingress_manager.commands.reading.manifests import read
from ingress_manager.commands.uninstall.plan import HOOK as HOOK_OBJECTS
from ingress_manager.core.kubernetes import Object
from tests.commands.commands import HTTPROUTES, INGRESSES, LISTENERSETS, Cluster, installed, listing, put, run
from tests.commands.commands import settings_on_a_cluster as named_by_default

HOOK = installed("tools", "hook")


def found_in(objects: Iterable[Object]) -> list[Installation]:
    items = read(json.dumps(listing(*objects))).items
    controllers = [item for item in items if item.kind.endswith("/DecoratorController")]
    return installations(controllers, items)


def test_an_installation_of_any_name_is_found_by_what_it_is() -> None:
    other = installed("tools", "other")[1:]
    assert found_in([*HOOK, *other]) == [Installation("tools", "hook", "hook-settings", ("ingress-manager",))]


WEBHOOK = ("spec", "hooks", "sync", "webhook")


@pytest.mark.parametrize(
    "url",
    [
        "http://hook.tools/sync",
        "http://hook.tools:8080",
        "https://hook.tools.svc/sync",
        "http://hook.tools.svc.cluster.local:80/a/b",
    ],
)
def test_the_service_of_a_hook_may_be_named_by_its_url(url: str) -> None:
    controller, *others = HOOK
    assert found_in([put(controller, WEBHOOK, {"url": url}), *others]) == found_in(HOOK)


@pytest.mark.parametrize(
    ("number", "path", "value"),
    [
        (0, ("spec", "resources"), [{"apiVersion": "apps/v1", "resource": "statefulsets"}]),
        (0, ("spec", "attachments"), [{"apiVersion": "v1", "resource": "services"}]),
        (0, WEBHOOK, {"url": "http://127.0.0.1:8080/sync"}),
        (0, WEBHOOK, {"url": "https://hook.tools.example.com/sync"}),
        (0, (*WEBHOOK, "service", "name"), "--all"),
        (0, ("metadata", "name"), "--all"),
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
    assert found_in(objects) == []


# The commands.

SHOP = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "shop", "annotations": {"ingress/http": "true"}}}
SHOP |= {"spec": {"ports": [{"port": 80}]}}
CONFIGMAP = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"settings.yaml": "defaults: {class: internal}\n"}}
BEHIND = "services,deployments.apps"


def on_a_cluster(*parts: list[Object]) -> dict[str, Object]:
    """Return what kubectl says of a cluster with some installations."""
    return {
        **named_by_default("defaults: {class: by-name}\n"),
        **dict.fromkeys(("services", "services,ingresses"), listing(SHOP)),
        **dict.fromkeys((INGRESSES, HTTPROUTES, LISTENERSETS, "compositecontrollers.metacontroller.k8s.io"), listing()),
        RESOURCE: listing(*(controller for controller, *_ in parts)),
        BEHIND: listing(*(each for _, *others in parts for each in others)),
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


OTHER = installed("old", "hook", "acme")


@pytest.mark.parametrize("command", ["render", "audit", "uninstall --keep"])
def test_of_several_one_has_to_be_picked(command: str, cluster: Cluster) -> None:
    cluster.answers = on_a_cluster(HOOK, OTHER)
    ended = run(*command.split())
    assert (ended.status, ended.out) == (2, "")
    assert ended.err.endswith(
        "Error: there are several installations: old/hook (DecoratorController acme), tools/hook (DecoratorController "
        "ingress-manager); --installation NAMESPACE/NAME picks one\n"
    )
    assert "there are several installations" not in run(*command.split(), "--installation", "tools/hook").err


@pytest.mark.parametrize(
    ("wanted", "sentence"),
    [
        ("hook", "there are several installations: "),
        ("tools/other", "--installation tools/other: there is none of that name, but there is old/hook (Decorator"),
        ("other", "--installation other: there is none of that name, but there is old/hook (Decorator"),
        ("old/hook", "the DecoratorController acme of the installation old/hook has to be called ingress-manager: "),
        ("--all", "Invalid value for '--installation': \"--all\" "),
        ("/hook", "Invalid value for '--installation': \"/hook\" "),
    ],
)
def test_one_that_cannot_be_picked_is_refused(wanted: str, sentence: str, cluster: Cluster) -> None:
    cluster.answers = on_a_cluster(HOOK, OTHER)
    ended = run("render", "--installation", wanted)
    assert (ended.status, ended.out) == (2, "")
    assert f"\nError: {sentence}" in ended.err


def test_a_hook_that_cannot_be_looked_at_may_be_another_installation(cluster: Cluster) -> None:
    cluster.answers = on_a_cluster(HOOK)
    del cluster.answers[BEHIND]
    ended = run("render")
    assert "because the Deployments of a hook could not be looked at: Error from server: no; --inst" in ended.err
    controller, *others = HOOK
    # For all that is read in this namespace; of the ConfigMap, the first object is taken.
    cluster.answers = {"--namespace=tools": listing(CONFIGMAP, *others), **cluster.answers}
    cluster.answers[RESOURCE] = listing(controller, installed("secret", "x", "acme")[0])
    ended = run("render")
    assert ended.err.startswith("There may be other installations than tools/hook: the Deployments of a hook could not")
    assert (ended.status, "ingressClassName: internal" in ended.out) == (0, True)


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
    cluster.answers = on_a_cluster()
    ended = run("uninstall", "--keep", "--installation", "tools/hook")
    assert ended.err == "The plan goes by the name tools/hook: no DecoratorController leads to a hook.\n"
    assert "configmap" not in ended.out
