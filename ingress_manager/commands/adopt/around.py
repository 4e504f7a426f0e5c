"""What is around an Ingress, and how Services ask for the parts of one that leads to several.

What else is there counts: the Services, and what other Ingresses answer, with what the plans before are about to make.
"""

from collections.abc import Container, Sequence
from dataclasses import replace

from ingress_manager.commands.adopt.asked import Asked, asked_for
from ingress_manager.commands.adopt.changes import CLASS
from ingress_manager.commands.snapshot.items import INGRESS, SERVICE, Item, of_kind
from ingress_manager.commands.snapshot.managed import is_managed
from ingress_manager.commands.snapshot.objects import Place, as_spec, class_of, places_of
from ingress_manager.core.annotations import LONGEST_ENTRANCE, ingress_of, is_entrance_name, read_entrances
from ingress_manager.core.policy import Policy


class Around:
    """What is there beside an Ingress, and what may be. What a plan is about to make is added, for those after it."""

    def __init__(self, items: Sequence[Item], policy: Policy, accepted: Container[str]) -> None:
        """Take what is there, and the fields that may change, such as spec.defaultBackend. Raise Unreadable."""
        self.policy, self.accepted = policy, accepted
        self.services = {item.full_name: item for item in of_kind(items, SERVICE)}
        # Of each Ingress, whether it is ingress-manager's; and which answer a place, each with its class.
        self.ingresses: dict[str, bool] = {}
        self.claims: dict[Place, list[tuple[Item, str]]] = {}
        for item in of_kind(items, INGRESS):
            self.add(item, is_ours=is_managed(item))

    def add(self, item: Item, *, is_ours: bool) -> None:
        """Note an Ingress, and what it answers."""
        spec = as_spec(item)
        self.ingresses[item.full_name] = is_ours
        for place in dict.fromkeys(places_of(spec)):
            self.claims.setdefault(place, []).append((item, class_of(item, spec)))

    def made(self, asked: Asked) -> None:
        """Note that a Service is to be annotated, and then has an Ingress."""
        self.services[asked.service.full_name] = asked.changed
        if asked.full_name in self.ingresses:
            self.ingresses[asked.full_name] = True
        else:
            # A word sorts it behind all that has a time.
            metadata = asked.ingress["metadata"] | {"creationTimestamp": "not born yet"}
            self.add(Item(asked.ingress | {"metadata": metadata}), is_ours=True)


def asked_beside(now: Asked, around: Around) -> Asked:
    """Return how a Service asks for a part of an Ingress without a change of what it asks for already."""
    item, service, name = now.item, now.service, now.service.name
    entrances = [*read_entrances(service.annotations)]
    for asked in [replace(now, entrance=entrance) for entrance in entrances]:
        # An entrance of an earlier run may lack what was given up. One with other hosts or paths is never the same.
        differ = (*(each.field for each in asked.changes if not each.is_served_alike), *asked.lost)
        if asked.ingress and all(each in around.accepted and each.startswith(("metadata.", CLASS)) for each in differ):
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
