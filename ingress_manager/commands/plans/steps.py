"""Steps: kubectl commands that are run one after the other, by a person's shell or by `--apply`.

Some have to wait until Metacontroller has seen what they did. It knows Services and Ingresses by two watches, either of
which can lag. While it sees an Ingress that is ours and a Service that asks for none, it deletes the Ingress. An Event
proves that it has seen a change: when a Service asks for an Ingress whose name is taken, Metacontroller tries to create
it, and the policy name-taken denies that.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ingress_manager.commands.printing.messages import Message
from ingress_manager.commands.printing.words import Command, shown, word
from ingress_manager.commands.reading.about import about
from ingress_manager.commands.reading.manifests import Item
from ingress_manager.core.text import is_seen, one_line, quoted

Line = str | Command
"""A line of a script: a comment that begins with #, or a command with its program."""

MOVING = "ingress-manager/moving"
"""An annotation of a Service that says nothing to anybody. The last step takes it off."""

FORMAT = '--output=jsonpath={range .items[*]}{.metadata.resourceVersion} {.message}{"\\n"}{end}'
"""A line for each Event. Its resourceVersion changes when the same Event is reported again."""


@dataclass(frozen=True, slots=True)
class Event:
    """Metacontroller's Event on a Service which says that somebody else's object has the name."""

    service: Item
    taken: str
    """The object that is in the way, such as "Ingress team-a/shop"."""

    @property
    def text(self) -> str:
        """Return what the Event's message holds. Source: metacontroller/controller/name-taken.yaml."""
        return f"{self.taken} is in the way"

    @property
    def command(self) -> Command:
        """Return the arguments with which kubectl prints the Events on the Service."""
        these = f"involvedObject.uid={self.service.metadata.get('uid')},reason=SyncError"
        return ("get", f"--namespace={self.service.namespace}", f"--field-selector={these}", FORMAT, "--", "events")

    def lines(self, printed: str) -> list[str]:
        """Return the lines of what kubectl prints that tell of it."""
        return [line for line in printed.splitlines() if self.text in line]


@dataclass(frozen=True, slots=True)
class Step:
    """One command."""

    command: Command
    """The arguments of kubectl."""

    undo: Command = ()
    """The command that takes it back, with its program; empty when nothing has to be."""

    until: Event | None = None
    """What has to be reported, after the command was run, before the next step is taken."""


def patch(item: Item, change: dict[str, Any]) -> Command:
    """Return the arguments that merge a change into an Ingress or an HTTPRoute.

    When `change` has the metadata.resourceVersion, and the object has been changed since, the API server refuses it.
    """
    kind = "ingress" if item.kind.endswith("Ingress") else "httproute"
    words = ("patch", f"--namespace={item.namespace}", "--type=merge", f"--patch={json.dumps(change)}")
    return (*words, "--", kind, item.name)


def annotate(service: Item, changes: Mapping[str, str | None], *, version: bool = True) -> Command:
    """Return the arguments that set annotations of a Service, or take off those whose value is None.

    With `version`, the API server refuses it when the Service has been changed since it was read.
    """
    words = ["annotate", f"--namespace={service.namespace}"]
    if version and (stated := service.metadata.get("resourceVersion")):
        words.append(f"--resource-version={stated}")
    if any(service.annotations.get(key, value) != value for key, value in changes.items() if value is not None):
        words.append("--overwrite")
    words += ("--", "service", service.name)
    return (*words, *(f"{key}-" if value is None else f"{key}={value}" for key, value in changes.items()))


def touch(service: Item, item: Item, event: Event | None) -> Step:
    """Return the step that makes Metacontroller look at a Service again, for the sake of an object.

    The value is another one each time that it is done, or it would be no change.
    """
    words = ("annotate", f"--namespace={service.namespace}", "--overwrite", "--", "service", service.name)
    versions = [each.metadata.get("resourceVersion") for each in (service, item)]
    value = ".".join(str(version) for version in versions if version)
    return Step((*words, f"{MOVING}={value}"), ("kubectl", *annotate(service, {MOVING: None}, version=False)), event)


def unseen(item: Item, annotations: Mapping[str, str | None]) -> Iterator[Message]:
    """Yield a message for each value of an annotation that can't stand in a script."""
    for key, value in annotations.items():
        if value is not None and not is_seen(value):
            sentence = (
                f"{key}: {quoted(value)} holds characters that a person would not see in a command, so none is made: "
                "take them out, with `kubectl edit`"
            )
            yield about(item, sentence, "metadata", "annotations", key)


def chained(lines: Sequence[Line], options: Sequence[str]) -> Iterator[str]:
    """Yield lines for a shell, in which no command is run after one that has failed."""
    last = max((number for number, line in enumerate(lines) if not isinstance(line, str)), default=0)
    for number, line in enumerate(lines):
        if isinstance(line, str):
            yield one_line(line)
        else:
            yield f"{shown(line[1:], options, line[0])}{' &&' if number < last else ''}"


def script(steps: Iterable[Step], *, options: Sequence[str] = (), pause: int | None = None) -> Iterator[str]:
    """Yield the lines of a script for a POSIX shell that takes the steps.

    With `pause`, it waits that many seconds in the place of an Event.
    """
    taken = list(steps)
    # A step after one that has failed, or that somebody has stopped, could make Metacontroller delete the Ingress.
    # Lines that are pasted into a shell go on; those of a subshell do not.
    yield from ["(set -e"] if len(taken) > 1 else []
    for step in taken:
        event = step.until if pause is None else None
        if event:
            yield f"seen() {{ {shown(event.command, options)} | grep -F {word(event.text)}; }}"
            yield "before=$(seen || true)"
        yield shown(step.command, options)
        if event:
            yield 'until now=$(seen) && [ "$now" != "$before" ]; do sleep 1; done'
        elif step.until:
            yield f"sleep {pause}"
    yield from [")"] if len(taken) > 1 else []
