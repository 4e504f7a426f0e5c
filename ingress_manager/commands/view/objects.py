"""The objects that are made for Services, whoever made them, and what each leads to."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ingress_manager.commands.printing.messages import Message
from ingress_manager.commands.reading.kinds import (
    HTTPROUTE,
    HTTPROUTES,
    INGRESS,
    INGRESSES,
    LISTENERSET,
    LISTENERSETS,
    SERVICE,
)
from ingress_manager.commands.reading.manifests import Item, at, mappings
from ingress_manager.commands.view import managed, typed
from ingress_manager.commands.view.ingresses import backends_in
from ingress_manager.core.kubernetes import Attachment, HTTPRoute, Ingress, Key, ListenerSet, Object

TYPES: dict[str, tuple[str, type[Attachment]]] = {
    INGRESSES: (INGRESS, Ingress),
    HTTPROUTES: (HTTPROUTE, HTTPRoute),
    LISTENERSETS: (LISTENERSET, ListenerSet),
}
"""The kinds of objects that are made for Services, in the order in which `Observed` has them."""


@dataclass(frozen=True, slots=True)
class ObjectView:
    """An object of one of TYPES, whoever made it."""

    kind: str
    item: Item
    typed: Attachment
    owner: Object
    """The owner reference of the object that controls it; empty when none does."""

    is_marked: bool
    is_labelled: bool

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

    @property
    def looks_ours(self) -> bool:
        """Return whether it says that it was made by ingress-manager."""
        return self.is_marked or self.is_labelled

    def __str__(self) -> str:
        return str(self.item)


def as_object(item: Item) -> ObjectView | list[Message]:
    """Return the typed object, or the message that says why the API server would not take it."""
    kind, type_ = TYPES[item.kind]
    found: Attachment | list[Message] = typed.as_type(item, item.object, type_)
    if isinstance(found, list):
        return found
    is_marked, is_labelled = managed.is_marked(item), managed.is_labelled(item)
    return ObjectView(kind, item, found, managed.controller_of(item), is_marked, is_labelled)


def is_being_deleted(item: Item) -> bool:
    """Return whether an object is being deleted: what is still there then is held by finalizers."""
    return bool(item.metadata.get("deletionTimestamp"))


def finalizers_of(item: Item) -> list[str]:
    found = item.metadata.get("finalizers")
    return [str(name) for name in found] if isinstance(found, list) else []


Backend = tuple[str, str]
"""The kind and the name of what an object leads to."""


def backends_of(each: ObjectView) -> list[Backend]:
    """Return what an object leads to, each once; a ListenerSet to nothing by itself."""
    return list(dict.fromkeys(_of_ingress(each.typed) if isinstance(each.typed, Ingress) else _of_route(each)))


def _of_ingress(ingress: Ingress) -> Iterator[Backend]:
    backends = (each for each in backends_in(ingress.spec) if each.service or each.resource)
    for backend in backends:
        if backend.service:
            yield SERVICE, backend.service.name
        else:
            yield str(at(backend.resource, "kind")), str(at(backend.resource, "name"))


def _of_route(route: ObjectView) -> Iterator[Backend]:
    for rule in mappings(at(route.item, "spec", "rules")):
        for backend in mappings(at(rule, "backendRefs")):
            yield str(backend.get("kind", SERVICE)), str(backend.get("name"))


def certificates_of(each: ObjectView) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the Secrets that an Ingress or a ListenerSet names, each with the hosts for which its certificate is."""
    if isinstance(each.typed, Ingress):
        # Without a name, the controller's default certificate is meant.
        yield from ((entry.secret_name, entry.hosts or ()) for entry in each.typed.spec.tls or () if entry.secret_name)
    for listener in mappings(at(each.item, "spec", "listeners")):
        hosts = [str(listener["hostname"])] if listener.get("hostname") else []
        yield from ((str(ref.get("name")), hosts) for ref in mappings(at(listener, "tls", "certificateRefs")))
