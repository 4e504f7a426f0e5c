"""Finders: for each kind of findings, what finds them in a view. The kinds are in the order of kinds.py.

A Service is held, or refused, or else is given something. What was made for one is being deleted, forbidden, unwanted,
or else as it should be, or drifted. So no two kinds tell of the same.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ingress_manager.commands.audit import remedies
from ingress_manager.commands.audit.claims import (
    TRAEFIK,
    UpstreamCollision,
    claimed_twice,
    claims_of,
    listener_claim,
    upstream_collisions,
)
from ingress_manager.commands.audit.kinds import FindingKind
from ingress_manager.commands.audit.serving import backends_of, name_taken, what_it_does
from ingress_manager.commands.plans.steps import kubectl
from ingress_manager.commands.printing.words import Command
from ingress_manager.commands.reading.kinds import INGRESS, LISTENERSET, SERVICE
from ingress_manager.commands.reading.manifests import Item
from ingress_manager.commands.view.answering import CauseKind, causes
from ingress_manager.commands.view.drift import differences
from ingress_manager.commands.view.ingresses import class_of
from ingress_manager.commands.view.look import (
    UNKNOWN,
    ObjectView,
    ServiceView,
    Unknown,
    View,
    finalizers_of,
    is_being_deleted,
)
from ingress_manager.commands.view.managed import FINALIZER
from ingress_manager.commands.view.merge import last_applied
from ingress_manager.commands.view.surroundings import CLASS, GATEWAY, Surroundings
from ingress_manager.core.copying import keys_not_copied
from ingress_manager.core.entrances import entrance_for, no_effect, without_http
from ingress_manager.core.errors import Reason
from ingress_manager.core.kubernetes import LAST_APPLIED, Ingress
from ingress_manager.core.namespace_policy import in_namespace
from ingress_manager.core.policy import Policy
from ingress_manager.core.text import listed
from ingress_manager.core.vocabulary import is_read_from_services, protects

PLACEHOLDER_HOST = Policy().defaults.host
"""The default host until the settings state one."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that needs a person."""

    kind: FindingKind
    item: Item
    sentence: str
    command: Command = ()
    """What fixes it; empty where no command does."""

    reasons: Sequence[Reason] = ()
    """Why the Service is refused, or the object is forbidden, in the words of the Events, logs and metrics."""


class SortedView:
    """A view in which nothing is paused, sorted out once for all finders; `policy` says what is paused."""

    def __init__(self, view: View, policy: Policy | Unknown, around: Surroundings) -> None:
        self.view, self.policy, self.around = view, policy, around
        self.exposed = [each for each in view.services.values() if each.is_exposed or each.observed]
        self.accepted = [each for each in self.exposed if not (each.refused or is_held(each.item))]
        """The Services whose desired objects Metacontroller makes."""

        self.desired_by = {key: service for service in self.accepted for key in service.desired}
        missing = [
            (service, key) for service in self.accepted for key in service.desired if key not in service.observed
        ]
        self.absent = [(service, key, view.object(key)) for service, key in missing]
        """What Services ask for and Metacontroller doesn't have, with what has its name."""

        self.made = [
            (service, each, forbidden.get(key))
            for service in self.exposed
            for forbidden in [view.forbidden(service)]
            for key, each in service.observed.items()
        ]
        """What was made for Services, each with why it is forbidden, if it is."""

        self.settled = [
            (service, each)
            for service, each, forbidden in self.made
            if not (forbidden or is_being_deleted(each.item) or is_being_deleted(service.item))
            and not isinstance(service.decision, Unknown)
        ]
        """What was made for Services, and may stand."""

        ours = [(each, view.owner_of(each)) for each in view.objects.values() if each.looks_ours]
        self.alone = [
            (each, owner) for each, owner in ours if not (isinstance(owner, Unknown) or (owner and each.is_marked))
        ]
        """What says that it is ours, and Metacontroller takes for no Service's; with the Service that controls it."""

        self.causes = [
            Finding(FindingKind(cause.kind), each.item, cause.sentence, cause.command)
            for each in view.objects.values()
            for cause in causes(each, view, around)
        ]

    def asking_for(self, each: ObjectView) -> ServiceView | Unknown | None:
        """Return the Service that asks for an object, or that may ask for it once it is not refused, or not held."""
        if found := self.desired_by.get(each.key):
            return found
        # No Service's name has a dot: what is behind it tells one of its HTTPRoutes from the others.
        namesake = self.view.service(each.item.full_name.partition(".")[0])
        if isinstance(namesake, Unknown) or not namesake:
            return namesake
        if entrance_for(namesake.service, each.key) not in namesake.entrances:
            return None
        if isinstance(namesake.decision, Unknown):
            return UNKNOWN
        return namesake if namesake.refused or is_held(namesake.item) else None

    def undone(self, item: Item, sentence: str) -> tuple[str, Command]:
        """Return a sentence about what Metacontroller has not done, and the command that makes it do so."""
        if isinstance(self.policy, Policy) and self.policy.paused_in(item.namespace):
            return f"{sentence}, because of the pause", ()
        return sentence, remedies.SYNC_ALL

    def of_another_host(self, each: ObjectView) -> Command:
        """Return the command that gives another host to an object, or to the Service that controls it."""
        owner = self.view.owner_of(each)
        if not isinstance(owner, ServiceView):
            return kubectl("edit", each.item)
        return remedies.other_host(owner.item, entrance_for(owner.service, each.key))

    def may_have_placeholder(self, each: ObjectView) -> bool:
        """Return whether the host of an object may be told as a placeholder: it is, or nobody can say."""
        owner = self.view.owner_of(each)
        if isinstance(owner, ServiceView) and isinstance(self.view.policy, Policy):
            return has_placeholder(owner, entrance_for(owner.service, each.key), self.view.policy)
        return owner is not None


Found = Iterator[Finding]


def _refused(seen: SortedView) -> Found:
    for service in seen.exposed:
        if service.refused and not is_held(service.item):
            command = remedies.correct(service.item, service.refused)
            reasons = list(dict.fromkeys(problem.reason for problem in service.refused.problems))
            yield Finding(FindingKind.REFUSED, service.item, service.refused.line(), command, reasons)


def _name_taken(seen: SortedView) -> Found:
    for service, _, other in seen.absent:
        if not isinstance(other, ObjectView) or is_being_deleted(other.item):
            continue
        # What is ours and belongs to no Service is told of as detached.
        if not other.looks_ours or (other.is_marked and isinstance(seen.view.owner_of(other), ServiceView)):
            yield Finding(FindingKind.NAME_TAKEN, service.item, *name_taken(service, other))


def _forbidden(seen: SortedView) -> Found:
    for _, each, why in seen.made:
        if why and not is_being_deleted(each.item):
            yield Finding(FindingKind.FORBIDDEN, each.item, why.told(), kubectl("delete", each.item), [why.reason])


def _missing(seen: SortedView) -> Found:
    for service, (kind, label), other in seen.absent:
        if other is None:
            sentence = f"its {kind} {label} isn't there"
            yield Finding(FindingKind.MISSING, service.item, *seen.undone(service.item, sentence))


def _drifted(seen: SortedView) -> Found:
    for service, each in seen.settled:
        if service.refused or each.key not in service.desired:
            continue
        try:
            found = differences(each.item, service.desired[each.key])
        except ValueError:
            sentence = f"its annotation {LAST_APPLIED} can't be read, so that Metacontroller doesn't change it"
            command = remedies.annotate(each.item, [f"{LAST_APPLIED}-"])
            yield Finding(FindingKind.DRIFTED, each.item, sentence, command)
        else:
            if found:
                yield Finding(FindingKind.DRIFTED, each.item, *seen.undone(each.item, listed(found)))


def _unguarded(seen: SortedView) -> Found:
    for service, each in seen.settled:
        made = service.desired.get(each.key, {}).get("metadata", {}).get("annotations", {})
        stated = {*service.item.annotations, *made, *applied_to(each.item)}
        lost = {key: text for key, text in each.item.annotations.items() if protects(key) and key not in stated}
        if lost and (service.refused or each.key in service.desired):
            sentence = f"Service {service.item.full_name} lacks {listed(sorted(lost))}, by which this is protected"
            yield Finding(FindingKind.UNGUARDED, each.item, sentence, remedies.state(service.item, lost))


def applied_to(item: Item) -> Mapping[str, str]:
    """Return the annotations that Metacontroller applied last: what is `drifted` tells whether they go."""
    try:
        return last_applied(item.object).get("metadata", {}).get("annotations") or {}
    except ValueError:
        return {}


def _unwanted(seen: SortedView) -> Found:
    for service, each in seen.settled:
        # One that is refused asks for all of its entrances.
        is_asked_for = (
            entrance_for(service.service, each.key) in service.entrances
            if service.refused
            else each.key in service.desired
        )
        if not is_asked_for:
            sentence = f"Service {service.item.full_name} doesn't ask for it"
            yield Finding(FindingKind.UNWANTED, each.item, sentence, kubectl("delete", each.item))


def _detached(seen: SortedView) -> Found:
    for each, owner in seen.alone:
        if not is_being_deleted(each.item):
            yield Finding(FindingKind.DETACHED, each.item, *_lacks(seen, each, owner))


def _lacks(seen: SortedView, each: ObjectView, owner: ServiceView | None) -> tuple[str, Command]:
    """Return what an object lacks that Metacontroller doesn't take for ours, and the command that fixes it."""
    if owner:
        return "it lacks Metacontroller's annotation", remedies.attach(each, owner)
    asking = None if each.owner and not each.service else seen.asking_for(each)
    # Where it isn't known which Service asks for it, no command can be told.
    attach = remedies.attach(each, asking) if isinstance(asking, ServiceView) else ()
    if each.service:
        sentence = f"it belongs to Service {each.service} of uid {each.owner_uid}, which isn't there"
        return sentence, attach if asking else kubectl("delete", each.item)
    if each.owner:
        sentence = f"it belongs to {each.owner.get('kind')} {each.owner.get('name')}, and is not ingress-manager's"
        return sentence, remedies.disown(each.item)
    sentence = "it has no owner" if each.is_marked else "it has no owner, and lacks Metacontroller's annotation"
    if asking:
        return sentence, attach
    there = [
        (kind, name)
        for kind, name in backends_of(each)
        if kind != SERVICE or seen.view.service(f"{each.item.namespace}/{name}")
    ]
    if does := what_it_does(each, there):
        return f"{sentence}{does}", remedies.disown(each.item)
    return f"{sentence}, and leads to nothing that is there", kubectl("delete", each.item)


def _held(seen: SortedView) -> Found:
    others = [other.item for _, _, other in seen.absent if isinstance(other, ObjectView)]
    objects = [*(each.item for _, each, _ in seen.made), *(each.item for each, _ in seen.alone), *others]
    services = [service.item for service in seen.exposed]
    for item in {(item.kind, item.full_name): item for item in (*services, *objects)}.values():
        if is_being_deleted(item):
            since, names = item.metadata["deletionTimestamp"], listed(finalizers_of(item))
            sentence = f"its deletion began at {since}; held by {names or 'nothing'}"
            yield Finding(FindingKind.HELD, item, sentence, remedies.let_go(item))
    for item in services:
        if FINALIZER in finalizers_of(item) and not is_being_deleted(item):
            sentence = f"Metacontroller does nothing for it while it has the finalizer {FINALIZER}"
            keep = [name for name in finalizers_of(item) if name != FINALIZER]
            yield Finding(FindingKind.HELD, item, sentence, remedies.let_go(item, keep))


def _upstream_collision(seen: SortedView) -> Found:
    for each in upstream_collisions(seen.view.objects.values()):
        # Which of two is used for longer isn't known where not all Ingresses are.
        namespaces = {label.partition("/")[0] for label in (each.one, each.other)}
        is_known = each.kind == INGRESS or all(seen.view.has_all(INGRESS, namespace) for namespace in namespaces)
        item, command = _mended(seen, each)
        if is_known and item:
            what = "a route of Ingress" if each.kind == INGRESS else each.kind
            where = " and ".join(each.controllers)
            sentence = f"{each.name} is the name of {what} {each.other}, too, in {where}"
            yield Finding(FindingKind.UPSTREAM_COLLISION, item, sentence, command)


def _mended(seen: SortedView, collision: UpstreamCollision) -> tuple[Item | None, Command]:
    """Return the object of a collision that a person changes, if it is there, and the command for that."""
    younger = collision.younger
    if collision.kind == SERVICE:
        service = seen.view.services.get(collision.one)
        return (service.item, kubectl("edit", service.item)) if service else (None, ())
    if collision.kind == INGRESS and TRAEFIK in collision.controllers:
        return younger.item, seen.of_another_host(younger)  # the host is in that name
    owner = seen.view.owner_of(younger)
    return younger.item, kubectl("edit", owner.item if isinstance(owner, ServiceView) else younger.item)


def _claimed_twice(seen: SortedView) -> Found:
    for both in claimed_twice(seen.view.objects.values(), seen.around.of_kind(CLASS).values()):
        is_told = seen.may_have_placeholder(both.younger)
        claims = [str(claim) for claim in both.claims if not (is_told and claim.host == PLACEHOLDER_HOST)]
        if claims:
            age = "is older" if both.older.item.born[0] < both.younger.item.born[0] else "is as old"
            sentence = f"{both.older}{class_beside(both.older, both.younger)} {age}, and claims {listed(claims)}, too"
            command = seen.of_another_host(both.younger)
            yield Finding(FindingKind.CLAIMED_TWICE, both.younger.item, sentence, command)
    of_gateways = {
        listener_claim(label, listener.port, listener.hostname): f"listener {listener.name} of Gateway {label}"
        for label in seen.around.of_kind(GATEWAY)
        for listener in seen.around.typed[GATEWAY, label].spec.listeners
    }
    for each in seen.view.objects.values():
        for claim in claims_of(each) if each.kind == LISTENERSET and each.looks_ours else ():
            if claim in of_gateways:
                sentence = f"{of_gateways[claim]} goes before it, and claims {claim}, too"
                yield Finding(FindingKind.CLAIMED_TWICE, each.item, sentence, seen.of_another_host(each))


def class_beside(older: ObjectView, younger: ObjectView) -> str:
    """Return the class of an older Ingress, if a younger one of another class is served by the same controller."""
    names = [class_of(each.item, each.typed.spec) for each in (older, younger) if isinstance(each.typed, Ingress)]
    return f" (class {names[0]}, of the same controller)" if len({*names}) > 1 else ""


def _not_copied(seen: SortedView) -> Found:
    for service in seen.accepted if isinstance(seen.view.policy, Policy) else ():
        ours: dict[str, str] = {}
        anew = seen.view.anew(service)
        for each in anew.values():
            ours |= each["metadata"].get("annotations", {})
        not_copied = keys_not_copied(service.item.annotations, ours) if anew else ()
        # One that protects may be lost, say the settings: else the Service would be refused.
        if left := [key for key in not_copied if not (is_read_from_services(key) or protects(key))]:
            sentence = f"{listed(left)} {'is' if len(left) == 1 else 'are'} not copied"
            command = remedies.annotate(service.item, [f"{key}-" for key in left])
            yield Finding(FindingKind.NOT_COPIED, service.item, sentence, command)


def _placeholder_host(seen: SortedView) -> Found:
    policy = seen.view.policy
    if not isinstance(policy, Policy) or policy.defaults.host != PLACEHOLDER_HOST:
        return
    for service in seen.accepted:
        for entrance in service.entrances if seen.view.anew(service) else ():
            if has_placeholder(service, entrance, policy):
                whose = f"the host of its entrance {entrance}" if entrance else "its host"
                sentence = f"{whose} is {PLACEHOLDER_HOST}, which is a placeholder"
                command = remedies.other_host(service.item, entrance)
                yield Finding(FindingKind.PLACEHOLDER_HOST, service.item, sentence, command)


def _no_http(seen: SortedView) -> Found:
    for service in seen.view.services.values():
        if keys := without_http(service.item.annotations):
            yield Finding(FindingKind.NO_HTTP, service.item, no_effect(keys), kubectl("edit", service.item))


def _of_cause(kind: FindingKind) -> "Finder":
    return lambda seen: (each for each in seen.causes if each.kind is kind)


Finder = Callable[[SortedView], Found]
FINDERS: dict[FindingKind, Finder] = {
    FindingKind.REFUSED: _refused,
    FindingKind.NAME_TAKEN: _name_taken,
    FindingKind.FORBIDDEN: _forbidden,
    FindingKind.MISSING: _missing,
    FindingKind.DRIFTED: _drifted,
    FindingKind.UNGUARDED: _unguarded,
    FindingKind.UNWANTED: _unwanted,
    FindingKind.DETACHED: _detached,
    FindingKind.HELD: _held,
    FindingKind.UPSTREAM_COLLISION: _upstream_collision,
    FindingKind.CLAIMED_TWICE: _claimed_twice,
    FindingKind.NOT_COPIED: _not_copied,
    FindingKind.PLACEHOLDER_HOST: _placeholder_host,
    FindingKind.NO_HTTP: _no_http,
    **{kind: _of_cause(kind) for kind in map(FindingKind, CauseKind)},
}


def is_held(item: Item) -> bool:
    """Return whether Metacontroller does nothing for a Service: it is being deleted, or has a finalizer of its own."""
    return is_being_deleted(item) or FINALIZER in finalizers_of(item)


def has_placeholder(service: ServiceView, entrance: str, policy: Policy) -> bool:
    """Return whether an entrance of a Service states no host, and gets the default host that is built in."""
    stated = service.entrances.get(entrance)
    if stated is None or stated.hosts is not None or all(route.host is not None for route in stated.routes):
        return False
    # What a namespace or a profile says was meant, whatever it is.
    namespace = service.item.namespace
    profile = in_namespace(policy, namespace, stated.profile).profile
    nearer = (policy.entry_of(namespace).defaults, policy.profiles.get(profile or ""))
    return policy.defaults.host == PLACEHOLDER_HOST and not any(each and each.host for each in nearer)
