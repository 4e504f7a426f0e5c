"""The rules: under which hosts and paths a Service is reached, and which of its ports answers there."""

from collections.abc import Sequence
from itertools import starmap

import msgspec

from ingress_manager.core import refusals
from ingress_manager.core.annotations import ONE_ROUTE, Route, Stated
from ingress_manager.core.basis import Basis
from ingress_manager.core.errors import Problem
from ingress_manager.core.kubernetes import ServicePort
from ingress_manager.core.ports import by_target, choose_ports, choose_shared_port, tcp_ports
from ingress_manager.core.syntax import check_host, check_path_of_type
from ingress_manager.core.text import quoted

MOST_PATHS = 1000
"""Paths of one Ingress. One with more would be refused for its size anyway, but only after it was made."""


class Path(msgspec.Struct, frozen=True, gc=False):
    """One path of a host, and the number of the Service's port that it leads to."""

    path: str
    path_type: str
    port: int


class Rule(msgspec.Struct, frozen=True, gc=False):
    """One host with its paths."""

    host: str
    paths: Sequence[Path]


def choose_rules(basis: Basis) -> tuple[Rule, ...]:
    """Return the rules of all routes."""
    stated, problems = basis.stated, basis.problems
    if stated.has_wrong("ingress/routes"):
        return ()
    if stated.routes is ONE_ROUTE:
        # Nearly every Service has one path. For it, what follows would find the same, in more time.
        return choose_one_path(basis)
    without_host = [route.host for route in stated.routes].count(None)
    shared_hosts = choose_shared_hosts(basis) if without_host else ()
    ports = choose_ports(basis.service, stated, problems)
    if (count := without_host * len(shared_hosts) + len(stated.routes) - without_host) > MOST_PATHS:
        problems.add(refusals.too_many_paths(count, MOST_PATHS))
        return ()
    paths: dict[str, list[Path]] = {}
    seen: dict[tuple[str, str, bool], str] = {}
    targets: dict[str, ServicePort] | None = None
    for route in stated.routes:
        path, path_type = choose_path(basis, route)
        hosts = shared_hosts
        if route.host is not None:
            hosts = allowed_hosts(basis, (route.host,), "ingress/routes: host", "ingress/routes")
        port = ports.get(route.port)
        if port is None and route.port is not None:
            targets = by_target(tcp_ports(basis.service)) if targets is None else targets
            origin = "ingress/routes: port", "ingress/routes"
            problems.add(refusals.unknown_port(*origin, route.port, basis.service.ports, targets))
        for host in hosts:
            shown = f"{host}{path} ({path_type})"
            if (known := seen.setdefault(location(host, path, path_type), shown)) is not shown:
                problems.add(refusals.duplicate_route(known, shown))
            if port is not None:
                paths.setdefault(host, []).append(Path(written(path, path_type), path_type, port))
    return tuple(starmap(Rule, paths.items()))


def choose_one_path(basis: Basis) -> tuple[Rule, ...]:
    """Return the rules of a Service without ingress/routes: the same path for each host."""
    hosts = choose_shared_hosts(basis)
    port = choose_shared_port(basis.service, basis.stated, basis.problems)
    path, path_type = choose_path(basis, ONE_ROUTE[0])
    if port is None:
        return ()
    paths = [Path(written(path, path_type), path_type, port)]
    return tuple([Rule(host, paths) for host in hosts])


def path_of(stated: Stated, route: Route) -> tuple[str, str]:
    """Return the path and the path type of a route as they are stated, or what holds where they aren't."""
    return route.path or stated.path or "/", route.path_type or stated.path_type or "Prefix"


def choose_path(basis: Basis, route: Route) -> tuple[str, str]:
    """Return the path and the path type of a route. Adds a problem where it can't have them."""
    policy, problems = basis.policy, basis.problems
    path, path_type = path_of(basis.stated, route)
    allowed = path_type in policy.path_types
    if not allowed or (path_type == "ImplementationSpecific" and policy.makes_httproutes):
        origin = origin_of("pathType" if route.path_type else None, "ingress/path-type")
        if not allowed:
            problems.add(refusals.path_type_not_allowed(*origin, path_type, policy.namespace, policy.path_types))
            return path, path_type
        problems.add(refusals.path_type_of_httproutes(*origin, path_type))
    try:
        if path != "/":  # as it nearly always is
            check_path_of_type(path, path_type)
    except Problem as problem:
        begin, annotation = origin_of("path" if route.path else None, "ingress/path")
        if path_type != "ImplementationSpecific" in policy.path_types:
            problem = Problem(f"{problem.sentence}; a regular expression must be ImplementationSpecific")
        problems.add(problem.about(f"{begin} {quoted(path)}", annotation))
    return path, path_type


def origin_of(field: str | None, annotation: str) -> tuple[str, str]:
    """Return how a sentence about a value begins, and the annotation that states it: a field of a route, or its own."""
    return (f"ingress/routes: {field}", "ingress/routes") if field else (f"{annotation}:", annotation)


def written(path: str, path_type: str) -> str:
    """Return a path as the objects have it."""
    return as_prefix(path) if path_type == "Prefix" else path


def as_prefix(path: str) -> str:
    """Return a prefix as all its spellings are written: a slash at its end makes no difference.

    Two spellings, in one Service or in two, would be one location that ingress-nginx writes twice. nginx would then
    refuse its whole configuration: those of other tenants, too.
    """
    return path.rstrip("/") or "/"


def location(host: str, path: str, path_type: str) -> tuple[str, str, bool]:
    """Return what is the same for two routes that are one to ingress controllers.

    ImplementationSpecific counts as Prefix.
    """
    return (host, path, True) if path_type == "Exact" else (host, as_prefix(path), False)


def choose_shared_hosts(basis: Basis) -> Sequence[str]:
    """Return the hosts of the routes that state none: those of ingress/host, or the default of the settings."""
    if basis.stated.has_wrong("ingress/host"):
        return ()
    if basis.stated.hosts is not None:
        return allowed_hosts(basis, basis.stated.hosts, "ingress/host:", "ingress/host")
    default = basis.policy.default_host(basis.service.metadata.name)
    if default != basis.policy.host:  # one without a Service's name was checked with the settings
        try:
            check_host(default)
        except Problem as problem:
            basis.problems.add(refusals.invalid_default_host(default, problem))
            return ()
    return allowed_hosts(basis, (default,), "ingress/host is needed: the default", "ingress/host")


def allowed_hosts(basis: Basis, hosts: Sequence[str], origin: str, annotation: str) -> Sequence[str]:
    """Return the hosts if the policy allows them all; else return none, and add a problem that begins with `origin`."""
    policy = basis.policy
    if policy.hosts is None:
        return hosts
    refused = [host for host in hosts if not policy.allows_host(host)]
    if not refused:
        return hosts
    basis.problems.add(refusals.host_not_allowed(origin, annotation, refused, policy.namespace, policy.hosts))
    return ()
