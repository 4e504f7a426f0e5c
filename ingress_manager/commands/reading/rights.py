"""The rights that each command takes on a cluster: the one table from which its help, its page and the tests are made.

Sources: what each command asks kubectl for, and Kubernetes' RBAC, which names rights by verb and resource.
"""

from enum import StrEnum
from typing import NamedTuple


class Where(StrEnum):
    """Where a right is needed."""

    READ = "each namespace"
    """Each that is read."""

    GATEWAYS = "the Gateways' namespaces"
    HOOK = "the hook's namespace"
    DEFAULT = "the namespace default"
    ALL = "the cluster"


class Right(NamedTuple):
    """What somebody may do who runs a command."""

    verbs: str
    resource: str
    """As kubectl names it: with its group."""

    purpose: str
    without: str = ""
    """What becomes of the command for somebody who doesn't have it; empty: it fails, with kubectl's sentence, or what
    its page says of all that it looks at."""

    where: Where = Where.READ
    option: str = ""
    """The option that needs it; empty: the command does, in any case."""

    @property
    def reason(self) -> str:
        """Return what it is for, as a sentence of Markdown."""
        return f"`{self.option}`: {self.purpose}" if self.option else self.purpose


INGRESSES = "ingresses.networking.k8s.io"
HTTPROUTES = "httproutes.gateway.networking.k8s.io"
LISTENERSETS = "listenersets.gateway.networking.k8s.io"
GATEWAYS = "gateways.gateway.networking.k8s.io"
CONTROLLERS = "decoratorcontrollers.metacontroller.k8s.io"

BY_NAME = "the command looks for the hook by its name"
THE_SETTINGS = "the settings"


def _settings(without: str) -> tuple[Right, ...]:
    """Return the rights to the settings of the cluster, which --settings does without."""
    return (
        Right("list", CONTROLLERS, "which Service is the hook's", BY_NAME, Where.ALL),
        Right("list", "services", "which Pods are the hook's", BY_NAME, Where.HOOK),
        Right("list", "deployments.apps", "which ConfigMap holds the settings", BY_NAME, Where.HOOK),
        Right("get", "configmaps", THE_SETTINGS, without, Where.HOOK),
    )


_LOOK = (
    Right("list", "services", "the Services"),
    Right("list", INGRESSES, "the Ingresses", "nothing is known of that kind"),
    Right("list", HTTPROUTES, "the HTTPRoutes", "nothing is known of that kind"),
    Right("list", LISTENERSETS, "the ListenerSets", "nothing is known of that kind"),
    *_settings("only what all settings refuse is `refused`"),
)
_NOT_LOOKED_FOR = "the command doesn't look for that"
_AROUND = (
    Right("list", "ingressclasses.networking.k8s.io", "whether the class exists", _NOT_LOOKED_FOR, Where.ALL),
    Right("list", GATEWAYS, "whether a listener takes an HTTPRoute", _NOT_LOOKED_FOR, Where.GATEWAYS),
    Right("list", "endpointslices.discovery.k8s.io", "whether a Pod is ready", _NOT_LOOKED_FOR),
    Right("list", "networkpolicies.networking.k8s.io", "whether the Pods may be reached", _NOT_LOOKED_FOR),
    Right("list", "secrets", "whether a certificate is for its hosts", _NOT_LOOKED_FOR),
)
_MOVE = (
    Right("list", "services", "the Services to which Ingresses lead"),
    Right("list", INGRESSES, "the Ingresses"),
    Right("list", HTTPROUTES, "the HTTPRoutes, if Services get any"),
)
_APPLY = (
    Right("get patch", "services", "the annotations", option="--apply"),
    Right("get patch", INGRESSES, "the owner", option="--apply"),
    Right("get patch", HTTPROUTES, "the owner", option="--apply"),
)
_EVENTS = Right("list", "events", "what Metacontroller says of a Service")
_NOT_TOLD = "the reason is unknown"

_ADMISSION = "admissionregistration.k8s.io"

RIGHTS: dict[str, tuple[Right, ...]] = {
    "adopt": (
        *_MOVE,
        Right("list", INGRESSES, "what else answers these hosts", _NOT_LOOKED_FOR, Where.ALL),
        *_settings(""),
        *_APPLY,
        Right("delete", INGRESSES, "an Ingress that is replaced", option="--apply"),
        _EVENTS._replace(option="--apply"),
    ),
    "audit": (
        *_LOOK,
        *_AROUND,
        _EVENTS._replace(without=_NOT_TOLD),
        Right("get", CONTROLLERS, "why nothing is made at all", _NOT_TOLD, Where.ALL),
    ),
    "check": (
        Right("list", CONTROLLERS, "the DecoratorController", where=Where.ALL),
        Right("list", f"validatingadmissionpolicies.{_ADMISSION}", "the admission policies", where=Where.ALL),
        Right("list", f"validatingadmissionpolicybindings.{_ADMISSION}", "the admission policies", where=Where.ALL),
        Right("list", f"validatingwebhookconfigurations.{_ADMISSION}", "the admission webhook", where=Where.ALL),
        Right("list", "ingressclasses.networking.k8s.io", "those that the settings name", where=Where.ALL),
        Right("list", "namespaces", "whom the hook's NetworkPolicy lets in", where=Where.ALL),
        Right("list", "deployments.apps", "the hook and Metacontroller", where=Where.ALL),
        Right("list", "statefulsets.apps", "the hook and Metacontroller", where=Where.ALL),
        Right("get", "customresourcedefinitions.apiextensions.k8s.io", "the CRDs", where=Where.ALL),
        Right("list", "gateways.gateway.networking.k8s.io", "those that the settings name", where=Where.ALL),
        Right("list", "events", "whether Metacontroller reaches the hook", where=Where.ALL),
        Right("create", "subjectaccessreviews.authorization.k8s.io", "what Metacontroller may do", where=Where.ALL),
        Right("list", "services", "the hook's Service", where=Where.HOOK),
        Right("list", "pods", "whether they run, with these settings", where=Where.HOOK),
        Right("list", "networkpolicies.networking.k8s.io", "who may ask the hook", where=Where.HOOK),
        Right("get", "configmaps", "the settings", where=Where.HOOK),
        Right("get", "secrets", "the admission webhook's certificate", where=Where.HOOK),
        Right("create", "services", "to try the admission webhook", where=Where.DEFAULT),
        Right("get", "services/proxy", "the hook's metrics", where=Where.HOOK),
    ),
    "play": (),
    "release": (
        *_MOVE,
        Right("list", LISTENERSETS, "the ListenerSets, if Services get any"),
        _EVENTS,
        *_APPLY,
        Right("get patch", LISTENERSETS, "the owner", option="--apply"),
    ),
    "render": (
        Right("list", "services", "the Services"),
        *_settings("the default settings are taken"),
    ),
    "settings": (),
    "status": (*_LOOK, *_AROUND, _EVENTS._replace(without=_NOT_TOLD)),
    "uninstall": (
        Right("list", "services", "the Services with annotations", where=Where.ALL),
        Right("list", INGRESSES, "what ingress-manager made", where=Where.ALL),
        Right("list", HTTPROUTES, "what ingress-manager made", where=Where.ALL),
        Right("list", LISTENERSETS, "what ingress-manager made", where=Where.ALL),
        Right("list", CONTROLLERS, "for whom Metacontroller works", where=Where.ALL),
        Right("list", "compositecontrollers.metacontroller.k8s.io", "for whom Metacontroller works", where=Where.ALL),
        Right("list", "deployments.apps", "the hook, whatever its name", where=Where.HOOK),
    ),
}
"""By the command's name. With `-f`, none of them needs any."""


def told(command: str) -> str:
    """Return the rights of a command as its help shows them; empty where it needs none."""
    rights = {each: f"{each.verbs} {each.resource.partition('.')[0]}" for each in RIGHTS.get(command, ())}
    width = max(map(len, rights.values()), default=0)
    lines = []
    for where in Where:
        there = {each: right for each, right in rights.items() if each.where is where}
        lines += [f"  In {where}:"] if there else []
        lines += [f"    {right:<{width}}  {each.reason.replace('`', '')}" for each, right in there.items()]
    head = ["\b", "Rights that it needs on a cluster:"]
    return "\n".join([*head, *lines] if lines else [])
