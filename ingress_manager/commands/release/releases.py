"""`release`: what was made for a Service stays as they are, and are nobody's. The pure part.

The objects are released first, and only then is the Service's annotation taken off. The other way round, Metacontroller
would delete them. At the end, they are seen to stand.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

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


@dataclass(slots=True)
class Release(Plan):
    """What is to be done with one Service."""

    label: str = ""

    @property
    def title(self) -> str:
        """Return what a person calls the Service, or the entrance."""
        return self.label


NOT_IN_THE_FILES = (
    "the files have no Ingress or HTTPRoute {}: if the cluster has it, these commands would remove it; put Services, "
    "Ingresses and HTTPRoutes into one file, or leave out -f"
)
"""Metacontroller removes what isn't released when its annotation goes."""

LOOK_AFTER = Pause(5)
"""Metacontroller acts within a second or so on a change that it sees."""


def release(
    manifests: Manifests, services: Iterable[Item], entrance: str | None = None, *, complete: bool = True
) -> Iterator[Release]:
    """Yield what is to be done with each of these Services, or with this entrance of it alone.

    `complete` says whether what isn't among the manifests doesn't stand on the cluster either.
    """
    objects, said = list(manifests.of_kind(INGRESSES, HTTPROUTES, LISTENERSETS)), reports(manifests.of_kind(EVENTS))
    return (release_of(each, objects, entrance, refusal(each, said), complete=complete) for each in services)


def refusal(service: Item, said: Mapping[str, Report]) -> str:
    """Return why Metacontroller's last try for a Service has failed; "" where it hasn't, or something isn't there."""
    report = said.get(str(service.metadata.get("uid")))
    message = one_line(report.sentence) if report else ""
    return "" if ABSENT in message else message


def release_of(
    service: Item, objects: Iterable[Item], entrance: str | None, refused: str, *, complete: bool
) -> Release:
    """Return what is to be done with a Service."""

    def is_meant(item: Item) -> bool:
        return entrance in {None, entrance_of(service.name, item.name)}

    label = service.full_name if entrance is None else f"{service.full_name}.{entrance}"
    entrances = [*entrances_in(service.annotations)] if entrance is None else [entrance]
    kept = [item for item in objects if is_made_for(item, service) and is_meant(item)]
    off = taken_off(service, entrances, kept)
    if wrong := list(unseen(service, off)):
        return Release(service, messages=wrong, label=label)
    if going := [item for item in kept if item.metadata.get("deletionTimestamp")]:
        sentence = "is being deleted, and nothing can keep it; finalizers hold it until then"
        return Release(service, messages=[about(item, sentence) for item in going], label=label)
    steps = [Step(patch(item, {"metadata": patch_to_disown(item)}), adopting(item)) for item in kept]
    # Once Metacontroller reports that the Service hasn't the object, it no longer takes it for the Service's.
    on = [each for each in entrances if is_on(annotations_of(each, service.annotations))]
    names = [f"{service.namespace}/{ingress_of(each, service.name)}" for each in on]
    waited_for = [item for item in kept if entrance_of(service.name, item.name) in on]
    in_the_way = [item for item in objects if item.full_name in names and item not in kept]
    steps += [touch(service, *waited_for)] if waited_for else []
    read = {entrance_of(service.name, item.name) for item in (*kept, *in_the_way)}
    if not complete and (missing := [name for each, name in zip(on, names, strict=True) if each not in read]):
        return Release(service, messages=[about(service, NOT_IN_THE_FILES.format(listed(missing)))], label=label)
    # A stranger's object may have been released by a run that was broken off. Of most, Metacontroller never knew.
    of_others = [touch(service, *in_the_way)] if in_the_way else []
    steps += of_others if MOVING in service.annotations else without_events(of_others)
    if refused:
        steps = without_events(steps)
    if off:
        steps.append(annotating(service, off, [LOOK_AFTER, *map(still, kept)] if kept else []))
    notes = list(about_released(service)) if off else []
    if refused and kept:
        notes.append(
            f"is refused, so that no Event will show what Metacontroller has seen; it is given time: {refused}"
        )
    if not steps:
        notes = ["nothing of it is ingress-manager's"]
    told = [f"{label}: {sentence}" for sentence in notes]
    stays = f"; {', '.join(map(str, kept))} stays as it is" if kept else ""
    return Release(service, steps, notes=told, done=f"{label} is released{stays}.", label=label)


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
