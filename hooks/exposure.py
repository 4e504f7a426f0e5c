"""The exposure: what policy and the Service's ports make of the wishes. All that an Ingress says is decided here."""

import msgspec

from hooks.answers import Refused
from hooks.contract import Service, ServicePort
from hooks.policy import Policy


class Exposure(msgspec.Struct, frozen=True):
    name: str
    namespace: str
    ingress_class: str | None
    host: str
    path: str
    path_type: str
    port: int


def exposure(service: Service, policy: Policy) -> Exposure:
    """Return how the Service is to be reached.

    Raises Refused (422) when it can't be: an ExternalName Service, or no port to choose.
    """
    if service.spec.type == "ExternalName":
        # It would let a namespace's user route to any host that the ingress controller can reach (CVE-2021-25740).
        raise Refused(422, "a Service of type ExternalName reaches outside its namespace and gets no Ingress")
    return Exposure(
        name=service.metadata.name,
        namespace=service.metadata.namespace,
        ingress_class=policy.ingress_class,
        host=policy.host,
        path="/",
        path_type="Prefix",
        port=choose_port(service.spec.ports or []).port,
    )


def choose_port(ports: list[ServicePort]) -> ServicePort:
    """Return the port that serves HTTP: the only TCP one, else the one named http, else by appProtocol, else 80.

    Raises Refused (422) listing the ports, when none or more than one could be meant.
    """
    tcp = [port for port in ports if port.protocol == "TCP"]
    if not tcp:
        raise Refused(422, f"this Service has no TCP port to send HTTP to; it has {describe(ports)}")
    candidates = (
        tcp,
        [port for port in tcp if port.name == "http"],
        [port for port in tcp if port.app_protocol == "http"],
        [port for port in tcp if port.port == 80],
    )
    for candidate in candidates:
        if len(candidate) == 1:
            return candidate[0]
    raise Refused(
        422,
        f"which port serves HTTP? This Service has {describe(ports)}; name one of them http",
    )


def describe(ports: list[ServicePort]) -> str:
    """Return the ports as a person would list them: `web (80), dns (53 UDP)`."""
    if not ports:
        return "no ports"
    shown = []
    for port in ports:
        number = f"{port.port}" if port.protocol == "TCP" else f"{port.port} {port.protocol}"
        shown.append(f"{port.name} ({number})" if port.name else number)
    return ", ".join(shown)
