"""`release`: what was made for a Service stays as they are, and are nobody's. The pure part.

The objects are released first, and only then is the Service's annotation taken off. The other way round, Metacontroller
would delete them. At the end, they are seen to stand.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from ingress_manager.commands.plans.deployers import about_released
from ingress_manager.commands.plans.plan import Pause, Plan, Seen, Step, without_events
from ingress_manager.commands.plans.steps import MOVING, annotating, as_printed, kubectl, patch, touch, unseen
from ingress_manager.commands.printing.words import Command
from ingress_manager.commands.reading.kinds import HTTPROUTES, INGRESSES, LISTENERSETS
from ingress_manager.commands.reading.manifests import Item, Manifests, about
from ingress_manager.commands.view.entrances import annotations_of, entrances_in, keys_of
from ingress_manager.commands.view.events import EVENTS, Report, reports
from ingress_manager.commands.view.managed import copied_from, is_made_for, patch_to_disown
from ingress_manager.core.annotations import is_on
from ingress_manager.core.decide import ABSENT
from ingress_manager.core.entrances import entrance_of, ingress_of
from ingress_manager.core.text import listed, one_line

NOT_IN_THE_FILES = (
    "the files have no Ingress or HTTPRoute {}: if the cluster has it, these commands would remove it; put Services, "
    "Ingresses and HTTPRoutes into one file, or leave out -f"
)
"""Metacontroller removes what isn't released when its annotation goes."""

LOOK_AFTER = Pause(5)
"""Metacontroller acts within a second or so on a change that it sees."""


def release(
    manifests: Manifests, services: Iterable[Item], entrance: str | None = None, *, complete: bool = True
) -> Iterator[Plan]:
    """Yield what is to be done with each of these Services, or with this entrance of it alone.

    `complete` says whether what isn't among the manifests doesn't stand on the cluster either.
    """
    objects, said = list(manifests.of_kind(INGRESSES, HTTPROUTES, LISTENERSETS)), reports(manifests.of_kind(EVENTS))
    return (release_of(each, objects, entrance, failure_of(each, said), complete=complete) for each in services)


def failure_of(service: Item, said: Mapping[str, Report]) -> str:
    """Return what Metacontroller last reported of a Service, and when; "" where it hasn't, or something isn't there.

    It may be over: an Event outlives its cause.
    """
    report = said.get(str(service.metadata.get("uid")))
    if report is None or ABSENT in report.sentence:
        return ""
    return one_line(
        f"Metacontroller reported a failure at {report.time}; while that lasts, no Event shows what it has seen, "
        f"so it is given time: {report.sentence}"
    )


def release_of(service: Item, objects: Iterable[Item], entrance: str | None, failure: str, *, complete: bool) -> Plan:
    """Return what is to be done with a Service."""
    entrances = [*entrances_in(service.annotations)] if entrance is None else [entrance]
    on = [each for each in entrances if is_on(annotations_of(each, service.annotations))]
    names = {f"{service.namespace}/{ingress_of(each, service.name)}": each for each in on}
    kept = [
        item
        for item in objects
        if is_made_for(item, service) and entrance in {None, entrance_of(service.name, item.name)}
    ]
    others = [item for item in objects if item.full_name in names and item not in kept]
    off = taken_off(service, entrances, kept)

    read = {entrance_of(service.name, item.name) for item in (*kept, *others)}
    unread = [name for name, each in names.items() if each not in read and not complete]
    held = "is being deleted, and nothing can keep it; finalizers hold it until then"
    label = service.full_name if entrance is None else f"{service.full_name}.{entrance}"
    plan = Plan(service, label=label)
    plan.messages = (
        [*unseen(service, off)]
        or [about(item, held) for item in kept if item.metadata.get("deletionTimestamp")]
        or ([about(service, NOT_IN_THE_FILES.format(listed(unread)))] if unread else [])
    )
    if plan.messages:
        return plan

    waited_for = [item for item in kept if entrance_of(service.name, item.name) in on]
    plan.steps = [*giving_away(service, kept, waited_for, others, events=not failure)]
    notes: list[str] = []
    if off:
        plan.steps.append(annotating(service, off, [LOOK_AFTER, *map(still, kept)] if kept else []))
        notes += about_released(service)
    if failure and kept:
        notes += [failure]
    if not plan.steps:
        notes = ["nothing of it is ingress-manager's"]
    plan.notes = [f"{label}: {sentence}" for sentence in notes]
    stays = f"; {', '.join(map(str, kept))} stays as it is" if kept else ""
    plan.done = f"{label} is released{stays}."
    return plan


def giving_away(
    service: Item, kept: Sequence[Item], waited_for: Sequence[Item], others: Sequence[Item], *, events: bool
) -> Iterator[Step]:
    """Yield the steps after which Metacontroller takes none of these objects for the Service's.

    That is so once it reports that the Service hasn't what it asks for, `waited_for` and the `others` of such a name;
    without `events`, it is given time.
    """
    for item in kept:
        yield Step(patch(item, {"metadata": patch_to_disown(item)}), adopting(item))
    if waited_for:
        reported = [touch(service, *waited_for)]
        yield from reported if events else without_events(reported)
    if others:
        # One may have been released by a run that was broken off. Of most, Metacontroller never knew.
        reported = [touch(service, *others)]
        yield from reported if events and MOVING in service.annotations else without_events(reported)


def still(item: Item) -> Seen:
    """Return what shows that an object stands as it was read: it, and no other one of its name."""
    paths = "--output=jsonpath={.metadata.uid} {.spec}"
    return Seen(
        kubectl("get", item, options=("--ignore-not-found", paths)),
        f"{as_printed(item.metadata.get('uid'))} {as_printed(item.object.get('spec'))}",
        f"{item} does not stand any more as it was released",
        at_once=True,
    )


def adopting(item: Item) -> Command:
    """Return the command that takes the release of an Ingress back; there is none for other kinds."""
    return ("ingress-manager", "adopt", item.full_name, "--apply") if item.kind == INGRESSES else ()


def taken_off(service: Item, entrances: Collection[str], kept: Iterable[Item]) -> dict[str, str | None]:
    """Return the annotations that ask for entrances, each to be taken off; with the last, what was copied to `kept`."""
    stated = service.annotations
    off: dict[str, str | None] = dict.fromkeys(key for each in entrances for key in keys_of(each, stated))
    if off and {*entrances_in(stated)} <= {*entrances}:
        off |= dict.fromkeys(copied_from(service, kept))
    return {**off, MOVING: None} if off else {}
