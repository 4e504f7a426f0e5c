"""The ports: which of a Service's ports serve HTTP."""

from collections.abc import Container, Iterable, Sequence

from ingress_manager.core import refusals
from ingress_manager.core.annotations import Route, Wishes
from ingress_manager.core.errors import Problem, Problems
from ingress_manager.core.kubernetes import Service, ServicePort


def choose_ports(
    service: Service, wishes: Wishes, routes: Sequence[Route], problems: Problems
) -> tuple[int | None, dict[str, int]]:
    """Return the port for the routes that state none, and each port that is asked for, by its name or number.

    The first is None when no route needs it, and when it can't be chosen; the reason is then added to `problems`.
    """
    tcp = [port for port in service.ports if port.protocol == "TCP"]
    asked_for = {wishes.port, *[route.port for route in routes]}
    ports = find_ports(tcp, asked_for) if asked_for != {None} else {}
    without_port = [route for route in routes if route.port is None]
    if not without_port or wishes.has_wrong("ingress/port"):
        return None, ports
    if wishes.port is None:
        try:
            return infer_port(service, tcp), ports
        except Problem as problem:
            problems.add(problem)
    elif wishes.port not in ports:
        problems.add(refusals.unknown_port("ingress/port:", "ingress/port", wishes.port, service.ports))
    return ports.get(wishes.port or ""), ports


def find_ports(ports: Iterable[ServicePort], asked_for: Container[str | None]) -> dict[str, int]:
    """Return the number of each port that is asked for, by its name or number. One pass: there can be 40,000 ports."""
    found: dict[str, int] = {}
    for port in ports:
        for key in (port.name, str(port.port)):
            if key is not None and key in asked_for:
                found.setdefault(key, port.port)
    return found


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
    """Return whether a port says that it speaks HTTPS: by its appProtocol, else by its name."""
    return (port.app_protocol or port.name) == "https"
