"""Claims: which hosts and paths Ingresses and HTTPRoutes claim, and under which names controllers keep their Services.

Sources: ingress-nginx, internal/ingress/controller/store (the order of Ingresses) and controller.go (upstreamName); the
Gateway API reference, HTTPRouteRule (which of two equal matches wins); Traefik, pkg/provider/kubernetes/ingress (the
names of its services).
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

from hooks.commands.ingresses import Spec, as_spec
from hooks.commands.inventory import INGRESS, Made
from hooks.copying import OLD_CLASS
from hooks.exposure import as_prefix, location


class ParentRef(msgspec.Struct, rename="camel", frozen=True, gc=False):
    name: str
    kind: str = "Gateway"
    namespace: str | None = None
    section_name: str | None = None
    port: int | None = None


class RouteMatch(msgspec.Struct, rename="camel", frozen=True, gc=False):
    path: dict[str, str] = {}
    headers: list[Any] | None = None
    query_params: list[Any] | None = None
    method: str | None = None


class RouteRule(msgspec.Struct, frozen=True, gc=False):
    matches: list[RouteMatch] | None = None


class RouteSpec(msgspec.Struct, rename="camel", frozen=True, gc=False):
    parent_refs: list[ParentRef] | None = None
    hostnames: list[str] | None = None
    rules: list[RouteRule] | None = None


class Claim(NamedTuple):
    """A host and a path, of those that share one class or one listener. Two equal claims get the same requests."""

    among: tuple[str, ...]
    host: str
    path: str
    is_exact: bool

    def __str__(self) -> str:
        """Return what a person calls it."""
        return f"{self.host or '*'}{self.path} ({'Exact' if self.is_exact else 'Prefix'})"


class Upstream(NamedTuple):
    """The name that a controller gives to a port of a Service."""

    ingress_class: str
    name: str


@dataclass(frozen=True, slots=True)
class Clash:
    """What a younger object and an older one both claim."""

    younger: Made
    older: Made
    claims: list[Claim]


@dataclass(frozen=True, slots=True)
class Collision:
    """Two Services that have one upstream name; `one` is of the younger Ingress, and both are namespace/name."""

    one: str
    other: str
    upstream: str


def clashes(objects: Iterable[Made]) -> Iterator[Clash]:
    """Yield what is claimed twice: each younger object once with each older one that has claimed the same first."""
    found: dict[tuple[str, str, str], Clash] = {}
    for claim, claimants in shared(objects, claims_of):
        older, *others = sorted(claimants, key=lambda made: made.born)
        for younger in others:
            clash = found.setdefault((younger.kind, younger.item.label, older.item.label), Clash(younger, older, []))
            clash.claims.append(claim)
    yield from found.values()


def collisions(objects: Iterable[Made]) -> Iterator[Collision]:
    """Yield the upstream names that two Services have, once each."""
    services: dict[Upstream, dict[str, Made]] = {}
    for made in sorted(objects, key=lambda made: made.born):
        for upstream, service in upstreams_of(made):
            services.setdefault(upstream, {}).setdefault(service, made)
    for upstream, users in services.items():
        first, *others = users
        for other in others:
            if users[first].looks_ours or users[other].looks_ours:
                yield Collision(other, first, upstream.name)


def shared(objects: Iterable[Made], claims: Callable[[Made], Iterable[Claim]]) -> Iterator[tuple[Claim, list[Made]]]:
    """Yield the claims that several objects make, and those objects."""
    by_claim: dict[Claim, list[Made]] = {}
    for made in objects:
        for claim in dict.fromkeys(claims(made)):
            by_claim.setdefault(claim, []).append(made)
    return ((claim, claimants) for claim, claimants in by_claim.items() if len(claimants) > 1)


def claims_of(made: Made) -> Iterator[Claim]:
    """Yield what an object claims. An object that no API server would store claims nothing."""
    return _claims_of_ingress(made) if made.kind == INGRESS else _claims_of_route(made)


def _claims_of_ingress(made: Made) -> Iterator[Claim]:
    spec = as_spec(made.item)
    if isinstance(spec, Spec):
        among = (INGRESS, _class_of(made, spec))
        for host, path in spec.paths():
            yield Claim(among, *location(host, path.path or "/", path.path_type))


def _claims_of_route(made: Made) -> Iterator[Claim]:
    """Yield the claims of an HTTPRoute. A match with further conditions is none: it may share its path with another."""
    try:
        spec = msgspec.convert(made.item.object["spec"], RouteSpec)
    except msgspec.ValidationError:
        return
    matches = [match for rule in spec.rules or [RouteRule()] for match in rule.matches or [RouteMatch()]]
    paths = [
        (match.path.get("value", "/"), match.path.get("type", "PathPrefix"))
        for match in matches
        if not (match.headers or match.query_params or match.method)
    ]
    for parent in spec.parent_refs or ():
        namespace = parent.namespace or made.item.namespace
        among = (parent.kind, namespace, parent.name, parent.section_name or "", str(parent.port or ""))
        for host in spec.hostnames or [""]:
            for path, path_type in paths:
                if path_type == "Exact":
                    yield Claim(among, host, path, is_exact=True)
                elif path_type == "PathPrefix":
                    yield Claim(among, host, as_prefix(path), is_exact=False)


def upstreams_of(made: Made) -> Iterator[tuple[Upstream, str]]:
    """Yield the upstream names that an Ingress makes a controller use, and the Service of each as namespace/name."""
    spec = as_spec(made.item) if made.kind == INGRESS else None
    if isinstance(spec, Spec):
        namespace, ingress_class = made.item.namespace, _class_of(made, spec)
        for _, path in spec.paths():
            if service := path.backend.service:
                name = f"{namespace}-{service.name}-{service.port}"
                yield Upstream(ingress_class, name), f"{namespace}/{service.name}"


def _class_of(made: Made, spec: Spec) -> str:
    """Return the class of an Ingress; empty for the cluster's default."""
    return spec.ingress_class_name or made.item.annotations.get(OLD_CLASS, "")
