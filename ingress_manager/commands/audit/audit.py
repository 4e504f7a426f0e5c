"""`audit`: what of a cluster needs a person, and the command that mends it. The pure part.

Each Service is decided on as the hook would, and what stands is compared with that as Metacontroller would. So what is
found is what these two would do, or can't do. What was read is one look: a change that is a second old can be in it.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from ingress_manager.commands.audit import remedies
from ingress_manager.commands.audit.claims import Collision, clashes, collisions
from ingress_manager.commands.audit.kinds import Kind
from ingress_manager.commands.printing.findings import Finding
from ingress_manager.commands.printing.words import Command
from ingress_manager.commands.reading.manifests import Item
from ingress_manager.commands.view.drift import differences
from ingress_manager.commands.view.inventory import (
    HTTPROUTE,
    INGRESS,
    Inventory,
    Listed,
    Made,
    finalizers_of,
    is_being_deleted,
    take_inventory,
)
from ingress_manager.commands.view.managed import FINALIZER
from ingress_manager.core.copying import keys_not_copied
from ingress_manager.core.decide import Decision, Desired, Unchanged, decide, refusal_of
from ingress_manager.core.errors import Problem
from ingress_manager.core.kubernetes import Key, Object, key_of
from ingress_manager.core.observed import LAST_APPLIED, check_observed
from ingress_manager.core.policy import NamespacePolicy, Policy, in_namespace
from ingress_manager.core.text import listed

PLACEHOLDER = Policy().host
SERVICE = "Service"


@dataclass(frozen=True, slots=True)
class Found:
    """Something that needs a person."""

    kind: Kind
    item: Item
    """The object that it is about."""

    sentence: str
    command: Command = ()
    """What mends it, as the arguments of kubectl; empty where no command does."""

    @property
    def about(self) -> str:
        """Return what a person calls the object: its kind, namespace and name."""
        return called(self.item)


class Count(msgspec.Struct, frozen=True):
    """How many objects there are of a kind."""

    all: int
    ours: int
    """The Services that ask to be exposed, and what says that ingress-manager made it."""


@dataclass(slots=True)
class Audit:
    """What was found, by kind and then by namespace and name, and in how much."""

    found: list[Found] = field(default_factory=list)
    invalid: list[Finding] = field(default_factory=list)
    """Why an object can't be judged at all."""

    counts: dict[str, Count] = field(default_factory=dict)
    """How many objects of each kind were looked at."""

    paused: bool = False

    options: Sequence[str] = ()
    """kubectl's options that say which cluster; every command has them."""


def audit(items: Iterable[Item], policy: Policy, *, unseen: Collection[str] = (), httproutes: bool = True) -> Audit:
    """Return what needs a person among the items.

    `unseen` are the kinds, Service, Ingress or HTTPRoute, that could not be looked at: nothing is found because one
    isn't there. Without `httproutes`, there are none on the cluster, so that Metacontroller can't look after any.
    """
    inventory = take_inventory(items)
    return Auditor(inventory, policy, unseen, httproutes=httproutes).audit()


class Auditor:
    """Judges an inventory once."""

    def __init__(self, inventory: Inventory, policy: Policy, unseen: Collection[str], *, httproutes: bool) -> None:
        self._inventory = inventory
        self._paused = policy.paused
        # What a pause keeps from being done is found as if there were none: that is what somebody has to know.
        self._policy = msgspec.structs.replace(policy, paused=False)
        self._namespaces: dict[str, NamespacePolicy] = {}
        self._unseen = unseen
        self._httproutes = httproutes
        self._wanted_by: dict[Key, Listed] = {}
        """The Service that asks for an object."""

        self._asking: set[str] = set()
        """The Services that ask for something, even if they are refused."""

    def audit(self) -> Audit:
        """Return all that is found."""
        order = {kind: number for number, kind in enumerate(Kind)}
        found = sorted(self._all(), key=lambda each: (order[each.kind], each.item.label, each.about))
        return Audit(found, self._inventory.invalid, self._counts(), self._paused)

    def _all(self) -> Iterator[Found]:
        for listed_ in self._inventory.services.values():
            yield from self._of_service(listed_)
        if SERVICE not in self._unseen:
            for made in self._inventory.objects.values():
                if made.looks_ours:
                    yield from self._of_object(made)
        yield from self._of_claims()

    def _counts(self) -> dict[str, Count]:
        counts = {SERVICE: Count(len(self._inventory.services), len(self._asking))}
        for kind in (INGRESS, HTTPROUTE):
            if kind not in self._unseen:
                made = [each for each in self._inventory.objects.values() if each.kind == kind]
                counts[kind] = Count(len(made), sum(each.looks_ours for each in made))
        return counts

    # Services, and what was made for them.

    def _of_service(self, service: Listed) -> Iterator[Found]:
        made = {each.key: each for each in self._inventory.made_for(service)}
        observed = self._inventory.observed(service, httproutes=self._httproutes)
        decision = decide(service.service, observed, self._policy)
        if not isinstance(decision, Desired) or decision.objects:
            self._asking.add(service.item.label)
        elif not made:
            return
        if is_being_deleted(service.item):
            yield held(service.item)
        elif FINALIZER in (finalizers := finalizers_of(service.item)):
            sentence = f"Metacontroller does nothing for it while it has the finalizer {FINALIZER}"
            keep = [name for name in finalizers if name != FINALIZER]
            yield Found(Kind.HELD, service.item, sentence, remedies.let_go(service.item, keep))
        elif refused := refusal_of(decision):
            yield Found(Kind.REFUSED, service.item, refused.line(), remedies.correct(service.item, refused))
        elif not isinstance(decision, Unchanged):
            yield from self._of_desired(service, decision.objects, made)
        for each in made.values():
            yield from self._of_standing(service, each, decision)

    def _of_desired(self, service: Listed, objects: Sequence[Object], made: dict[Key, Made]) -> Iterator[Found]:
        """Yield what is found of a Service that is accepted, but for what was made for it."""
        for wanted in objects:
            key = key_of(wanted)
            self._wanted_by[key] = service
            if key not in made and key[0] not in self._unseen:
                yield from self._of_absent(service, key)
        if not objects:
            return
        ours: dict[str, str] = {}
        for wanted in objects:
            ours |= wanted["metadata"].get("annotations", {})
        if left := keys_not_copied(service.item.annotations, ours):
            sentence = f"{listed(left)} {'is' if len(left) == 1 else 'are'} not copied"
            yield Found(
                Kind.NOT_COPIED, service.item, sentence, remedies.annotate(service.item, [f"{key}-" for key in left])
            )
        if any(PLACEHOLDER in hosts_of(wanted) for wanted in objects):
            sentence = f"its host is {PLACEHOLDER}, which is a placeholder"
            yield Found(Kind.PLACEHOLDER_HOST, service.item, sentence, remedies.other_host(service.item))

    def _of_absent(self, service: Listed, key: Key) -> Iterator[Found]:
        """Yield what is found of an object that a Service asks for, and that Metacontroller doesn't have."""
        other = self._inventory.objects.get(key)
        if other is None:
            sentence = f"its {key[0]} {key[1]} isn't there"
            yield Found(Kind.MISSING, service.item, *self._undone(sentence))
        elif other.looks_ours and not self._belongs_to_a_service(other):
            return  # it is told of as detached
        elif is_being_deleted(other.item):
            yield held(other.item)
        else:
            sentence = f"{other} is in the way: it was not made for this Service"
            yield Found(Kind.NAME_TAKEN, service.item, sentence, remedies.delete(other.item))

    def _of_standing(self, service: Listed, made: Made, decision: Decision) -> Iterator[Found]:
        """Yield what is found of an object that was made for a Service."""
        if is_being_deleted(made.item):
            yield held(made.item)
            return
        try:
            check_observed(service.service, made.typed, self._in_namespace(service.item.namespace))
        except Problem as problem:
            yield Found(Kind.FORBIDDEN, made.item, problem.sentence, remedies.delete(made.item))
            return
        if isinstance(decision, Unchanged) or refusal_of(decision) or is_being_deleted(service.item):
            return
        wanted = next((each for each in decision.objects if key_of(each) == made.key), None)
        if wanted is None:
            sentence = f"Service {service.item.label} doesn't ask for it"
            yield Found(Kind.UNWANTED, made.item, sentence, remedies.delete(made.item))
        else:
            yield from self._of_drift(made, wanted)

    def _of_drift(self, made: Made, wanted: Object) -> Iterator[Found]:
        try:
            found = differences(made.item, wanted)
        except ValueError:
            sentence = f"its annotation {LAST_APPLIED} can't be read, so that Metacontroller doesn't change it"
            yield Found(Kind.DRIFTED, made.item, sentence, remedies.annotate(made.item, [f"{LAST_APPLIED}-"]))
        else:
            if found:
                yield Found(Kind.DRIFTED, made.item, *self._undone(listed(found)))

    # What nobody looks after.

    def _of_object(self, made: Made) -> Iterator[Found]:
        """Yield what is found of an object that says it is ours, if Metacontroller takes it for no Service's."""
        if self._belongs_to_a_service(made):
            return
        if is_being_deleted(made.item):
            yield held(made.item)
            return
        yield Found(Kind.DETACHED, made.item, *self._lacks(made))

    def _lacks(self, made: Made) -> tuple[str, Command]:
        """Return what an object lacks that Metacontroller doesn't take for ours, and the command that mends it."""
        owner = self._owner_of(made)
        if owner:
            return "it lacks Metacontroller's annotation", remedies.attach(made, owner)
        if made.service:
            sentence = f"it belongs to Service {made.service} of uid {made.owner_uid}, which isn't there"
            return sentence, remedies.delete(made.item)
        if made.owner:
            sentence = f"it belongs to {made.owner.get('kind')} {made.owner.get('name')}, and is not ingress-manager's"
            return sentence, remedies.disown(made.item)
        service = self._asking_for(made)
        command = remedies.attach(made, service) if service else remedies.delete(made.item)
        more = "" if made.is_marked else ", and lacks Metacontroller's annotation"
        return f"it has no owner{more}", command

    def _belongs_to_a_service(self, made: Made) -> bool:
        """Return whether Metacontroller takes an object for one that it made for a Service that is there."""
        return made.is_marked and self._owner_of(made) is not None

    def _owner_of(self, made: Made) -> Listed | None:
        """Return the Service that controls an object, if it is there."""
        found = self._inventory.services.get(made.service)
        return found if found and made.owner_uid == found.service.metadata.uid != "" else None

    def _asking_for(self, made: Made) -> Listed | None:
        """Return the Service that asks for an object, or that would have it if it were not refused."""
        if found := self._wanted_by.get(made.key):
            return found
        return self._inventory.services.get(made.item.label) if made.item.label in self._asking else None

    # What two have.

    def _of_claims(self) -> Iterator[Found]:
        objects = self._inventory.objects.values()
        for clash in clashes(objects):
            claims = [str(claim) for claim in clash.claims if claim.host != PLACEHOLDER]
            if claims and (clash.younger.looks_ours or clash.older.looks_ours):
                age = "is older" if clash.older.born[0] < clash.younger.born[0] else "is as old"
                sentence = f"{clash.older} {age}, and claims {listed(claims)}, too"
                yield Found(Kind.CLAIMED_TWICE, clash.younger.item, sentence, self._of_another_host(clash.younger))
        yield from filter(None, map(self._of_one_name, collisions(objects)))

    def _of_one_name(self, collision: Collision) -> Found | None:
        made, other, what = collision.younger, collision.other, collision.kind
        item, command = made.item, self._of_another_host(made)
        if collision.kind == SERVICE:
            service = self._inventory.services.get(collision.one) or self._inventory.services.get(collision.other)
            if not service:
                return None
            item, command = service.item, remedies.edit(service.item)
            other = collision.other if item.label == collision.one else collision.one
        elif collision.kind == INGRESS:
            what = "a route of Ingress"
        else:
            owner = self._owner_of(made)
            command = remedies.edit(owner.item if owner else item)
        where = " and ".join(collision.controllers)
        sentence = f"{collision.name} is the name of {what} {other}, too, in {where}"
        return Found(Kind.UPSTREAM_COLLISION, item, sentence, command)

    def _of_another_host(self, made: Made) -> Command:
        owner = self._owner_of(made)
        return remedies.other_host(owner.item) if owner else remedies.edit(made.item)

    # What all of them need.

    def _undone(self, sentence: str) -> tuple[str, Command]:
        """Return a sentence about what Metacontroller has not done, and the command that makes it do so."""
        return (f"{sentence}, because of the pause", ()) if self._paused else (sentence, remedies.SYNC_ALL)

    def _in_namespace(self, namespace: str) -> NamespacePolicy:
        found = self._namespaces.get(namespace)
        if found is None:
            found = self._namespaces[namespace] = in_namespace(self._policy, namespace)
        return found


def held(item: Item) -> Found:
    """Return the finding about an object that is being deleted."""
    since, names = item.metadata["deletionTimestamp"], listed(finalizers_of(item))
    return Found(Kind.HELD, item, f"its deletion began at {since}; held by {names or 'nothing'}", remedies.let_go(item))


def hosts_of(wanted: Object) -> list[Any]:
    """Return the hosts of an object that the hook answers with."""
    spec = wanted["spec"]
    return spec["hostnames"] if wanted["kind"] == HTTPROUTE else [rule["host"] for rule in spec["rules"]]


def called(item: Item) -> str:
    """Return what a person calls an object: its kind, namespace and name."""
    return f"{item.object.get('kind', '')} {item.label}"
