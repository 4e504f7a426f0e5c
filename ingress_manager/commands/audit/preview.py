"""Preview: what other settings would do to a cluster, before they are applied.

Each Service is decided on as the hook would with these settings; what would be written is what Metacontroller would.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import unified_diff

from ingress_manager.commands.audit.kinds import Effect
from ingress_manager.commands.audit.taken import Kept, Taken, taken
from ingress_manager.commands.printing.messages import Message
from ingress_manager.commands.printing.objects import as_yaml
from ingress_manager.commands.reading.kinds import SERVICE
from ingress_manager.commands.reading.manifests import Item
from ingress_manager.commands.view.drift import merged, our_parts
from ingress_manager.commands.view.known import Known, Unknown
from ingress_manager.commands.view.look import ServiceView, View, look
from ingress_manager.commands.view.merge import same
from ingress_manager.commands.view.objects import ObjectView, is_being_deleted
from ingress_manager.core.decide import RemovedFirst
from ingress_manager.core.errors import Reason, Refused
from ingress_manager.core.kubernetes import Key, Object
from ingress_manager.core.policy import Policy


@dataclass(frozen=True, slots=True)
class Affected:
    """One thing that would happen."""

    effect: Effect
    kind: str
    namespace: str
    name: str
    sentence: str
    """Why, or what about it."""

    diff: str = ""
    """Of what is changed: a unified diff of the YAML of what the hook has a say in."""

    @property
    def about(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"


@dataclass(slots=True)
class Preview:
    """All that would happen, by what it is and then by namespace and name."""

    affected: list[Affected] = field(default_factory=list)
    invalid: list[Message] = field(default_factory=list)
    taken: list[Taken] = field(default_factory=list)
    """What answers now, and would not, or for another Service."""

    kept: list[Kept] = field(default_factory=list)
    """What keeps that, if it is done before."""

    paused: str = ""
    unseen: dict[str, str] = field(default_factory=dict)
    options: Sequence[str] = ()

    def by_namespace(self) -> dict[str, Counter[Effect]]:
        """Return how often each would happen in each namespace in which any would."""
        found: dict[str, Counter[Effect]] = {}
        for each in sorted(self.affected, key=lambda each: each.namespace):
            found.setdefault(each.namespace, Counter())[each.effect] += 1
        return found


def preview(items: Iterable[Item], policy: Policy, known: Known | None = None) -> Preview:
    """Return what would happen to the items with the settings `policy`; nothing of what is unknown."""
    view = look(items, policy, known)
    order = {effect: number for number, effect in enumerate(Effect)}
    found = [
        affected
        for service in view.services.values()
        for affected in of_service(view, service)
        if affected.kind not in view.known.unread
    ]
    found.sort(key=lambda each: (order[each.effect], each.namespace, each.about))
    return Preview(found, view.invalid, *taken(view, policy), policy.pauses, view.unseen())


def of_service(view: View, service: ServiceView) -> Iterator[Affected]:
    """Yield what would happen to a Service and to what was made for it."""
    if is_being_deleted(service.item) or isinstance(service.decision, Unknown):
        return  # Metacontroller doesn't look after it any more, or what becomes of it is unknown
    observed = {key: each for key, each in service.observed.items() if not is_being_deleted(each.item)}
    if not isinstance(service.decision, Refused):
        why = reasons(view, service)
        yield from (of_object(Effect.REMOVED, key, why(key)) for key in observed.keys() - service.desired.keys())
    if service.refused:
        if service.refused.problems[0].reason is not Reason.PAUSED:
            sentence = service.refused.line()
            yield Affected(Effect.REFUSED, SERVICE, service.item.namespace, service.item.name, sentence)
        return
    for key, desired in service.desired.items():
        if key in observed:
            yield from of_update(observed[key], desired)
        elif view.object(key) is None:
            yield of_object(Effect.CREATED, key, f"Service {service.item.full_name} asks for it")


def reasons(view: View, service: ServiceView) -> Callable[[Key], str]:
    """Return a function that says why an object of a Service would be removed."""
    unasked = f"Service {service.item.full_name} doesn't ask for it with these settings"
    if not isinstance(service.decision, RemovedFirst):
        return lambda _: unasked
    forbidden = service.decision.forbidden
    first = next(iter(forbidden.values()), None)  # why all go, if the Service is refused
    # What is forbidden goes first. It is made anew once it is gone.
    anew = view.anew(service)

    def why(key: Key) -> str:
        problem = forbidden.get(key, first if service.refused else None)
        if problem is None:
            return unasked
        sentence = problem.told()
        return sentence if service.refused else f"{sentence}; it is then made anew" if key in anew else unasked

    return why


def of_update(observed: ObjectView, desired: Object) -> Iterator[Affected]:
    """Yield the change of an object that stays, if there is one."""
    now = our_parts(observed.item.object)
    try:
        then = merged(observed.item, desired)
    except ValueError:
        return  # Metacontroller can't read its record, and does nothing
    if not same(now, then):
        before, after = (as_yaml(parts).splitlines(keepends=True) for parts in (now, then))
        diff = unified_diff(before, after, f"{observed} as it is", f"{observed} as it would be")
        yield of_object(Effect.CHANGED, observed.key, "", "".join(diff))


def of_object(effect: Effect, key: Key, sentence: str, diff: str = "") -> Affected:
    """Return the change of an object that is made for a Service."""
    kind, label = key
    namespace, _, name = label.partition("/")
    return Affected(effect, kind, namespace, name, sentence, diff)
