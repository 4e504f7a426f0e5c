"""Installations of ingress-manager, found by what they are, whatever their names and namespaces.

A DecoratorController that makes Ingresses or HTTPRoutes of Services names the Service of its hook. The Pods of that
Service are a Deployment's, and it mounts the settings.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import click

from ingress_manager.commands.reading.kinds import SERVICES
from ingress_manager.commands.reading.manifests import Item, at, mappings
from ingress_manager.commands.reading.settings import configmap_of
from ingress_manager.core.errors import Problem
from ingress_manager.core.syntax import check_name, check_namespace

CONTROLLER = "ingress-manager"
"""The name of the DecoratorController in every installation: a cluster can have only one. The admission policies, and
Metacontroller, know by it what ingress-manager has made."""

RESOURCE = "decoratorcontrollers.metacontroller.k8s.io"
DEPLOYMENTS = "apps/v1/Deployment"


class Installation(NamedTuple):
    """The Deployment of a hook."""

    namespace: str
    name: str
    configmap: str = ""
    """The ConfigMap with the settings; empty when nobody has looked."""

    controllers: tuple[str, ...] = ()
    """The DecoratorControllers that lead to it."""

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


class _Service(NamedTuple):
    namespace: str
    name: str


_IN_THE_CLUSTER = re.compile(r"https?://([^./:]+)\.([^./:]+)(?:\.svc(?:\.[^/:]*)?)?(?::\d*)?(?:/.*)?")
"""The URL of a Service, by the names that Kubernetes gives it in DNS."""


DEFAULT = Installation("ingress-manager", "ingress-manager")
"""The names in manifests/."""


def named(text: str) -> Installation:
    """Return the installation that `[NAMESPACE/]NAME` names; its namespace is empty where none is. Raises Problem."""
    namespace, slash, name = text.rpartition("/")
    return Installation(check_namespace(namespace) if slash else "", check_name(name))


def namespaces_of_hooks(controllers: Iterable[Item]) -> list[str]:
    """Return the namespaces whose Services and Deployments `installations` needs."""
    return sorted({hook.namespace for each in controllers if (hook := _hook_of(each))})


def installations(controllers: Iterable[Item], objects: Sequence[Item]) -> list[Installation]:
    """Return the installations that DecoratorControllers lead to by Services and Deployments."""
    found: dict[Installation, set[str]] = {}
    for controller in controllers:
        hook = _hook_of(controller)
        for deployment in _behind(hook, objects) if hook else ():
            if configmap := configmap_of(deployment):
                made = Installation(deployment.namespace, deployment.name, configmap)
                found.setdefault(made, set()).add(controller.name)
    return sorted(made._replace(controllers=tuple(sorted(names))) for made, names in found.items())


def pick(found: Sequence[Installation], wanted: Installation | None) -> Installation | None:
    """Return the only installation, or the one that is wanted; None when none was found.

    Raises click.UsageError when it can't be said which one is meant, or when no command can work with it.
    """
    if not found:
        return None
    names = ", ".join(f"{each} (DecoratorController {', '.join(each.controllers)})" for each in found)
    picked = [each for each in found if wanted is None or _is_wanted(each, wanted)]
    if not picked:
        called = str(wanted).removeprefix("/")
        raise click.UsageError(f"--installation {called}: there is none of that name, but there is {names}")
    if len(picked) > 1:
        raise click.UsageError(f"there are several installations: {names}; --installation NAMESPACE/NAME picks one")
    if CONTROLLER not in picked[0].controllers:
        raise click.UsageError(
            f"the DecoratorController {picked[0].controllers[0]} of the installation {picked[0]} has to be called "
            f"{CONTROLLER}: by that name, commands and admission policies know what ingress-manager has made"
        )
    return picked[0]


def _is_wanted(found: Installation, wanted: Installation) -> bool:
    return found.name == wanted.name and wanted.namespace in ("", found.namespace)


def _hook_of(controller: Item) -> _Service | None:
    """Return the Service that Metacontroller asks what becomes of Services; None for another controller."""
    if "services" not in _resources(controller, "resources"):
        return None
    if not any(made in _resources(controller, "attachments") for made in ("ingresses", "httproutes")):
        return None
    webhook = ("spec", "hooks", "sync", "webhook")
    namespace, name = (at(controller, *webhook, "service", key) for key in ("namespace", "name"))
    url = at(controller, *webhook, "url")
    if isinstance(url, str) and (parts := _IN_THE_CLUSTER.fullmatch(url)):
        name, namespace = parts.groups()
    if not (isinstance(namespace, str) and isinstance(name, str) and _can_be_named(controller)):
        return None
    try:
        return _Service(check_namespace(namespace), check_name(name))
    except Problem:
        return None  # no API server knows such a Service


def _can_be_named(item: Item) -> bool:
    try:
        return bool(check_name(item.name))
    except Problem:
        return False  # no API server has it


def _resources(controller: Item, key: str) -> list[Any]:
    return [rule.get("resource") for rule in mappings(at(controller, "spec", key))]


def _behind(service: _Service, objects: Iterable[Item]) -> Iterator[Item]:
    """Yield the Deployments whose Pods a Service selects."""
    here = [item for item in objects if item.namespace == service.namespace]
    selectors = [at(item, "spec", "selector") for item in here if (item.kind, item.name) == (SERVICES, service.name)]
    for item in here:
        labels = at(item, "spec", "template", "metadata", "labels")
        if item.kind == DEPLOYMENTS and _can_be_named(item) and any(_selects(each, labels) for each in selectors):
            yield item


def _selects(selector: object, labels: object) -> bool:
    if not (isinstance(selector, dict) and isinstance(labels, dict)):
        return False
    return bool(selector) and all(
        isinstance(value, str) and labels.get(key) == value for key, value in selector.items()
    )
