"""Around an Ingress: the Services, and what other Ingresses answer, with what the plans before are about to make."""

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field, replace

import msgspec

from ingress_manager.commands.adopt.asked import Asked
from ingress_manager.commands.reading.kinds import INGRESSES, SERVICES
from ingress_manager.commands.reading.manifests import Item, of_kind
from ingress_manager.commands.view.managed import is_managed
from ingress_manager.commands.view.objects import Place, as_spec, class_of, places_of
from ingress_manager.core.kubernetes import IngressSpec
from ingress_manager.core.policy import Policy


@dataclass(frozen=True)
class Standing:
    """An Ingress that stands, or is about to."""

    full_name: str
    ingress_class: str
    """Empty for the cluster's default."""

    born: tuple[str, str]
    """Sorts Ingresses by their age, the oldest first."""

    places: frozenset[Place]
    """What it answers."""

    def meets(self, item: Item, ingress_class: str) -> bool:
        """Return whether the same controller may serve it, and another Ingress of this class."""
        return self.full_name != item.full_name and self.ingress_class in {"", ingress_class or self.ingress_class}


NOT_YET = "not born yet"
"""Sorts what is about to be made behind any time."""


@dataclass
class Around:
    """What is there beside an Ingress, and what may be. What a plan is about to make is added, for those after it."""

    policy: Policy
    accepted: Container[str]
    """The fields that may change, such as spec.defaultBackend."""

    services: dict[str, Item]
    """By namespace/name."""

    names: dict[str, bool] = field(default_factory=dict)
    """The Ingresses that are there, or are to be, as namespace/name, and whether each is ingress-manager's then."""

    claims: dict[Place, list[Standing]] = field(default_factory=dict)

    @classmethod
    def of(cls, items: Sequence[Item], policy: Policy, accepted: Container[str]) -> "Around":
        """Return what is around Ingresses. Raises Unreadable."""
        around = cls(policy, accepted, {item.full_name: item for item in of_kind(items, SERVICES)})
        for item in of_kind(items, INGRESSES):
            around.names[item.full_name] = is_managed(item)
            spec = as_spec(item)
            around.claim(Standing(item.full_name, class_of(item, spec), item.born, frozenset(places_of(spec))))
        return around

    def claim(self, standing: Standing) -> None:
        """Note what an Ingress answers."""
        for place in standing.places:
            self.claims.setdefault(place, []).append(standing)

    def beside(self, item: Item, ingress_class: str) -> Iterator[Standing]:
        """Yield the others that may be served by the controller of an Ingress of this class, some more than once."""
        return (each for claims in self.claims.values() for each in claims if each.meets(item, ingress_class))

    def made(self, asked: Asked) -> None:
        """Note that a Service is to be annotated, and then has an Ingress."""
        service, label = asked.service, asked.full_name
        after: dict[str, str | None] = {**service.annotations, **asked.annotations}
        kept = {key: value for key, value in after.items() if value is not None}
        metadata = {**service.metadata, "annotations": kept}
        # Its version is then another one, which nobody knows yet.
        metadata.pop("resourceVersion", None)
        self.services[service.full_name] = replace(service, object={**service.object, "metadata": metadata})
        if label not in self.names:
            spec = msgspec.convert(asked.ingress["spec"], IngressSpec)
            self.claim(Standing(label, spec.ingress_class_name or "", (NOT_YET, label), frozenset(places_of(spec))))
        self.names[label] = True
