"""The inventory: the Services, Ingresses and HTTPRoutes of a cluster, and which of them belong together."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from ingress_manager.commands.printing.findings import Finding
from ingress_manager.commands.reading.manifests import Item
from ingress_manager.commands.view import ingresses, managed
from ingress_manager.commands.view.managed import CONTROLLER, DECORATOR
from ingress_manager.commands.view.services import SERVICE, as_service, invalid
from ingress_manager.core.kubernetes import Attachment, HTTPRoute, Ingress, Key, Object, Observed, Service
from ingress_manager.core.outputs.metadata import MANAGED_BY, MANAGED_BY_LABEL

INGRESS, HTTPROUTE = "Ingress", "HTTPRoute"

TYPES: dict[str, tuple[str, type[Ingress] | type[HTTPRoute]]] = {
    ingresses.INGRESS: (INGRESS, Ingress),
    managed.HTTPROUTE: (HTTPROUTE, HTTPRoute),
}
"""The kinds of objects that are made for Services."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A Service, as it was read and as it is decided on."""

    item: Item
    service: Service


@dataclass(frozen=True, slots=True)
class Made:
    """An Ingress or an HTTPRoute, whoever made it."""

    kind: str
    item: Item
    typed: Attachment
    owner: Object
    """The owner reference of the object that controls it; empty when none does."""

    is_marked: bool
    """Whether it has Metacontroller's annotation with our name."""

    is_labelled: bool
    """Whether it has our label."""

    @property
    def key(self) -> Key:
        """Return what names it."""
        return self.kind, self.item.label

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

    @property
    def born(self) -> tuple[str, str]:
        """Return what sorts objects by their age, the oldest first, and those of one second by their names."""
        return str(self.item.metadata.get("creationTimestamp") or ""), self.item.label

    def __str__(self) -> str:
        """Return what a person calls it."""
        return f"{self.kind} {self.item.label}"


@dataclass(slots=True)
class Inventory:
    """What was read. Of an object that was read twice, the last counts."""

    services: dict[str, Listed] = field(default_factory=dict)
    """By namespace/name."""

    objects: dict[Key, Made] = field(default_factory=dict)
    of_service: dict[str, list[Made]] = field(default_factory=dict)
    """By the uid of the Service: what Metacontroller takes for made for it."""

    invalid: list[Finding] = field(default_factory=list)
    """Why a Service is none, or an Ingress that says it is ours."""

    def made_for(self, listed: Listed) -> list[Made]:
        """Return what Metacontroller takes for made for a Service."""
        uid = listed.service.metadata.uid
        return self.of_service.get(uid, []) if uid else []

    def observed(self, listed: Listed, *, httproutes: bool) -> Observed:
        """Return what the hook is told of. Without `httproutes`, Metacontroller doesn't look after those."""
        found: dict[str, dict[str, Any]] = {INGRESS: {}, HTTPROUTE: {}}
        for made in self.made_for(listed):
            found[made.kind][made.item.label] = made.typed
        return Observed(found[INGRESS], found[HTTPROUTE] if httproutes else None)


def take_inventory(items: Iterable[Item]) -> Inventory:
    """Return the inventory of the items; those of other kinds are skipped."""
    inventory = Inventory()
    for item in items:
        kind = item.kind
        if kind == SERVICE:
            service = as_service(item)
            if isinstance(service, Finding):
                inventory.invalid.append(service)
            else:
                inventory.services[item.label] = Listed(item, service)
        elif kind in TYPES:
            made = as_made(item, *TYPES[kind])
            if isinstance(made, Made):
                inventory.objects[made.key] = made
            elif made is not None:
                inventory.invalid.append(made)
    for made in inventory.objects.values():
        if made.is_marked and made.owner_uid:
            inventory.of_service.setdefault(made.owner_uid, []).append(made)
    return inventory


def as_made(item: Item, kind: str, type_: type[Ingress] | type[HTTPRoute]) -> Made | Finding | None:
    """Return the typed object. For one that is invalid: the finding that says so if it is ours, None if it is not."""
    owner = next((owner for owner in managed.owners(item) if owner.get("controller") is True), {})
    is_marked = item.annotations.get(DECORATOR) == CONTROLLER
    is_labelled = item.labels.get(MANAGED_BY_LABEL) == MANAGED_BY
    try:
        typed = msgspec.convert(item.object, type_)
    except msgspec.ValidationError as error:
        return invalid(item, item.kind, str(error)) if is_marked or is_labelled else None
    return Made(kind, item, typed, owner, is_marked, is_labelled)


def is_being_deleted(item: Item) -> bool:
    """Return whether an object is being deleted: what is still there then is held by finalizers."""
    return bool(item.metadata.get("deletionTimestamp"))


def finalizers_of(item: Item) -> list[str]:
    """Return the finalizers of an object."""
    found = item.metadata.get("finalizers")
    return [str(name) for name in found] if isinstance(found, list) else []
