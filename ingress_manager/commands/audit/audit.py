"""`audit`: what of a cluster needs a person, and the command that mends it. The pure part.

Each Service is decided on as the hook would, and what stands is compared with that as Metacontroller would. So what is
found is what these two would do, or can't do. What was read is one look: a change that is a second old can be in it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import msgspec

from ingress_manager.commands.audit import remedies
from ingress_manager.commands.audit.claims import UpstreamCollision, claimed_twice, upstream_collisions
from ingress_manager.commands.audit.kinds import FindingKind
from ingress_manager.commands.plans.steps import kubectl
from ingress_manager.commands.printing.messages import Message
from ingress_manager.commands.printing.words import Command
from ingress_manager.commands.reading.kinds import HTTPROUTE, INGRESS, SERVICE
from ingress_manager.commands.reading.manifests import Item
from ingress_manager.commands.view.drift import differences
from ingress_manager.commands.view.look import (
    UNKNOWN,
    Known,
    ObjectView,
    ServiceView,
    View,
    finalizers_of,
    is_being_deleted,
    look,
)
from ingress_manager.commands.view.managed import FINALIZER
from ingress_manager.core.copying import keys_not_copied
from ingress_manager.core.decide import entrance_for
from ingress_manager.core.exposure import states_no_rule
from ingress_manager.core.kubernetes import Key, Object
from ingress_manager.core.observed import LAST_APPLIED
from ingress_manager.core.policy import NOTHING_STATED, Policy, in_namespace
from ingress_manager.core.text import listed

PLACEHOLDER = Policy().defaults.host
"""The default host until the settings state one."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that needs a person."""

    kind: FindingKind
    item: Item
    """The object that it is about."""

    sentence: str
    command: Command = ()
    """What mends it; empty where no command does."""

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

    findings: list[Finding] = field(default_factory=list)
    invalid: list[Message] = field(default_factory=list)
    """Why an object can't be judged at all."""

    counts: dict[str, Count] = field(default_factory=dict)
    """How many objects of each kind were looked at."""

    paused: str = ""
    """What is paused, as a person would say it; "" for nothing."""

    options: Sequence[str] = ()
    """kubectl's options that say which cluster; every command has them."""


def audit(items: Iterable[Item], policy: Policy, known: Known | None = None) -> Audit:
    """Return what needs a person among the items. Nothing is found for want of what could not be looked at."""
    # What a pause keeps from being done is found as if there were none: that is what somebody has to know.
    return Auditor(look(items, policy.without_pause(), known), policy).audit()


class Auditor:
    """Judges once a view in which nothing is paused; `policy` says what is."""

    def __init__(self, view: View, policy: Policy) -> None:
        self._view = view
        self._policy = policy
        self._desired_by = {
            key: service
            for service in view.services.values()
            if not (service.refused or is_held(service.item))
            for key in service.desired
        }
        """The Service that asks for an object."""

    def audit(self) -> Audit:
        """Return all that is found."""
        order = {kind: number for number, kind in enumerate(FindingKind)}
        found = sorted(self._all(), key=lambda each: (order[each.kind], each.item.label, each.about))
        return Audit(found, self._view.invalid, self._counts(), self._policy.pauses)

    def _all(self) -> Iterator[Finding]:
        for service in self._view.services.values():
            if service.is_exposed or service.observed:
                yield from self._of_service(service)
        for each in self._view.objects.values():
            if each.looks_ours:
                yield from self._of_object(each)
        yield from self._of_claims()

    def _counts(self) -> dict[str, Count]:
        services = self._view.services.values()
        counts = {SERVICE: Count(len(services), sum(service.is_exposed for service in services))}
        for kind in (INGRESS, HTTPROUTE):
            if kind not in self._view.known.unknown:
                objects = [each for each in self._view.objects.values() if each.kind == kind]
                counts[kind] = Count(len(objects), sum(each.looks_ours for each in objects))
        return counts

    # Services, and what was made for them.

    def _of_service(self, service: ServiceView) -> Iterator[Finding]:
        if is_being_deleted(service.item):
            yield held(service.item)
        elif is_held(service.item):
            sentence = f"Metacontroller does nothing for it while it has the finalizer {FINALIZER}"
            keep = [name for name in finalizers_of(service.item) if name != FINALIZER]
            yield Finding(FindingKind.HELD, service.item, sentence, remedies.let_go(service.item, keep))
        elif service.refused:
            command = remedies.correct(service.item, service.refused)
            yield Finding(FindingKind.REFUSED, service.item, service.refused.line(), command)
        elif service.desired:
            yield from self._of_desired(service)
        yield from self._of_observed(service)

    def _of_desired(self, service: ServiceView) -> Iterator[Finding]:
        """Yield what is found of a Service that is given something, but for what was made for it."""
        for key in service.desired:
            if key not in service.observed:
                yield from self._of_absent(service, key)
        ours: dict[str, str] = {}
        for each in service.desired.values():
            ours |= each["metadata"].get("annotations", {})
        if left := keys_not_copied(service.item.annotations, ours):
            sentence = f"{listed(left)} {'is' if len(left) == 1 else 'are'} not copied"
            yield Finding(
                FindingKind.NOT_COPIED,
                service.item,
                sentence,
                remedies.annotate(service.item, [f"{key}-" for key in left]),
            )
        for entrance in service.entrances:
            if has_placeholder(service, entrance, self._view.policy):
                whose = f"the host of its entrance {entrance}" if entrance else "its host"
                sentence = f"{whose} is {PLACEHOLDER}, which is a placeholder"
                command = remedies.other_host(service.item, entrance)
                yield Finding(FindingKind.PLACEHOLDER_HOST, service.item, sentence, command)

    def _of_absent(self, service: ServiceView, key: Key) -> Iterator[Finding]:
        """Yield what is found of an object that a Service asks for, and that Metacontroller doesn't have."""
        other = self._view.object(key)
        if other is UNKNOWN:
            return
        if other is None:
            sentence = f"its {key[0]} {key[1]} isn't there"
            yield Finding(FindingKind.MISSING, service.item, *self._undone(service.item, sentence))
        elif other.looks_ours and not self._belongs_to_a_service(other):
            return  # it is told of as detached
        elif is_being_deleted(other.item):
            yield held(other.item)
        else:
            sentence = f"{other} is in the way: it was not made for this Service"
            yield Finding(FindingKind.NAME_TAKEN, service.item, sentence, kubectl("delete", other.item))

    def _of_observed(self, service: ServiceView) -> Iterator[Finding]:
        """Yield what is found of the objects that were made for a Service."""
        forbidden = self._view.forbidden(service)
        for key, each in service.observed.items():
            if is_being_deleted(each.item):
                yield held(each.item)
            elif key in forbidden:
                yield Finding(FindingKind.FORBIDDEN, each.item, forbidden[key].sentence, kubectl("delete", each.item))
            elif is_being_deleted(service.item):
                continue
            elif self._is_unwanted(service, each):
                sentence = f"Service {service.item.label} doesn't ask for it"
                yield Finding(FindingKind.UNWANTED, each.item, sentence, kubectl("delete", each.item))
            elif not service.refused:
                yield from self._of_drift(each, service.desired[key])

    @staticmethod
    def _is_unwanted(service: ServiceView, each: ObjectView) -> bool:
        """Return whether a Service doesn't ask for an object; one that is refused asks for all of its entrances."""
        if service.refused:
            return entrance_for(service.service, each.key) not in service.entrances
        return each.key not in service.desired

    def _of_drift(self, observed: ObjectView, desired: Object) -> Iterator[Finding]:
        try:
            found = differences(observed.item, desired)
        except ValueError:
            sentence = f"its annotation {LAST_APPLIED} can't be read, so that Metacontroller doesn't change it"
            yield Finding(
                FindingKind.DRIFTED, observed.item, sentence, remedies.annotate(observed.item, [f"{LAST_APPLIED}-"])
            )
        else:
            if found:
                yield Finding(FindingKind.DRIFTED, observed.item, *self._undone(observed.item, listed(found)))

    # What nobody looks after.

    def _of_object(self, each: ObjectView) -> Iterator[Finding]:
        """Yield what is found of an object that says it is ours, if Metacontroller takes it for no Service's."""
        owner = self._view.owner_of(each)
        if owner is UNKNOWN or (owner and each.is_marked):
            return
        if is_being_deleted(each.item):
            yield held(each.item)
        else:
            yield Finding(FindingKind.DETACHED, each.item, *self._lacks(each, owner))

    def _lacks(self, each: ObjectView, owner: ServiceView | None) -> tuple[str, Command]:
        """Return what an object lacks that Metacontroller doesn't take for ours, and the command that mends it."""
        if owner:
            return "it lacks Metacontroller's annotation", remedies.attach(each, owner)
        if each.service:
            sentence = f"it belongs to Service {each.service} of uid {each.owner_uid}, which isn't there"
            return sentence, kubectl("delete", each.item)
        if each.owner:
            sentence = f"it belongs to {each.owner.get('kind')} {each.owner.get('name')}, and is not ingress-manager's"
            return sentence, remedies.disown(each.item)
        service = self._asking_for(each)
        command = remedies.attach(each, service) if service else kubectl("delete", each.item)
        more = "" if each.is_marked else ", and lacks Metacontroller's annotation"
        return f"it has no owner{more}", command

    def _belongs_to_a_service(self, each: ObjectView) -> bool:
        """Return whether Metacontroller takes an object for one that it made for a Service that is there."""
        return each.is_marked and isinstance(self._view.owner_of(each), ServiceView)

    def _asking_for(self, each: ObjectView) -> ServiceView | None:
        """Return the Service that asks for an object, or that may ask for it once it is not refused, or not held."""
        if found := self._desired_by.get(each.key):
            return found
        # No Service's name has a dot: what is behind it tells one of its HTTPRoutes from the others.
        namesake = self._view.services.get(each.item.label.partition(".")[0])
        if not namesake or entrance_for(namesake.service, each.key) not in namesake.entrances:
            return None
        return namesake if namesake.refused or is_held(namesake.item) else None

    # What two have.

    def _of_claims(self) -> Iterator[Finding]:
        objects = self._view.objects.values()
        for both in claimed_twice(objects):
            owner = self._view.owner_of(both.younger)
            is_told = isinstance(owner, ServiceView) and has_placeholder(
                owner, entrance_for(owner.service, both.younger.key), self._view.policy
            )
            claims = [str(claim) for claim in both.claims if not (is_told and claim.host == PLACEHOLDER)]
            if claims and (both.younger.looks_ours or both.older.looks_ours):
                age = "is older" if both.older.born[0] < both.younger.born[0] else "is as old"
                sentence = f"{both.older} {age}, and claims {listed(claims)}, too"
                yield Finding(
                    FindingKind.CLAIMED_TWICE, both.younger.item, sentence, self._of_another_host(both.younger)
                )
        yield from filter(None, map(self._of_one_name, upstream_collisions(objects)))

    def _of_one_name(self, collision: UpstreamCollision) -> Finding | None:
        younger, other, what = collision.younger, collision.other, collision.kind
        item, command = younger.item, self._of_another_host(younger)
        if collision.kind == SERVICE:
            service = self._view.services.get(collision.one) or self._view.services.get(collision.other)
            if not service:
                return None
            item, command = service.item, kubectl("edit", service.item)
            other = collision.other if item.label == collision.one else collision.one
        elif collision.kind == INGRESS:
            what = "a route of Ingress"
        else:
            command = kubectl("edit", self._mended_in(younger))
        where = " and ".join(collision.controllers)
        sentence = f"{collision.name} is the name of {what} {other}, too, in {where}"
        return Finding(FindingKind.UPSTREAM_COLLISION, item, sentence, command)

    def _of_another_host(self, each: ObjectView) -> Command:
        owner = self._view.owner_of(each)
        if not isinstance(owner, ServiceView):
            return kubectl("edit", each.item)
        return remedies.other_host(owner.item, entrance_for(owner.service, each.key))

    def _mended_in(self, each: ObjectView) -> Item:
        """Return what says what is in an object: the Service that controls it, or else the object itself."""
        owner = self._view.owner_of(each)
        return owner.item if isinstance(owner, ServiceView) else each.item

    # What all of them need.

    def _undone(self, item: Item, sentence: str) -> tuple[str, Command]:
        """Return a sentence about what Metacontroller has not done, and the command that makes it do so."""
        if self._policy.paused_in(item.namespace):
            return f"{sentence}, because of the pause", ()
        return sentence, remedies.SYNC_ALL


def is_held(item: Item) -> bool:
    """Return whether Metacontroller does nothing for a Service: it is being deleted, or has a finalizer of its own."""
    return is_being_deleted(item) or FINALIZER in finalizers_of(item)


def held(item: Item) -> Finding:
    """Return the finding about an object that is being deleted."""
    since, names = item.metadata["deletionTimestamp"], listed(finalizers_of(item))
    return Finding(
        FindingKind.HELD, item, f"its deletion began at {since}; held by {names or 'nothing'}", remedies.let_go(item)
    )


def has_placeholder(service: ServiceView, entrance: str, policy: Policy) -> bool:
    """Return whether an entrance of a Service states no host, and gets the default host that is built in."""
    stated = service.entrances.get(entrance)
    if stated is None or stated.hosts is not None or all(route.host is not None for route in stated.routes):
        return False
    if stated.default_backend and states_no_rule(stated):
        return False
    # What a namespace or a profile says was meant, whatever it is.
    namespace = service.item.namespace
    profile = in_namespace(policy, namespace, stated.profile).profile
    nearer = (policy.namespaces.get(namespace, NOTHING_STATED).defaults, policy.profiles.get(profile or ""))
    return policy.defaults.host == PLACEHOLDER and not any(each and each.host for each in nearer)


def called(item: Item) -> str:
    """Return what a person calls an object: its kind, namespace and name."""
    return f"{item.object.get('kind', '')} {item.label}"
