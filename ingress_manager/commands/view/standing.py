"""An Ingress or an HTTPRoute as it stands: its URLs, its addresses, and whether a controller has taken it. Pure.

Sources: the Kubernetes API reference (Ingress v1 networking.k8s.io) and the Gateway API reference (RouteParentStatus,
GatewayStatus).
"""

from collections.abc import Iterator, Sequence

import msgspec

from ingress_manager.commands.reading.manifests import Item, at, mappings
from ingress_manager.commands.view.ingresses import covers
from ingress_manager.commands.view.surroundings import GATEWAY, Surroundings
from ingress_manager.core.kubernetes import HTTPRoute, Ingress, ParentRef
from ingress_manager.core.syntax import EVERY_HOST

SCHEMES = {"HTTP": "http:", "HTTPS": "https:"}
"""By the protocol of a Gateway's listener."""


class Condition(msgspec.Struct, rename="camel", frozen=True):
    """What a controller says of an object."""

    type: str
    status: str
    reason: str = ""
    message: str = ""
    observed_generation: int | None = None


class Parent(msgspec.Struct, rename="camel", frozen=True):
    """What a controller says of an HTTPRoute at one of its parents."""

    parent_ref: ParentRef
    controller_name: str = ""
    conditions: list[Condition] | None = None

    def of_now(self, item: Item) -> Iterator[Condition]:
        """Yield the conditions that are about the HTTPRoute as it is now."""
        known = {None, item.metadata.get("generation")}
        return (each for each in self.conditions or () if each.observed_generation in known)


def addresses_of(item: Item) -> list[str]:
    """Return the addresses in the status of an Ingress or of a Gateway."""
    status = at(item, "status")
    stated = mappings(at(status, "loadBalancer", "ingress")) or mappings(at(status, "addresses"))
    found = (each.get("ip") or each.get("hostname") or each.get("value") for each in stated)
    return [str(text) for text in found if text]


def gateway_of(item: Item, parent: ParentRef) -> str:
    """Return the namespace/name of a parent of an HTTPRoute."""
    return f"{parent.namespace or item.namespace}/{parent.name}"


def not_taken(item: Item, route: HTTPRoute) -> tuple[str, str] | None:
    """Return what an HTTPRoute waits for until its Gateways have taken it, and why; None when each of them has."""
    for parent in route.spec.parent_refs or ():
        name = f"Gateway {gateway_of(item, parent)}"
        said = [condition for each in parents_of(item, parent) for condition in each.of_now(item)]
        for word, meaning in (("Accepted", f"{name} to accept it"), ("ResolvedRefs", f"{name} to find what it names")):
            about = [each for each in said if each.type == word]
            if not about:
                return meaning, "its controller says nothing of it"
            if not any(each.status == "True" for each in about):
                return meaning, f"{about[0].reason}: {about[0].message}"
    return None


def parents_of(item: Item, parent: ParentRef) -> list[Parent]:
    """Return what controllers say of an HTTPRoute at one of its parents."""
    wanted = gateway_of(item, parent), parent.section_name or ""
    try:
        stated = msgspec.convert(at(item, "status", "parents") or [], list[Parent])
    except msgspec.ValidationError:
        return []  # no API server has it
    refs = ((each, each.parent_ref) for each in stated)
    return [each for each, ref in refs if (gateway_of(item, ref), ref.section_name or "") == wanted]


def urls_of(item: Item, made: Ingress | HTTPRoute, addresses: Sequence[str], around: Surroundings) -> list[str]:
    """Return the URLs that an object answers; where it answers every host, with its first address, or with `*`.

    Those of an HTTPRoute begin with // where it isn't known whether it is http or https.
    """
    places = _of_route(item, made, around) if isinstance(made, HTTPRoute) else _of_ingress(made)
    every = next((f"[{address}]" if ":" in address else address for address in addresses), EVERY_HOST)
    return list(dict.fromkeys(f"{scheme}//{host or every}{path}" for scheme, host, path in places))


def _of_ingress(ingress: Ingress) -> Iterator[tuple[str, str, str]]:
    spec = ingress.spec
    places = [(host, path.path or "/") for host, path in spec.paths()]
    if spec.default_backend:
        places.append(("", "/"))
    certified = [entry.hosts or ("",) for entry in spec.tls or ()]
    for host, path in places:
        is_https = any("" in hosts or any(covers(each, {host}) for each in hosts) for hosts in certified)
        yield SCHEMES["HTTPS" if is_https else "HTTP"], host, path


def _of_route(item: Item, route: HTTPRoute, around: Surroundings) -> Iterator[tuple[str, str, str]]:
    paths = dict.fromkeys(path for path, _ in route.paths())
    for parent in route.spec.parent_refs or ():
        gateway = around.typed.get((GATEWAY, gateway_of(item, parent)))
        listeners = gateway.spec.listeners if gateway else ()
        protocols = {each.protocol for each in listeners if parent.section_name in {"", each.name}}
        for scheme in sorted(SCHEMES.get(each, "") for each in protocols) or [""]:
            for host in route.hosts():
                yield from ((scheme, host, path) for path in paths)
