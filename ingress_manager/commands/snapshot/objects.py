"""The backends, Secrets, hosts and paths of Ingresses, HTTPRoutes and ListenerSets, no matter who created them."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from ingress_manager.commands.snapshot import managed
from ingress_manager.commands.snapshot.items import INGRESS, SERVICE, Item, Message, Unreadable, at, mappings
from ingress_manager.core import kubernetes
from ingress_manager.core.kubernetes import API_VERSIONS, Attachment, Key, Object
from ingress_manager.core.rules import claim_key
from ingress_manager.core.shape import FieldError, convert
from ingress_manager.core.text import listed
from ingress_manager.core.vocabulary import OLD_CLASS

T = TypeVar("T", bound=msgspec.Struct)

# The core's types, extended by Ingress fields on which no decision depends.


class BackendPort(msgspec.Struct, frozen=True):
    name: str | None = None
    number: int | None = None

    def __str__(self) -> str:
        return self.name or str(self.number)


class ServiceBackend(msgspec.Struct, frozen=True):
    name: str
    port: BackendPort = BackendPort()


class Backend(msgspec.Struct, frozen=True):
    service: ServiceBackend | None = None
    resource: Object | None = None


class IngressPath(kubernetes.IngressPath, frozen=True, kw_only=True):
    backend: Backend


class IngressPaths(kubernetes.IngressPaths, frozen=True):
    paths: tuple[IngressPath, ...]


class IngressRule(kubernetes.ObservedRule, frozen=True):
    http: IngressPaths | None = None


class IngressTls(kubernetes.IngressTls, rename="camel", frozen=True):
    secret_name: str | None = None

    def __str__(self) -> str:
        return f"Secret {self.secret_name}" if self.secret_name else "the controller's certificate"


class IngressSpec(kubernetes.Spec, frozen=True):
    default_backend: Backend | None = None
    tls: tuple[IngressTls, ...] | None = None
    rules: tuple[IngressRule, ...] | None = None

    def paths(self) -> Iterator[tuple[str, IngressPath]]:
        """Yield (host, path) for each path of the rules; the host "" means every host."""
        for rule in self.rules or ():
            for path in rule.http.paths if rule.http else ():
                yield rule.host, path


class Ingress(Attachment, frozen=True):
    spec: IngressSpec


def as_spec(item: Item) -> IngressSpec:
    """Return an Ingress's spec as an IngressSpec. Raises Unreadable if the API server would reject the spec."""
    return as_type(item, Ingress).spec


def as_type(item: Item, type_: type[T]) -> T:
    """Convert an object to `type_`. Raises Unreadable with the line of the first field that has a wrong type."""
    metadata = {**item.metadata, "namespace": item.namespace, "uid": str(item.metadata.get("uid") or "")}
    obj = {**item.object, "metadata": metadata}
    with suppress(msgspec.ValidationError):
        return msgspec.convert(obj, type_)
    try:
        typed: T = convert(without_nulls(obj), type_)
    except FieldError as error:
        raise Unreadable([Message(item, f"invalid {item.kind}: {error.sentence}", field=error.path)]) from error
    return typed


def without_nulls(value: Any) -> Any:
    """Return a value without fields that are null, which the API server treats as missing."""
    if isinstance(value, list):
        return [without_nulls(entry) for entry in value]
    if isinstance(value, dict):
        return {key: without_nulls(field) for key, field in value.items() if field is not None}
    return value


TYPES: dict[str, type[Attachment]] = {**dict.fromkeys(API_VERSIONS, Attachment), INGRESS: Ingress}
"""The types of the objects that the hook creates, by kind."""


@dataclass(frozen=True, slots=True)
class ObjectSnapshot:
    """An Ingress, HTTPRoute or ListenerSet that was read, whoever created it."""

    kind: str
    item: Item
    typed: Attachment
    owner: Object
    is_decorated: bool
    looks_managed: bool  # it has our label or annotation, even if no Service owns it

    @property
    def key(self) -> Key:
        return self.kind, self.item.full_name

    @property
    def owner_uid(self) -> str:
        return str(self.owner.get("uid") or "")

    @property
    def service(self) -> str:
        """Return the namespace/name of the Service that controls the object; empty if none does."""
        is_service = (self.owner.get("apiVersion"), self.owner.get("kind")) == ("v1", "Service")
        return f"{self.item.namespace}/{self.owner.get('name')}" if is_service else ""


def as_object(item: Item) -> ObjectSnapshot:
    """Return an item as an ObjectSnapshot. Raises Unreadable if the API server would reject the object."""
    typed = as_type(item, TYPES[item.kind])
    owner, is_decorated = managed.controller_of(item), managed.is_decorated(item)
    return ObjectSnapshot(item.kind, item, typed, owner, is_decorated, is_decorated or managed.is_labelled(item))


def deletion_of(item: Item) -> str:
    """Return a message with the deletion time and finalizers if an object is being deleted, or "" if it isn't."""
    if not item.is_being_deleted:
        return ""
    finalizers = item.metadata.get("finalizers")
    held_by = f"finalizer {listed(finalizers)}" if isinstance(finalizers, list) and finalizers else "no finalizer"
    return f"{item} has been terminating since {item.metadata['deletionTimestamp']}, held by {held_by}"


def backends_of(obj: ObjectSnapshot) -> list[tuple[str, str]]:
    """Return the distinct backends of an object, as (kind, name); a ListenerSet has none."""
    return list(dict.fromkeys((str(ref.get("kind", SERVICE)), str(ref.get("name"))) for ref in _backend_refs(obj)))


def ports_of(obj: ObjectSnapshot) -> set[int]:
    return {port for ref in _backend_refs(obj) if isinstance(port := ref.get("port"), int)}


def _backend_refs(obj: ObjectSnapshot) -> list[Object]:
    """Return the backends of an object in the format of an HTTPRoute's backendRefs."""
    if not isinstance(obj.typed, Ingress):
        return [ref for rule in mappings(at(obj.item, "spec", "rules")) for ref in mappings(at(rule, "backendRefs"))]
    backends = [*(path.backend for _, path in obj.typed.spec.paths()), obj.typed.spec.default_backend or Backend()]
    refs = [{"name": to.name, "port": to.port.number} for backend in backends if (to := backend.service)]
    return refs + [backend.resource for backend in backends if backend.resource]


def secrets_of(obj: ObjectSnapshot) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield each Secret that an Ingress or a ListenerSet names, with the hosts that its certificate must cover."""
    if isinstance(obj.typed, Ingress):
        # An entry without a Secret uses the controller's default certificate.
        yield from ((entry.secret_name, entry.hosts or ()) for entry in obj.typed.spec.tls or () if entry.secret_name)
    for listener in mappings(at(obj.item, "spec", "listeners")):
        hosts = [str(listener["hostname"])] if listener.get("hostname") else []
        yield from ((str(ref.get("name")), hosts) for ref in mappings(at(listener, "tls", "certificateRefs")))


ClaimKey = tuple[str, str, bool]
"""(host, path, whether the path is exact); an empty host means every host."""


def claim_keys(spec: IngressSpec) -> Iterator[ClaimKey]:
    """Yield the hosts and paths that an Ingress serves. A default backend serves every host with the path prefix /."""
    for host, path in spec.paths():
        yield claim_key(host, path.path or "/", path.path_type)
    if spec.default_backend:
        yield claim_key("", "/", "Prefix")


def class_of(item: Item, spec: kubernetes.Spec) -> str:
    """Return the class of an Ingress; empty if it uses the cluster's default."""
    return spec.ingress_class_name or item.annotations.get(OLD_CLASS, "")


def certificate_of(host: str, spec: IngressSpec) -> IngressTls | None:
    """Return the tls entry for a rule's host, reduced to the Secret's name, or None if no entry applies."""
    entries = spec.tls or ()
    exact = [entry for entry in entries if host in (entry.hosts or ())]
    wildcards = [entry for entry in entries if host and any(covers(name, (host,)) for name in entry.hosts or ())]
    # An entry that names the host takes precedence over a wildcard, and a wildcard over an entry without hosts.
    entry = next(iter([*exact, *wildcards, *(entry for entry in entries if not entry.hosts)]), None)
    return entry and IngressTls(secret_name=entry.secret_name)


def certificates_of(spec: IngressSpec) -> list[IngressTls]:
    """Return the distinct tls entries for the hosts of all rules, each reduced to the Secret's name."""
    return list(dict.fromkeys(filter(None, (certificate_of(rule.host, spec) for rule in spec.rules or ()))))


def covers(host: str, hosts: Collection[str]) -> bool:
    """Return whether a certificate for `host`, which may be a wildcard, covers any of `hosts`."""
    return host in hosts or (host.startswith("*.") and any(name.partition(".")[2] == host[2:] for name in hosts))


def spec_for(spec: IngressSpec, service: str) -> IngressSpec:
    """Return `spec` with only the paths to the Service `service`, without tls hosts that covered only removed rules."""
    rules = []
    for rule in spec.rules or ():
        paths = rule.http.paths if rule.http else ()
        if kept := tuple(path for path in paths if path.backend.service and path.backend.service.name == service):
            rules.append(IngressRule(host=rule.host, http=IngressPaths(kept)))
    hosts, all_hosts = {rule.host for rule in rules}, {rule.host for rule in spec.rules or ()}
    tls = []
    for entry in spec.tls or ():
        names = tuple(host for host in entry.hosts or () if covers(host, hosts) or not covers(host, all_hosts))
        if names or not entry.hosts:
            tls.append(msgspec.structs.replace(entry, hosts=names or None))
    return msgspec.structs.replace(spec, rules=tuple(rules) or None, tls=tuple(tls) or None)
