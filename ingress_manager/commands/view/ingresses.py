"""Ingresses with all of their spec, backends included: what `adopt` reads. The hook looks at less of them.

Source: the Kubernetes API reference, Ingress v1 networking.k8s.io.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from ingress_manager.commands.printing.findings import Finding
from ingress_manager.commands.reading.manifests import Item
from ingress_manager.commands.view.services import invalid
from ingress_manager.core.annotations import Route

INGRESS = "networking.k8s.io/v1/Ingress"


class Port(msgspec.Struct, frozen=True, omit_defaults=True):
    name: str | None = None
    number: int | None = None

    def __str__(self) -> str:
        """Return what the annotation ingress/port says of it."""
        return self.name or str(self.number)


class ServiceBackend(msgspec.Struct, frozen=True, omit_defaults=True):
    name: str
    port: Port = Port()


class Backend(msgspec.Struct, frozen=True, omit_defaults=True):
    service: ServiceBackend | None = None
    resource: dict[str, Any] | None = None


class Path(msgspec.Struct, rename="camel", frozen=True, omit_defaults=True):
    path_type: str
    backend: Backend
    path: str = ""


class Paths(msgspec.Struct, frozen=True, omit_defaults=True):
    paths: tuple[Path, ...]


class Rule(msgspec.Struct, frozen=True, omit_defaults=True):
    host: str = ""
    http: Paths | None = None


class Tls(msgspec.Struct, rename="camel", frozen=True, omit_defaults=True):
    hosts: tuple[str, ...] | None = None
    secret_name: str | None = None


class Spec(msgspec.Struct, rename="camel", frozen=True, omit_defaults=True):
    """The spec of an Ingress."""

    ingress_class_name: str | None = None
    default_backend: Backend | None = None
    rules: tuple[Rule, ...] | None = None
    tls: tuple[Tls, ...] | None = None

    def paths(self) -> Iterator[tuple[str, Path]]:
        """Yield the host and the path of each rule that has paths; the host "" stands for every host."""
        for rule in self.rules or ():
            for path in rule.http.paths if rule.http else ():
                yield rule.host, path

    def services(self) -> list[str]:
        """Return the names of the Services that the paths lead to, each once."""
        return list(dict.fromkeys(path.backend.service.name for _, path in self.paths() if path.backend.service))

    def routes(self, service: str) -> list[Route]:
        """Return the paths that lead to a Service, as the annotation ingress/routes has them.

        Those of every host are left out: no annotation can say that.
        """
        return [
            Route(host, path.path or "/", path.path_type, str(backend.port))
            for host, path in self.paths()
            if host and (backend := path.backend.service) and backend.name == service
        ]

    def secret(self, hosts: Iterable[str]) -> tuple[bool, str | None]:
        """Return whether one of the hosts has TLS, and the first Secret that is stated for one of them."""
        entries = [entry for entry in self.tls or () if not entry.hosts or set(entry.hosts).intersection(hosts)]
        return bool(entries), next((entry.secret_name for entry in entries if entry.secret_name), None)


def as_spec(item: Item) -> Spec | Finding:
    """Return the typed spec of an Ingress, or the finding that says why the API server would not take it either."""
    try:
        return msgspec.convert({"spec": item.object.get("spec")}, _Ingress).spec
    except msgspec.ValidationError as error:
        return invalid(item, INGRESS, str(error))


class _Ingress(msgspec.Struct, frozen=True):
    spec: Spec
