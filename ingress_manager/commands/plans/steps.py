"""Steps that the plans of several commands share, and the kubectl commands that they run."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ingress_manager.commands.plans.plan import PAUSE, Condition, Step
from ingress_manager.commands.snapshot.events import SYNC_ERROR, missing_by, report_of
from ingress_manager.commands.snapshot.items import VERSIONS, Item, Message, at
from ingress_manager.commands.snapshot.managed import operations_to_disown
from ingress_manager.commands.text import Command, is_seen
from ingress_manager.core.decide import not_made
from ingress_manager.core.errors import Reason
from ingress_manager.core.kubernetes import LAST_APPLIED
from ingress_manager.core.text import quoted

MOVING = "ingress-manager/moving"
"""An annotation that only serves to make Metacontroller sync a Service. The last step of a plan removes it."""

MOST_NAMES = 10
"""The most objects that one command names. For named objects, kubectl sends at most five requests a second. For each
object on standard input, it uses a separate client, so 200 objects take 2 s instead of 40 s."""

Annotations = Mapping[str, str | None]
"""New values for annotations, by key; None removes the annotation."""


def kubectl(verb: str, *items: Item, options: Iterable[str] = (), changes: Iterable[str] = ()) -> Command:
    """Return a kubectl command for `items`, which must be in one namespace. `changes` come after the items' names."""
    names = [f"{item.kind.lower()}/{item.name}" for item in items]
    if len({item.kind for item in items}) == 1:
        names = [items[0].kind.lower(), *(item.name for item in items)]
    return ("kubectl", verb, f"--namespace={items[0].namespace}", *options, "--", *names, *changes)


def for_all(verb: str, items: Sequence[Item], options: Sequence[str] = (), changes: Sequence[str] = ()) -> Step:
    """Return a step that runs kubectl once for all items, named in the command or listed on standard input."""
    if len(items) <= MOST_NAMES and len({item.namespace for item in items}) == 1:
        return Step(kubectl(verb, *items, options=options, changes=changes))
    named = [
        {"apiVersion": VERSIONS[one.kind], "kind": one.kind, "metadata": {"namespace": one.namespace, "name": one.name}}
        for one in items
    ]
    command = ("kubectl", verb, "--filename=-", *options, *(["--", *changes] if changes else []))
    return Step(command, stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": named}))


def disown(items: Iterable[Item]) -> Iterator[Step]:
    """Yield steps that stop managing objects. Each step patches all objects that need the same patch, to save time."""
    groups: dict[str, list[Item]] = {}
    for item in items:
        groups.setdefault(json.dumps(operations_to_disown(item)), []).append(item)
    for operations, group in groups.items():
        yield for_all("patch", group, ["--type=json", f"--patch={operations}"])


def patch(item: Item, change: dict[str, Any]) -> Command:
    """Return the command that merges `change` into an object. It fails if `change` has an outdated resourceVersion."""
    return kubectl("patch", item, options=("--type=merge", f"--patch={json.dumps(change)}"))


def annotate(service: Item, changes: Annotations, until: Sequence[Condition] = (), *, version: bool = False) -> Step:
    """Return the step that changes a Service's annotations and then waits for the conditions in `until`.

    With `version`, the step fails if the Service has changed since it was read.
    """
    before = {key: service.annotations.get(key) for key in changes}
    known = service.metadata.get("resourceVersion") if version else None

    def command(now: Annotations, then: Annotations, options: Sequence[str] = ()) -> Command:
        replaces = any(None not in (now[key], value) and now[key] != value for key, value in then.items())
        words = [f"{key}-" if value is None else f"{key}={value}" for key, value in then.items()]
        # Without --overwrite, kubectl refuses to give an annotation another value.
        return kubectl("annotate", service, options=[*options, *(["--overwrite"] if replaces else [])], changes=words)

    options = [f"--resource-version={known}"] if known else []
    return Step(command(before, changes, options), command(changes, before), until)


def touch(service: Item, *items: Item, events: bool = True) -> Step:
    """Return the step that makes Metacontroller sync a Service, and waits for an Event that reports `items` as missing.

    Without `events`, or if one Event can't name all items, the step waits for PAUSE seconds instead.
    """
    value = service.metadata.get("resourceVersion") or "yes"  # a new value each time, or nothing would change
    command = kubectl("annotate", service, options=["--overwrite"], changes=[f"{MOVING}={value}"])
    undo = kubectl("annotate", service, changes=[f"{MOVING}-"])
    keys = [(item.kind, item.full_name) for item in items]
    if not events or missing_by(not_made(service.full_name, keys).line()) != {*keys}:
        return Step(command, undo, pause=PAUSE)
    uid = service.metadata.get("uid")
    reported = Condition(
        f"a new Event on Service {service.full_name} reports [{Reason.NOT_MADE}] for {', '.join(map(str, items))}",
        ("kubectl", "get", f"--namespace={service.namespace}", f"--field-selector=reason={SYNC_ERROR}", "--", "events"),
        lambda event: at(event, "involvedObject", "uid") == uid and missing_by(report_of(event).sentence) >= {*keys},
        "the Event would prove that Metacontroller doesn't manage these objects now. A refused or paused Service "
        "gets no such Event; use `ingress-manager release --without-event`, which waits a fixed time instead",
        is_new=True,
    )
    return Step(command, undo, [reported])


def intact(item: Item, spec: Any, *, recorded: bool = False) -> Condition:
    """Return the condition that `item` has `spec` and, if `recorded`, Metacontroller's last-applied annotation."""
    return Condition(
        f"{item} has the planned spec{' and the last-applied annotation' if recorded else ''}",
        kubectl("get", item),
        lambda now: (
            now.metadata.get("uid") == item.metadata.get("uid")
            and now.object.get("spec") == spec
            and (LAST_APPLIED in now.annotations or not recorded)
        ),
        "either the object was changed, or the cluster has other settings",
    )


def unseen(item: Item, annotations: Annotations) -> Iterator[Message]:
    """Yield messages about invisible characters in new values, and in old values (which the undo command restores)."""
    for key, value in (*annotations.items(), *((key, item.annotations.get(key)) for key in annotations)):
        if value is not None and not is_seen(value):
            sentence = f"{key}: {quoted(value)} contains invisible characters, which a printed command can't show"
            field = ("metadata", "annotations", key)
            yield Message(item, sentence, field=field, remedy="remove these characters with `kubectl edit`")
