"""Claims: which hosts and paths, or ports, objects claim, and under which names controllers keep what is in them.

Sources: ingress-nginx, internal/ingress/controller/store (the order of Ingresses) and controller.go (upstreamName); the
Gateway API reference, HTTPRouteRule (which of two equal matches wins); Traefik, pkg/provider/kubernetes/ingress and
ingress-nginx (the names of its services, routers and certificates) and pkg/provider/configuration.go (Normalize).
"""

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple, TypeVar

from ingress_manager.commands.reading.kinds import HTTPROUTE, INGRESS, LISTENERSET, SERVICE
from ingress_manager.commands.reading.manifests import Item, at
from ingress_manager.commands.view.ingresses import class_of, is_canary, places_of
from ingress_manager.commands.view.look import ObjectView
from ingress_manager.commands.view.standing import addresses_of, gateway_of
from ingress_manager.core.kubernetes import HTTPRoute, Ingress, IngressSpec, ListenerSet, RouteMatch, RouteRule
from ingress_manager.core.rules import as_prefix

NGINX, TRAEFIK = "ingress-nginx", "Traefik"
CLASS_NGINX = "nginx"
TRAEFIK_OF_NGINX = "Traefik for the class nginx"
"""Traefik's provider that reads ingress-nginx's annotations."""
SECRET = "Secret"  # noqa: S105 - a kind

ALSO_SERVED_BY = "ingress-manager/also-served-by"
"""The annotation of an IngressClass that names a further controller: gateway/ingress-nginx/ingressclass.yaml has it."""

OWN_BALANCERS = {"alb": "alb.ingress.kubernetes.io/group.name", "gce": "", "gce-internal": ""}
"""The classes of clouds in which each Ingress has a load balancer of its own, with the annotation by which several
share one, if there is such an annotation."""


T = TypeVar("T")
Sharing = tuple[ObjectView, T]
"""An object, with what it shares with others."""
Pair = tuple[Sharing[T], Sharing[T]]
Server = tuple[str, ...]
"""What takes requests."""


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


def claimed_twice(objects: Iterable[ObjectView], classes: Iterable[Item]) -> Iterator[ClaimedTwice]:
    """Yield what is claimed twice: each younger object once with each older one that has claimed the same first.

    `classes` are the IngressClasses. One controller may serve several, and of those that are unknown none is another.
    """
    controllers = {item.name: controllers_of(item) for item in classes}
    shared: dict[tuple[Server, str, str, bool], list[Sharing[Claim]]] = {}
    for each in sorted(objects, key=lambda each: each.item.born):
        for claim in dict.fromkeys(claims_of(each)):
            for server in servers_of(each, claim, controllers):
                shared.setdefault((server, *claim[1:]), []).append((each, claim))
    found: dict[tuple[str, str, str], ClaimedTwice] = {}
    for claimants in shared.values():
        for (older, _), (younger, claim) in pairs(claimants, meet):
            key = younger.kind, younger.item.full_name, older.item.full_name
            claims = found.setdefault(key, ClaimedTwice(younger, older, [])).claims
            claims += [claim] if claim not in claims else []
    yield from found.values()


def controllers_of(ingress_class: Item) -> list[str]:
    """Return the controllers that an IngressClass names."""
    stated = (at(ingress_class, "spec", "controller"), ingress_class.annotations.get(ALSO_SERVED_BY))
    return [str(each) for each in stated if each]


def servers_of(each: ObjectView, claim: Claim, controllers: Mapping[str, list[str]]) -> list[Server]:
    """Return what takes the requests for a claim: a Gateway, a class and its controllers, or an own load balancer."""
    if each.kind != INGRESS:
        return [claim.among[:3]]
    [kind, name] = claim.among
    if is_canary(each.item):
        return []
    if name in OWN_BALANCERS:
        return [(kind, name, each.item.annotations.get(OWN_BALANCERS[name], f"of {each}"))]
    return [(kind, name), *(("controller", controller) for controller in controllers.get(name, ()))]


def meet(one: Sharing[Claim], other: Sharing[Claim]) -> bool:
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
        return is_one and not (is_redirect(first) and is_redirect(second))
    addresses = [{*addresses_of(each.item)} for each in (first, second) if each.kind == INGRESS]
    return not (addresses and all(addresses) and addresses[0].isdisjoint(addresses[1]))


def pairs(sharing: Sequence[Sharing[T]], meet: Callable[[Sharing[T], Sharing[T]], bool]) -> Iterator[Pair[T]]:
    """Yield each object that meets an older one, behind the oldest such: each with what it shares.

    They are sorted by their age. One of the two is ingress-manager's. Where only some of the objects are known, there
    are fewer younger ones in it, and never another.
    """
    ours = [number for number, (each, _) in enumerate(sharing) if each.looks_ours]
    for number, younger in enumerate(sharing) if ours else ():
        for other in range(number) if younger[0].looks_ours else ours:
            if other >= number:
                break
            if meet(sharing[other], younger):
                yield sharing[other], younger
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
        sharing = [(each, user) for user, each in used.items()]
        for (_, other), (younger, one) in pairs(sharing, lambda _older, _younger: True):
            new = UpstreamCollision(younger, name.kind, one, other, name.text, [])
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
    has_routes = not is_canary(item)
    prefix = f"{item.namespace}-{item.name}" if has_routes else item.namespace
    if spec.rules and has_routes:
        yield Name(TRAEFIK_OF_NGINX, CLASS_NGINX, INGRESS, prefix), item.full_name
    for service in dict.fromkeys(path.backend.service for _, path in spec.paths() if path.backend.service):
        name = f"{prefix}-{service.name}-{service.port}"
        yield Name(TRAEFIK_OF_NGINX, CLASS_NGINX, SERVICE, name), f"{item.namespace}/{service.name}"


def normalized(text: str) -> str:
    """Return a text as Traefik has it in its names: words of letters and digits, with one `-` between two."""
    return "-".join("".join(char if unicodedata.category(char)[0] in "LN" else " " for char in text).split())
