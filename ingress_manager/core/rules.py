"""The rules: the hosts and paths of a Service, and the port that serves each path."""

import re
from collections.abc import Mapping, Sequence

import msgspec

from ingress_manager.core.annotations import HOST, PATH, PATH_TYPE, PORT, PREFIX, ROUTES, TABLE, Requested, Route
from ingress_manager.core.basis import Basis
from ingress_manager.core.bounds import MOST_PATHS
from ingress_manager.core.errors import Reason
from ingress_manager.core.kubernetes import ServicePort
from ingress_manager.core.syntax import wrong_host, wrong_path
from ingress_manager.core.text import listed, quoted


class Path(msgspec.Struct, frozen=True):
    path: str
    path_type: str
    port: int

    def __str__(self) -> str:
        return f"{self.path} ({self.path_type})"


def choose_rules(basis: Basis) -> Mapping[str, Sequence[Path]]:
    routes = basis.requested.routes
    if basis.is_invalid(ROUTES):
        return {}
    without_host = [route.host for route in routes].count(None)
    shared_hosts = choose_hosts(basis) if without_host else ()
    ports = choose_ports(basis)
    if (count := without_host * len(shared_hosts) + len(routes) - without_host) > MOST_PATHS:
        end = f" and {basis.key(ROUTES)} together define {count} paths; the limit is {MOST_PATHS}"
        basis.problems.add(basis.key(HOST) + end, Reason.TOO_LARGE, basis.key(ROUTES))
        return {}
    rules: dict[str, list[Path]] = {}
    for route in routes:
        path, path_type = resolve_path(basis.requested, route)
        check_path(basis, route, path, path_type)
        hosts = shared_hosts if route.host is None else allowed_hosts(basis, (route.host,), ROUTES, ": host")
        if (port := ports.get(route.port)) is not None:
            served = Path(without_slash(path) if path_type == "Prefix" else path, path_type, port)
            for host in hosts:
                rules.setdefault(host, []).append(served)
        elif route.port is not None:
            add_unknown_port(basis, ROUTES, " port", route.port)
    return rules


def check_overridden(basis: Basis) -> None:
    """Add a problem for each annotation of the Service that every route in ingress/routes overrides."""
    routes = map(msgspec.structs.astuple, basis.requested.routes)
    for key, *overriding in zip((HOST, PATH, PATH_TYPE, PORT), *routes, strict=True):
        if getattr(basis.requested, TABLE[key].field) and None not in overriding:
            basis.add_ignored(key, f"because each route in {basis.key(ROUTES)} sets its own {key.removeprefix(PREFIX)}")


def choose_hosts(basis: Basis) -> Sequence[str]:
    """Return the hosts for routes that set no host: those in ingress/host, or the default host."""
    if basis.is_invalid(HOST):
        return ()
    if basis.requested.hosts is not None:
        return allowed_hosts(basis, basis.requested.hosts, HOST, ":")
    default_host = basis.effective.default_host(basis.service.metadata.name)
    if end := wrong_host(default_host):
        end = f" is needed, because the default host is invalid: {quoted(default_host)} {end}"
        basis.add(HOST, end, Reason.INVALID_DEFAULT_HOST)
        return ()
    return allowed_hosts(basis, (default_host,), HOST, " is needed: the default host")


def allowed_hosts(basis: Basis, hosts: Sequence[str], annotation: str, start: str) -> Sequence[str]:
    """Return `hosts`. If one isn't allowed, add a problem beginning with `annotation` and `start`, and return ()."""
    if end := basis.effective.why_hosts_not_allowed(hosts):
        basis.add(annotation, f"{start} {end}", Reason.HOST_NOT_ALLOWED)
        return ()
    return hosts


def resolve_path(requested: Requested, route: Route) -> tuple[str, str]:
    """Return a route's path and path type. Fall back to the Service's annotations, and then to / and Prefix."""
    return route.path or requested.path or "/", route.path_type or requested.path_type or "Prefix"


def check_path(basis: Basis, route: Route, path: str, path_type: str) -> None:
    effective = basis.effective
    annotation, start = (ROUTES, ": pathType ") if route.path_type else (PATH_TYPE, ": ")
    if end := effective.why_not_allowed(path_type, effective.limits.path_types):
        basis.add(annotation, start + end, Reason.PATH_TYPE_NOT_ALLOWED)
        return
    if path_type == "ImplementationSpecific" and effective.httproute_gateway:
        end = f"{quoted(path_type)} can't be expressed in an HTTPRoute; use Prefix or Exact"
        basis.add(annotation, start + end, Reason.NOT_IN_HTTPROUTE)
    is_type_known = bool(route.path_type) or not basis.is_invalid(PATH_TYPE)
    if is_type_known and (end := wrong_path(path, path_type)):
        annotation, start = (ROUTES, ": path") if route.path else (PATH, ":")
        if path_type != "ImplementationSpecific" and "ImplementationSpecific" in effective.limits.path_types:
            end += "; a regular expression needs the path type ImplementationSpecific"
        basis.add(annotation, f"{start} {quoted(path)} {end}", Reason.INVALID_VALUE)


def without_slash(path: str) -> str:
    """Strip a prefix's trailing slash, which doesn't affect matching.

    If a path occurs with and without the slash, even in two Services, ingress-nginx writes a duplicate location, and
    nginx rejects the whole configuration, including other tenants'.
    """
    return path.rstrip("/") or "/"


def claim_key(host: str, path: str, path_type: str) -> tuple[str, str, bool]:
    """Return a key that two routes share if controllers can't tell them apart.

    ImplementationSpecific counts as Prefix.
    """
    return (host, path, True) if path_type == "Exact" else (host, without_slash(path), False)


def choose_ports(basis: Basis) -> dict[str | None, int | None]:
    """Return the Service's port numbers, by the name or number that routes use.

    The key None is for routes that set no port. Its value is ingress/port or, if that is unset, an inferred port. If
    no port fits, the value is None, and a problem is added.
    """
    requested, requested_ports = basis.requested.port, {route.port for route in basis.requested.routes}
    # The API server defaults the protocol to TCP.
    tcp = [port for port in basis.service.ports if port.protocol in {"TCP", ""}]
    named = {*requested_ports, requested} - {None}
    numbers: dict[str | None, int | None] = {}
    for port in tcp if named else ():  # in one pass: there can be many ports
        numbers |= {key: port.port for key in (port.name, str(port.port)) if key in named}
    if None in requested_ports and not basis.is_invalid(PORT):
        if requested is not None and requested not in numbers:
            add_unknown_port(basis, PORT, "", requested)
        numbers[None] = infer_port(basis, tcp) if requested is None else numbers.get(requested)
    return numbers


def add_unknown_port(basis: Basis, annotation: str, field: str, port: str) -> None:
    end = f"is not a TCP port of this Service; its ports: {listed(basis.service.ports, shown_port) or 'none'}"
    basis.add(annotation, f":{field} {quoted(port)} {end}", Reason.UNKNOWN_PORT)


def infer_port(basis: Basis, tcp: Sequence[ServicePort]) -> int | None:
    """Return the port that serves HTTP. If none fits, add a problem and return None.

    In order, this is the only TCP port, the only one named http, the only one with appProtocol http, or port 80.
    """
    if len(tcp) == 1:
        if not speaks_https(tcp[0]):
            return tcp[0].port
        key, only = basis.key(PORT), shown_port(tcp[0])
        problem = f"this Service's only TCP port, {only}, seems to speak HTTPS, but controllers send HTTP by default"
        remedy = f'If it really speaks HTTP, or the controller is configured to send HTTPS, set {key}: "{tcp[0].port}"'
        basis.problems.add(f"{problem}. {remedy}; otherwise, add a port for HTTP", Reason.HTTPS_PORT, key)
        return None
    for field, http_value in (("name", "http"), ("app_protocol", "http"), ("port", "80")):
        named = [port for port in tcp if str(getattr(port, field)).lower() == http_value]
        like_http = [port.port for port in named if not speaks_https(port)]
        if len(like_http) == 1:
            return like_http[0]
    ports = listed(basis.service.ports, shown_port)
    if tcp:
        basis.add(PORT, f" is needed to choose the port that serves HTTP; the ports are {ports}", Reason.AMBIGUOUS_PORT)
    else:
        sentence = f"this Service has no TCP port, but needs one that serves HTTP; its ports: {ports or 'none'}"
        basis.problems.add(sentence, Reason.NO_PORT)
    return None


def speaks_https(port: ServicePort) -> bool:
    """Return whether a port seems to speak HTTPS, by its appProtocol if set, or else by name, number and targetPort.

    Source for the values of appProtocol: the Kubernetes API reference, ServicePort.
    """
    if port.app_protocol:
        return port.app_protocol.lower() in {"https", "tls", "kubernetes.io/wss"}
    if port.port == 443 and (not port.name or _HTTPS_NAME.search(str(port.target_port))):
        return True
    return _HTTPS_NAME.search(port.name or "") is not None


_HTTPS_NAME = re.compile(r"^(?:https|tls)(?![a-z])|(?:https|tls)$")
"""Matches https, https-web and web-tls, but not httpserver."""


def shown_port(port: ServicePort) -> str:
    """Format a port for messages: `web (80)`, `dns (53/UDP)`."""
    number = f"{port.port}" if port.protocol in {"TCP", ""} else f"{port.port}/{port.protocol}"
    return f"{port.name} ({number})" if port.name else number
