"""What exists around an Ingress, and how Services ask for the parts of one that leads to several.

That is the Services, and what other Ingresses answer, those that the plans before it will create included.
"""

from collections.abc import Container, Sequence
from dataclasses import replace

from ingress_manager.commands.adopt.asked import Asked, asked_for
from ingress_manager.commands.adopt.changes import CLASS_FIELD
from ingress_manager.commands.snapshot.items import INGRESS, SERVICE, Item, of_kind
from ingress_manager.commands.snapshot.managed import is_managed
from ingress_manager.commands.snapshot.objects import Place, as_spec, class_of, places_of
from ingress_manager.core.annotations import LONGEST_ENTRANCE, ingress_of, is_entrance_name, read_entrances
from ingress_manager.core.settings import Settings


class Around:
    """The Services and Ingresses that exist, or that the plans so far will create."""

    def __init__(self, items: Sequence[Item], settings: Settings, accepted: Container[str]) -> None:
        """Read the items. `accepted` fields, such as spec.defaultBackend, may change. Raise Unreadable."""
        self.settings, self.accepted = settings, accepted
        self.services = {item.full_name: item for item in of_kind(items, SERVICE)}
        # Whether each Ingress is managed; and the Ingresses that answer a place, each with its class.
        self.ingresses: dict[str, bool] = {}
        self.claims: dict[Place, list[tuple[Item, str]]] = {}
        for item in of_kind(items, INGRESS):
            self.add(item, managed=is_managed(item))

    def add(self, item: Item, *, managed: bool) -> None:
        """Add an Ingress, and what it answers."""
        spec = as_spec(item)
        self.ingresses[item.full_name] = managed
        for place in dict.fromkeys(places_of(spec)):
            self.claims.setdefault(place, []).append((item, class_of(item, spec)))

    def add_planned(self, asked: Asked) -> None:
        """Add the Service as it will be annotated, and its Ingress."""
        self.services[asked.service.full_name] = asked.changed
        if asked.full_name in self.ingresses:
            self.ingresses[asked.full_name] = True
        else:
            # A word sorts it behind every timestamp.
            metadata = asked.ingress["metadata"] | {"creationTimestamp": "not born yet"}
            self.add(Item(asked.ingress | {"metadata": metadata}), managed=True)


def asked_beside(now: Asked, around: Around) -> Asked:
    """Return how a Service asks for a part of an Ingress, beside what it asks for already."""
    item, service, name = now.item, now.service, now.service.name
    entrances = [*read_entrances(service.annotations)]
    for asked in [replace(now, entrance=entrance) for entrance in entrances]:
        # An entrance of an earlier run may lack accepted fields. One with other hosts or paths is never the same.
        differ = (*(change.field for change in asked.changes if not change.is_served_alike), *asked.lost)
        fits = all(field in around.accepted and field.startswith(("metadata.", CLASS_FIELD)) for field in differ)
        if asked.ingress and fits:
            return asked
    if "" not in entrances and service.full_name not in around.ingresses:
        return asked_for(now)
    # What remains of the Ingress's name without that of the Service.
    rest = f"-{item.name}-".replace(".", "-").replace(f"-{name}-", "-", 1).strip("-")
    words = (rest[:LONGEST_ENTRANCE].strip("-"), "also", *(f"also-{number}" for number in range(2, 99)))
    free = (
        word
        for word in words
        if is_entrance_name(word)
        and word not in entrances
        and f"{item.namespace}/{ingress_of(word, name)}" not in around.ingresses
    )
    return asked_for(replace(now, entrance=next(free)))
