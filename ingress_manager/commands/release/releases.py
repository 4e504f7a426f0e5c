"""`release`: the Ingress and the HTTPRoutes of a Service stay as they are, and are nobody's. The pure part.

The objects are released first, and only then is the Service's annotation taken off. The other way round, Metacontroller
would delete them.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ingress_manager.commands.plans.deployers import about_service
from ingress_manager.commands.plans.plan import Plan, Step
from ingress_manager.commands.plans.steps import MOVING, annotating, patch, touch, unseen
from ingress_manager.commands.printing.words import Command
from ingress_manager.commands.reading.kinds import HTTPROUTES, INGRESSES
from ingress_manager.commands.reading.manifests import Item, Manifests
from ingress_manager.commands.view.entrances import entrances_in, ingress_of, is_on, keys_of
from ingress_manager.commands.view.managed import is_made_for, patch_to_disown
from ingress_manager.core.decide import entrance_of


@dataclass(slots=True)
class Release(Plan):
    """What is to be done with one Service."""

    label: str = ""
    """What a person calls the Service, or the entrance."""

    kept: Sequence[Item] = ()
    """The objects that stay."""


def release(manifests: Manifests, services: Iterable[Item], entrance: str | None = None) -> Iterator[Release]:
    """Yield what is to be done with each of these Services, or with this entrance of it alone."""
    objects = list(manifests.of_kind(INGRESSES, HTTPROUTES))
    return (release_of(service, objects, entrance) for service in services)


def release_of(service: Item, objects: Iterable[Item], entrance: str | None) -> Release:
    """Return what is to be done with a Service, where these objects are all there are."""

    def is_meant(item: Item) -> bool:
        return entrance in {None, entrance_of(service.name, item.name)}

    label = service.label if entrance is None else f"{service.label}.{entrance}"
    entrances = [*entrances_in(service.annotations)] if entrance is None else [entrance]
    off = taken_off(service, entrances)
    if wrong := list(unseen(service, off)):
        return Release(service, messages=wrong, label=label)
    kept = [item for item in objects if is_made_for(item, service) and is_meant(item)]
    steps = [Step(patch(item, {"metadata": patch_to_disown(item)}), adopting(item)) for item in kept]
    # Once Metacontroller reports that the name is taken, it no longer takes the object for its own.
    on = [each for each in entrances if is_on(each, service.annotations)]
    names = [f"{service.namespace}/{ingress_of(each, service.name)}" for each in on]
    waited_for = [item for item in kept if entrance_of(service.name, item.name) in on]
    in_the_way = [item for item in objects if item.label in names and item not in kept]
    steps += [touch(service, item) for item in (*waited_for, *in_the_way)]
    if off:
        steps.append(annotating(service, off))
    notes = list(about_service(service)) if off else []
    if not steps:
        notes = ["nothing of it is ingress-manager's"]
    return Release(service, steps, notes=[f"{label}: {sentence}" for sentence in notes], label=label, kept=kept)


def adopting(item: Item) -> Command:
    """Return the command that takes the release of an Ingress back; there is none for an HTTPRoute."""
    return ("ingress-manager", "adopt", item.label, "--apply") if item.kind == INGRESSES else ()


def taken_off(service: Item, entrances: Iterable[str]) -> dict[str, str | None]:
    """Return the annotations that ask for entrances, each to be taken off."""
    keys = (key for entrance in entrances for key in keys_of(entrance, service.annotations))
    off: dict[str, str | None] = dict.fromkeys(keys)
    return {**off, MOVING: None} if off else {}
