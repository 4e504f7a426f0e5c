"""Claims: which hosts and paths, or ports, objects claim, and which of them two objects claim.

Sources: ingress-nginx, internal/ingress/controller/store (the order of Ingresses); the Gateway API reference,
HTTPRouteRule (which of two equal matches wins) and ParentReference (sectionName).
"""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import NamedTuple

from ingress_manager.commands.audit.seen import Finding, Found, Seen
from ingress_manager.commands.plans.steps import kubectl
from ingress_manager.commands.snapshot.items import INGRESS, LISTENERSET, at, mappings
from ingress_manager.commands.snapshot.objects import Ingress, ObjectSnapshot, class_of, places_of
from ingress_manager.commands.snapshot.surroundings import CLASS, GATEWAY, addresses_of, gateway_of
from ingress_manager.core.kubernetes import Key, Object
from ingress_manager.core.rules import location
from ingress_manager.core.text import listed
from ingress_manager.core.vocabulary import NGINX


class Claim(NamedTuple):
    """A host and a path, or of a ListenerSet a host and a port. Two equal claims get the same requests."""

    server: tuple[str, ...]
    """The kind and the name of what takes the requests: a class, a Gateway or a ListenerSet."""

    listener: tuple[str, str]
    """Its listener's name and port; each is empty for all."""

    host: str
    path: str
    is_exact: bool

    def __str__(self) -> str:
        if not self.path:
            return f"{self.host or '*'}:{self.listener[1]}"
        return f"{self.host or '*'}{self.path} ({'Exact' if self.is_exact else 'Prefix'})"


Claimant = tuple[ObjectSnapshot, Claim]


def claims_of(each: ObjectSnapshot) -> Iterator[Claim]:
    typed, stated = each.typed, at(each.item, "spec")
    if isinstance(typed, Ingress):
        of_class = (INGRESS, class_of(each.item, typed.spec))
        yield from (Claim(of_class, ("", ""), *place) for place in places_of(typed.spec))
    elif each.kind == LISTENERSET:
        for parent, one in product(typed.parents, mappings(stated.get("listeners"))):
            server, listener = (LISTENERSET, gateway_of(each.item, parent)), ("", str(one.get("port") or 0))
            yield Claim(server, listener, one.get("hostname") or "", "", is_exact=False)
    else:
        for parent, ref in zip(typed.spec.parent_refs or (), mappings(stated.get("parentRefs")), strict=True):
            server = (parent.kind or GATEWAY, gateway_of(each.item, parent))
            listener = (parent.section_name or "", str(ref.get("port") or ""))
            for host, (path, path_type) in product(typed.hosts, _paths_alone(stated)):
                if path_type in {"Exact", "PathPrefix"}:
                    yield Claim(server, listener, *location(host, path, path_type))


def _paths_alone(route: Object) -> list[tuple[str, str]]:
    """Return the paths of an HTTPRoute, and their types, but for those that it may share: with further conditions."""
    rules = mappings(route.get("rules")) or [{}]
    matches = [match for rule in rules for match in mappings(rule.get("matches")) or [{}]]
    alone = [match for match in matches if not any(match.get(key) for key in ("headers", "queryParams", "method"))]
    paths = [match.get("path") or {} for match in alone]
    return [(path.get("value") or "/", path.get("type") or "PathPrefix") for path in paths]


def claimed_twice(seen: Seen) -> Found:
    """Yield each younger object with the oldest one that it meets at a claim. One of the two is ours.

    Where only some of the objects are known, there are fewer younger ones in it, and never another.
    """
    both: dict[tuple[Key, Key], tuple[ObjectSnapshot, ObjectSnapshot, list[str]]] = {}
    for claimants in _sharing_claims(seen):
        for number, (younger, claim) in enumerate(claimants):
            before = (each for each in claimants[:number] if each[0].looks_managed or younger.looks_managed)
            if met := next((each for each, its in before if _meet((each, its), (younger, claim))), None):
                claims = both.setdefault((younger.key, met.key), (met, younger, []))[2]
                claims += [str(claim)] if str(claim) not in claims else []
    for older, younger, claims in both.values():
        age = "is older" if older.item.born[0] < younger.item.born[0] else "is as old"
        sentence = f"{older} {age}, and claims {listed(claims)}, too"
        owner = seen.snapshot.owner_of(younger)
        service = owner.item if owner else None
        yield Finding(younger.item, sentence, kubectl("edit", service or younger.item), service)


def _sharing_claims(seen: Seen) -> Iterator[list[Claimant]]:
    """Yield who claims the same place of one server, the oldest first, if one of them is ours.

    One controller may serve several classes. Of those that are unknown, none is another.
    """
    classes = seen.around.items[CLASS].items()
    controllers = {name: str(at(item, "spec", "controller") or "") for name, item in classes}
    shared: dict[tuple[tuple[str, ...], str, str, bool], list[Claimant]] = {}
    for each in sorted(seen.snapshot.objects.values(), key=lambda each: each.item.born):
        for claim in dict.fromkeys(claims_of(each)):
            for server in _servers_of(each, claim, controllers):
                shared.setdefault((server, *claim[2:]), []).append((each, claim))
    yield from (claimants for claimants in shared.values() if any(each.looks_managed for each, _ in claimants))


def _servers_of(each: ObjectSnapshot, claim: Claim, controllers: Mapping[str, str]) -> list[tuple[str, ...]]:
    """Return what takes the requests for a claim: a class and its controller, or a Gateway."""
    if each.kind != INGRESS:
        return [claim.server]
    if each.item.annotations.get(f"{NGINX}canary", "").lower() == "true":
        return []  # it has to claim what another one claims
    controller = controllers.get(claim.server[1])
    return [claim.server, *([("controller", controller)] if controller else [])]


def _meet(one: Claimant, other: Claimant) -> bool:
    """Return whether one of two gets the requests for what both claim of one server.

    An HTTPRoute that names no listener, or no port, is for all. Two Ingresses without a common address have two load
    balancers.
    """
    (first, claim), (second, claimed) = one, other
    listeners = zip(claim.listener, claimed.listener, strict=True)
    if first is second or not all(name == another or "" in {name, another} for name, another in listeners):
        return False
    addresses = [{*addresses_of(each.item)} for each in (first, second) if each.kind == INGRESS]
    return not (addresses and all(addresses) and addresses[0].isdisjoint(addresses[1]))
