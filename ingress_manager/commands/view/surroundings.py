"""The surroundings: what has to be there beside a Service and what was made for it, so that something answers.

IngressClasses, EndpointSlices, Gateways and the Secrets with certificates, as far as they could be read. The pure part;
cluster.py reads them.

Sources: the Kubernetes API reference (IngressClass v1, EndpointSlice v1, Secret v1 core) and the Gateway API reference
(Gateway v1).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import NamedTuple

from ingress_manager.commands.printing.words import plural
from ingress_manager.commands.reading.manifests import Item, at, mappings

CLASS, SLICE, GATEWAY, SECRET = "IngressClass", "EndpointSlice", "Gateway", "Secret"

CERTIFICATES = "certificates"
"""What `Surroundings.unread` calls what is in the Secrets, where nothing is there that reads it."""

RESOURCES = {
    CLASS: "ingressclasses.networking.k8s.io",
    GATEWAY: "gateways.gateway.networking.k8s.io",
    SLICE: "endpointslices.discovery.k8s.io",
    SECRET: "secrets",
}

LONG_AGO = datetime.min.replace(tzinfo=UTC)

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

    slices: dict[str, list[Item]] = field(default_factory=dict)
    """The EndpointSlices of each Service, by its namespace/name."""

    def unseen(self) -> Iterator[tuple[list[str], str]]:
        """Yield what could not be read for one reason, with a sentence that says so."""
        by_reason: dict[str, list[str]] = {}
        for what, reason in self.unread.items():
            by_reason.setdefault(reason, []).append(what)
        for reason, whats in by_reason.items():
            called = ", ".join(
                "The certificates in Secrets" if each == CERTIFICATES else plural(each) for each in whats
            )
            yield whats, f"{called} could not be looked at: {reason}"

    def of_kind(self, kind: str) -> dict[str, Item]:
        """Return the objects of a kind by their namespace/name; IngressClasses by their names."""
        return {label: item for (each, label), item in self.items.items() if each == kind}

    def take(self, items: Iterable[Item]) -> None:
        """Add what belongs to the surroundings."""
        for item in items:
            kind = item.object.get("kind")
            if kind in RESOURCES:
                self.items[kind, item.name if kind == CLASS else item.full_name] = item
            if kind == SLICE:
                self.slices.setdefault(f"{item.namespace}/{item.labels.get(OF_SERVICE)}", []).append(item)


class Listener(NamedTuple):
    """A port of a Gateway."""

    name: str
    port: int
    protocol: str
    hostname: str
    """Empty: every host."""


def listeners_of(gateway: Item | None) -> list[Listener]:
    """Return the listeners of a Gateway; none where it isn't there."""
    stated = mappings(at(gateway, "spec", "listeners"))
    return [Listener(each["name"], each["port"], each["protocol"], each.get("hostname", "")) for each in stated]


def is_ready(slice_: Item) -> bool:
    """Return whether an EndpointSlice has an address that is ready, which one is, too, where nobody says so."""
    return any(at(each, "conditions", "ready") is not False for each in mappings(slice_.object.get("endpoints")))


def time_of(stated: object) -> datetime | None:
    """Return a time as Kubernetes writes it; None for anything else."""
    try:
        found = datetime.fromisoformat(str(stated))
    except ValueError:
        return None
    return found if found.tzinfo else None
