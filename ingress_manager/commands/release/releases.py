"""`release`: the Ingress and the HTTPRoutes of a Service stay as they are, and are nobody's. The pure part.

The objects are released first, and only then is the Service's annotation taken off. The other way round, Metacontroller
would delete them.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ingress_manager.commands.plans.deployers import about_service
from ingress_manager.commands.plans.steps import MOVING, Event, Step, annotate, patch, touch, unseen
from ingress_manager.commands.printing.messages import Message
from ingress_manager.commands.reading.manifests import Item, Manifests
from ingress_manager.commands.view.ingresses import INGRESS
from ingress_manager.commands.view.managed import HTTPROUTE, is_made_for, without_marks
from ingress_manager.core.annotations import HTTP, PREFIX


@dataclass(slots=True)
class Release:
    """What is to be done with one Service."""

    service: Item
    steps: list[Step] = field(default_factory=list)
    """Empty when it can't be released, or nothing of it is ingress-manager's."""

    messages: list[Message] = field(default_factory=list)
    """Why it can't be released."""

    notes: list[str] = field(default_factory=list)
    """What is worth knowing."""

    kept: list[Item] = field(default_factory=list)
    """The objects that stay."""


def release(manifests: Manifests, wanted: Iterable[Item]) -> Iterator[Release]:
    """Yield what is to be done with each of the Services that are `wanted`."""
    objects = list(manifests.of_kind(INGRESS, HTTPROUTE))
    for service in wanted:
        off = taken_off(service)
        # What is there before gets into the command that takes the step back.
        back = {key: service.annotations.get(key) for key in off}
        if wrong := list(unseen(service, back)):
            yield Release(service, messages=wrong)
            continue
        made = Release(service, kept=[item for item in objects if is_made_for(item, service)])
        asks = service.annotations.get(HTTP.key, "false") != "false"
        in_the_way = [item for item in objects if item.label == service.label and item not in made.kept]
        for item in made.kept:
            made.steps.append(Step(patch(item, {"metadata": without_marks(item)}), adopted(item)))
        if asks:
            # Once Metacontroller reports that the name is taken, it no longer takes the object for its own.
            made.steps.extend(touch(service, item, taken(service, item)) for item in (*made.kept, *in_the_way))
        if off:
            made.steps.append(
                Step(annotate(service, off, version=False), ("kubectl", *annotate(service, back, version=False)))
            )
            made.notes.extend(f"{service.label}: {sentence}" for sentence in about_service(service))
        if not made.steps:
            made.notes.append(f"{service.label}: nothing of it is ingress-manager's")
        yield made


def taken(service: Item, item: Item) -> Event:
    """Return the Event which says that an object with the name of one of the Service's is nobody's."""
    return Event(service, f"{item.kind.rpartition('/')[2]} {item.label}")


def adopted(item: Item) -> tuple[str, ...]:
    """Return the command that takes the release of an Ingress back; there is none for an HTTPRoute."""
    return ("ingress-manager", "adopt", item.label, "--apply") if item.kind == INGRESS else ()


def taken_off(service: Item) -> dict[str, str | None]:
    """Return the annotations that ask ingress-manager for something, each to be taken off."""
    off: dict[str, str | None] = {key: None for key in service.annotations if key.startswith(PREFIX)}
    return {**off, MOVING: None} if off else {}
