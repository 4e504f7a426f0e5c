"""The ports: which of a Service's ports serve HTTP."""

import re
from collections.abc import Collection, Sequence

from ingress_manager.core import refusals
from ingress_manager.core.annotations import Stated
from ingress_manager.core.errors import Problem, Problems
from ingress_manager.core.kubernetes import Service, ServicePort


def choose_ports(service: Service, stated: Stated, problems: Problems) -> dict[str | None, int]:
    """Return the number of the port of each route, by what the route states: a name, a number, or None for nothing.

    Left out is a name or a number that the Service doesn't have, of which the caller tells; and None when no port can
    be chosen, the reason of which is added to `problems`.
    """
    asked_for = {route.port for route in stated.routes}
    ports: dict[str | None, int] = {}
    ports.update(find_ports(tcp_ports(service), asked_for))
    if None in asked_for and (shared := choose_shared_port(service, stated, problems)) is not None:
        ports[None] = shared
    return ports


def choose_shared_port(service: Service, stated: Stated, problems: Problems) -> int | None:
    """Return the number of the port of the routes that state none: that of ingress/port, else the one that is inferred.

    None: there is no such port, the reason of which is added to `problems`.
    """
    tcp = tcp_ports(service)
    if stated.port is not None:
        if found := find_ports(tcp, (stated.port,)):
            return found[stated.port]
        problems.add(refusals.unknown_port("ingress/port:", "ingress/port", stated.port, service.ports, by_target(tcp)))
    elif not stated.has_wrong("ingress/port"):
        try:
            return infer_port(service, tcp)
        except Problem as problem:
            problems.add(problem)
    return None


def tcp_ports(service: Service) -> list[ServicePort]:
    """Return the ports that can serve HTTP."""
    return [port for port in service.ports if port.protocol == "TCP"]


def find_ports(ports: Sequence[ServicePort], asked_for: Collection[str | None]) -> dict[str, int]:
    """Return the number of each port that is asked for, by its name or number. One pass: there can be 40,000 ports."""
    found: dict[str, int] = {}
    for port in ports:
        for key in (port.name, str(port.port)):
            if key is not None and key in asked_for:
                found.setdefault(key, port.port)
    return found


def by_target(tcp: Sequence[ServicePort]) -> dict[str, ServicePort]:
    """Return the ports by the name or number of their targetPort, which people take for the port's; the first wins."""
    return {str(port.target_port): port for port in reversed(tcp) if port.target_port is not None}


def infer_port(service: Service, tcp: Sequence[ServicePort]) -> int:
    """Return the port that serves HTTP when nothing says which: the only one, or the one that looks like it.

    That is the one named http, else the one with the appProtocol http, else number 80. Raises Problem.
    """
    if not tcp:
        raise refusals.no_port(service.ports)
    if len(tcp) == 1:
        if speaks_https(tcp[0]):
            raise refusals.https_port(tcp[0])
        return tcp[0].port
    for like_http in (
        [port for port in tcp if port.name == "http"],
        [port for port in tcp if port.app_protocol == "http"],
        [port for port in tcp if port.port == 80],
    ):
        if len(like_http) == 1:
            return like_http[0].port
    raise refusals.ambiguous_port(service.ports)


def speaks_https(port: ServicePort) -> bool:
    """Return whether a port says that it speaks HTTPS: by its appProtocol, else by its name, else by its number.

    Source: the Kubernetes API reference, ServicePort: an appProtocol is a name that IANA knows, in any case.
    """
    if port.app_protocol:
        return port.app_protocol.lower() == "https"
    return bool(_OF_HTTPS.search(port.name)) if port.name else port.port == 443


_OF_HTTPS = re.compile(r"^(?:https|tls)(?![a-z])|(?:https|tls)$")
"""The name of a port that speaks HTTPS, as people write it: https, https-web, web-tls; but not httpserver."""
