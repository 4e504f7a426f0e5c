"""`audit`: what of a cluster needs a person, and the command that mends it. The pure part.

Each Service is decided on as the hook would, and what stands is compared with that as Metacontroller would. So what is
found is what these two would do, or can't do. What was read is one look: a change that is a second old can be in it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import msgspec

from ingress_manager.commands.audit import remedies
from ingress_manager.commands.audit.claims import UpstreamCollision, claimed_twice, upstream_collisions
from ingress_manager.commands.audit.kinds import KINDS, OBJECTS, FindingKind
from ingress_manager.commands.audit.serving import backends_of, name_taken, what_it_does
from ingress_manager.commands.plans.steps import kubectl
from ingress_manager.commands.printing.messages import Message
from ingress_manager.commands.printing.words import Command
from ingress_manager.commands.reading.kinds import INGRESS, SERVICE
from ingress_manager.commands.reading.manifests import Item
from ingress_manager.commands.view.answering import causes
from ingress_manager.commands.view.drift import differences
from ingress_manager.commands.view.look import (
    SETTINGS,
    UNKNOWN,
    Known,
    ObjectView,
    ServiceView,
    Unknown,
    View,
    finalizers_of,
    is_being_deleted,
    look,
)
from ingress_manager.commands.view.managed import FINALIZER
from ingress_manager.commands.view.surroundings import Surroundings
from ingress_manager.core.copying import keys_not_copied
from ingress_manager.core.effects import protects
from ingress_manager.core.entrances import entrance_for
from ingress_manager.core.errors import Reason
from ingress_manager.core.kubernetes import Key, Object
from ingress_manager.core.observed import LAST_APPLIED
from ingress_manager.core.policy import NOTHING_STATED, Policy, in_namespace
from ingress_manager.core.read_from_services import is_read_from_services
from ingress_manager.core.rules import states_no_rule
from ingress_manager.core.text import listed

RESTS_ON_ABSENCE = (FindingKind.MISSING, FindingKind.DETACHED, FindingKind.UPSTREAM_COLLISION)

PLACEHOLDER_HOST = Policy().defaults.host
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

    reasons: Sequence[Reason] = ()
    """Why the Service is refused, or the object is forbidden, in the words of the Events, logs and metrics."""

    @property
    def about(self) -> str:
        """Return what a person calls the object: its kind, namespace and name."""
        return called(self.item)


class Count(msgspec.Struct, frozen=True):
    """How many objects there are of a kind."""

    all: int
    ours: int
    """The Services that ask to be exposed, and what says that ingress-manager made it."""


class Unseen(msgspec.Struct, frozen=True):
    """What could not be looked at, why, and which kinds of findings are therefore not made, or not all of them."""

    what: str
    """Service, Ingress, HTTPRoute, "settings", or an object."""

    sentence: str
    findings: list[FindingKind]


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

    unseen: list[Unseen] = field(default_factory=list)
    """What could not be looked at."""

    scope: str = ""
    """What was not looked at because nobody asked for it, as a sentence; "" where all was."""

    options: Sequence[str] = ()
    """kubectl's options that say which cluster; every command has them."""


def audit(
    items: Iterable[Item], policy: Policy | Unknown, known: Known | None = None, around: Surroundings | None = None
) -> Audit:
    """Return what needs a person among the items. Nothing is found for want of what could not be looked at."""
    return Auditor(look_at(items, policy, known), policy, around).audit()


def look_at(items: Iterable[Item], policy: Policy | Unknown, known: Known | None = None) -> View:
    """Return the view that is judged.

    What a pause keeps from being done is found as if there were none: that is what somebody has to know.
    """
    return look(items, policy.without_pause() if isinstance(policy, Policy) else policy, known)


def once(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield the findings; that nobody seems to serve a class, which is one thing, for the first of its Ingresses."""
    told: set[str] = set()
    for finding in findings:
        if finding.kind is not FindingKind.CLASS_UNSERVED or finding.sentence not in told:
            told.add(finding.sentence)
            yield finding


class Auditor:
    """Judges once a view in which nothing is paused; `policy` says what is. Without `around`, it isn't looked at."""

    def __init__(self, view: View, policy: Policy | Unknown, around: Surroundings | None = None) -> None:
        self._view = view
        self._policy = policy
        self._around = around or Surroundings()
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
        pauses = self._policy.pauses if isinstance(self._policy, Policy) else ""
        return Audit(found, self._view.invalid, self._counts(), pauses, list(self._unseen()))

    def _all(self) -> Iterator[Finding]:
        """Yield what is found, and rests on nothing that is unknown. Of single objects the view says so."""
        unknown = {SETTINGS, SERVICE} & self._view.unseen().keys()
        return (each for each in self._candidates() if unknown.isdisjoint(KINDS[each.kind].needs))

    def _candidates(self) -> Iterator[Finding]:
        for service in self._view.services.values():
            if service.is_exposed or service.observed:
                yield from self._of_service(service)
        for each in self._view.objects.values():
            if each.looks_ours:
                yield from self._of_object(each)
            for cause in causes(each, self._view, self._around):
                yield Finding(FindingKind(cause.kind), each.item, cause.sentence, cause.command)
        yield from self._of_claims()

    def _counts(self) -> dict[str, Count]:
        services = self._view.services.values()
        counts = {SERVICE: Count(len(services), sum(service.is_exposed for service in services))}
        for kind in OBJECTS:
            objects = [each for each in self._view.objects.values() if each.kind == kind]
            if objects or kind not in self._view.known.unknown:
                counts[kind] = Count(len(objects), sum(each.looks_ours for each in objects))
        return counts

    def _unseen(self) -> Iterator[Unseen]:
        for what, sentence in self._view.unseen().items():
            yield Unseen(what, sentence, [kind for kind, row in KINDS.items() if what in row.needs])
        for kind, label in sorted(self._view.misread):
            yield Unseen(f"{kind} {label}", f"{kind} {label} could not be read", [])
        if not self._view.known.is_whole:
            sentence = "A part of the files could not be read; what is in no other part may be there"
            yield Unseen("a part of the files", sentence, list(RESTS_ON_ABSENCE))
        for whats, sentence in self._around.unseen():
            kinds = [kind for kind, row in KINDS.items() if not {*whats}.isdisjoint(row.needs)]
            yield Unseen(", ".join(whats), sentence, kinds)

    # Services, and what was made for them.

    def _of_service(self, service: ServiceView) -> Iterator[Finding]:
        if is_being_deleted(service.item):
            yield going(service.item)
        elif is_held(service.item):
            sentence = f"Metacontroller does nothing for it while it has the finalizer {FINALIZER}"
            keep = [name for name in finalizers_of(service.item) if name != FINALIZER]
            yield Finding(FindingKind.HELD, service.item, sentence, remedies.let_go(service.item, keep))
        elif service.refused:
            command = remedies.correct(service.item, service.refused)
            reasons = [problem.reason for problem in service.refused.problems]
            yield Finding(
                FindingKind.REFUSED, service.item, service.refused.line(), command, list(dict.fromkeys(reasons))
            )
        else:
            yield from self._of_desired(service)
        yield from self._of_observed(service)

    def _of_desired(self, service: ServiceView) -> Iterator[Finding]:
        """Yield what is found of a Service that is given something, but for what was made for it."""
        for key in service.desired:
            if key not in service.observed:
                yield from self._of_absent(service, key)
        anew = self._view.anew(service)
        if not anew or isinstance(self._view.policy, Unknown):
            return
        ours: dict[str, str] = {}
        for each in anew.values():
            ours |= each["metadata"].get("annotations", {})
        not_copied = keys_not_copied(service.item.annotations, ours)
        # One that protects may be lost, say the settings: else the Service would be refused.
        if left := [key for key in not_copied if not (is_read_from_services(key) or protects(key))]:
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
                sentence = f"{whose} is {PLACEHOLDER_HOST}, which is a placeholder"
                command = remedies.other_host(service.item, entrance)
                yield Finding(FindingKind.PLACEHOLDER_HOST, service.item, sentence, command)

    def _of_absent(self, service: ServiceView, key: Key) -> Iterator[Finding]:
        """Yield what is found of an object that a Service asks for, and that Metacontroller doesn't have."""
        other = self._view.object(key)
        if isinstance(other, Unknown):
            return
        if other is None:
            sentence = f"its {key[0]} {key[1]} isn't there"
            yield Finding(FindingKind.MISSING, service.item, *self._undone(service.item, sentence))
        elif other.looks_ours and not self._belongs_to_a_service(other):
            return  # it is told of as detached
        elif is_being_deleted(other.item):
            yield going(other.item)
        else:
            yield Finding(FindingKind.NAME_TAKEN, service.item, *name_taken(service, other))

    def _of_observed(self, service: ServiceView) -> Iterator[Finding]:
        """Yield what is found of the objects that were made for a Service."""
        forbidden = self._view.forbidden(service)
        for key, each in service.observed.items():
            if is_being_deleted(each.item):
                yield going(each.item)
            elif key in forbidden:
                why = forbidden[key]
                command = kubectl("delete", each.item)
                yield Finding(FindingKind.FORBIDDEN, each.item, why.told(), command, [why.reason])
            elif is_being_deleted(service.item) or isinstance(service.decision, Unknown):
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
        if isinstance(owner, Unknown) or (owner and each.is_marked):
            return
        if is_being_deleted(each.item):
            yield going(each.item)
        else:
            yield Finding(FindingKind.DETACHED, each.item, *self._lacks(each, owner))

    def _lacks(self, each: ObjectView, owner: ServiceView | None) -> tuple[str, Command]:
        """Return what an object lacks that Metacontroller doesn't take for ours, and the command that mends it."""
        if owner:
            return "it lacks Metacontroller's annotation", remedies.attach(each, owner)
        if each.service:
            sentence = f"it belongs to Service {each.service} of uid {each.owner_uid}, which isn't there"
            heir = self._asking_for(each)
            return sentence, self._attach(each, heir) if heir else kubectl("delete", each.item)
        if each.owner:
            sentence = f"it belongs to {each.owner.get('kind')} {each.owner.get('name')}, and is not ingress-manager's"
            return sentence, remedies.disown(each.item)
        more = "" if each.is_marked else ", and lacks Metacontroller's annotation"
        if service := self._asking_for(each):
            return f"it has no owner{more}", self._attach(each, service)
        there = [
            (kind, name)
            for kind, name in backends_of(each)
            if kind != SERVICE or self._view.service(f"{each.item.namespace}/{name}")
        ]
        if does := what_it_does(each, there):
            return f"it has no owner{more}{does}", remedies.disown(each.item)
        return f"it has no owner{more}, and leads to nothing that is there", kubectl("delete", each.item)

    @staticmethod
    def _attach(each: ObjectView, service: ServiceView | Unknown) -> Command:
        """Return the command that gives an object to a Service; none where it isn't known which one asks for it."""
        return () if isinstance(service, Unknown) else remedies.attach(each, service)

    def _belongs_to_a_service(self, each: ObjectView) -> bool:
        """Return whether Metacontroller takes an object for one that it made for a Service that is there."""
        return each.is_marked and isinstance(self._view.owner_of(each), ServiceView)

    def _asking_for(self, each: ObjectView) -> ServiceView | Unknown | None:
        """Return the Service that asks for an object, or that may ask for it once it is not refused, or not held."""
        if found := self._desired_by.get(each.key):
            return found
        # No Service's name has a dot: what is behind it tells one of its HTTPRoutes from the others.
        namesake = self._view.service(each.item.label.partition(".")[0])
        if isinstance(namesake, Unknown) or not namesake:
            return namesake
        if entrance_for(namesake.service, each.key) not in namesake.entrances:
            return None
        if isinstance(namesake.decision, Unknown):
            return UNKNOWN
        return namesake if namesake.refused or is_held(namesake.item) else None

    # What two have.

    def _of_claims(self) -> Iterator[Finding]:
        objects = self._view.objects.values()
        for both in claimed_twice(objects):
            is_told = self._has_placeholder(both.younger)
            claims = [str(claim) for claim in both.claims if not (is_told and claim.host == PLACEHOLDER_HOST)]
            if claims:
                age = "is older" if both.older.item.born[0] < both.younger.item.born[0] else "is as old"
                sentence = f"{both.older} {age}, and claims {listed(claims)}, too"
                yield Finding(
                    FindingKind.CLAIMED_TWICE, both.younger.item, sentence, self._of_another_host(both.younger)
                )
        yield from filter(None, map(self._of_one_name, upstream_collisions(objects)))

    def _has_placeholder(self, each: ObjectView) -> bool:
        """Return whether the host of an object may be told as a placeholder: it is, or nobody can say."""
        owner = self._view.owner_of(each)
        if isinstance(owner, ServiceView) and isinstance(self._view.policy, Policy):
            return has_placeholder(owner, entrance_for(owner.service, each.key), self._view.policy)
        return owner is not None

    def _of_one_name(self, collision: UpstreamCollision) -> Finding | None:
        younger, other, what = collision.younger, collision.other, collision.kind
        item, command = younger.item, self._of_another_host(younger)
        namespaces = {label.partition("/")[0] for label in (collision.one, collision.other)}
        if collision.kind != INGRESS and not all(self._view.has_all(INGRESS, each) for each in namespaces):
            return None  # which of them is used for longer isn't known
        if collision.kind == SERVICE:
            service = self._view.services.get(collision.one)
            if not service:
                return None
            item, command = service.item, kubectl("edit", service.item)
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
        if isinstance(self._policy, Policy) and self._policy.paused_in(item.namespace):
            return f"{sentence}, because of the pause", ()
        return sentence, remedies.SYNC_ALL


def is_held(item: Item) -> bool:
    """Return whether Metacontroller does nothing for a Service: it is being deleted, or has a finalizer of its own."""
    return is_being_deleted(item) or FINALIZER in finalizers_of(item)


def going(item: Item) -> Finding:
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
    return policy.defaults.host == PLACEHOLDER_HOST and not any(each and each.host for each in nearer)


def called(item: Item) -> str:
    """Return what a person calls an object: its kind, namespace and name."""
    return f"{item.object.get('kind', '')} {item.label}"
