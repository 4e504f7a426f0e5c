"""The sentences of refusals that depend on more than one value: each function returns one problem."""

from collections.abc import Sequence

from hooks.errors import Problem, Reason
from hooks.kubernetes import ServicePort
from hooks.text import listed, quoted


def external_name() -> Problem:
    """An ExternalName Service could lead to any host that the ingress controller can reach."""
    return Problem(
        "a Service of type ExternalName reaches outside its namespace and gets no Ingress (CVE-2021-25740)",
        Reason.EXTERNAL_NAME,
    )


def tls_contradiction(secret: str) -> Problem:
    """TLS is turned off, and a Secret for it is named."""
    return Problem(
        f'ingress/tls: "false" contradicts ingress/tls-secret: {quoted(secret)}; remove one of them',
        Reason.CONTRADICTION,
        "ingress/tls",
    )


def no_effect(annotation: str) -> Problem:
    """Every route states what the annotation would decide."""
    return Problem(
        f"{annotation} has no effect, because every one of ingress/routes states its own; remove it",
        Reason.CONTRADICTION,
        annotation,
    )


def duplicate_route(host: str, path: str, path_type: str) -> Problem:
    """Two routes have the same host, path and path type."""
    return Problem(
        f"ingress/routes: {host}{path} ({path_type}) is stated twice", Reason.DUPLICATE_ROUTE, "ingress/routes"
    )


def unknown_port(origin: str, annotation: str, wished: str, ports: Sequence[ServicePort]) -> Problem:
    """The Service has no such port; `origin` says where it is asked for."""
    return Problem(
        f"{origin} {quoted(wished)} is not a TCP port of this Service; it has {described(ports)}",
        Reason.UNKNOWN_PORT,
        annotation,
    )


def no_port(ports: Sequence[ServicePort]) -> Problem:
    """The Service has no TCP port, and HTTP needs one."""
    return Problem(f"this Service has no TCP port to send HTTP to; it has {described(ports)}", Reason.NO_PORT)


def ambiguous_port(ports: Sequence[ServicePort]) -> Problem:
    """Several ports could serve HTTP."""
    return Problem(
        f"ingress/port is needed to say which port serves HTTP; this Service has {described(ports)}",
        Reason.AMBIGUOUS_PORT,
        "ingress/port",
    )


def invalid_default_host(host: str, problem: Problem) -> Problem:
    """The settings' template makes a host that can't be one."""
    return Problem(
        f"ingress/host is needed: the settings' default {quoted(host)} {problem.sentence}",
        Reason.INVALID_DEFAULT_HOST,
        "ingress/host",
    )


def host_not_allowed(
    origin: str, annotation: str, refused: Sequence[str], namespace: str, allowed: Sequence[str]
) -> Problem:
    """The settings don't allow the hosts; `origin` says where they are asked for."""
    return Problem(
        f"{origin} {listed(refused, quoted)} may not be claimed; "
        f"allowed in namespace {namespace}: {listed(allowed) or 'none'}",
        Reason.HOST_NOT_ALLOWED,
        annotation,
    )


def too_many_paths(count: int, most: int) -> Problem:
    """Every host of ingress/host gets every route that states no host, so there can be many paths."""
    return Problem(
        f"ingress/host and ingress/routes together make {count} paths; {most} is the most",
        Reason.TOO_LARGE,
        "ingress/routes",
    )


def too_large(kind: str, size: int, most: int) -> Problem:
    """The object and the copy of it that Metacontroller keeps would be more than Kubernetes stores."""
    return Problem(f"the {kind} would have {size} bytes; {most} is the most", Reason.TOO_LARGE)


def described(ports: Sequence[ServicePort]) -> str:
    """Return the ports as a person would list them: `web (80), dns (53 UDP)`."""
    return listed(ports, described_port) or "no ports"


def described_port(port: ServicePort) -> str:
    """Return one port as a person would write it."""
    number = f"{port.port}" if port.protocol == "TCP" else f"{port.port} {port.protocol}"
    return f"{port.name} ({number})" if port.name else number
