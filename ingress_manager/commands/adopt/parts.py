"""Parts: an Ingress that isn't that of one Service, of the same name, becomes one for each Service.

What else is there counts: the Services, and what other Ingresses answer, with what the plans before are about to make.
"""

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field, replace

import msgspec

from ingress_manager.commands.adopt.asked import Asked, asked_for, asked_with, lost
from ingress_manager.commands.adopt.changes import CLASS, ISSUERS
from ingress_manager.commands.reading.kinds import INGRESSES, SERVICES
from ingress_manager.commands.reading.manifests import Item, of_kind
from ingress_manager.commands.view.managed import is_managed
from ingress_manager.commands.view.objects import Place, as_spec, class_of, covers, places_of
from ingress_manager.core.entrances import LONGEST_ENTRANCE, ingress_of, is_entrance_name, read_entrances
from ingress_manager.core.kubernetes import IngressPath, IngressPaths, IngressRule, IngressSpec
from ingress_manager.core.policy import Policy

DEFAULT_BACKEND = "spec.defaultBackend"
EVERYTHING = ("", "/", False)
"""The path / of every host, as a place."""


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


def by_rules(item: Item, spec: IngressSpec, service: Item | None, around: Around) -> IngressSpec | None:
    """Return a spec that says its default backend by the path / of every host; None where that may not be the same.

    It is that of the Service of its name, and no host has other paths: controllers differ in what a default backend
    answers beside these, in this Ingress or another.
    """
    if not (backend := spec.default_backend):
        return spec
    others = [each.places for each in around.beside(item, class_of(item, spec))]
    unsure = any(not host or (host, "/", False) not in places for places in others for host, *_ in places)
    is_own = backend.service and service and backend.service.name == service.name
    if not is_own or unsure or any(rule.host for rule in spec.rules or ()):
        return None
    alone = msgspec.structs.replace(spec, default_backend=None)
    if EVERYTHING in places_of(alone):
        return alone
    paths = [*(path for _, path in spec.paths()), IngressPath("Prefix", backend, "/")]
    return msgspec.structs.replace(alone, rules=[IngressRule("", IngressPaths(paths))])


def part(spec: IngressSpec, service: str) -> IngressSpec:
    """Return a spec with only the rules that lead to one Service, and the certificates for their hosts."""
    rules = []
    for rule in spec.rules or ():
        leading = rule.http.paths if rule.http else ()
        paths = [path for path in leading if path.backend.service and path.backend.service.name == service]
        if paths:
            rules.append(IngressRule(rule.host, IngressPaths(paths)))
    hosts, every = {rule.host for rule in rules}, {rule.host for rule in spec.rules or ()}
    # A certificate for a host of no rule is used by what answers every host, if anything does.
    rest = "" in hosts or "" not in every
    tls = [
        msgspec.structs.replace(entry, hosts=own or None)
        for entry in spec.tls or ()
        if (own := [host for host in entry.hosts or () if covers(host, hosts) or (rest and not covers(host, every))])
        or not entry.hosts
    ]
    return msgspec.structs.replace(spec, rules=rules or None, tls=tls or None)


def asked_beside(item: Item, spec: IngressSpec, service: Item, around: Around) -> Asked:
    """Return how a Service asks for what `spec` says without a change of what it asks for already."""
    entrances, name = [*read_entrances(service.annotations)], service.name
    for entrance in entrances:
        asked = asked_with(item, spec, service, around.policy, {}, entrance)
        changed = [each.field for each in asked.changes if not each.is_served_alike]
        # An entrance of an earlier run may lack what was given up. One with other hosts or paths is never the same.
        if (
            asked.ingress
            and all(each == CLASS or each.startswith("metadata.") for each in changed)
            and all(each in around.accepted for each in (*changed, *lost(item, asked)))
        ):
            return asked
    if "" not in entrances and service.full_name not in around.names:
        return asked_for(item, spec, service, around.policy)
    # What remains of the Ingress's name without that of the Service.
    rest = f"-{item.name}-".replace(".", "-").replace(f"-{name}-", "-", 1).strip("-")
    words = (rest[:LONGEST_ENTRANCE].strip("-"), "also", *(f"also-{number}" for number in range(2, 99)))
    free = (
        word
        for word in words
        if is_entrance_name(word)
        and word not in entrances
        and f"{item.namespace}/{ingress_of(word, name)}" not in around.names
    )
    return asked_for(item, spec, service, around.policy, next(free))


def why_not_beside(item: Item, asked: Asked, around: Around) -> Iterator[str]:
    """Yield why a new Ingress can't take the place of a part of another."""
    if not around.names.get(asked.full_name, True):
        yield f"Service {asked.service.name} would ask for Ingress {asked.full_name}, which is there: adopt that first"
    spec = msgspec.convert(asked.ingress["spec"], IngressSpec)
    for place in dict.fromkeys(places_of(spec)):
        for other in around.claims.get(place, ()):
            # Of two with the same path, the older one answers. A new one is younger than all.
            is_between = other.full_name != asked.full_name and item.born <= other.born
            if is_between and other.meets(item, class_of(item, spec)):
                yield (
                    f"Ingress {other.full_name} has {place[0] or '*'}{place[1]}, too, and would be older than "
                    f"{asked.full_name}: take it out of one of the two first"
                )


def why_not_replaced(item: Item, spec: IngressSpec) -> Iterator[str]:
    """Yield why an Ingress can't be replaced by others, even by such as say the same."""
    issuers = [key for key in item.annotations if key.startswith(ISSUERS)]
    secrets = [entry.secret_name for entry in spec.tls or () if entry.secret_name]
    if issuers and secrets:
        yield (
            f"metadata.annotations: {', '.join(issuers)}: the Certificate of Secret {', '.join(secrets)} belongs to "
            "this Ingress, and would go with it; make a Certificate of your own for that Secret, take the annotation "
            "off, and run adopt again"
        )
