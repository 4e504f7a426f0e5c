"""Annotations: those of a Service that ask for given routes, a class and TLS.

It is `core.annotations.read` the other way round. What the settings and the Service's ports imply isn't stated.
"""

from collections.abc import Sequence

import yaml

from ingress_manager.core.annotations import HTTP, Route
from ingress_manager.core.errors import Problem
from ingress_manager.core.kubernetes import Service
from ingress_manager.core.policy import NamespacePolicy
from ingress_manager.core.ports import find_ports, infer_port, tcp_ports

DEFAULT_TYPE = "Prefix"


def annotations_for(  # noqa: PLR0913 - each is one of the annotations
    service: Service,
    routes: Sequence[Route],
    here: NamespacePolicy,
    *,
    ingress_class: str | None = None,
    tls: bool = False,
    secret: str | None = None,
) -> dict[str, str]:
    """Return the ingress/… annotations of `service` that ask for `routes`, each of which has a host and a path.

    A class of None leaves the class to the settings. So does a secret of None, and a port of None to the Service.
    """
    found = {HTTP.key: "true", **of_routes(service, routes, here)}
    if ingress_class is not None and ingress_class != here.ingress_class:
        found["ingress/class"] = ingress_class
    if tls and secret is not None and secret != here.default_secret(service.metadata.name):
        found["ingress/tls-secret"] = secret
    elif tls != here.tls:
        found["ingress/tls"] = "true" if tls else "false"
    return found


def of_routes(service: Service, routes: Sequence[Route], here: NamespacePolicy) -> dict[str, str]:
    """Return the annotations that ask for the routes: as few and as short ones as can say it."""
    by_host: dict[str, list[Route]] = {}
    for route in routes:
        by_host.setdefault(route.host or "", []).append(Route(None, route.path, route.path_type, route.port))
    first, *others = by_host.values()
    alike = all(paths == first for paths in others)
    ports = {route.port for route in routes}
    found = {}
    if alike and [*by_host] != [here.default_host(service.metadata.name)]:
        found["ingress/host"] = ", ".join(by_host)
    listed = first if alike else routes
    if len(listed) > 1:
        found["ingress/routes"] = as_text([fields_of(route, port=len(ports) > 1) for route in listed])
    else:
        if (path := listed[0].path or "/") != "/":
            found["ingress/path"] = path
        if (path_type := listed[0].path_type or DEFAULT_TYPE) != DEFAULT_TYPE:
            found["ingress/path-type"] = path_type
    for port in ports if len(ports) == 1 else ():
        if port is not None and not is_inferred(service, port):
            found["ingress/port"] = port
    return found


def fields_of(route: Route, *, port: bool) -> dict[str, str]:
    """Return the fields of one route of ingress/routes; `port` says whether it states the port."""
    path_type = None if route.path_type == DEFAULT_TYPE else route.path_type
    fields = {"host": route.host, "path": route.path, "pathType": path_type, "port": route.port if port else None}
    return {field: value for field, value in fields.items() if value is not None}


def as_text(routes: list[dict[str, str]]) -> str:
    """Return the routes in one line of YAML."""
    text: str = yaml.safe_dump(routes, default_flow_style=True, sort_keys=False, width=float("inf"))
    return text.rstrip()


def number_of(service: Service, port: str) -> int | None:
    """Return the number of the TCP port with this name or number, None if there is none."""
    return find_ports(tcp_ports(service), {port}).get(port)


def is_inferred(service: Service, port: str) -> bool:
    """Return whether ingress-manager chooses the port with this name or number by itself."""
    try:
        return number_of(service, port) == infer_port(service, tcp_ports(service))
    except Problem:
        return False
