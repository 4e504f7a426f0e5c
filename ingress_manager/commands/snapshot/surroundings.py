"""The surroundings of Services and their objects: what traffic depends on, and what controllers report.

Sources: the Kubernetes API reference (Ingress v1, IngressClass v1, EndpointSlice v1, Secret v1 core) and the Gateway
API reference (Gateway v1, RouteParentStatus, GatewayStatus, ListenerSetStatus).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase
from itertools import product
from typing import NamedTuple

from ingress_manager.commands.snapshot.items import CLASS_KIND, GATEWAY, LISTENERSET, SECRET, SLICE, Item, at, mappings
from ingress_manager.commands.snapshot.objects import Ingress, ObjectSnapshot, certificate_of, claim_keys
from ingress_manager.core.kubernetes import Object, ParentRef
from ingress_manager.core.syntax import EVERY_HOST

SURROUNDING_RESOURCES = {
    CLASS_KIND: "ingressclasses.networking.k8s.io",
    GATEWAY: "gateways.gateway.networking.k8s.io",
    SLICE: "endpointslices.discovery.k8s.io",
    SECRET: "secrets",
}

EARLIEST = datetime.min.replace(tzinfo=UTC)
IS_DEFAULT = "ingressclass.kubernetes.io/is-default-class"


@dataclass(slots=True)
class Surroundings:
    now: datetime = EARLIEST
    unseen: list[str] = field(default_factory=list)
    soon: timedelta = timedelta(days=14)  # certificates that expire within this time are reported
    read: set[str] = field(default_factory=set)
    """The kinds that were read completely: if an object of such a kind isn't in `items`, it doesn't exist."""

    items: dict[str, dict[str, Item]] = field(default_factory=lambda: {kind: {} for kind in SURROUNDING_RESOURCES})
    """The objects of each kind, by namespace/name; IngressClasses by name."""

    slices: dict[str, list[Item]] = field(default_factory=dict)  # EndpointSlices, by their Service's namespace/name

    def take(self, items: Iterable[Item]) -> None:
        for item in items:
            if item.kind in SURROUNDING_RESOURCES:
                self.items[item.kind][item.name if item.kind == CLASS_KIND else item.full_name] = item
            if item.kind == SLICE:
                service = f"{item.namespace}/{item.labels.get('kubernetes.io/service-name')}"
                self.slices.setdefault(service, []).append(item)


def is_ready(slice_: Item) -> bool:
    """Return whether an EndpointSlice has a ready endpoint. An endpoint without a ready condition counts as ready."""
    return any(at(entry, "conditions", "ready") is not False for entry in mappings(slice_.object.get("endpoints")))


def time_of(text: object) -> datetime:
    """Parse a Kubernetes timestamp. Return EARLIEST for any other text."""
    try:
        time = datetime.fromisoformat(str(text))
    except ValueError:
        return EARLIEST
    return time if time.tzinfo else EARLIEST


def changed_at(item: Item) -> datetime:
    """Return when an object last changed, ignoring changes to its status, or EARLIEST if it records no times."""
    times = [one.get("time") for one in mappings(item.metadata.get("managedFields")) if not one.get("subresource")]
    return max(map(time_of, [item.metadata.get("creationTimestamp"), *times]))


SCHEMES = {"HTTP": "http:", "HTTPS": "https:"}  # by the protocol of a Gateway's listener
BY_CAUSE = ("ResolvedRefs", "Accepted", "Programmed")
"""The conditions to check, causes first: a missing certificate (ResolvedRefs) may be why a listener isn't Accepted."""


class StatusCondition(NamedTuple):
    controller: str
    type: str
    status: str  # True, False or Unknown; Unknown if the condition is about an older generation of the object
    message: str


def addresses_of(item: Item) -> list[str]:
    status = at(item, "status")
    entries = mappings(at(status, "loadBalancer", "ingress")) or mappings(at(status, "addresses"))
    addresses = (entry.get("ip") or entry.get("hostname") or entry.get("value") for entry in entries)
    return [str(address) for address in addresses if address]


def gateway_of(item: Item, parent: ParentRef) -> str:
    """Return the namespace/name of the `parent` to which an HTTPRoute or ListenerSet (`item`) refers."""
    return f"{parent.namespace or item.namespace}/{parent.name}"


def listeners_of(item: Item, parent: ParentRef, around: Surroundings) -> list[Object]:
    """Return the listeners of a parent Gateway. If `parent` names a listener, return only that listener."""
    listeners = mappings(at(around.items[GATEWAY].get(gateway_of(item, parent)), "spec", "listeners"))
    return [listener for listener in listeners if parent.section_name in {None, "", listener["name"]}]


def hosts_without_listener(obj: ObjectSnapshot, parent: ParentRef, around: Surroundings) -> list[str]:
    """Return the hosts of an HTTPRoute that no listener of a parent Gateway covers, or [] for a ListenerSet."""
    names = [listener.get("hostname") or "*" for listener in listeners_of(obj.item, parent, around)]
    hosts = obj.typed.hosts if obj.kind != LISTENERSET else ()
    # Unlike in an Ingress, a wildcard covers several labels.
    return [host for host in hosts if not any(fnmatchcase(host, name) or fnmatchcase(name, host) for name in names)]


def attached_to(obj: ObjectSnapshot, kind: str) -> list[str]:
    """Return the namespace/name of each parent of `kind` (Gateway or ListenerSet) to which an object attaches."""
    return [gateway_of(obj.item, parent) for parent in obj.typed.parents if (parent.kind or GATEWAY) == kind]


def is_taken(obj: ObjectSnapshot) -> bool:
    """Return whether an object is Accepted with ResolvedRefs at all parents and, if a ListenerSet, Programmed."""
    types = {*BY_CAUSE} if obj.kind == LISTENERSET else {*BY_CAUSE} - {"Programmed"}
    at_parents = (conditions_of(obj.item, parent) for parent in obj.typed.parents)
    true = {(type_, "True") for type_ in types}
    return all({(one.type, one.status) for one in at_one if one.type in types} == true for at_one in at_parents)


def conditions_of(item: Item, parent: ParentRef) -> list[StatusCondition]:
    """Return an HTTPRoute's conditions for `parent`. For a ListenerSet, return those of its listeners, then its own."""
    status = at(item, "status")
    wanted = parent.kind or GATEWAY, parent.namespace or item.namespace, parent.name, parent.section_name or ""
    defaults = {"kind": GATEWAY, "namespace": item.namespace, "name": "", "sectionName": ""}
    refs = [(entry, at(entry, "parentRef")) for entry in mappings(at(status, "parents"))]
    at_parent = [entry for entry, ref in refs if tuple(at(ref, key) or defaults[key] for key in defaults) == wanted]
    listeners = [one for one in mappings(at(status, "listeners")) if parent.section_name in (None, one.get("name"))]
    current = {None, item.metadata.get("generation")}
    return [
        StatusCondition(
            f"controller {entry['controllerName']}" if "controllerName" in entry else "the Gateway's controller",
            condition["type"],
            condition["status"] if condition.get("observedGeneration") in current else "Unknown",
            f"{condition.get('message', '')} [{condition.get('reason', '')}]",
        )
        for entry in (*at_parent, *listeners, status or {})
        for condition in mappings(entry.get("conditions"))
    ]


def urls_of(obj: ObjectSnapshot, addresses: Sequence[str], around: Surroundings) -> list[str]:
    """Return an object's URLs. If it serves every host, they contain the first of `addresses`, or `*` if none is known.

    HTTPRoute URLs begin with // if a listener's protocol is unread or not in SCHEMES. ListenerSet URLs have no path.
    """
    typed, urls = obj.typed, list[tuple[str, str, str]]()
    if isinstance(typed, Ingress):
        for host, path, _ in claim_keys(typed.spec):
            urls.append((SCHEMES["HTTPS" if certificate_of(host, typed.spec) else "HTTP"], host, path))
    elif typed.kind == LISTENERSET:
        urls += ((SCHEMES["HTTPS"], host, "") for host in typed.hosts)
    for parent in typed.spec.parent_refs or ():
        protocols = {listener["protocol"] for listener in listeners_of(obj.item, parent, around)}
        protocols |= {"HTTPS"} if parent.kind == LISTENERSET else set()
        schemes = sorted(SCHEMES.get(protocol, "") for protocol in protocols) or [""]
        urls += product(schemes, typed.hosts, dict.fromkeys(path for path, _ in typed.paths))
    any_host = next((f"[{address}]" if ":" in address else address for address in addresses), EVERY_HOST)
    return list(dict.fromkeys(f"{scheme}//{host or any_host}{path}" for scheme, host, path in urls))
