"""The installation of ingress-manager, whatever its name and its namespace.

The DecoratorController ingress-manager names the Service of its hook. That Service and the hook's Deployment, which
mounts the settings, have one name.
"""

from collections.abc import Iterable
from typing import NamedTuple

from ingress_manager.commands.reading.manifests import Item, at, is_name

CONTROLLER = "ingress-manager"
"""The name of the DecoratorController in every installation: a cluster can have only one. The admission policies, and
Metacontroller, know by it what ingress-manager has made."""

RESOURCE = "decoratorcontrollers.metacontroller.k8s.io"
DEPLOYMENTS = "apps/v1/Deployment"


class Installation(NamedTuple):
    """The Deployment of a hook."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


DEFAULT = Installation("ingress-manager", "ingress-manager")
"""The names in manifests/."""


def named_by(controllers: Iterable[Item]) -> Installation | None:
    """Return the hook's Deployment, of the name of the Service that our DecoratorController names, if it names one."""
    for controller in controllers:
        if controller.name == CONTROLLER:
            service = at(controller, "spec", "hooks", "sync", "webhook", "service")
            namespace, name = at(service, "namespace"), at(service, "name")
            return Installation(namespace, name) if is_name(namespace) and is_name(name) else None
    return None
