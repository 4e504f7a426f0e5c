"""Claims: which hosts and paths, or ports, objects claim, and under which names controllers keep what is in them.

Sources: ingress-nginx, internal/ingress/controller/store (the order of Ingresses) and controller.go (upstreamName); the
Gateway API reference, HTTPRouteRule (which of two equal matches wins); Traefik, pkg/provider/kubernetes/ingress and
ingress-nginx (the names of its services, routers and certificates) and pkg/provider/configuration.go (Normalize).
"""

import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

from ingress_manager.commands.reading.kinds import HTTPROUTE, INGRESS, LISTENERSET, SERVICE
from ingress_manager.commands.reading.manifests import Item
from ingress_manager.commands.view.ingresses import class_of, places_of
from ingress_manager.commands.view.look import ObjectView
from ingress_manager.commands.view.standing import gateway_of
from ingress_manager.core.kubernetes import HTTPRoute, Ingress, IngressSpec, ListenerSet, RouteMatch, RouteRule
from ingress_manager.core.rules import as_prefix
from ingress_manager.core.vocabulary import NGINX as KEYS_OF_NGINX

NGINX, TRAEFIK = "ingress-nginx", "Traefik"
CLASS_NGINX, CANARY = "nginx", f"{KEYS_OF_NGINX}canary"
TRAEFIK_OF_NGINX = "Traefik for the class nginx"
"""Traefik's provider that reads ingress-nginx's annotations."""
SECRET = "Secret"  # noqa: S105 - a kind


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


class Name(NamedTuple):
    """The name that a controller gives to something of an Ingress. What has one name is one thing to it."""

    controller: str
    ingress_class: str
    kind: str
    """What has the name: a Service, an Ingress (one of its routes) or a Secret."""
    text: str


@dataclass(frozen=True, slots=True)
class ClaimedTwice:
    """What a younger object and an older one both claim."""

    younger: ObjectView
    older: ObjectView
    claims: list[Claim]


@dataclass(frozen=True, slots=True)
class UpstreamCollision:
    """Two Services, Ingresses or Secrets to which controllers give one name."""

    younger: ObjectView
    """The Ingress that uses `one`."""
    kind: str
    one: str
    """As namespace/name, as is the other."""
    other: str
    name: str
    controllers: list[str]


def claimed_twice(objects: Iterable[ObjectView]) -> Iterator[ClaimedTwice]:
    """Yield what is claimed twice: each younger object once with each older one that has claimed the same first.

    Two redirects to https don't take anything from each other: what they lead to is told.
    """
    by_claim: dict[Claim, list[ObjectView]] = {}
    for each in sorted(objects, key=lambda each: each.item.born):
        for claim in dict.fromkeys(claims_of(each)):
            by_claim.setdefault(claim, []).append(each)
    found: dict[tuple[str, str, str], ClaimedTwice] = {}
    for claim, claimants in by_claim.items():
        for first, second in pairs(claimants):
            older, younger = claimants[first], claimants[second]
            key = younger.kind, younger.item.full_name, older.item.full_name
            found.setdefault(key, ClaimedTwice(younger, older, [])).claims.append(claim)
    yield from found.values()


def pairs(objects: Sequence[ObjectView]) -> Iterator[tuple[int, int]]:
    """Yield, for each object that shares something with an older one, the numbers of the oldest such and of its own.

    They are sorted by their age. One of the two is ingress-manager's. Where only some of the objects are known, there
    are fewer younger ones in it, and never another.
    """
    ours = [number for number, each in enumerate(objects) if each.looks_ours]
    for number, younger in enumerate(objects) if ours else ():
        for other in range(number) if younger.looks_ours else ours:
            if other >= number:
                break
            if not (is_redirect(objects[other]) and is_redirect(younger)):
                yield other, number
                break


def upstream_collisions(objects: Iterable[ObjectView]) -> Iterator[UpstreamCollision]:
    """Yield what has one name in a controller: each two once, with all controllers that give them that name.

    Which controller serves a class is not known here, so each class is taken for ingress-nginx's and for Traefik's.
    """
    users: dict[Name, dict[str, ObjectView]] = {}
    for each in sorted(objects, key=lambda each: each.item.born):
        for name, user in names_of(each):
            users.setdefault(name, {}).setdefault(user, each)
    found: dict[tuple[str, str, str, str], UpstreamCollision] = {}
    for name, used in users.items():
        called = list(used)
        for first, second in pairs(list(used.values())):
            one, other = called[second], called[first]
            new = UpstreamCollision(used[one], name.kind, one, other, name.text, [])
            found.setdefault((name.kind, name.text, one, other), new).controllers.append(name.controller)
    yield from found.values()


def claims_of(each: ObjectView) -> Iterator[Claim]:
    if isinstance(each.typed, HTTPRoute):
        yield from _claims_of_route(each.item.namespace, each.typed)
    elif isinstance(each.typed, ListenerSet):
        gateway = gateway_of(each.item, each.typed.spec.parent_ref)
        listeners = each.typed.spec.listeners or ()
        yield from (listener_claim(gateway, one.port or 0, one.hostname or "") for one in listeners)
    else:
        among = (INGRESS, class_of(each.item, each.typed.spec))
        yield from (Claim(among, *place) for place in places_of(each.typed.spec))


def listener_claim(gateway: str, port: int, host: str) -> Claim:
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


def is_redirect(each: ObjectView) -> bool:
    """Return whether an object is an HTTPRoute that leads to no backend."""
    if each.kind != HTTPROUTE:
        return False
    rules = each.item.object["spec"].get("rules") or ()
    return bool(rules) and not any(rule.get("backendRefs") for rule in rules)


def names_of(each: ObjectView) -> Iterator[tuple[Name, str]]:
    """Yield the names that an Ingress needs in ingress-nginx and in Traefik, and what has each, as namespace/name.

    gateway/name-collisions.yaml and gateway/ingress-nginx/name-collisions.yaml say the same of Traefik's names.
    """
    if not isinstance(each.typed, Ingress):
        return
    spec = each.typed.spec
    namespace, ingress_class = each.item.namespace, class_of(each.item, spec)
    routes = []
    for host, path in spec.paths():
        if service := path.backend.service:
            name, user = f"{namespace}-{service.name}-{service.port}", f"{namespace}/{service.name}"
            yield Name(NGINX, ingress_class, SERVICE, name), user
            yield Name(TRAEFIK, ingress_class, SERVICE, normalized(name)), user
            routes.append(normalized(f"{namespace}-{each.item.name}-{host}{path.path}"))
    if not spec.rules and spec.default_backend:
        routes.append("default-router")
    for route, count in Counter(routes).items():
        # What one Ingress needs twice gets a hash of its rule, which nobody else's name ends in by chance.
        if count == 1:
            yield Name(TRAEFIK, ingress_class, INGRESS, route), each.item.full_name
    for secret in dict.fromkeys(entry.secret_name for entry in spec.tls or () if entry.secret_name):
        yield Name(TRAEFIK, ingress_class, SECRET, f"{namespace}-{secret}"), f"{namespace}/{secret}"
    if ingress_class == CLASS_NGINX:
        yield from _names_of_nginx(each.item, spec)


def _names_of_nginx(item: Item, spec: IngressSpec) -> Iterator[tuple[Name, str]]:
    """Yield the names that an Ingress of the class nginx needs in Traefik. A canary has no routes of its own."""
    is_canary = item.annotations.get(CANARY, "").lower() == "true"
    prefix = item.namespace if is_canary else f"{item.namespace}-{item.name}"
    if spec.rules and not is_canary:
        yield Name(TRAEFIK_OF_NGINX, CLASS_NGINX, INGRESS, prefix), item.full_name
    for service in dict.fromkeys(path.backend.service for _, path in spec.paths() if path.backend.service):
        name = f"{prefix}-{service.name}-{service.port}"
        yield Name(TRAEFIK_OF_NGINX, CLASS_NGINX, SERVICE, name), f"{item.namespace}/{service.name}"


def normalized(text: str) -> str:
    """Return a text as Traefik has it in its names: words of letters and digits, with one `-` between two."""
    return "-".join("".join(char if unicodedata.category(char)[0] in "LN" else " " for char in text).split())
