"""Steps: kubectl commands that are run one after the other, by a person's shell or by `--apply`.

Some have to wait until Metacontroller has seen what they did. It knows Services and Ingresses by two watches, either of
which can lag. While it sees an Ingress that is ours and a Service that asks for none, it deletes the Ingress. An Event
proves that it has seen a change: when a Service asks for an Ingress whose name is taken, Metacontroller tries to create
it, and the policy name-taken denies that.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from shlex import quote
from typing import Any

from hooks.commands.manifests import Item
from hooks.text import one_line

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
    def command(self) -> tuple[str, ...]:
        """Return the arguments with which kubectl prints the Events on the Service."""
        about = f"involvedObject.uid={self.service.metadata.get('uid')},reason=SyncError"
        return ("get", "events", f"--namespace={self.service.namespace}", f"--field-selector={about}", FORMAT)

    def lines(self, printed: str) -> list[str]:
        """Return the lines of what kubectl prints that tell of it."""
        return [line for line in printed.splitlines() if self.text in line]


@dataclass(frozen=True, slots=True)
class Step:
    """One command."""

    command: tuple[str, ...]
    """The arguments of kubectl."""

    undo: tuple[str, ...] = ()
    """The command that takes it back, with its program; empty when nothing has to be."""

    until: Event | None = None
    """What has to be reported, after the command was run, before the next step is taken."""


def patch(item: Item, change: dict[str, Any]) -> tuple[str, ...]:
    """Return the arguments that merge a change into an Ingress or an HTTPRoute.

    When `change` has the metadata.resourceVersion, and the object has been changed since, the API server refuses it.
    """
    kind = "ingress" if item.kind.endswith("Ingress") else "httproute"
    words = ("patch", kind, item.name, f"--namespace={item.namespace}", "--type=merge")
    return (*words, f"--patch={json.dumps(change)}")


def annotate(service: Item, changes: dict[str, str | None], *, version: bool = True) -> tuple[str, ...]:
    """Return the arguments that set annotations of a Service, or take off those whose value is None.

    With `version`, the API server refuses it when the Service has been changed since it was read.
    """
    words = ["annotate", "service", service.name, f"--namespace={service.namespace}"]
    if version and (stated := service.metadata.get("resourceVersion")):
        words.append(f"--resource-version={stated}")
    if any(service.annotations.get(key, value) != value for key, value in changes.items() if value is not None):
        words.append("--overwrite")
    return (*words, *(f"{key}-" if value is None else f"{key}={value}" for key, value in changes.items()))


def touch(service: Item, item: Item, event: Event | None) -> Step:
    """Return the step that makes Metacontroller look at a Service again, for the sake of an object."""
    words = ("annotate", "service", service.name, f"--namespace={service.namespace}", "--overwrite")
    value = f"{MOVING}={item.metadata.get('resourceVersion')}"
    return Step((*words, value), ("kubectl", *annotate(service, {MOVING: None}, version=False)), event)


def shown(command: Iterable[str], options: Sequence[str] = (), program: str = "kubectl") -> str:
    """Return the arguments of kubectl as one line for a shell; `options` of kubectl say which cluster."""
    return " ".join(map(word, (program, *command, *options)))


def with_options(command: str, options: Sequence[str]) -> str:
    """Return a line for a shell with `options` of kubectl behind it."""
    return " ".join((command, *map(word, options)))


def word(text: str) -> str:
    """Return a text as one word for a shell.

    What a terminal would obey is written as an escape, in quotes that bash, zsh and POSIX of 2024 know.
    """
    if all(character.isprintable() or character in "\n\t" for character in text):
        return quote(text)
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    seen = "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in escaped)
    return f"$'{seen}'"


def comment(text: str) -> str:
    """Return a line of a script that does nothing, whatever the text is."""
    return one_line(f"# {text}")


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
            yield f"seen() {{ {shown(event.command, options)} | grep -F {quote(event.text)}; }}"
            yield "before=$(seen || true)"
        yield shown(step.command, options)
        if event:
            yield 'until now=$(seen) && [ "$now" != "$before" ]; do sleep 1; done'
        elif step.until:
            yield f"sleep {pause}"
    yield from [")"] if len(taken) > 1 else []
