"""The installation of ingress-manager, found by what it is, whatever its name and its namespace.

The DecoratorController ingress-manager names the Service of its hook. That Service's Pods are a Deployment's, which
mounts the settings.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from ingress_manager.commands.reading.manifests import Item, at
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

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


DEFAULT = Installation("ingress-manager", "ingress-manager")
"""The names in manifests/."""

_IN_THE_CLUSTER = re.compile(r"https?://([^./:]+)\.([^./:]+)(?:\.svc(?:\.[^/:]*)?)?(?::\d*)?(?:/.*)?")
"""The URL of a Service, by the names that Kubernetes gives it in DNS."""


def service_of_hook(controllers: Iterable[Item]) -> tuple[str, str] | None:
    """Return the namespace and the name of the Service that ingress-manager's DecoratorController names, if any."""
    for controller in controllers:
        if controller.name == CONTROLLER:
            webhook = at(controller, "spec", "hooks", "sync", "webhook")
            namespace, name = (at(webhook, "service", key) for key in ("namespace", "name"))
            url = at(webhook, "url")
            if isinstance(url, str) and (parts := _IN_THE_CLUSTER.fullmatch(url)):
                name, namespace = parts.groups()
            return (namespace, name) if is_name(namespace) and is_name(name) else None
    return None


def installation_behind(service: tuple[str, str] | None, objects: Iterable[Item]) -> Installation | None:
    """Return the Deployment of the hook, among the objects of its namespace: the hook's Service selects its Pods."""
    if service is None:
        return None
    here = [item for item in objects if item.namespace == service[0]]
    found = next((item for item in here if (item.kind, item.name) == ("v1/Service", service[1])), None)
    deployments = (item for item in here if item.kind == DEPLOYMENTS and is_name(item.name) and leads_to(found, item))
    made = (Installation(item.namespace, item.name, configmap_of(item) or "") for item in deployments)
    return next((each for each in made if each.configmap), None)


def leads_to(service: Item | None, deployment: Item) -> bool:
    """Return whether a Service selects the Pods of a Deployment."""
    selector, labels = at(service, "spec", "selector"), at(deployment, "spec", "template", "metadata", "labels")
    has_both = isinstance(selector, dict) and isinstance(labels, dict) and bool(selector)
    return bool(has_both and selector.items() <= labels.items())
