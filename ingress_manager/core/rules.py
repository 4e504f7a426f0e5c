"""The rules: under which hosts and paths a Service is reached, and which of its ports answers there."""

import re
from collections.abc import Mapping, Sequence

import msgspec

from ingress_manager.core.annotations import HOST, PATH, PATH_TYPE, PORT, ROUTES, Route, Stated
from ingress_manager.core.basis import Basis
from ingress_manager.core.bounds import MOST_PATHS
from ingress_manager.core.errors import Reason
from ingress_manager.core.kubernetes import ServicePort
from ingress_manager.core.syntax import wrong_host, wrong_path
from ingress_manager.core.text import listed, quoted


class Path(msgspec.Struct, frozen=True):
    """One path of a host, and the number of the Service's port that it leads to."""

    path: str
    path_type: str
    port: int

    def __str__(self) -> str:
        return f"{self.path} ({self.path_type})"


def choose_rules(basis: Basis) -> Mapping[str, Sequence[Path]]:
    """Return the paths of all routes, by their hosts, in the order in which these were first stated.

    Where ingress/routes says nothing, there is one route, which states nothing.
    """
    routes = basis.stated.routes
    if basis.has_wrong(ROUTES):
        return {}
    without_host = [route.host for route in routes].count(None)
    shared_hosts = choose_shared_hosts(basis) if without_host else ()
    ports = choose_ports(basis)
    if (count := without_host * len(shared_hosts) + len(routes) - without_host) > MOST_PATHS:
        end = f" and {basis.key(ROUTES)} together make {count} paths; {MOST_PATHS} is the most"
        basis.problems.add(basis.key(HOST) + end, Reason.TOO_LARGE, basis.key(ROUTES))
        return {}
    paths: dict[str, list[Path]] = {}
    for route in routes:
        path, path_type = path_of(basis.stated, route)
        check_path(basis, route, path, path_type)
        hosts = shared_hosts if route.host is None else allowed_hosts(basis, (route.host,), ROUTES, ": host")
        if (port := ports.get(route.port)) is not None:
            way = Path(as_prefix(path) if path_type == "Prefix" else path, path_type, port)
            for host in hosts:
                paths.setdefault(host, []).append(way)
        elif route.port is not None:
            add_unknown(basis, ROUTES, " port", route.port)
    return paths


def check_shared(basis: Basis) -> None:
    """Add a problem for each annotation in whose place every one of the routes states its own."""
    stated = basis.stated
    keys, shared = (HOST, PATH, PATH_TYPE, PORT), (stated.hosts, stated.path, stated.path_type, stated.port)
    for annotation, value, *own in zip(keys, shared, *map(msgspec.structs.astuple, stated.routes), strict=True):
        if value and None not in own:
            basis.add_ignored(annotation, f"because every one of {basis.key(ROUTES)} states its own")


def choose_shared_hosts(basis: Basis) -> Sequence[str]:
    """Return the hosts of the routes that state none: those of ingress/host, or the default of the settings."""
    if basis.has_wrong(HOST):
        return ()
    if basis.stated.hosts is not None:
        return allowed_hosts(basis, basis.stated.hosts, HOST, ":")
    default = basis.policy.default_host(basis.service.metadata.name)
    if end := wrong_host(default):
        basis.add(HOST, f" is needed: the settings' default {quoted(default)} {end}", Reason.INVALID_DEFAULT_HOST)
        return ()
    return allowed_hosts(basis, (default,), HOST, " is needed: the default")


def allowed_hosts(basis: Basis, hosts: Sequence[str], annotation: str, begin: str) -> Sequence[str]:
    """Return the hosts if the policy allows them all; else return none, and add a problem of the annotation."""
    if end := basis.policy.hosts_not_allowed(hosts):
        basis.add(annotation, f"{begin} {end}", Reason.HOST_NOT_ALLOWED)
        return ()
    return hosts


def path_of(stated: Stated, route: Route) -> tuple[str, str]:
    """Return the path and the path type of a route as they are stated, or what holds where they aren't."""
    return route.path or stated.path or "/", route.path_type or stated.path_type or "Prefix"


def check_path(basis: Basis, route: Route, path: str, path_type: str) -> None:
    """Add a problem where a route can't have this path, or this path type."""
    policy = basis.policy
    annotation, begin = (ROUTES, ": pathType ") if route.path_type else (PATH_TYPE, ": ")
    if end := policy.not_allowed(path_type, policy.limits.path_types):
        basis.add(annotation, begin + end, Reason.PATH_TYPE_NOT_ALLOWED)
        return
    if path_type == "ImplementationSpecific" and policy.gateway_of_httproutes:
        end = f"{quoted(path_type)} can't be said in an HTTPRoute; use Prefix or Exact"
        basis.add(annotation, begin + end, Reason.NOT_IN_HTTPROUTE)
    if end := wrong_path(path, path_type):
        annotation, begin = (ROUTES, ": path") if route.path else (PATH, ":")
        if path_type != "ImplementationSpecific" and "ImplementationSpecific" in policy.limits.path_types:
            end += "; a regular expression must be ImplementationSpecific"
        basis.add(annotation, f"{begin} {quoted(path)} {end}", Reason.INVALID_VALUE)


def as_prefix(path: str) -> str:
    """Return a prefix as all its spellings are written: a slash at its end makes no difference.

    Two spellings, in one Service or in two, would be one location that ingress-nginx writes twice. nginx would then
    refuse its whole configuration: those of other tenants, too.
    """
    return path.rstrip("/") or "/"


def location(host: str, path: str, path_type: str) -> tuple[str, str, bool]:
    """Return what is the same for two routes that are one to controllers; ImplementationSpecific counts as Prefix."""
    return (host, path, True) if path_type == "Exact" else (host, as_prefix(path), False)


def choose_ports(basis: Basis) -> dict[str | None, int | None]:
    """Return the number of each port that routes ask for, if there is one. None: that of the routes that state none.

    It is that of ingress/port, else the one that is inferred. Adds a problem where there is no such port.
    """
    stated, asked_for = basis.stated.port, {route.port for route in basis.stated.routes}
    # The API server takes no protocol for TCP.
    tcp = [port for port in basis.service.ports if port.protocol in {"TCP", ""}]
    named = {*asked_for, stated} - {None}
    found: dict[str | None, int | None] = {  # in one pass: there can be many
        key: port.port for port in tcp if named for key in (port.name, str(port.port)) if key in named
    }
    if None in asked_for and not basis.has_wrong(PORT):
        if stated is not None and stated not in found:
            add_unknown(basis, PORT, "", stated)
        found[None] = infer_port(basis, tcp) if stated is None else found.get(stated)
    return found


def add_unknown(basis: Basis, annotation: str, field: str, port: str) -> None:
    """Add the problem that the Service has no such port: the annotation asks for it, perhaps in a field of a route."""
    end = f"is not a TCP port of this Service; it has {listed(basis.service.ports, shown_port) or 'no ports'}"
    basis.add(annotation, f":{field} {quoted(port)} {end}", Reason.UNKNOWN_PORT)


def infer_port(basis: Basis, tcp: Sequence[ServicePort]) -> int | None:
    """Return which of the TCP ports serves HTTP when nothing says it: the only one, or the one that looks like it.

    That is the one named http, else the one with the appProtocol http, else number 80. Adds a problem where none is.
    """
    if len(tcp) == 1:
        if not speaks_https(tcp[0]):
            return tcp[0].port
        key, only = basis.key(PORT), shown_port(tcp[0])
        what = f"this Service's only TCP port, {only}, seems to speak HTTPS, and ingress controllers send HTTP"
        right = f'{key}: "{tcp[0].port}", if it speaks HTTP, or the controller is told to send HTTPS'
        basis.problems.add(f"{what}: add a port for HTTP; or state {right}", Reason.HTTPS_PORT, key)
        return None
    for field, of_http in (("name", "http"), ("app_protocol", "http"), ("port", 80)):
        like_http = [port.port for port in tcp if getattr(port, field) == of_http and not speaks_https(port)]
        if len(like_http) == 1:
            return like_http[0]
    has = listed(basis.service.ports, shown_port) or "no ports"
    if tcp:
        basis.add(PORT, f" is needed to say which port serves HTTP; this Service has {has}", Reason.AMBIGUOUS_PORT)
    else:
        basis.problems.add(f"this Service has no TCP port to send HTTP to; it has {has}", Reason.NO_PORT)
    return None


def speaks_https(port: ServicePort) -> bool:
    """Return whether a port says that it speaks HTTPS: by its appProtocol, else by its name, else by its number.

    Source: the Kubernetes API reference, ServicePort: an appProtocol is a name that IANA knows, in any case.
    """
    if port.app_protocol:
        return port.app_protocol.lower() == "https"
    return bool(_OF_HTTPS.search(port.name)) if port.name else port.port == 443


_OF_HTTPS = re.compile(r"^(?:https|tls)(?![a-z])|(?:https|tls)$")
"""The name of a port that speaks HTTPS, as people write it: https, https-web, web-tls; but not httpserver."""


def shown_port(port: ServicePort) -> str:
    """Return one port as a person would write it: `web (80)`, `dns (53 UDP)`."""
    number = f"{port.port}" if port.protocol in {"TCP", ""} else f"{port.port} {port.protocol}"
    return f"{port.name} ({number})" if port.name else number
