"""Annotations: those of a Service that ask for given routes, a class and TLS.

It is `core.annotations.read` the other way round. What the settings and the Service's ports imply isn't stated.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import yaml

from ingress_manager.core.annotations import HTTP, Route
from ingress_manager.core.kubernetes import Service
from ingress_manager.core.namespace_policy import NamespacePolicy
from ingress_manager.core.ports import find_ports, infer_port, tcp_ports

DEFAULT_TYPE = "Prefix"

SAID = {
    *("ingress/http", "ingress/host", "ingress/path", "ingress/path-type", "ingress/port", "ingress/routes"),
    *("ingress/class", "ingress/tls", "ingress/tls-secret"),
}
"""The annotations that an Ingress says. Any other stays on its Service."""


class Asked(NamedTuple):
    """What an Ingress says, and annotations can ask for."""

    name: str
    routes: Sequence[Route]
    ingress_class: str | None
    """None leaves it to the settings."""

    tls: bool
    secret: str | None
    """None leaves it to the settings."""


def annotations_for(service: Service, asked: Asked, here: NamespacePolicy) -> dict[str, str]:
    """Return the ingress/… annotations of a Service that ask for this."""
    found = {HTTP.key: "true", **of_routes(service, asked.routes, here)}
    if asked.ingress_class is not None and asked.ingress_class != here.default_class:
        found["ingress/class"] = asked.ingress_class
    if asked.tls and asked.secret is not None and asked.secret != here.default_secret(asked.name):
        found["ingress/tls-secret"] = asked.secret
    elif asked.tls != here.tls:
        found["ingress/tls"] = "true" if asked.tls else "false"
    return found


def of_routes(service: Service, routes: Sequence[Route], here: NamespacePolicy) -> dict[str, str]:
    """Return the annotations that ask for the routes, one at least: as few and as short as can say it."""
    by_host: dict[str, list[Route]] = {}
    for route in routes:
        by_host.setdefault(route.host or "", []).append(Route(None, route.path, route.path_type, route.port))
    first = next(iter(by_host.values()))
    alike = all(paths == first for paths in by_host.values())
    listed = first if alike else routes
    ports = {route.port for route in routes}
    shared = next(iter(ports)) if len(ports) == 1 else None
    rules: dict[str, str] = {}
    if len(listed) > 1:
        rules["ingress/routes"] = as_text([fields_of(route, port=len(ports) > 1) for route in listed])
    else:
        if (path := listed[0].path or "/") != "/":
            rules["ingress/path"] = path
        if (path_type := listed[0].path_type or DEFAULT_TYPE) != DEFAULT_TYPE:
            rules["ingress/path-type"] = path_type
    if alike and [*by_host] != [here.default_host(service.metadata.name)]:
        rules = {"ingress/host": ", ".join(by_host), **rules}
    if shared is not None and not is_inferred(service, shared):
        rules["ingress/port"] = shared
    return rules


def fields_of(route: Route, *, port: bool) -> dict[str, str]:
    """Return the fields of one route of ingress/routes; `port` says whether it states the port."""
    path_type = None if route.path_type == DEFAULT_TYPE else route.path_type
    fields = {"host": route.host, "path": route.path, "pathType": path_type, "port": route.port if port else None}
    return {field: value for field, value in fields.items() if value is not None}


def as_text(members: list[dict[str, Any]]) -> str:
    text: str = yaml.safe_dump(members, default_flow_style=True, sort_keys=False, width=float("inf"))
    return text.rstrip()


def number_of(service: Service, port: str) -> int | None:
    """Return the number of the TCP port with this name or number, None if there is none."""
    return find_ports(tcp_ports(service), {port}).get(port)


def is_inferred(service: Service, port: str) -> bool:
    """Return whether ingress-manager chooses the port with this name or number by itself."""
    return number_of(service, port) == infer_port(service, tcp_ports(service))
