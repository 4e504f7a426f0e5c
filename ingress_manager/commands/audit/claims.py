"""Claims: which hosts and paths, or ports, objects claim, and which of them two objects claim.

Sources: ingress-nginx, internal/ingress/controller/store (the order of Ingresses); the Gateway API reference,
HTTPRouteRule (which of two equal matches wins) and ParentReference (sectionName).
"""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import NamedTuple

from ingress_manager.commands.audit.seen import Finding, Found, Seen
from ingress_manager.commands.plans.steps import kubectl
from ingress_manager.commands.reading.manifests import INGRESS, LISTENERSET, at, mappings
from ingress_manager.commands.view.look import ServiceView
from ingress_manager.commands.view.objects import Ingress, ObjectView, class_of, places_of
from ingress_manager.commands.view.surroundings import CLASS, GATEWAY, addresses_of, gateway_of
from ingress_manager.core.kubernetes import Key, Object
from ingress_manager.core.rules import as_prefix
from ingress_manager.core.text import listed
from ingress_manager.core.vocabulary import NGINX

ALSO_SERVED_BY = "ingress-manager/also-served-by"
"""The annotation of an IngressClass that names a further controller: gateway/ingress-nginx/ingressclass.yaml has it."""


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


Claimant = tuple[ObjectView, Claim]

CONDITIONS = ("headers", "queryParams", "method")
"""What a match of an HTTPRoute may have beside its path."""


def claims_of(each: ObjectView) -> Iterator[Claim]:
    parents, stated = each.typed.parents, at(each.item, "spec")
    if isinstance(each.typed, Ingress):
        of_class = (INGRESS, class_of(each.item, each.typed.spec))
        yield from (Claim(of_class, ("", ""), *place) for place in places_of(each.typed.spec))
    elif each.kind == LISTENERSET:
        for parent, one in product(parents, mappings(stated.get("listeners"))):
            server, listener = (LISTENERSET, gateway_of(each.item, parent)), ("", str(one.get("port") or 0))
            yield Claim(server, listener, one.get("hostname") or "", "", is_exact=False)
    else:
        for parent, ref in zip(parents, mappings(stated.get("parentRefs")), strict=True):
            server = (parent.kind or GATEWAY, gateway_of(each.item, parent))
            listener = (parent.section_name or "", str(ref.get("port") or ""))
            for host, (path, path_type) in product(each.typed.hosts, _paths_alone(stated)):
                if path_type == "Exact":
                    yield Claim(server, listener, host, path, is_exact=True)
                elif path_type == "PathPrefix":
                    yield Claim(server, listener, host, as_prefix(path), is_exact=False)


def _paths_alone(route: Object) -> list[tuple[str, str]]:
    """Return the paths of an HTTPRoute, and their types, but for those that it may share: with further conditions."""
    rules = mappings(route.get("rules")) or [{}]
    matches = [match for rule in rules for match in mappings(rule.get("matches")) or [{}]]
    paths = [at(match, "path") or {} for match in matches if not any(map(match.get, CONDITIONS))]
    return [(path.get("value") or "/", path.get("type") or "PathPrefix") for path in paths]


def claimed_twice(seen: Seen) -> Found:
    """Yield each younger object with each older one that has claimed the same first. One of the two is ours."""
    both: dict[tuple[Key, Key], tuple[ObjectView, ObjectView, list[str]]] = {}
    for claimants in _sharing_claims(seen):
        for (older, _), (younger, claim) in _pairs(claimants):
            claims = both.setdefault((younger.key, older.key), (older, younger, []))[2]
            claims += [str(claim)] if str(claim) not in claims else []
    for older, younger, claims in both.values():
        age = "is older" if older.item.born[0] < younger.item.born[0] else "is as old"
        sentence = f"{older} {age}, and claims {listed(claims)}, too"
        owner = seen.view.owner_of(younger)
        service = owner.item if isinstance(owner, ServiceView) else None
        yield Finding(younger.item, sentence, kubectl("edit", service or younger.item), service)


def _pairs(claimants: list[Claimant]) -> Iterator[tuple[Claimant, Claimant]]:
    """Yield the oldest that each one meets, and that one; they are sorted by age.

    Where only some of the objects are known, there are fewer younger ones in it, and never another.
    """
    ours = [number for number, (each, _) in enumerate(claimants) if each.looks_ours]
    for number, younger in enumerate(claimants) if ours else ():
        older = range(number) if younger[0].looks_ours else (other for other in ours if other < number)
        if met := next((claimants[other] for other in older if _meet(claimants[other], younger)), None):
            yield met, younger


def _sharing_claims(seen: Seen) -> Iterator[list[Claimant]]:
    """Yield who claims the same place of one server, the oldest first.

    One controller may serve several classes. Of those that are unknown, none is another.
    """
    controllers = {
        name: [str(each) for each in (at(item, "spec", "controller"), item.annotations.get(ALSO_SERVED_BY)) if each]
        for name, item in seen.around.of_kind(CLASS).items()
    }
    shared: dict[tuple[tuple[str, ...], str, str, bool], list[Claimant]] = {}
    for each in sorted(seen.view.objects.values(), key=lambda each: each.item.born):
        for claim in dict.fromkeys(claims_of(each)):
            for server in _servers_of(each, claim, controllers):
                shared.setdefault((server, *claim[2:]), []).append((each, claim))
    yield from shared.values()


def _servers_of(each: ObjectView, claim: Claim, controllers: Mapping[str, list[str]]) -> list[tuple[str, ...]]:
    """Return what takes the requests for a claim: a class and its controllers, or a Gateway."""
    if each.kind != INGRESS:
        return [claim.server]
    if each.item.annotations.get(f"{NGINX}canary", "").lower() == "true":
        return []  # it has to claim what another one claims
    return [claim.server, *(("controller", controller) for controller in controllers.get(claim.server[1], ()))]


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
