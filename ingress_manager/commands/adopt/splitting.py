"""Splitting: an Ingress that isn't that of one Service, of the same name, is moved into one for each Service.

Each Service gets an Ingress of its own beside the old one. Only when all of them stand as planned, and are served where
a controller says so, the old one goes, or keeps what leads to the Service of its name.
"""

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field, replace

import msgspec

from ingress_manager.commands.adopt.around import Around, Claimant
from ingress_manager.commands.adopt.losses import lost, why_lost, why_not_at_all
from ingress_manager.commands.adopt.routes import why_not_routed
from ingress_manager.commands.annotating.annotated import Annotated, annotated_for, annotated_with
from ingress_manager.commands.plans.plan import Pause, Seen, Step
from ingress_manager.commands.plans.steps import annotating, deleting, is_served, is_unchanged, stands, unseen
from ingress_manager.commands.reading.manifests import Item, at
from ingress_manager.commands.view.ingresses import (
    certificates_of,
    class_of,
    covers,
    places_of,
    secret_called,
    services_of,
)
from ingress_manager.commands.view.typed import as_service
from ingress_manager.core.entrances import LONGEST_ENTRANCE, ingress_of, is_entrance_name, read_entrances
from ingress_manager.core.kubernetes import IngressPath, IngressPaths, IngressRule, IngressSpec, Object, Service
from ingress_manager.core.text import listed

DEFAULT_BACKEND, CLASS = "spec.defaultBackend", "spec.ingressClassName"


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

    def stands(self) -> Seen:
        """Return what shows that it is there."""
        return stands(self.service, self.ingress)


@dataclass(slots=True)
class Split:
    """What becomes of an Ingress that is split."""

    parts: list[Part] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    changes: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


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
    for claim in dict.fromkeys(places_of(made)):
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


def with_rules(spec: IngressSpec, rooted: Container[str]) -> IngressSpec:
    """Return a spec whose default backend, a Service, is said by rules: what answers every host, and what no path has.

    Some controllers look for the default backend within the Ingress that has the host. So each host gets the path /,
    but for those that are `rooted` elsewhere.
    """
    if spec.default_backend is None or not spec.default_backend.service:
        return spec
    root, added = IngressPath("Prefix", spec.default_backend, "/"), without_root(spec, rooted)
    rules = []
    for rule in spec.rules or ():
        paths = rule.http.paths if rule.http else []
        rules.append(IngressRule(rule.host, IngressPaths([*paths, root])) if rule.host in added else rule)
        added.discard(rule.host)
    rules += [IngressRule(host, IngressPaths([root])) for host in added]
    return msgspec.structs.replace(spec, default_backend=None, rules=rules)


def roots(spec: IngressSpec, rooted: Container[str]) -> str:
    """Return what a person calls the paths that say the default backend."""
    added = sorted(without_root(spec, rooted))
    return (
        f"the path / of {listed([host or 'every host' for host in added])}"
        if added
        else "nothing: its rules answer every host"
    )


def why_not_rooted(item: Item, spec: IngressSpec, home: str, around: Around, accepting: str) -> Iterator[str]:
    """Yield why the default backend can't be said by rules, where something else may answer what they would.

    A default backend alone, in the Ingress of its Service, which is `home`, is the same to all controllers.
    `accepting` says what is done with it where its change is accepted.
    """
    backend = spec.default_backend.service if spec.default_backend else None
    rooted = around.rooted(item, spec)
    added = sorted(without_root(spec, rooted))
    if backend is None:
        return
    elsewhere = {(host, path.path) for host, path in spec.paths() if path.backend.service != backend}
    places = list(around.beside(item, spec))
    beside = {(host, path) for host, path, _ in places}
    surely = set(around.beside(item, spec, of_its_class=True))
    others = {host for host, *_ in places if host and (host, "/", False) not in surely}
    # Under a host of another Ingress without /, the default backend may answer, and a rule for every host may not.
    unsure = sorted(others | ({rule.host for rule in spec.rules or ()} if "" in added else set()))
    if (unsure or (added and backend.name != home)) and DEFAULT_BACKEND not in around.accepted:
        differ = (
            f"beside the rules of {listed([host or '*' for host in unsure])}, controllers differ in what it answers"
        )
        yield (
            f"{DEFAULT_BACKEND}: would become {roots(spec, rooted)}; "
            f"{differ if unsure else 'a new Ingress would answer that at once'}; "
            f"--accept-changes {DEFAULT_BACKEND} {accepting} it"
        )
    for host in added:
        wider = {"", f"*.{host.partition('.')[2]}"} - {host}
        for other, path in sorted(each for each in elsewhere | beside if host and each[0] in wider):
            yield (
                f"{DEFAULT_BACKEND}: some controllers answer the other paths of {host} by it, and some by "
                f"{other or '*'}{path}; give {host} a path / first"
            )
        if not host and ("", "/") in beside:
            yield (
                f"{DEFAULT_BACKEND}: another Ingress answers every host, too, and a rule that says it could take "
                "requests from that: take it out of one of the two first"
            )


def beside(parts: Sequence[Part], item: Item) -> Iterator[Step]:
    """Yield the steps after which the new Ingresses stand beside the old one, and are served."""
    addresses = at(item, "status", "loadBalancer", "ingress")
    known = is_known(item, *(each.service for each in parts))
    for each in parts:
        until = [each.stands()] if known else []
        if addresses and known:
            until.append(is_served(item.namespace, each.asked.name, addresses))
        if each.asked.annotations:
            yield annotating(each.service, each.asked.annotations, until, version=True)
        else:
            yield Step(until=until)
    if parts and known and not addresses:
        yield Step(
            until=[Pause()],
            notes=[
                f"No controller has given {item.full_name} an address, so nobody can see when the new ones are served."
            ],
        )


def is_known(item: Item, *services: Item) -> bool:
    """Return whether these are objects of a cluster, which has given them their uids."""
    return bool(item.metadata.get("resourceVersion")) and all(each.metadata.get("uid") for each in (item, *services))


def still(parts: Sequence[Part]) -> list[Seen]:
    """Return what shows that the new Ingresses still stand."""
    return [replace(each.stands(), at_once=True) for each in parts]


def instead(parts: Sequence[Part], item: Item) -> Iterator[Step]:
    """Yield the steps that put the new Ingresses in the place of the old one."""
    yield Step(until=[is_unchanged(item)])
    yield from beside(parts, item)
    yield Step(until=still(parts))
    yield deleting(item)


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


def without_root(spec: IngressSpec, rooted: Container[str]) -> set[str]:
    """Return the hosts of which the default backend, if there is one, answers /; "" for every other host."""
    if spec.default_backend is None or not spec.default_backend.service:
        return set()
    places = set(places_of(msgspec.structs.replace(spec, default_backend=None)))
    hosts = {"", *(rule.host for rule in spec.rules or ())}
    return {host for host in hosts if not (host and host in rooted) and (host, "/", False) not in places}
