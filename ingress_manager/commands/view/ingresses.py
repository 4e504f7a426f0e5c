"""Ingresses: what the spec of one says of a Service."""

from collections.abc import Collection, Iterator

from ingress_manager.commands.reading.manifests import Item
from ingress_manager.core.annotations import Route
from ingress_manager.core.kubernetes import Backend, IngressSpec, IngressTls
from ingress_manager.core.rules import location
from ingress_manager.core.syntax import EVERY_HOST
from ingress_manager.core.vocabulary import NGINX, OLD_CLASS

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


def is_canary(item: Item) -> bool:
    """Return whether an Ingress is a canary of ingress-nginx: it has to state what the one beside it states."""
    return item.annotations.get(f"{NGINX}canary", "").lower() == "true"


def routes_to(service: str, spec: IngressSpec) -> list[Route]:
    """Return the paths that lead to a Service, as the annotation ingress/routes has them."""
    return [
        Route(host or EVERY_HOST, path.path or "/", path.path_type, str(backend.port))
        for host, path in spec.paths()
        if (backend := path.backend.service) and backend.name == service
    ]


def certificate_of(host: str, spec: IngressSpec) -> IngressTls | None:
    """Return the entry by which a host of the rules has its certificate, without hosts; None: it has no TLS.

    One that names it goes before a wildcard, and that before one without hosts.
    """
    entries = spec.tls or ()
    named = [entry for entry in entries if host in (entry.hosts or ())]
    around = [entry for entry in entries if host and any(covers(each, (host,)) for each in entry.hosts or ())]
    found = next(iter([*named, *around, *(entry for entry in entries if not entry.hosts)]), None)
    return found and IngressTls(secret_name=found.secret_name)


def certificates_of(spec: IngressSpec) -> list[IngressTls]:
    """Return the entries by which the hosts of the rules have their certificates, without hosts, each once."""
    found: list[IngressTls] = []
    for rule in spec.rules or ():
        entry = certificate_of(rule.host, spec)
        found += [entry] if entry and entry not in found else []
    return found


def secret_called(name: str | None) -> str:
    """Return what a person calls the source of a certificate."""
    return f"Secret {name}" if name else "the controller's certificate"


def covers(host: str, hosts: Collection[str]) -> bool:
    """Return whether a certificate for a host, which may be a wildcard, holds for one of the hosts."""
    return host in hosts or (host.startswith("*.") and any(each.partition(".")[2] == host[2:] for each in hosts))


def overlap(*hosts: str) -> bool:
    """Return whether a host can be both of two, each of which may be a wildcard or "", for every host."""
    one, other = sorted((host.removeprefix("*") for host in hosts), key=len)
    return one in ("", other) or (one.startswith(".") and other.endswith(one))
