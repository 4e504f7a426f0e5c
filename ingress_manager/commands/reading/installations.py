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
from ingress_manager.commands.reading.metadata_checks import is_name
from ingress_manager.commands.reading.settings import configmap_of

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


_IN_THE_CLUSTER = re.compile(r"https?://([^./:]+)\.([^./:]+)(?:\.svc(?:\.[^/:]*)?)?(?::\d*)?(?:/.*)?")
"""The URL of a Service, by the names that Kubernetes gives it in DNS."""


DEFAULT = Installation("ingress-manager", "ingress-manager")
"""The names in manifests/."""


def namespaces_of_hooks(controllers: Iterable[Item]) -> list[str]:
    """Return the namespaces whose Services and Deployments `installations` needs."""
    return sorted({hook[0] for each in controllers if (hook := _hook_of(each))})


def installations(controllers: Iterable[Item], objects: Sequence[Item]) -> list[Installation]:
    """Return the installations that DecoratorControllers lead to by Services and Deployments."""
    found: dict[Installation, set[str]] = {}
    for controller in controllers:
        hook = _hook_of(controller)
        for deployment in _behind(*hook, objects) if hook else ():
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
    picked = [
        each
        for each in found
        if wanted is None or (each.name == wanted.name and wanted.namespace in {"", each.namespace})
    ]
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


def _hook_of(controller: Item) -> tuple[str, str] | None:
    """Return the namespace and the name of the Service that Metacontroller asks; None for another controller."""
    if "services" not in _resources(controller, "resources"):
        return None
    if not any(made in _resources(controller, "attachments") for made in ("ingresses", "httproutes")):
        return None
    webhook = ("spec", "hooks", "sync", "webhook")
    namespace, name = (at(controller, *webhook, "service", key) for key in ("namespace", "name"))
    url = at(controller, *webhook, "url")
    if isinstance(url, str) and (parts := _IN_THE_CLUSTER.fullmatch(url)):
        name, namespace = parts.groups()
    return (namespace, name) if all(map(is_name, (namespace, name, controller.name))) else None


def _resources(controller: Item, key: str) -> list[Any]:
    return [rule.get("resource") for rule in mappings(at(controller, "spec", key))]


def _behind(namespace: str, name: str, objects: Iterable[Item]) -> Iterator[Item]:
    """Yield the Deployments whose Pods a Service selects."""
    here = [item for item in objects if item.namespace == namespace]
    services = [item for item in here if (item.kind, item.name) == (SERVICES, name)]
    for item in here:
        if item.kind == DEPLOYMENTS and is_name(item.name) and any(leads_to(each, item) for each in services):
            yield item


def leads_to(service: Item | None, deployment: Item) -> bool:
    """Return whether a Service selects the Pods of a Deployment."""
    selector, labels = at(service, "spec", "selector"), at(deployment, "spec", "template", "metadata", "labels")
    has_both = isinstance(selector, dict) and isinstance(labels, dict) and bool(selector)
    return bool(has_both and selector.items() <= labels.items())
