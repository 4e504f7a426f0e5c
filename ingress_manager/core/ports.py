"""The ports: which of a Service's ports serve HTTP."""

import re
from collections.abc import Collection, Sequence

from ingress_manager.core.basis import Basis
from ingress_manager.core.errors import Problem, Reason
from ingress_manager.core.kubernetes import Service, ServicePort
from ingress_manager.core.text import listed, quoted

PORT = "ingress/port"


def choose_shared_port(basis: Basis) -> int | None:
    """Return the number of the port of the routes that state none: that of ingress/port, else the one that is inferred.

    None: there is no such port, the reason of which is added to the problems.
    """
    tcp, stated = tcp_ports(basis.service), basis.stated.port
    if stated is not None:
        if found := find_ports(tcp, (stated,)):
            return found[stated]
        add_unknown(basis, PORT, "", stated)
    elif not basis.has_wrong(PORT):
        inferred = infer_port(basis.service, tcp, basis.key(PORT))
        if isinstance(inferred, int):
            return inferred
        basis.problems.extend([inferred])
    return None


def tcp_ports(service: Service) -> list[ServicePort]:
    """Return the ports that can serve HTTP. The API server takes no protocol for TCP."""
    return [port for port in service.ports if port.protocol in {"TCP", ""}]


def find_ports(ports: Sequence[ServicePort], asked_for: Collection[str | None]) -> dict[str, int]:
    """Return the number of each port that is asked for, by its name or number. One pass: there can be many ports."""
    found: dict[str, int] = {}
    for port in ports:
        for key in (port.name, str(port.port)):
            if key is not None and key in asked_for:
                found.setdefault(key, port.port)
    return found


def add_unknown(basis: Basis, annotation: str, field: str, port: str) -> None:
    """Add the problem that the Service has no such port: the annotation asks for it, perhaps in a field of a route."""
    end = f"is not a TCP port of this Service; it has {listed(basis.service.ports, shown) or 'no ports'}"
    basis.add(annotation, f":{field} {quoted(port)} {end}", Reason.UNKNOWN_PORT)


def infer_port(service: Service, tcp: Sequence[ServicePort], key: str = PORT) -> int | Problem:
    """Return the port that serves HTTP when nothing says which: the only one, or the one that looks like it.

    That is the one named http, else the one with the appProtocol http, else number 80. `key` is that of ingress/port.
    """
    if len(tcp) == 1:
        return https_port(tcp[0], key) if speaks_https(tcp[0]) else tcp[0].port
    has = listed(service.ports, shown) or "no ports"
    if not tcp:
        return Problem(f"this Service has no TCP port to send HTTP to; it has {has}", Reason.NO_PORT)
    for field, of_http in (("name", "http"), ("app_protocol", "http"), ("port", 80)):
        like_http = [port.port for port in tcp if getattr(port, field) == of_http]
        if len(like_http) == 1:
            return like_http[0]
    return Problem(f"{key} is needed to say which port serves HTTP; this Service has {has}", Reason.AMBIGUOUS_PORT, key)


def https_port(port: ServicePort, key: str) -> Problem:
    """Return the problem that the only port looks like HTTPS: controllers speak HTTP unless they are told otherwise."""
    sentence = (
        f"this Service's only TCP port, {shown(port)}, seems to speak HTTPS, and ingress controllers send HTTP: "
        f'add a port for HTTP; or state {key}: "{port.port}", '
        "if it speaks HTTP, or the controller is told to send HTTPS"
    )
    return Problem(sentence, Reason.HTTPS_PORT, key)


def speaks_https(port: ServicePort) -> bool:
    """Return whether a port says that it speaks HTTPS: by its appProtocol, else by its name, else by its number.

    Source: the Kubernetes API reference, ServicePort: an appProtocol is a name that IANA knows, in any case.
    """
    if port.app_protocol:
        return port.app_protocol.lower() == "https"
    return bool(_OF_HTTPS.search(port.name)) if port.name else port.port == 443


_OF_HTTPS = re.compile(r"^(?:https|tls)(?![a-z])|(?:https|tls)$")
"""The name of a port that speaks HTTPS, as people write it: https, https-web, web-tls; but not httpserver."""


def shown(port: ServicePort) -> str:
    """Return one port as a person would write it: `web (80)`, `dns (53 UDP)`."""
    number = f"{port.port}" if port.protocol == "TCP" else f"{port.port} {port.protocol}"
    return f"{port.name} ({number})" if port.name else number
