"""Annotations: those of a Service that ask for given routes, a class and TLS.

It is `core.annotations.read` the other way round. What the settings and the Service's ports imply isn't stated.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
import yaml

from ingress_manager.core.annotations import HTTP, Certificate, Route
from ingress_manager.core.errors import Problem
from ingress_manager.core.kubernetes import Service
from ingress_manager.core.policy import NamespacePolicy
from ingress_manager.core.ports import find_ports, infer_port, tcp_ports

DEFAULT_TYPE = "Prefix"

SAID = {
    *("ingress/http", "ingress/host", "ingress/path", "ingress/path-type", "ingress/port", "ingress/routes"),
    *("ingress/class", "ingress/tls", "ingress/tls-secret", "ingress/certificates", "ingress/default-backend"),
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

    default_port: str | None
    """That of the default backend; None: it is none."""


def annotations_for(
    service: Service, asked: Asked, here: NamespacePolicy, certificates: Sequence[Certificate] = ()
) -> dict[str, str]:
    """Return the ingress/… annotations of a Service that ask for this; `certificates` stand in the secret's place."""
    found = {HTTP.key: "true", **of_routes(service, asked.routes, here, asked.default_port)}
    if asked.ingress_class is not None and asked.ingress_class != here.default_class:
        found["ingress/class"] = asked.ingress_class
    if certificates:
        found["ingress/certificates"] = as_text([as_fields(each) for each in certificates])
    elif asked.tls and asked.secret is not None and asked.secret != here.default_secret(asked.name):
        found["ingress/tls-secret"] = asked.secret
    elif asked.tls != here.tls:
        found["ingress/tls"] = "true" if asked.tls else "false"
    return found


def of_routes(
    service: Service, routes: Sequence[Route], here: NamespacePolicy, default_port: str | None
) -> dict[str, str]:
    """Return the annotations that ask for the routes and the default backend: as few and as short as can say it."""
    by_host: dict[str, list[Route]] = {}
    for route in routes:
        by_host.setdefault(route.host or "", []).append(Route(None, route.path, route.path_type, route.port))
    first = next(iter(by_host.values()), [])
    alike = all(paths == first for paths in by_host.values())
    listed = first if alike else routes
    ports = {route.port for route in routes}
    shared = next(iter(ports)) if len(ports) == 1 else None
    if default_port is not None:
        ports, shared = {*ports, default_port}, default_port
    rules: dict[str, str] = {}
    if len(listed) > 1 or (listed and default_port is not None and len(ports) > 1):
        rules["ingress/routes"] = as_text([fields_of(route, port=len(ports) > 1) for route in listed])
    elif listed:
        if (path := listed[0].path or "/") != "/":
            rules["ingress/path"] = path
        if (path_type := listed[0].path_type or DEFAULT_TYPE) != DEFAULT_TYPE:
            rules["ingress/path-type"] = path_type
    # Where a default backend says nothing of a rule, there is none.
    is_unsaid = default_port is not None and not rules
    if listed and alike and ([*by_host] != [here.default_host(service.metadata.name)] or is_unsaid):
        rules = {"ingress/host": ", ".join(by_host), **rules}
    if shared is not None and not is_inferred(service, shared):
        rules["ingress/port"] = shared
    return rules if default_port is None else {**rules, "ingress/default-backend": "true"}


def fields_of(route: Route, *, port: bool) -> dict[str, str]:
    """Return the fields of one route of ingress/routes; `port` says whether it states the port."""
    path_type = None if route.path_type == DEFAULT_TYPE else route.path_type
    fields = {"host": route.host, "path": route.path, "pathType": path_type, "port": route.port if port else None}
    return {field: value for field, value in fields.items() if value is not None}


def as_fields(certificate: Certificate) -> dict[str, Any]:
    fields = {"hosts": certificate.hosts, "secret": certificate.secret}
    return {field: value for field, value in msgspec.to_builtins(fields).items() if value is not None}


def as_text(members: list[dict[str, Any]]) -> str:
    text: str = yaml.safe_dump(members, default_flow_style=True, sort_keys=False, width=float("inf"))
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
