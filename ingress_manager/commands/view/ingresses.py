"""Ingresses: what the spec of one says of a Service."""

from collections.abc import Collection, Iterator

from ingress_manager.commands.reading.manifests import Item
from ingress_manager.core.annotations import Certificate, Route
from ingress_manager.core.copying import OLD_CLASS
from ingress_manager.core.kubernetes import Backend, IngressSpec
from ingress_manager.core.rules import location
from ingress_manager.core.syntax import EVERY_HOST

Place = tuple[str, str, bool]
"""A host, empty for every one, a path, and whether it is exact."""


def services_of(spec: IngressSpec) -> list[str]:
    """Return the names of the Services that the paths, and then the default backend, lead to, each once."""
    return list(dict.fromkeys(backend.service.name for backend in backends_in(spec) if backend.service))


def backends_in(spec: IngressSpec) -> Iterator[Backend]:
    """Yield what the paths, and then the default backend, lead to."""
    yield from (path.backend for _, path in spec.paths())
    if spec.default_backend:
        yield spec.default_backend


def places_of(spec: IngressSpec) -> Iterator[Place]:
    """Yield what an Ingress answers, a path or the default backend each."""
    for host, path in spec.paths():
        yield location(host, path.path or "/", path.path_type)
    if spec.default_backend:
        yield location("", "/", "Prefix")


def class_of(item: Item, spec: IngressSpec) -> str:
    """Return the class of an Ingress; empty for the cluster's default."""
    return spec.ingress_class_name or item.annotations.get(OLD_CLASS, "")


def routes_to(service: str, spec: IngressSpec) -> list[Route]:
    """Return the paths that lead to a Service, as the annotation ingress/routes has them."""
    return [
        Route(host or EVERY_HOST, path.path or "/", path.path_type, str(backend.port))
        for host, path in spec.paths()
        if (backend := path.backend.service) and backend.name == service
    ]


def default_port_of(service: str, spec: IngressSpec) -> str | None:
    """Return the port of a Service that answers what no rule matches, None if the Service doesn't."""
    backend = spec.default_backend and spec.default_backend.service
    return str(backend.port) if backend and backend.name == service else None


def tls_of(hosts: Collection[str], spec: IngressSpec) -> tuple[bool, str | None]:
    """Return whether one of the hosts has TLS, and the first Secret that is stated for one of them."""
    entries = [entry for entry in spec.tls or () if not entry.hosts or any(covers(host, hosts) for host in entry.hosts)]
    return bool(entries), next((entry.secret_name for entry in entries if entry.secret_name), None)


def certificates_of(hosts: Collection[str], spec: IngressSpec) -> list[Certificate]:
    """Return the certificates, as the annotation ingress/certificates has them; `hosts` are those of the rules."""
    return [
        Certificate(None if [*dict.fromkeys(hosts)] == entry.hosts else tuple(entry.hosts or ()), entry.secret_name)
        for entry in spec.tls or ()
    ]


def covers(host: str, hosts: Collection[str]) -> bool:
    """Return whether a certificate for a host, which may be a wildcard, holds for one of the hosts."""
    return host in hosts or (host.startswith("*.") and any(each.partition(".")[2] == host[2:] for each in hosts))


def overlap(*hosts: str) -> bool:
    """Return whether a host can be both of two, each of which may be a wildcard or "", for every host."""
    one, other = sorted((host.removeprefix("*") for host in hosts), key=len)
    return one in ("", other) or (one.startswith(".") and other.endswith(one))
