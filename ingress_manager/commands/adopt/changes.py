"""The changes that adoption would make to an Ingress because annotations can't reproduce all its fields."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from ingress_manager.commands.snapshot.items import Item
from ingress_manager.commands.snapshot.objects import IngressPath, IngressSpec, as_spec, certificate_of, covers
from ingress_manager.core.annotations import PREFIX
from ingress_manager.core.copying import MANAGED_BY_LABEL
from ingress_manager.core.kubernetes import Object, Service
from ingress_manager.core.text import quoted
from ingress_manager.core.vocabulary import OLD_CLASS

CERT_MANAGER_KEYS = ("cert-manager.io/", "certmanager.k8s.io/", "kubernetes.io/tls-acme")
"""Prefixes of annotations that make cert-manager create a Certificate, which the Ingress owns. Source: cert-manager's
documentation, "Annotated Ingress resource"."""

CLASS_FIELD = "spec.ingressClassName"


@dataclass(frozen=True, slots=True)
class Change:
    """A field of an Ingress that adoption would change, with the values before and after."""

    field: str
    """The field's path, such as spec.rules.http.paths.path. It has no indices, as in `kubectl explain ingress`."""

    before: str  # "" if the field is missing
    after: str
    is_served_alike: bool = False  # whether requests are served the same before and after the change

    def __str__(self) -> str:
        if not self.before:
            return f"{self.field}: would be set to {self.after}"
        return f"{self.field}: {self.before} would {f'become {self.after}' if self.after else 'be removed'}"


def changes_of(service: Service, observed: IngressSpec, item: Item, desired: Object) -> Iterator[Change]:
    """Yield the changes from `item` to `desired`. `observed` is the part of `item`'s spec that routes to `service`."""
    spec = as_spec(Item(desired))
    if observed.ingress_class_name != spec.ingress_class_name:
        old = item.annotations.get(OLD_CLASS)
        before = f"{quoted(old)} (annotation {OLD_CLASS})" if old else _text(observed.ingress_class_name)
        yield Change(CLASS_FIELD, before, _text(spec.ingress_class_name))
    if (observed.tls or ()) != (spec.tls or ()):
        hosts = [rule.host for rule in observed.rules or ()]
        is_same = served_tls(item, observed, hosts) == served_tls(item, spec, hosts)
        yield Change("spec.tls", _tls(observed), _tls(spec), is_same)
    if _shape(observed) != _shape(spec):
        yield Change("spec.rules", _rules(observed), _rules(spec))
    else:
        for (host, path), (_, other) in zip(observed.paths(), spec.paths(), strict=True):
            yield from _of_path(service, f" for {host}{path.path}", path, other)
    for field, present in (("annotations", item.annotations), ("labels", item.labels)):
        for key, value in desired["metadata"].get(field, {}).items():
            if not key.startswith(PREFIX) and key != MANAGED_BY_LABEL and present.get(key) != value:
                yield Change(f"metadata.{field}.{key}", _text(present.get(key)), _text(value))


def served_tls(item: Item, spec: IngressSpec, hosts: Collection[str]) -> tuple[Any, ...]:
    """Return a value that is equal for two specs if they serve TLS alike.

    It contains the Secrets, the certificate for each of `hosts`, and the spec.tls hosts that cover none of `hosts`.
    With cert-manager annotations on `item`, it contains all spec.tls hosts: a certificate is issued for exactly those.
    """
    others = {host for entry in spec.tls or () for host in entry.hosts or ("",)}
    if not any(key.startswith(CERT_MANAGER_KEYS) for key in item.annotations):
        others = {host for host in others - {"", *hosts} if "" in hosts or not covers(host, hosts)}
    return {entry.secret_name for entry in spec.tls or ()}, [certificate_of(host, spec) for host in hosts], others


def _of_path(service: Service, suffix: str, path: IngressPath, other: IngressPath) -> Iterator[Change]:
    field = "spec.rules.http.paths"
    if path.path != other.path:
        # Prefixes match by path element, so a trailing slash makes no difference. An empty path matches every path.
        is_same = path.path.rstrip("/") == other.path.rstrip("/") and path.path_type == other.path_type == "Prefix"
        is_all = (path.path, other.path) == ("", "/") and other.path_type != "Exact"
        yield Change(f"{field}.path", f"{quoted(path.path)}{suffix}", quoted(other.path), is_same or is_all)
    if path.path_type != other.path_type:
        yield Change(f"{field}.pathType", f"{path.path_type}{suffix}", other.path_type)
    before, after = path.backend.service, other.backend.service
    if before and after and before.port != after.port:
        named = [port.port for port in service.ports if port.name and port.name == before.port.name]
        is_same = after.port.number in named
        yield Change(f"{field}.backend.service.port", f"{before.port}{suffix}", str(after.port), is_same)


def _text(value: str | None) -> str:
    return "" if value is None else quoted(value)


def _tls(spec: IngressSpec) -> str:
    return " and ".join(f"{', '.join(entry.hosts or ['*'])} with {entry}" for entry in spec.tls or ())


def _shape(spec: IngressSpec) -> list[Any]:
    """Return a spec's hosts and backends. Two specs with equal results can be compared path by path."""
    paths = [(host, path.backend.service and path.backend.service.name) for host, path in spec.paths()]
    return [*paths, *(rule.host for rule in spec.rules or ())]


def _rules(spec: IngressSpec) -> str:
    rules = [(rule.host or "*", rule.http.paths if rule.http else ()) for rule in spec.rules or ()]
    texts = (", ".join(f"{host}{path.path}" for path in paths) or f"{host} without paths" for host, paths in rules)
    return " and ".join(texts)
