"""The surroundings: what has to be there beside a Service and what was made for it, so that something answers; and what
controllers say of what was made: its URLs, its addresses, and whether one has taken it. Pure; cluster.py reads it.

IngressClasses, EndpointSlices, Gateways and the Secrets with certificates, as far as they could be read.

Sources: the Kubernetes API reference (Ingress v1, IngressClass v1, EndpointSlice v1, Secret v1 core) and the Gateway
API reference (Gateway v1, RouteParentStatus, GatewayStatus, ListenerSetStatus).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import product
from typing import NamedTuple

from ingress_manager.commands.snapshot.items import LISTENERSET, Item, at, mappings
from ingress_manager.commands.snapshot.objects import Ingress, ObjectSnapshot, certificate_of, places_of
from ingress_manager.core.kubernetes import ParentRef
from ingress_manager.core.syntax import EVERY_HOST

CLASS, SLICE, GATEWAY, SECRET = "IngressClass", "EndpointSlice", "Gateway", "Secret"

RESOURCES = {
    CLASS: "ingressclasses.networking.k8s.io",
    GATEWAY: "gateways.gateway.networking.k8s.io",
    SLICE: "endpointslices.discovery.k8s.io",
    SECRET: "secrets",
}

LONG_AGO = datetime.min.replace(tzinfo=UTC)

IS_DEFAULT = "ingressclass.kubernetes.io/is-default-class"


@dataclass(slots=True)
class Surroundings:
    """What could be read of the surroundings."""

    now: datetime = LONG_AGO
    """When it was read."""

    unseen: list[str] = field(default_factory=list)
    """What could not be read and matters here, a sentence each."""

    read: set[str] = field(default_factory=set)
    """The kinds of which all objects were read: what isn't there then doesn't exist."""

    items: dict[str, dict[str, Item]] = field(default_factory=lambda: {kind: {} for kind in RESOURCES})
    """The objects of each kind, by namespace/name; IngressClasses by their names."""

    slices: dict[str, list[Item]] = field(default_factory=dict)
    """The EndpointSlices of each Service, by its namespace/name."""

    def take(self, items: Iterable[Item]) -> None:
        """Add what belongs to the surroundings."""
        for item in items:
            if item.kind in RESOURCES:
                self.items[item.kind][item.name if item.kind == CLASS else item.full_name] = item
            if item.kind == SLICE:
                service = f"{item.namespace}/{item.labels.get('kubernetes.io/service-name')}"
                self.slices.setdefault(service, []).append(item)


def is_ready(slice_: Item) -> bool:
    """Return whether an EndpointSlice has an address that is ready, which one is, too, where nobody says so."""
    return any(at(each, "conditions", "ready") is not False for each in mappings(slice_.object.get("endpoints")))


def time_of(stated: object) -> datetime:
    """Return a time as Kubernetes writes it; LONG_AGO for anything else."""
    try:
        found = datetime.fromisoformat(str(stated))
    except ValueError:
        return LONG_AGO
    return found if found.tzinfo else LONG_AGO


SCHEMES = {"HTTP": "http:", "HTTPS": "https:"}
"""By the protocol of a Gateway's listener."""

BY_CAUSE = ("ResolvedRefs", "Accepted", "Programmed")
"""The conditions that count. A listener without its certificate may also be neither accepted nor served."""


class Said(NamedTuple):
    """A condition: what a controller says of an object."""

    controller: str
    type: str
    status: str
    """Unknown where it is about the object as it was."""

    told: str
    """Its message, and its reason in brackets."""


def addresses_of(item: Item) -> list[str]:
    """Return the addresses in the status of an Ingress or of a Gateway."""
    status = at(item, "status")
    stated = mappings(at(status, "loadBalancer", "ingress")) or mappings(at(status, "addresses"))
    found = (each.get("ip") or each.get("hostname") or each.get("value") for each in stated)
    return [str(text) for text in found if text]


def gateway_of(item: Item, parent: ParentRef) -> str:
    """Return the namespace/name of what an HTTPRoute, or a ListenerSet, attaches to."""
    return f"{parent.namespace or item.namespace}/{parent.name}"


def attached_to(each: ObjectSnapshot, kind: str) -> list[str]:
    """Return the Gateways, or the ListenerSets, to which an object is attached, as namespace/name."""
    return [gateway_of(each.item, ref) for ref in each.typed.parents if (ref.kind or GATEWAY) == kind]


def is_taken(each: ObjectSnapshot) -> bool:
    """Return whether all that an object attaches to has taken it; only ListenerSets are said to be programmed."""
    words = {*BY_CAUSE} if each.kind == LISTENERSET else {*BY_CAUSE} - {"Programmed"}
    found = (said_of(each.item, parent) for parent in each.typed.parents)
    by_parent = ({(one.type, one.status) for one in said if one.type in words} for said in found)
    return all(said == {(word, "True") for word in words} for said in by_parent)


def said_of(item: Item, parent: ParentRef) -> list[Said]:
    """Return what controllers say of an HTTPRoute at one of its parents, or of a ListenerSet, its listeners first."""
    status = at(item, "status")
    wanted = parent.kind or GATEWAY, parent.namespace or item.namespace, parent.name, parent.section_name or ""
    usual = {"kind": GATEWAY, "namespace": item.namespace, "name": "", "sectionName": ""}
    said = [
        each
        for each in mappings(at(status, "parents"))
        if tuple(at(each, "parentRef", key) or default for key, default in usual.items()) == wanted
    ]
    known = {None, item.metadata.get("generation")}
    return [
        Said(
            each.get("controllerName", "its controller"),
            condition["type"],
            condition["status"] if condition.get("observedGeneration") in known else "Unknown",
            f"{condition.get('message', '')} [{condition.get('reason', '')}]",
        )
        for each in (*said, *mappings(at(status, "listeners")), status or {})
        for condition in mappings(each.get("conditions"))
    ]


def urls_of(each: ObjectSnapshot, addresses: Sequence[str], around: Surroundings) -> list[str]:
    """Return the URLs that an object answers; where it answers every host, with its first address, or with `*`.

    Those of an HTTPRoute begin with // where it isn't known whether it is http or https; those of a ListenerSet have no
    path.
    """
    made, places = each.typed, list[tuple[str, str, str]]()
    if isinstance(made, Ingress):
        for host, path, _ in places_of(made.spec):
            places.append((SCHEMES["HTTPS" if certificate_of(host, made.spec) else "HTTP"], host, path))
    elif made.kind == LISTENERSET:
        places += ((SCHEMES["HTTPS"], host, "") for host in made.hosts)
    for parent in made.spec.parent_refs or ():
        listeners = mappings(at(around.items[GATEWAY].get(gateway_of(each.item, parent)), "spec", "listeners"))
        protocols = {one["protocol"] for one in listeners if parent.section_name in {None, "", one["name"]}}
        protocols |= {"HTTPS"} if parent.kind == LISTENERSET else set()
        schemes = sorted(SCHEMES.get(protocol, "") for protocol in protocols) or [""]
        places += product(schemes, made.hosts, dict.fromkeys(path for path, _ in made.paths))
    every = next((f"[{address}]" if ":" in address else address for address in addresses), EVERY_HOST)
    return list(dict.fromkeys(f"{scheme}//{host or every}{path}" for scheme, host, path in places))
