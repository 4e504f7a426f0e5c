"""The exposure: what policy and the Service's ports make of the wishes. All that an Ingress says is decided here."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import msgspec

from hooks import policy as policies
from hooks import syntax
from hooks.answers import Refused, quoted
from hooks.contract import Service, ServicePort
from hooks.policy import Here, Policy
from hooks.wishes import Route, Wishes

NOT_COPIED = "ingress/not-copied"
"""An annotation of our Ingress: which of the Service's annotations look meant for its controller but weren't copied."""

MOST_LISTED = 10

Thing = TypeVar("Thing")


class Tls(msgspec.Struct, frozen=True):
    secret: str | None


class Exposure(msgspec.Struct, frozen=True):
    name: str
    namespace: str
    annotations: dict[str, str]
    ingress_class: str | None
    ports: dict[str, dict[tuple[str, str], int]]
    """The port by path and path type, by host, in the order first seen."""

    tls: Tls | None


class Problem(Exception):  # noqa: N818 - of a Service, not of the hook
    """One thing that a Service can't have. The text says what would be right."""


def exposure(service: Service, wishes: Wishes, policy: Policy) -> Exposure:
    """Return how the Service is to be reached.

    Raises Refused (422) with all that is wrong: with the annotations themselves, then with what they lead to.
    """
    meta = service.metadata
    here = policies.in_namespace(policy, meta.namespace)
    copied = {key: value for key, value in (meta.annotations or {}).items() if policies.copies(policy, key)}
    problems = [
        *external_name(service),
        *wishes.problems.values(),
        *contradictions(wishes),
        *(problem for key, value in copied.items() for problem in policies.copy_problems(policy, key, value)),
    ]
    ports: dict[str, dict[tuple[str, str], int]] = {}
    stated = routes(wishes)
    shared = attempt(problems, shared_hosts, service, wishes, here) if any(r.host is None for r in stated) else ()
    for route in stated:
        own = "ingress/routes: host"
        hosts = shared if route.host is None else attempt(problems, allowed, (route.host,), own, service, here)
        port = attempt(problems, choose_port, service, route, wishes)
        path = (route.path or wishes.path or "/", route.path_type or wishes.path_type or "Prefix")
        for host in hosts or ():
            if path in ports.setdefault(host, {}):
                problems.append(f"ingress/routes: {host}{path[0]} ({path[1]}) is stated twice")
            ports[host][path] = port or 0
    if problems:
        raise Refused(422, *dict.fromkeys(problems))
    return Exposure(
        name=meta.name,
        namespace=meta.namespace,
        annotations=with_not_copied(copied, meta.annotations or {}),
        ingress_class=wishes.ingress_class or here.ingress_class,
        ports=ports,
        tls=tls(wishes, policy),
    )


def attempt(problems: list[str], choose: Callable[..., Thing], *arguments: Any) -> Thing | None:
    """Return what `choose` returns; when it raises Problem, note that and return None."""
    try:
        return choose(*arguments)
    except Problem as problem:
        problems.append(str(problem))
        return None


def external_name(service: Service) -> Iterator[str]:
    """Yield why an ExternalName Service gets no Ingress: it could lead to any host that the controller can reach."""
    if service.spec.type == "ExternalName":
        yield "a Service of type ExternalName reaches outside its namespace and gets no Ingress (CVE-2021-25740)"


def contradictions(wishes: Wishes) -> Iterator[str]:
    """Yield what is asked for in vain: promise 5, nothing is ignored in silence."""
    if wishes.tls is False and wishes.tls_secret is not None:
        yield f'ingress/tls: "false" contradicts ingress/tls-secret: {quoted(wishes.tls_secret)}; remove one of them'
    for annotation, stated, field in (
        ("ingress/host", wishes.hosts, "host"),
        ("ingress/path", wishes.path, "path"),
        ("ingress/path-type", wishes.path_type, "path_type"),
        ("ingress/port", wishes.port, "port"),
    ):
        if wishes.routes and stated and all(getattr(route, field) is not None for route in wishes.routes):
            yield f"{annotation} has no effect, because every one of ingress/routes states its own; remove it"


def routes(wishes: Wishes) -> tuple[Route, ...]:
    """Return the routes of ingress/routes; the one that all other annotations make, without; none if it is wrong."""
    if "ingress/routes" in wishes.problems:
        return ()
    return wishes.routes or (Route(),)


def choose_port(service: Service, route: Route, wishes: Wishes) -> int:
    """Return the number of the TCP port that a route leads to; 0 when ingress/port is known to be wrong already.

    The one that is named or numbered; else the only one, the one named http, the one whose appProtocol is http, or 80.
    Raises Problem, listing the Service's ports.
    """
    ports = service.spec.ports or []
    tcp = [port for port in ports if port.protocol == "TCP"]
    wished = wishes.port if route.port is None else route.port
    if wished is not None:
        for port in tcp:
            if wished in {port.name, str(port.port)}:
                return port.port
        origin = "ingress/port:" if route.port is None else "ingress/routes: port"
        raise Problem(f"{origin} {quoted(wished)} is not a TCP port of this Service; it has {described(ports)}")
    if "ingress/port" in wishes.problems:
        return 0
    if not tcp:
        raise Problem(f"this Service has no TCP port to send HTTP to; it has {described(ports)}")
    if len(tcp) == 1:
        return tcp[0].port
    for meant in (
        [port for port in tcp if port.name == "http"],
        [port for port in tcp if port.app_protocol == "http"],
        [port for port in tcp if port.port == 80],
    ):
        if len(meant) == 1:
            return meant[0].port
    raise Problem(f"ingress/port is needed to say which port serves HTTP; this Service has {described(ports)}")


def shared_hosts(service: Service, wishes: Wishes, here: Here) -> tuple[str, ...]:
    """Return the hosts of the routes that state none: those of ingress/host, or the default of the settings.

    Returns none when ingress/host is known to be wrong already. Raises Problem when the policy doesn't allow one.
    """
    if wishes.hosts is not None:
        return allowed(wishes.hosts, "ingress/host:", service, here)
    if "ingress/host" in wishes.problems:
        return ()
    default = policies.host_for(here.host, service.metadata.name, service.metadata.namespace)
    if problem := syntax.host_problem(default):
        raise Problem(f"ingress/host is needed: the settings' default {quoted(default)} {problem}")
    return allowed((default,), "ingress/host is needed: the default", service, here)


def allowed(hosts: tuple[str, ...], origin: str, service: Service, here: Here) -> tuple[str, ...]:
    """Return the hosts. Raises Problem, beginning with their origin, when the policy doesn't allow one of them."""
    refused = [quoted(host) for host in hosts if not policies.allows(here.hosts, host)]
    if not refused:
        return hosts
    allowed_here = listed(here.hosts or (), MOST_LISTED) or "none"
    raise Problem(
        f"{origin} {listed(refused, MOST_LISTED)} may not be claimed; "
        f"allowed in namespace {service.metadata.namespace}: {allowed_here}"
    )


def tls(wishes: Wishes, policy: Policy) -> Tls | None:
    """Return with which Secret TLS is spoken, or None without TLS."""
    secret = wishes.tls_secret or policy.tls.secret
    wanted = wishes.tls_secret is not None or policy.tls.enabled if wishes.tls is None else wishes.tls
    return Tls(secret) if wanted else None


def with_not_copied(copied: dict[str, str], annotations: dict[str, str]) -> dict[str, str]:
    """Return the Ingress's annotations: those that are copied, and which of the Service's its owner may be missing."""
    left = sorted(key for key in annotations if key not in copied and policies.meant_for_a_controller(key))
    return {**copied, NOT_COPIED: listed(left, MOST_LISTED)} if left else copied


def described(ports: list[ServicePort]) -> str:
    """Return the ports as a person would list them: `web (80), dns (53 UDP)`."""
    return listed(ports, MOST_LISTED, show=described_port) or "no ports"


def described_port(port: ServicePort) -> str:
    """Return one port as a person would write it."""
    number = f"{port.port}" if port.protocol == "TCP" else f"{port.port} {port.protocol}"
    return f"{port.name} ({number})" if port.name else number


def listed(things: Sequence[Thing], most: int, show: Callable[[Thing], str] = str) -> str:
    """Return the things with commas between, and how many there are beyond `most`."""
    shown = ", ".join(map(show, things[:most]))
    return shown if len(things) <= most else f"{shown} and {len(things) - most} more"
