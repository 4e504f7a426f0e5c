"""The surroundings: what has to be there beside a Service and what was made for it, so that something answers.

IngressClasses, EndpointSlices, Gateways and the Secrets with certificates, as far as they could be read. The pure part;
cluster.py reads them.

Sources: the Kubernetes API reference (IngressClass v1, EndpointSlice v1, Secret v1 core) and the Gateway API reference
(Gateway v1).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import msgspec

from ingress_manager.commands.reading.manifests import Item, Unreadable
from ingress_manager.commands.view import typed

CLASS, SLICE, GATEWAY, SECRET = "IngressClass", "EndpointSlice", "Gateway", "Secret"

CERTIFICATES = "certificates"
"""What `Surroundings.unread` calls what is in the Secrets, where nothing is there that reads it."""

PLURAL = {
    CLASS: "IngressClasses",
    GATEWAY: "Gateways",
    SLICE: "EndpointSlices",
    SECRET: "Secrets",
    CERTIFICATES: "The certificates in Secrets",
}

RESOURCES = {
    CLASS: "ingressclasses.networking.k8s.io",
    GATEWAY: "gateways.gateway.networking.k8s.io",
    SLICE: "endpointslices.discovery.k8s.io",
    SECRET: "secrets",
}

LONG_AGO = datetime.min.replace(tzinfo=UTC)


class _Conditions(msgspec.Struct, frozen=True):
    ready: bool | None = None


class _Endpoint(msgspec.Struct, frozen=True):
    conditions: _Conditions = _Conditions()

    @property
    def is_ready(self) -> bool:
        """Return whether it is ready, which it is, too, where nobody says so."""
        return self.conditions.ready is not False


class _EndpointPort(msgspec.Struct, frozen=True):
    name: str | None = None
    port: int | None = None


class EndpointSlice(msgspec.Struct, frozen=True):
    """Some of the addresses of a Service's Pods."""

    endpoints: list[_Endpoint] | None = None
    ports: list[_EndpointPort] | None = None


class IngressClass(msgspec.Struct, frozen=True):
    """A class of Ingresses; all that counts is its name, and whether it is the default."""


class Listener(msgspec.Struct, frozen=True):
    """A port of a Gateway."""

    name: str
    port: int
    protocol: str
    hostname: str = ""


class _GatewaySpec(msgspec.Struct, frozen=True):
    listeners: list[Listener] = []


class Gateway(msgspec.Struct, frozen=True):
    """What routes attach to."""

    spec: _GatewaySpec


class Secret(msgspec.Struct, frozen=True):
    """A Secret. Of one that was read from a cluster, tls.crt alone has its value."""

    type: str = "Opaque"
    data: dict[str, str] | None = None


TYPES: dict[str, tuple[str, type[msgspec.Struct]]] = {
    "networking.k8s.io/v1/IngressClass": (CLASS, IngressClass),
    "discovery.k8s.io/v1/EndpointSlice": (SLICE, EndpointSlice),
    "gateway.networking.k8s.io/v1/Gateway": (GATEWAY, Gateway),
    "v1/Secret": (SECRET, Secret),
}

OF_SERVICE = "kubernetes.io/service-name"
"""The label that says which Service an EndpointSlice is of."""

IS_DEFAULT = "ingressclass.kubernetes.io/is-default-class"


@dataclass(slots=True)
class Surroundings:
    """What could be read of the surroundings."""

    now: datetime = LONG_AGO
    """When it was read."""

    unread: dict[str, str] = field(default_factory=dict)
    """What could not be read and matters here, kinds or CERTIFICATES, each with the reason."""

    read: set[str] = field(default_factory=set)
    """The kinds of which all objects were read: what isn't there then doesn't exist."""

    items: dict[tuple[str, str], Item] = field(default_factory=dict)
    """The objects, by kind and namespace/name; of IngressClasses, by their name."""

    typed: dict[tuple[str, str], Any] = field(default_factory=dict)
    """The same, each as its type."""

    slices: dict[str, list[EndpointSlice]] = field(default_factory=dict)
    """The EndpointSlices of each Service, by its namespace/name."""

    def unseen(self) -> Iterator[tuple[list[str], str]]:
        """Yield what could not be read for one reason, with a sentence that says so."""
        by_reason: dict[str, list[str]] = {}
        for what, reason in self.unread.items():
            by_reason.setdefault(reason, []).append(what)
        for reason, whats in by_reason.items():
            yield whats, f"{', '.join(PLURAL[what] for what in whats)} could not be looked at: {reason}"

    def of_kind(self, kind: str) -> dict[str, Item]:
        """Return the objects of a kind by their namespace/name; IngressClasses by their names."""
        return {label: item for (each, label), item in self.items.items() if each == kind}

    def take(self, items: Iterable[Item]) -> None:
        """Add what belongs to the surroundings."""
        for item in items:
            if item.kind in TYPES:
                kind, type_ = TYPES[item.kind]
                each = typed.as_type(item, item.object, type_)
                if isinstance(each, list):
                    raise Unreadable(each)
                label = item.name if kind == CLASS else item.full_name
                self.items[kind, label], self.typed[kind, label] = item, each
                if isinstance(each, EndpointSlice):
                    service = item.labels.get(OF_SERVICE)
                    self.slices.setdefault(f"{item.namespace}/{service}", []).append(each)


def time_of(stated: object) -> datetime | None:
    """Return a time as Kubernetes writes it; None for anything else."""
    try:
        found = datetime.fromisoformat(str(stated))
    except ValueError:
        return None
    return found if found.tzinfo else None
