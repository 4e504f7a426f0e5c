"""Around an Ingress: the Services, and what other Ingresses answer, with what the plans before are about to make."""

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import msgspec

from ingress_manager.commands.reading.kinds import HTTPROUTES, INGRESSES, LISTENERSETS, SERVICES
from ingress_manager.commands.reading.manifests import Item, Manifests
from ingress_manager.commands.view.ingresses import Place, class_of, is_canary, places_of
from ingress_manager.commands.view.managed import is_managed
from ingress_manager.commands.view.typed import as_spec
from ingress_manager.core.kubernetes import IngressSpec, Object
from ingress_manager.core.policy import Policy


class Claimant(NamedTuple):
    """An Ingress that answers a host and path."""

    full_name: str
    ingress_class: str
    """Empty for the cluster's default."""

    born: tuple[str, str]
    """Sorts Ingresses by their age, the oldest first."""

    def meets(self, other: "Claimant") -> bool:
        """Return whether another Ingress may be served by the same controller."""
        classes = {self.ingress_class, other.ingress_class}
        return self.full_name != other.full_name and (len(classes) == 1 or "" in classes)


NOT_YET = "not born yet"
"""Sorts what is about to be made behind any time."""


@dataclass
class Around:
    """What is there beside an Ingress, and what may be. What a plan is about to make is added, for those after it."""

    policy: Policy
    accepted: Container[str]
    """The fields that may change, such as spec.defaultBackend."""

    httproutes: list[Item]
    listenersets: list[Item]
    services: dict[str, Item]
    """By namespace/name."""

    claims: dict[Place, list[Claimant]] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)
    """The Ingresses that are there, as namespace/name."""

    in_the_way: set[str] = field(default_factory=set)
    """Those of them that aren't ingress-manager's, nor are to be: a Service can't have one of that name."""

    @classmethod
    def of(cls, manifests: Manifests, policy: Policy, accepted: Container[str]) -> "Around":
        around = cls(
            policy,
            accepted,
            [*manifests.of_kind(HTTPROUTES)],
            [*manifests.of_kind(LISTENERSETS)],
            {item.full_name: item for item in manifests.of_kind(SERVICES)},
        )
        for item in manifests.of_kind(INGRESSES):
            around.taken.add(item.full_name)
            if not is_managed(item):
                around.in_the_way.add(item.full_name)
            spec = as_spec(item)
            if isinstance(spec, IngressSpec) and not is_canary(item):
                around.claim(spec, Claimant(item.full_name, class_of(item, spec), item.born))
        return around

    def claim(self, spec: IngressSpec, claimant: Claimant) -> None:
        for claim in dict.fromkeys(places_of(spec)):
            self.claims.setdefault(claim, []).append(claimant)

    def beside(self, item: Item, spec: IngressSpec, *, of_its_class: bool = False) -> Iterator[Place]:
        """Yield what another Ingress than this one may answer, or surely does, as it has the same class."""
        own = Claimant(item.full_name, class_of(item, spec), item.born)
        for claim, claimants in self.claims.items():
            meeting = [each.ingress_class for each in claimants if own.meets(each)]
            if own.ingress_class in meeting or (meeting and not of_its_class):
                yield claim

    def rooted(self, item: Item, spec: IngressSpec) -> set[str]:
        """Return which of its hosts have a path / that another Ingress than this one may answer."""
        own = Claimant(item.full_name, class_of(item, spec), item.born)
        hosts = {rule.host for rule in spec.rules or ()}
        return {host for host in hosts if any(own.meets(each) for each in self.claims.get((host, "/", False), ()))}

    def made(self, service: Item, annotations: Mapping[str, str | None], ingress: Object) -> None:
        """Note that a Service is to be annotated, and then has an Ingress."""
        label = f"{service.namespace}/{ingress['metadata']['name']}"
        self.annotated(self.services[service.full_name], annotations)
        self.taken.add(label)
        if not is_canary(Item(ingress, service.origin)):
            spec = msgspec.convert(ingress["spec"], IngressSpec)
            self.claim(spec, Claimant(label, spec.ingress_class_name or "", (NOT_YET, label)))

    def annotated(self, service: Item, changes: Mapping[str, str | None]) -> None:
        """Note that a Service is to be annotated. Its version is then another one, which nobody knows yet."""
        after: dict[str, str | None] = {**service.annotations, **changes}
        kept = {key: value for key, value in after.items() if value is not None}
        metadata = {**service.metadata, "annotations": kept}
        metadata.pop("resourceVersion", None)
        self.services[service.full_name] = replace(service, object={**service.object, "metadata": metadata})
