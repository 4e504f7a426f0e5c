"""Changes: what of an Ingress annotations can't say, field by field, with what would become of it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from ingress_manager.commands.annotating.annotations import number_of
from ingress_manager.commands.reading.manifests import Item
from ingress_manager.commands.view.ingresses import certificate_of, covers, secret_called
from ingress_manager.core.annotations import PREFIX
from ingress_manager.core.copying import MANAGED_BY_LABEL
from ingress_manager.core.kubernetes import (
    Backend,
    IngressPath,
    IngressRule,
    IngressSpec,
    IngressTls,
    Object,
    Service,
    ServiceBackend,
)
from ingress_manager.core.text import quoted
from ingress_manager.core.vocabulary import OLD_CLASS

ISSUERS = ("cert-manager.io/", "certmanager.k8s.io/", "kubernetes.io/tls-acme")
"""How the keys begin by which cert-manager makes a Certificate for an Ingress, which goes with that. Source: its
documentation, "Annotated Ingress resource"."""

TLS = "spec.tls"

GOOGLE_CLASSES = ("gce", "gce-internal")
"""The values of the annotation kubernetes.io/ingress.class for Google's controller. Source: GKE, "Ingress for external
Application Load Balancers"."""


@dataclass(frozen=True, slots=True)
class Change:
    """A field of an Ingress that would not stay as it is."""

    field: str
    """As `kubectl explain ingress` names it, without numbers: spec.rules.http.paths.path."""

    sentence: str
    """What it is, and what it would become."""

    is_served_alike: bool = False
    """Whether both are the same to whoever sends a request."""


def changes(service: Service, observed: IngressSpec, item: Item, desired: Object) -> Iterator[Change]:
    """Yield what is different in the Ingress that ingress-manager makes, `desired`, from the one that is `observed`.

    `item` is the one that is observed. Those of its annotations and labels that `desired` lacks stay as they are.
    """
    spec = msgspec.convert(desired["spec"], IngressSpec)
    if observed.default_backend:
        sentence = (
            f"{_backend(observed.default_backend)} would get no more requests for hosts and paths that no rule names"
        )
        yield Change("spec.defaultBackend", sentence)
    if observed.ingress_class_name != spec.ingress_class_name:
        old = item.annotations.get(OLD_CLASS)
        needed = (
            "Google Cloud reads that annotation alone: a profile with class: null and the annotation says it"
            if old in GOOGLE_CLASSES
            else "there has to be an IngressClass of that name"
        )
        remark = f", as its annotation {OLD_CLASS} says; {needed}" if old else ""
        before, after = observed.ingress_class_name, spec.ingress_class_name
        yield _change("spec.ingressClassName", _text(before), _text(after), remark if old == after else "")
    if (observed.tls or ()) != (spec.tls or ()):
        change = _change(TLS, _tls(observed.tls), _tls(spec.tls))
        yield _served_alike(change, "certificate") if is_same_certificate(item, observed, spec) else change
    yield from _rules(service, observed, spec)
    for key, value in desired["metadata"].get("annotations", {}).items():
        if not key.startswith(PREFIX) and item.annotations.get(key) != value:
            yield _change(f"metadata.annotations.{key}", _text(item.annotations.get(key)), quoted(value))
    for key, value in desired["metadata"]["labels"].items():
        if key != MANAGED_BY_LABEL and item.labels.get(key) != value:
            yield _change(f"metadata.labels.{key}", _text(item.labels.get(key)), quoted(value))


def is_same_certificate(item: Item, observed: IngressSpec, desired: IngressSpec) -> bool:
    """Return whether all hosts of the rules keep their certificates, and no other host loses one.

    cert-manager makes one for the very hosts of an entry: where it does, these have to be the same.
    """
    hosts = {rule.host for rule in observed.rules or ()}
    by_host = [{host: certificate_of(host, spec) for host in hosts} for spec in (observed, desired)]
    stated = {host for entry in observed.tls or () for host in entry.hosts or ("",)}
    if any(key.startswith(ISSUERS) for key in item.annotations):
        rest = stated != {host for entry in desired.tls or () for host in entry.hosts or ("",)}
    else:
        rest = any(host not in hosts and ("" in hosts or not covers(host, hosts)) for host in stated - {""})
    secrets = [{entry.secret_name for entry in spec.tls or ()} for spec in (observed, desired)]
    return by_host[0] == by_host[1] and secrets[0] == secrets[1] and not rest


def _rules(service: Service, observed: IngressSpec, desired: IngressSpec) -> Iterator[Change]:
    if list(map(_shape, observed.rules or ())) != list(map(_shape, desired.rules or ())):
        yield _change("spec.rules", _shapes(observed), _shapes(desired))
        return
    for (host, path), (_, other) in zip(observed.paths(), desired.paths(), strict=True):
        yield from _paths(service, f"{host}{path.path}", path, other)


def _paths(service: Service, where: str, path: IngressPath, other: IngressPath) -> Iterator[Change]:
    at = "spec.rules.http.paths"
    if path.path != other.path:
        change = _change(f"{at}.path", quoted(path.path), quoted(other.path), f" for {where}")
        # A prefix is compared element by element: a slash at its end is none. Without a path, every one matches.
        is_same = path.path.rstrip("/") == other.path.rstrip("/") and path.path_type == other.path_type == "Prefix"
        is_all = (path.path, other.path) == ("", "/") and other.path_type != "Exact"
        yield _served_alike(change, "prefix") if is_same or is_all else change
    if path.path_type != other.path_type:
        yield _change(f"{at}.pathType", path.path_type, other.path_type, f" for {where}")
    backends = path.backend.service, other.backend.service
    yield from _port(service, f"{at}.backend.service.port", *backends, f" for {where}")


def _port(
    service: Service, field: str, before: ServiceBackend | None, after: ServiceBackend | None, where: str = ""
) -> Iterator[Change]:
    if before and after and before.port != after.port:
        same = before.port.name is not None and number_of(service, before.port.name) == after.port.number
        change = _change(field, str(before.port), str(after.port), where)
        yield _served_alike(change, "port") if same else change


def _change(field: str, before: str, after: str, *more: str) -> Change:
    return Change(field, f"{before} would become {after}{''.join(more)}")


def _served_alike(change: Change, what: str) -> Change:
    return replace(change, sentence=f"{change.sentence}, which is the same {what}", is_served_alike=True)


def _text(value: str | None) -> str:
    return "nothing" if value is None else quoted(value)


def _tls(entries: Sequence[IngressTls] | None) -> str:
    shown = [
        f"{', '.join(entry.hosts or ['every host'])} with {secret_called(entry.secret_name)}" for entry in entries or ()
    ]
    return "; ".join(shown) or "no TLS"


def _shape(rule: IngressRule) -> tuple[str, Any]:
    """Return what is the same for two rules whose paths can be compared one by one."""
    return rule.host, [
        path.backend.service and path.backend.service.name for path in rule.http.paths
    ] if rule.http else None


def _shapes(spec: IngressSpec) -> str:
    return "; ".join(map(_rule, spec.rules or ())) or "no rule"


def _rule(rule: IngressRule) -> str:
    paths = ", ".join(path.path for path in rule.http.paths) if rule.http else "no path"
    return f"{rule.host or 'every host'} ({paths})"


def _backend(backend: Backend) -> str:
    return f"Service {backend.service.name}" if backend.service else "its backend"
