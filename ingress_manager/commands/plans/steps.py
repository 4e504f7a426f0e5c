"""Steps that several commands need, and the commands of kubectl that they run."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ingress_manager.commands.plans.plan import PAUSE, Seen, Step
from ingress_manager.commands.snapshot.events import SYNC_ERROR, report_of
from ingress_manager.commands.snapshot.items import VERSIONS, Item, Message, about
from ingress_manager.commands.snapshot.managed import operations_to_disown
from ingress_manager.commands.text import Command, is_seen
from ingress_manager.core.decide import ABSENT, LONGEST_ABSENT
from ingress_manager.core.kubernetes import LAST_APPLIED
from ingress_manager.core.text import quoted

MOVING = "ingress-manager/moving"
"""An annotation of a Service that says nothing to anybody. The last step takes it off."""

MOST_NAMES = 10
"""Objects that a command line names: kubectl has one client for them, which sends five requests a second from then on.
For each object that it reads it has another: two hundred take two seconds instead of forty."""

Annotations = Mapping[str, str | None]
"""Annotations and what they shall be; None takes one off."""


def kubectl(verb: str, *items: Item, options: Iterable[str] = (), changes: Iterable[str] = ()) -> Command:
    """Return the command that does something to objects of one kind in one namespace."""
    kind, namespace = items[0].kind.lower(), items[0].namespace
    names = (item.name for item in items)
    return ("kubectl", verb, f"--namespace={namespace}", *options, "--", kind, *names, *changes)


def each_of(verb: str, items: Sequence[Item], options: Sequence[str] = (), changes: Sequence[str] = ()) -> Step:
    """Return the step that does something to each of some objects, by one call of kubectl.

    Its command line names a few objects of one kind in one namespace. Others are named by what it reads.
    """
    if len(items) <= MOST_NAMES and len({(item.kind, item.namespace) for item in items}) == 1:
        return Step(kubectl(verb, *items, options=options, changes=changes))
    named = [
        {"apiVersion": VERSIONS[item.kind], "kind": item.kind}
        | {"metadata": {"namespace": item.namespace, "name": item.name}}
        for item in items
    ]
    command = ("kubectl", verb, "--filename=-", *options, *(["--", *changes] if changes else []))
    return Step(command, stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": named}))


def disowning(items: Iterable[Item]) -> Iterator[Step]:
    """Yield the steps after which objects are nobody's: few, since a call of kubectl for each would take a minute."""
    groups: dict[str, list[Item]] = {}
    for item in items:
        groups.setdefault(json.dumps(operations_to_disown(item)), []).append(item)
    for operations, each in groups.items():
        yield each_of("patch", each, ["--type=json", f"--patch={operations}"])


def patch(item: Item, change: dict[str, Any]) -> Command:
    """Return the command that merges a change into an object.

    When `change` has the metadata.resourceVersion, and the object has been changed since, the API server refuses it.
    """
    return kubectl("patch", item, options=("--type=merge", f"--patch={json.dumps(change)}"))


def annotating(service: Item, changes: Annotations, until: Sequence[Seen] = (), *, version: bool = False) -> Step:
    """Return the step that changes annotations of a Service.

    With `version`, the API server refuses it when the Service has been changed since it was read.
    """
    before = {key: service.annotations.get(key) for key in changes}
    stated = service.metadata.get("resourceVersion") if version else None

    def command(now: Annotations, then: Annotations, options: Sequence[str] = ()) -> Command:
        replaces = any(None not in (now[key], value) and now[key] != value for key, value in then.items())
        words = [f"{key}-" if value is None else f"{key}={value}" for key, value in then.items()]
        # Without --overwrite, kubectl refuses to give an annotation another value.
        return kubectl("annotate", service, options=[*options, *(["--overwrite"] if replaces else [])], changes=words)

    options = [f"--resource-version={stated}"] if stated else []
    return Step(command(before, changes, options), command(changes, before), until)


def touch(service: Item, *items: Item, events: bool = True) -> Step:
    """Return the step that makes Metacontroller look at a Service again, and report that it hasn't these objects.

    Without `events`, it is given time. The value is another one each time, or it would be no change. Source of the
    Event's words: `not_made` of ingress_manager/core/decide.py.
    """
    value = service.metadata.get("resourceVersion") or "yes"
    command = kubectl("annotate", service, options=["--overwrite"], changes=[f"{MOVING}={value}"])
    undo = kubectl("annotate", service, changes=[f"{MOVING}-"])
    absent = [f"{item}{ABSENT}" for item in items]
    if not events or len(", ".join(absent)) > LONGEST_ABSENT:  # so that no Event names them all
        return Step(command, undo, pause=PAUSE)
    these = f"--field-selector=involvedObject.uid={service.metadata.get('uid')},reason={SYNC_ERROR}"
    reported = Seen(
        f"a new Event of Service {service.full_name} has `{', '.join(absent)}`",
        ("kubectl", "get", f"--namespace={service.namespace}", these, "--", "events"),
        lambda event: all(each in report_of(event).sentence for each in absent),
        "by it, Metacontroller says that it takes that for nobody's of its own; of a Service that is refused or paused "
        "there is none, and `ingress-manager release --without-event` gives it time",
        is_new=True,
    )
    return Step(command, undo, [reported])


def remains(item: Item, spec: Any, *, recorded: bool = False) -> Seen:
    """Return what shows that an object is the same one, with this spec; `recorded`: that Metacontroller knows it."""
    return Seen(
        f"{item} is as planned{' and has the record of Metacontroller' if recorded else ''}",
        kubectl("get", item),
        lambda now: (
            now.metadata.get("uid") == item.metadata.get("uid")
            and now.object.get("spec") == spec
            and (LAST_APPLIED in now.annotations or not recorded)
        ),
        "somebody has changed it, or the cluster has other settings",
    )


def unseen(item: Item, annotations: Annotations) -> Iterator[Message]:
    """Yield a message for each value of an annotation, new or old (for the way back), that no command can show."""
    before = {key: item.annotations.get(key) for key in annotations}
    for key, value in (*annotations.items(), *before.items()):
        if value is not None and not is_seen(value):
            sentence = (
                f"{key}: {quoted(value)} holds characters that a person would not see in a command, so none is made: "
                "take them out, with `kubectl edit`"
            )
            yield about(item, sentence, "metadata", "annotations", key)
