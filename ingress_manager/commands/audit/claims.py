"""Claims: which hosts and paths, or ports, objects claim, and which of them two objects claim.

Sources: ingress-nginx, internal/ingress/controller/store (the order of Ingresses); the Gateway API reference,
HTTPRouteRule (which of two equal matches wins) and ParentReference (sectionName).
"""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import NamedTuple

from ingress_manager.commands.audit.seen import Finding, Found, Seen
from ingress_manager.commands.audit.sharing import Sharing, pairs
from ingress_manager.commands.reading.kinds import HTTPROUTE, INGRESS, LISTENERSET
from ingress_manager.commands.reading.manifests import Item, at
from ingress_manager.commands.view.ingresses import class_of, is_canary, places_of
from ingress_manager.commands.view.objects import ObjectView
from ingress_manager.commands.view.standing import addresses_of, gateway_of
from ingress_manager.commands.view.surroundings import CLASS, GATEWAY
from ingress_manager.core.kubernetes import HTTPRoute, Ingress, ListenerSet, RouteMatch, RouteRule
from ingress_manager.core.rules import as_prefix
from ingress_manager.core.text import listed

ALSO_SERVED_BY = "ingress-manager/also-served-by"
"""The annotation of an IngressClass that names a further controller: gateway/ingress-nginx/ingressclass.yaml has it."""

OWN_BALANCERS = {"alb": "alb.ingress.kubernetes.io/group.name", "gce": "", "gce-internal": ""}
"""The classes of clouds in which each Ingress has a load balancer of its own, with the annotation by which several
share one, if there is such an annotation."""

Server = tuple[str, ...]
"""What takes requests: a class, a controller, a load balancer, or a Gateway."""


class Claim(NamedTuple):
    """A host and a path, of those that share one class or one listener. Two equal claims get the same requests.

    Or a host and a port of one Gateway, without a path.
    """

    among: tuple[str, ...]
    host: str
    path: str
    is_exact: bool

    def __str__(self) -> str:
        if not self.path:
            return f"{self.host or '*'}:{self.among[-1]}"
        return f"{self.host or '*'}{self.path} ({'Exact' if self.is_exact else 'Prefix'})"


def claims_of(each: ObjectView) -> Iterator[Claim]:
    if isinstance(each.typed, HTTPRoute):
        yield from _claims_of_route(each.item.namespace, each.typed)
    elif isinstance(each.typed, ListenerSet):
        gateway = gateway_of(each.item, each.typed.spec.parent_ref)
        listeners = each.typed.spec.listeners or ()
        yield from (_listener_claim(gateway, one.port or 0, one.hostname or "") for one in listeners)
    else:
        among = (INGRESS, class_of(each.item, each.typed.spec))
        yield from (Claim(among, *place) for place in places_of(each.typed.spec))


def _listener_claim(gateway: str, port: int, host: str) -> Claim:
    """Return what a listener of a Gateway, or of a ListenerSet of it, claims; `gateway` is a namespace/name."""
    return Claim((LISTENERSET, gateway, str(port)), host, "", is_exact=False)


def _claims_of_route(namespace: str, route: HTTPRoute) -> Iterator[Claim]:
    """Yield the claims of an HTTPRoute. A match with further conditions is none: it may share its path with another."""
    matches = [match for rule in route.spec.rules or [RouteRule()] for match in rule.matches or [RouteMatch()]]
    paths = [match.path for match in matches if not (match.headers or match.query_params or match.method)]
    for parent in route.spec.parent_refs or ():
        listener = (parent.name, parent.section_name or "", str(parent.port or ""))
        among = (parent.kind or "Gateway", parent.namespace or namespace, *listener)
        for host, path in product(route.hosts(), paths):
            if path.type == "Exact":
                yield Claim(among, host, path.value, is_exact=True)
            elif path.type == "PathPrefix":
                yield Claim(among, host, as_prefix(path.value), is_exact=False)


def claimed_twice(seen: Seen) -> Found:
    """Yield each younger object once with each older one that has claimed the same first."""
    both: dict[tuple[str, str, str], tuple[ObjectView, ObjectView, list[Claim]]] = {}
    for claimants in _sharing_claims(seen):
        for (older, _), (younger, claim) in pairs(claimants, _meet):
            key = younger.kind, younger.item.full_name, older.item.full_name
            claims = both.setdefault(key, (older, younger, []))[2]
            claims += [claim] if claim not in claims else []
    for older, younger, claims in both.values():
        age = "is older" if older.item.born[0] < younger.item.born[0] else "is as old"
        claimed = listed([str(claim) for claim in claims])
        sentence = f"{older}{_class_beside(older, younger)} {age}, and claims {claimed}, too"
        yield Finding(younger.item, sentence, seen.of_another_host(younger))
    yield from _claimed_by_gateways(seen)


def _claimed_by_gateways(seen: Seen) -> Found:
    of_gateways = {
        _listener_claim(label, listener.port, listener.hostname): f"listener {listener.name} of Gateway {label}"
        for label in seen.around.of_kind(GATEWAY)
        for listener in seen.around.typed[GATEWAY, label].spec.listeners
    }
    for each in seen.view.objects.values() if of_gateways else ():
        for claim in claims_of(each) if each.kind == LISTENERSET and each.looks_ours else ():
            if claim in of_gateways:
                sentence = f"{of_gateways[claim]} goes before it, and claims {claim}, too"
                yield Finding(each.item, sentence, seen.of_another_host(each))


def _sharing_claims(seen: Seen) -> Iterator[list[Sharing[Claim]]]:
    """Yield who claims the same place of one server, the oldest first.

    One controller may serve several classes. Of those that are unknown, none is another.
    """
    controllers = {name: _controllers_of(item) for name, item in seen.around.of_kind(CLASS).items()}
    shared: dict[tuple[Server, str, str, bool], list[Sharing[Claim]]] = {}
    for each in sorted(seen.view.objects.values(), key=lambda each: each.item.born):
        for claim in dict.fromkeys(claims_of(each)):
            for server in _servers_of(each, claim, controllers):
                shared.setdefault((server, *claim[1:]), []).append((each, claim))
    yield from shared.values()


def _controllers_of(ingress_class: Item) -> list[str]:
    """Return the controllers that an IngressClass names."""
    stated = (at(ingress_class, "spec", "controller"), ingress_class.annotations.get(ALSO_SERVED_BY))
    return [str(each) for each in stated if each]


def _servers_of(each: ObjectView, claim: Claim, controllers: Mapping[str, list[str]]) -> list[Server]:
    if each.kind != INGRESS:
        return [claim.among[:3]]
    if is_canary(each.item):
        return []  # it has to claim what another one claims
    [kind, name] = claim.among
    if name in OWN_BALANCERS:
        return [(kind, name, each.item.annotations.get(OWN_BALANCERS[name], f"of {each}"))]
    return [(kind, name), *(("controller", controller) for controller in controllers.get(name, ()))]


def _meet(one: Sharing[Claim], other: Sharing[Claim]) -> bool:
    """Return whether one of two gets the requests for what both claim of one server.

    An HTTPRoute that names no listener, or no port, is for all. Two Ingresses without a common address have two load
    balancers. Two redirects to https don't take anything from each other: what they lead to is told.
    """
    (first, claim), (second, claimed) = one, other
    if first is second:
        return False
    if first.kind == HTTPROUTE:
        listeners = zip(claim.among[3:], claimed.among[3:], strict=True)
        is_one = all(name == another or "" in {name, another} for name, another in listeners)
        return is_one and not (_is_redirect(first) and _is_redirect(second))
    addresses = [{*addresses_of(each.item)} for each in (first, second) if each.kind == INGRESS]
    return not (addresses and all(addresses) and addresses[0].isdisjoint(addresses[1]))


def _is_redirect(route: ObjectView) -> bool:
    """Return whether an HTTPRoute leads to no backend."""
    rules = route.item.object["spec"].get("rules") or ()
    return bool(rules) and not any(rule.get("backendRefs") for rule in rules)


def _class_beside(older: ObjectView, younger: ObjectView) -> str:
    """Return the class of an older Ingress, if a younger one of another class is served by the same controller."""
    names = [class_of(each.item, each.typed.spec) for each in (older, younger) if isinstance(each.typed, Ingress)]
    return f" (class {names[0]}, of the same controller)" if len({*names}) > 1 else ""
