"""Splitting: an Ingress that isn't that of one Service, of the same name, becomes one for each Service."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import msgspec

from ingress_manager.commands.adopt.around import Around, Claimant
from ingress_manager.commands.adopt.losses import lost, why_lost, why_not_at_all
from ingress_manager.commands.adopt.routes import why_not_routed
from ingress_manager.commands.annotating.annotated import Annotated, annotated_for, annotated_with
from ingress_manager.commands.plans.steps import unseen
from ingress_manager.commands.reading.manifests import Item
from ingress_manager.commands.view.ingresses import (
    certificates_of,
    class_of,
    covers,
    is_canary,
    places_of,
    secret_called,
    services_of,
)
from ingress_manager.commands.view.typed import as_service
from ingress_manager.core.entrances import LONGEST_ENTRANCE, ingress_of, is_entrance_name, read_entrances
from ingress_manager.core.kubernetes import IngressPaths, IngressRule, IngressSpec, Object, Service

CLASS = "spec.ingressClassName"


@dataclass(slots=True)
class Part:
    """The part of an Ingress that leads to one Service, and the Ingress that the Service gets for it."""

    service: Item
    asked: Annotated
    ingress: Object

    @property
    def full_name(self) -> str:
        """Return what a person calls the new Ingress."""
        return f"{self.service.namespace}/{self.asked.name}"


@dataclass(slots=True)
class Split:
    """What becomes of an Ingress that is split."""

    parts: list[Part] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    changes: list[str] = field(default_factory=list)


def split(item: Item, spec: IngressSpec, home: str, around: Around) -> Split:
    """Return how each Service to which an Ingress leads gets an Ingress of its own, but for the Service `home`."""
    found = Split()
    found.reasons += why_not_at_all(item, spec)
    if around.policy.paused_in(item.namespace):
        found.reasons.append(
            f"the settings pause {item.namespace}, so that no other Ingress is made: end the pause first"
        )
    for name in services_of(spec):
        if name != home:
            _add_part(found, name, item, part(spec, name), around)
    return found


def _add_part(found: Split, name: str, item: Item, spec: IngressSpec, around: Around) -> None:
    """Add the Ingress of a Service which says what `spec` says, or why there can't be one."""
    service = around.services.get(f"{item.namespace}/{name}")
    typed = as_service(service) if service else None
    if service is None or not isinstance(typed, Service):
        found.reasons.append(f"leads to Service {name}, which isn't there: nothing could be annotated")
        return
    asked = asked_beside(item, spec, typed, around)
    ingress = asked.ingress
    if ingress is None:
        told = asked.refused.line() if asked.refused else "it has a profile by which it gets no Ingress: see outputs"
        found.reasons.append(f"Service {name} can't have an Ingress of its own: {told}")
        return
    found.reasons += (wrong.sentence for wrong in unseen(service, asked.annotations))
    found.reasons += two_secrets(name, spec)
    new = f"{item.namespace}/{asked.name}"
    if new in around.in_the_way:
        found.reasons.append(f"Service {name} asks for it as Ingress {new}, which is in the way: adopt that one first")
    for change in asked.changes:
        if not change.is_served_alike:
            found.changes.append(change.field)
            if change.field not in around.accepted:
                found.reasons.append(
                    f"{change.field}: in Ingress {new}, {change.sentence}; --accept-changes {change.field} allows it"
                )
    found.changes += lost(item, asked)
    found.reasons += why_lost(item, asked, around.accepted)
    made = msgspec.convert(ingress["spec"], IngressSpec)
    found.reasons += why_not_beside(item, made, new, around)
    found.reasons += why_not_routed(service, asked.objects, around)
    found.parts.append(Part(service, asked, ingress))


def why_not_beside(item: Item, made: IngressSpec, new: str, around: Around) -> Iterator[str]:
    """Yield which other Ingresses, younger than this one, would get requests of a new one, which is younger still."""
    own = Claimant(new, class_of(item, made), item.born)
    for claim in () if is_canary(item) else dict.fromkeys(places_of(made)):
        for other in around.claims.get(claim, ()):
            if own.meets(other) and other.full_name != item.full_name and own.born <= other.born:
                host, path, _ = claim
                yield (
                    f"Ingress {other.full_name} has {host or '*'}{path}, too, and would be older than {new}: take it "
                    "out of one of the two first"
                )


def two_secrets(name: str, spec: IngressSpec) -> Iterator[str]:
    """Yield why the Ingress of one Service can't say what `spec` says of certificates."""
    certificates = [secret_called(each.secret_name) for each in certificates_of(spec)]
    if len(certificates) > 1:
        yield (
            f"spec.tls: the hosts of Service {name} need {' and '.join(certificates)}, and an Ingress that is made for "
            "it has one certificate: put one for all these hosts into one Secret first"
        )


def asked_beside(item: Item, spec: IngressSpec, service: Service, around: Around) -> Annotated:
    """Return how a Service asks for what `spec` says without a change of what it asks for already."""
    name, policy = service.metadata.name, around.policy.without_pause()
    entrances = [*read_entrances(service.metadata.annotations or {})]
    for entrance in entrances:
        asked = annotated_with(item, spec, service, policy, {}, entrance)
        # An entrance of an earlier run may lack what was given up. One with other hosts or paths is never the same.
        given_up = all(each in around.accepted for each in lost(item, asked))
        others = [change.field for change in asked.changes if not change.is_served_alike]
        if asked.ingress and given_up and (not others or (others == [CLASS] and CLASS in around.accepted)):
            return asked
    if "" not in entrances and f"{item.namespace}/{name}" not in around.taken:
        return annotated_for(item, spec, service, policy)
    words = (without(item.name, name), spec.ingress_class_name or "", "also")
    free = (
        word
        for word in (word[:LONGEST_ENTRANCE].strip("-") for word in (*words, *map("also-{}".format, range(2, 99))))
        if is_entrance_name(word)
        and word not in entrances
        and f"{item.namespace}/{ingress_of(word, name)}" not in around.taken
    )
    return annotated_for(item, spec, service, policy, next(free))


def without(name: str, service: str) -> str:
    """Return what remains of the name of an Ingress without that of its Service, as a word; "" when nothing does."""
    return f"-{name}-".replace(".", "-").replace(f"-{service}-", "-", 1).strip("-")


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
