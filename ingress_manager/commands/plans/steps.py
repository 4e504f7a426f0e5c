"""Steps that several commands need, and the commands of kubectl that they run."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ingress_manager.commands.plans.plan import PATIENCE, Event, Step, Until
from ingress_manager.commands.printing.messages import Message
from ingress_manager.commands.printing.words import Command
from ingress_manager.commands.reading.about import about
from ingress_manager.commands.reading.manifests import Item
from ingress_manager.core.text import is_seen, quoted

MOVING = "ingress-manager/moving"
"""An annotation of a Service that says nothing to anybody. The last step takes it off."""

Annotations = Mapping[str, str | None]
"""Annotations and what they shall be; None takes one off."""


def kubectl(verb: str, *items: Item, options: Iterable[str] = (), changes: Iterable[str] = ()) -> Command:
    """Return the command that does something to objects of one kind in one namespace."""
    kind = items[0].kind.rpartition("/")[2].lower()
    names = (item.name for item in items)
    return ("kubectl", verb, f"--namespace={items[0].namespace}", *options, "--", kind, *names, *changes)


def patch(item: Item, change: dict[str, Any]) -> Command:
    """Return the command that merges a change into an object.

    When `change` has the metadata.resourceVersion, and the object has been changed since, the API server refuses it.
    """
    return kubectl("patch", item, options=("--type=merge", f"--patch={json.dumps(change)}"))


def annotate(*items: Item, changes: Iterable[str], overwrite: bool = False, options: Iterable[str] = ()) -> Command:
    """Return the command that changes annotations: each change is KEY=VALUE, or KEY- to take it off.

    Without `overwrite`, kubectl refuses to give an annotation another value.
    """
    return kubectl("annotate", *items, options=[*options, *(["--overwrite"] if overwrite else [])], changes=changes)


def wait(item: Item, until: str, name: str = "") -> Command:
    """Return the command that waits for something, such as "create", of the Ingress with a name, or an object's."""
    words = (f"--for={until}", f"--namespace={item.namespace}", f"--timeout={PATIENCE}s")
    return ("kubectl", "wait", *words, "--", f"ingress/{name or item.name}")


def annotating(
    service: Item, changes: Annotations, until: Until | None = None, *, version: bool = False, notes: Sequence[str] = ()
) -> Step:
    """Return the step that changes annotations of a Service.

    With `version`, the API server refuses it when the Service has been changed since it was read.
    """
    before = {key: service.annotations.get(key) for key in changes}
    stated = service.metadata.get("resourceVersion") if version else None
    options = [f"--resource-version={stated}"] if stated else []
    command = _annotate(service, now=before, then=changes, options=options)
    return Step(command, _annotate(service, now=changes, then=before), until, notes)


def _annotate(service: Item, *, now: Annotations, then: Annotations, options: Iterable[str] = ()) -> Command:
    replaces = any(None not in (now[key], value) and now[key] != value for key, value in then.items())
    words = [f"{key}-" if value is None else f"{key}={value}" for key, value in then.items()]
    return annotate(service, changes=words, overwrite=replaces, options=options)


def touch(service: Item, item: Item) -> Step:
    """Return the step that makes Metacontroller look at a Service again, and report that an object has the name.

    The value is another one each time that it is done, or it would be no change.
    """
    versions = [each.metadata.get("resourceVersion") for each in (service, item)]
    value = ".".join(str(version) for version in versions if version)
    command = annotate(service, changes=[f"{MOVING}={value}"], overwrite=True)
    taken = Event(service, f"{item.kind.rpartition('/')[2]} {item.label}")
    return Step(command, annotate(service, changes=[f"{MOVING}-"]), taken)


def unseen(item: Item, annotations: Annotations) -> Iterator[Message]:
    """Yield a message for each value of an annotation, new or old, that can't stand in a script.

    What takes a step back holds the old ones.
    """
    before = {key: item.annotations.get(key) for key in annotations}
    for key, value in (*annotations.items(), *before.items()):
        if value is not None and not is_seen(value):
            sentence = (
                f"{key}: {quoted(value)} holds characters that a person would not see in a command, so none is made: "
                "take them out, with `kubectl edit`"
            )
            yield about(item, sentence, "metadata", "annotations", key)
