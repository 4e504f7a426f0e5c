"""Ingresses: what the spec of one says of a Service."""

from collections.abc import Iterable

from ingress_manager.core.annotations import Route
from ingress_manager.core.kubernetes import IngressSpec


def services_of(spec: IngressSpec) -> list[str]:
    """Return the names of the Services that the paths lead to, each once."""
    return list(dict.fromkeys(path.backend.service.name for _, path in spec.paths() if path.backend.service))


def routes_to(service: str, spec: IngressSpec) -> list[Route]:
    """Return the paths that lead to a Service, as the annotation ingress/routes has them.

    Those of every host are left out: no annotation can say that.
    """
    return [
        Route(host, path.path or "/", path.path_type, str(backend.port))
        for host, path in spec.paths()
        if host and (backend := path.backend.service) and backend.name == service
    ]


def tls_of(hosts: Iterable[str], spec: IngressSpec) -> tuple[bool, str | None]:
    """Return whether one of the hosts has TLS, and the first Secret that is stated for one of them."""
    entries = [entry for entry in spec.tls or () if not entry.hosts or set(entry.hosts).intersection(hosts)]
    return bool(entries), next((entry.secret_name for entry in entries if entry.secret_name), None)
