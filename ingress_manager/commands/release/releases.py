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
from ingress_manager.commands.view.managed import is_made_for, patch_to_disown
from ingress_manager.core.annotations import HTTP, PREFIX


@dataclass(slots=True)
class Release(Plan):
    """What is to be done with one Service."""

    kept: Sequence[Item] = ()
    """The objects that stay."""


def release(manifests: Manifests, services: Iterable[Item]) -> Iterator[Release]:
    """Yield what is to be done with each of these Services."""
    objects = list(manifests.of_kind(INGRESSES, HTTPROUTES))
    return (release_of(service, objects) for service in services)


def release_of(service: Item, objects: Iterable[Item]) -> Release:
    """Return what is to be done with a Service, where these objects are all there are."""
    off = taken_off(service)
    if wrong := list(unseen(service, off)):
        return Release(service, messages=wrong)
    kept = [item for item in objects if is_made_for(item, service)]
    steps = [Step(patch(item, {"metadata": patch_to_disown(item)}), adopting(item)) for item in kept]
    if service.annotations.get(HTTP.key, "false") != "false":
        # Once Metacontroller reports that the name is taken, it no longer takes the object for its own.
        in_the_way = [item for item in objects if item.label == service.label and item not in kept]
        steps += [touch(service, item) for item in (*kept, *in_the_way)]
    if off:
        steps.append(annotating(service, off))
    notes = list(about_service(service)) if off else []
    if not steps:
        notes = ["nothing of it is ingress-manager's"]
    return Release(service, steps, notes=[f"{service.label}: {sentence}" for sentence in notes], kept=kept)


def adopting(item: Item) -> Command:
    """Return the command that takes the release of an Ingress back; there is none for an HTTPRoute."""
    return ("ingress-manager", "adopt", item.label, "--apply") if item.kind == INGRESSES else ()


def taken_off(service: Item) -> dict[str, str | None]:
    """Return the annotations that ask ingress-manager for something, each to be taken off."""
    off: dict[str, str | None] = {key: None for key in service.annotations if key.startswith(PREFIX)}
    return {**off, MOVING: None} if off else {}
