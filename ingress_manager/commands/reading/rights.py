"""The rights that each command takes on a cluster: the one table from which its help and the tests are made.

Sources: what each command asks kubectl for, and Kubernetes' RBAC, which names rights by verb and resource.
"""

from enum import StrEnum
from typing import NamedTuple

from ingress_manager.commands.reading.kinds import HTTPROUTE, INGRESS, LISTENERSET, RESOURCES


class Where(StrEnum):
    """Where a right is needed."""

    READ = "each namespace"
    """Each that is read."""

    GATEWAYS = "the Gateways' namespaces"
    HOOK = "the hook's namespace"
    ALL = "the cluster"


class Right(NamedTuple):
    """What somebody may do who runs a command."""

    verbs: str
    resource: str
    """As kubectl names it: with its group."""

    purpose: str
    where: Where = Where.READ
    option: str = ""
    """The option that needs it; empty: the command does, in any case."""


INGRESSES, HTTPROUTES, LISTENERSETS = (RESOURCES[kind] for kind in (INGRESS, HTTPROUTE, LISTENERSET))
GATEWAYS = "gateways.gateway.networking.k8s.io"
CONTROLLERS = "decoratorcontrollers.metacontroller.k8s.io"

_SETTINGS = (
    Right("list", CONTROLLERS, "which Deployment is the hook", Where.ALL),
    Right("get", "deployments.apps", "which ConfigMap holds the settings", Where.HOOK),
    Right("get", "configmaps", "the settings", Where.HOOK),
)
"""--settings does without these."""

_LOOK = (
    Right("list", "services", "the Services"),
    Right("list", INGRESSES, "the Ingresses"),
    Right("list", HTTPROUTES, "the HTTPRoutes"),
    Right("list", LISTENERSETS, "the ListenerSets"),
    *_SETTINGS,
)
_AROUND = (
    Right("list", "ingressclasses.networking.k8s.io", "whether the class exists", Where.ALL),
    Right("list", GATEWAYS, "whether the Gateway is there", Where.GATEWAYS),
    Right("list", "endpointslices.discovery.k8s.io", "whether a Pod is ready"),
    Right("list", "secrets", "whether a certificate is for its hosts"),
)
_MOVE = (
    Right("list", "services", "the Services to which Ingresses lead"),
    Right("list", INGRESSES, "the Ingresses"),
)
_APPLY = (
    Right("get patch", "services", "the annotations", option="--apply"),
    Right("get patch", INGRESSES, "the owner", option="--apply"),
)
_EVENTS = Right("list", "events", "what Metacontroller says of a Service")

_ADMISSION = "admissionregistration.k8s.io"

RIGHTS: dict[str, tuple[Right, ...]] = {
    "adopt": (
        *_MOVE,
        Right("list", INGRESSES, "what else answers these hosts", Where.ALL),
        *_SETTINGS,
        *_APPLY,
        Right("delete", INGRESSES, "an Ingress that is replaced", option="--apply"),
        _EVENTS._replace(option="--apply"),
    ),
    "audit": (*_LOOK, *_AROUND, _EVENTS),
    "check": (
        Right("list", CONTROLLERS, "the DecoratorController", Where.ALL),
        Right("list", f"validatingadmissionpolicies.{_ADMISSION}", "the admission policies", Where.ALL),
        Right("list", f"validatingadmissionpolicybindings.{_ADMISSION}", "the admission policies", Where.ALL),
        Right("list", f"validatingwebhookconfigurations.{_ADMISSION}", "the admission webhook", Where.ALL),
        Right("list", "ingressclasses.networking.k8s.io", "those that the settings name", Where.ALL),
        Right("list", "deployments.apps", "the hook and Metacontroller", Where.ALL),
        Right("list", "statefulsets.apps", "the hook and Metacontroller", Where.ALL),
        Right("get", "customresourcedefinitions.apiextensions.k8s.io", "the CRDs", Where.ALL),
        Right("list", "events", "whether Metacontroller reaches the hook", Where.ALL),
        Right("list", INGRESSES, "after a failure, whether one was made since", Where.ALL),
        Right("create", "subjectaccessreviews.authorization.k8s.io", "what Metacontroller may do", Where.ALL),
        Right("get", "configmaps", "the settings", Where.HOOK),
        Right("get", "secrets", "the admission webhook's certificate", Where.HOOK),
        Right("get", "services/proxy", "the hook's metrics", Where.HOOK),
    ),
    "compare": (Right("list", INGRESSES, "the Ingresses"),),
    "leaving": (Right("list", INGRESSES, "the Ingresses"),),
    "play": (),
    "release": (
        *_MOVE,
        Right("list", HTTPROUTES, "the HTTPRoutes, if Services get any"),
        Right("list", LISTENERSETS, "the ListenerSets, if Services get any"),
        *_APPLY,
        Right("get patch", HTTPROUTES, "the owner", option="--apply"),
        Right("get patch", LISTENERSETS, "the owner", option="--apply"),
        _EVENTS._replace(option="--apply"),
    ),
    "render": (
        Right("list", "services", "the Services"),
        *_SETTINGS,
    ),
    "settings": (),
    "status": (*_LOOK, *_AROUND, _EVENTS),
    "uninstall": (
        Right("list", "services", "the Services with annotations", Where.ALL),
        Right("list", INGRESSES, "what ingress-manager made", Where.ALL),
        Right("list", HTTPROUTES, "what ingress-manager made", Where.ALL),
        Right("list", LISTENERSETS, "what ingress-manager made", Where.ALL),
        Right("list", CONTROLLERS, "for whom Metacontroller works", Where.ALL),
        Right("list", "compositecontrollers.metacontroller.k8s.io", "for whom Metacontroller works", Where.ALL),
    ),
}
"""By the command's name. With `-f`, those that take it need none."""


def told(command: str) -> str:
    """Return the rights of a command as its help shows them; empty where it needs none."""
    rights = {each: f"{each.verbs} {each.resource.partition('.')[0]}" for each in RIGHTS.get(command, ())}
    width = max(map(len, rights.values()), default=0)
    lines = []
    for where in Where:
        there = {each: right for each, right in rights.items() if each.where is where}
        lines += [f"  In {where}:"] if there else []
        lines += [
            f"    {right:<{width}}  {f'{each.option}: ' if each.option else ''}{each.purpose}"
            for each, right in there.items()
        ]
    head = ["\b", "Rights that it needs on a cluster:"]
    return "\n".join([*head, *lines] if lines else [])
