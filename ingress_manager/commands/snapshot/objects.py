"""The objects that are made for Services, whoever made them, and what each leads to."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from ingress_manager.commands.snapshot import managed
from ingress_manager.commands.snapshot.items import INGRESS, SERVICE, Item, Unreadable, about, at, mappings
from ingress_manager.core import kubernetes
from ingress_manager.core.kubernetes import API_VERSIONS, Attachment, Key, Object
from ingress_manager.core.rules import location
from ingress_manager.core.shape import FieldError, converted
from ingress_manager.core.text import listed
from ingress_manager.core.vocabulary import OLD_CLASS

T = TypeVar("T", bound=msgspec.Struct)

# The fields of an Ingress on which no decision depends, in the types of the core.


class BackendPort(msgspec.Struct, frozen=True):
    name: str | None = None
    number: int | None = None

    def __str__(self) -> str:
        """Return what the annotation ingress/port says of it."""
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


class IngressRule(kubernetes.Rule, frozen=True):
    http: IngressPaths | None = None


class IngressTls(kubernetes.Tls, rename="camel", frozen=True):
    secret_name: str | None = None

    def __str__(self) -> str:
        """Return what a person calls the source of the certificate."""
        return f"Secret {self.secret_name}" if self.secret_name else "the controller's certificate"


class IngressSpec(kubernetes.Spec, frozen=True):
    default_backend: Backend | None = None
    tls: tuple[IngressTls, ...] | None = None
    rules: tuple[IngressRule, ...] | None = None

    def paths(self) -> Iterator[tuple[str, IngressPath]]:
        """Yield the host and each path of the rules; the host "" stands for every host."""
        for rule in self.rules or ():
            for path in rule.http.paths if rule.http else ():
                yield rule.host, path


class Ingress(Attachment, frozen=True):
    spec: IngressSpec


def as_spec(item: Item) -> IngressSpec:
    """Return the typed spec of an Ingress. Raises Unreadable for what the API server would not take either."""
    return as_type(item, Ingress).spec


def as_type(item: Item, type_: type[T]) -> T:
    """Return an object as a type. Raises Unreadable about the first field that is of another one, at its line."""
    metadata = {**item.metadata, "namespace": item.namespace, "uid": str(item.metadata.get("uid") or "")}
    object_ = {**item.object, "metadata": metadata}
    with suppress(msgspec.ValidationError):
        return msgspec.convert(object_, type_)
    try:
        found: T = converted(without_nulls(object_), type_)
    except FieldError as error:
        wrong = about(item, f"is no valid {item.kind}: {error.sentence}", *error.path)
        raise Unreadable([wrong]) from error
    return found


def without_nulls(stated: Any) -> Any:
    """Return a value without its fields that are null: the API server takes them as left out."""
    if isinstance(stated, list):
        return [without_nulls(each) for each in stated]
    if isinstance(stated, dict):
        return {key: without_nulls(value) for key, value in stated.items() if value is not None}
    return stated


TYPES: dict[str, type[Attachment]] = {**dict.fromkeys(API_VERSIONS, Attachment), INGRESS: Ingress}
"""Those of the objects that are made for Services, by their kinds."""


@dataclass(frozen=True, slots=True)
class ObjectSnapshot:
    """An object of one of TYPES, whoever made it."""

    kind: str
    item: Item
    typed: Attachment
    owner: Object
    """The owner reference of the object that controls it; empty when none does."""

    is_marked: bool
    looks_ours: bool
    """Whether it says that it was made by ingress-manager."""

    @property
    def key(self) -> Key:
        return self.kind, self.item.full_name

    @property
    def owner_uid(self) -> str:
        """Return the uid of the object that controls it; empty when none does."""
        return str(self.owner.get("uid") or "")

    @property
    def service(self) -> str:
        """Return the Service that controls it, as namespace/name; empty when none does."""
        is_service = (self.owner.get("apiVersion"), self.owner.get("kind")) == ("v1", "Service")
        return f"{self.item.namespace}/{self.owner.get('name')}" if is_service else ""

    def __str__(self) -> str:
        return str(self.item)


def as_object(item: Item) -> ObjectSnapshot:
    """Return the typed object. Raises Unreadable for what the API server would not take."""
    found = as_type(item, TYPES[item.kind])
    owner, is_marked = managed.controller_of(item), managed.is_marked(item)
    return ObjectSnapshot(item.kind, item, found, owner, is_marked, is_marked or managed.is_labelled(item))


def deletion_of(item: Item) -> str:
    """Return what is said of an object that is being deleted: since when, and what holds it; empty of another."""
    if not item.is_being_deleted:
        return ""
    found = item.metadata.get("finalizers")
    held_by = listed(found) if isinstance(found, list) and found else "nothing"
    return f"{item} is being deleted since {item.metadata['deletionTimestamp']}; held by {held_by}"


def backends_of(each: ObjectSnapshot) -> list[tuple[str, str]]:
    """Return the kind and the name of what an object leads to, each once; a ListenerSet to nothing by itself."""
    if isinstance(each.typed, Ingress):
        spec = each.typed.spec
        backends = [path.backend for _, path in spec.paths()] + ([spec.default_backend] if spec.default_backend else [])
        refs = [{"name": backend.service.name} if backend.service else backend.resource or {} for backend in backends]
    else:
        rules = mappings(at(each.item, "spec", "rules"))
        refs = [ref for rule in rules for ref in mappings(at(rule, "backendRefs"))]
    return list(dict.fromkeys((str(ref.get("kind", SERVICE)), str(ref.get("name"))) for ref in refs))


def secrets_of(each: ObjectSnapshot) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the Secrets that an Ingress or a ListenerSet names, each with the hosts for which its certificate is."""
    if isinstance(each.typed, Ingress):
        # Without a name, the controller's default certificate is meant.
        yield from ((entry.secret_name, entry.hosts or ()) for entry in each.typed.spec.tls or () if entry.secret_name)
    for listener in mappings(at(each.item, "spec", "listeners")):
        hosts = [str(listener["hostname"])] if listener.get("hostname") else []
        yield from ((str(ref.get("name")), hosts) for ref in mappings(at(listener, "tls", "certificateRefs")))


Place = tuple[str, str, bool]
"""A host, empty for every one, a path, and whether it is exact."""


def places_of(spec: IngressSpec) -> Iterator[Place]:
    """Yield what an Ingress answers, a path or the default backend each."""
    for host, path in spec.paths():
        yield location(host, path.path or "/", path.path_type)
    if spec.default_backend:
        yield location("", "/", "Prefix")


def class_of(item: Item, spec: kubernetes.Spec) -> str:
    """Return the class of an Ingress; empty for the cluster's default."""
    return spec.ingress_class_name or item.annotations.get(OLD_CLASS, "")


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
    found = (certificate_of(rule.host, spec) for rule in spec.rules or ())
    return list(dict.fromkeys(filter(None, found)))


def covers(host: str, hosts: Collection[str]) -> bool:
    """Return whether a certificate for a host, which may be a wildcard, holds for one of the hosts."""
    return host in hosts or (host.startswith("*.") and any(each.partition(".")[2] == host[2:] for each in hosts))


def part(spec: IngressSpec, service: str) -> IngressSpec:
    """Return a spec with only the rules that lead to one Service, and the certificates for their hosts."""
    rules = []
    for rule in spec.rules or ():
        leading = rule.http.paths if rule.http else ()
        paths = tuple(path for path in leading if path.backend.service and path.backend.service.name == service)
        if paths:
            rules.append(IngressRule(host=rule.host, http=IngressPaths(paths)))
    hosts, every = {rule.host for rule in rules}, {rule.host for rule in spec.rules or ()}
    tls = tuple(
        msgspec.structs.replace(entry, hosts=own or None)
        for entry in spec.tls or ()
        if (own := tuple(host for host in entry.hosts or () if covers(host, hosts) or not covers(host, every)))
        or not entry.hosts
    )
    return msgspec.structs.replace(spec, rules=tuple(rules) or None, tls=tls or None)
