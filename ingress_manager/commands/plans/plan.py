"""Plans and their steps, and how they are printed. The pure part.

Some steps have to wait until Metacontroller has seen what they did. It knows Services and Ingresses by two watches,
either of which can lag. While it sees an Ingress that is ours and a Service that asks for none, it deletes the Ingress.
An Event proves that it has seen a change: when a Service asks for an Ingress whose name is taken, Metacontroller tries
to create it, and the policy name-taken denies that.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from ingress_manager.commands.printing.messages import Message
from ingress_manager.commands.printing.words import Command, comment, shown, word
from ingress_manager.commands.reading.manifests import Item

PATIENCE = 60
"""Seconds after which nothing is expected any more."""

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
        """Return the command that prints the Events on the Service."""
        these = f"--field-selector=involvedObject.uid={self.service.metadata.get('uid')},reason=SyncError"
        return ("kubectl", "get", f"--namespace={self.service.namespace}", these, FORMAT, "--", "events")

    def missing(self, last: str = "") -> str:
        """Return what to tell when it doesn't come; `last` is a sentence about what came in its place."""
        return (
            f"Metacontroller has not reported within {PATIENCE} s that {self.text}. {last}Where the settings pause "
            "ingress-manager, or the policy ingress-manager-name-taken is not installed, --without-event does without"
        )


@dataclass(frozen=True, slots=True)
class Pause:
    """Some time, in the place of an Event."""

    seconds: int = 10


Until = Event | Pause | Command
"""What has to be seen after a step. A command waits for it, no longer than PATIENCE."""


@dataclass(frozen=True, slots=True)
class Step:
    """One command of a plan. Every command here has its program, such as kubectl, as its first word."""

    command: Command = ()
    """Empty when there is nothing to do but to tell the notes."""

    undo: Command = ()
    """The command that takes it back; empty when nothing has to be."""

    until: Until | None = None
    """What has to be seen before the next step is taken; None when nothing has."""

    notes: Sequence[str] = ()
    """What a person should read before it, a line each."""


@dataclass(slots=True)
class Plan:
    """What is to be done about one object."""

    item: Item
    steps: Sequence[Step] = ()
    """Empty when nothing can be done, or nothing has to be."""

    messages: Sequence[Message] = ()
    """Why nothing can be done."""

    notes: Sequence[str] = ()
    """What is worth knowing."""


def without_events(steps: Iterable[Step]) -> list[Step]:
    """Return the steps with a pause in the place of each Event."""
    return [replace(step, until=Pause()) if isinstance(step.until, Event) else step for step in steps]


def going_back(done: Sequence[Step], options: Sequence[str]) -> list[str]:
    """Return the lines that tell how to take back what was done; none when nothing has to be."""
    undo = dict.fromkeys(step.undo for step in reversed(done) if step.undo)
    return ["To go back:", *(f"  {shown(command, options)}" for command in undo)] if undo else []


def script(steps: Sequence[Step], options: Sequence[str] = ()) -> Iterator[str]:
    """Yield the lines of a script for a POSIX shell that takes the steps; `options` of kubectl say which cluster."""
    several = sum(bool(step.command) + bool(step.until) for step in steps) > 1
    # A step after one that has failed, or that somebody has stopped, could make Metacontroller delete the Ingress.
    # Lines that are pasted into a shell go on; those of a subshell do not.
    yield from ["(set -e"] if several else []
    if any(isinstance(step.until, Event | tuple) for step in steps):
        yield """stop() { printf '%s\\n' "$@" >&2; exit 1; }"""
    for number, step in enumerate(steps, start=1):
        yield from _lines(step, going_back(steps[:number], options), options)
    yield from [")"] if several else []


def _lines(step: Step, back: Sequence[str], options: Sequence[str]) -> Iterator[str]:
    until = step.until
    yield from map(comment, step.notes)
    if isinstance(until, Event):
        yield f"seen() {{ {shown(until.command, options)} | grep -F {word(until.text)}; }}"
        yield "before=$(seen || true)"
    if step.command:
        yield shown(step.command, options)
    if isinstance(until, Event):
        yield f"looks={PATIENCE}"
        yield 'until now=$(seen) && [ "$now" != "$before" ]; do'
        yield f"  [ $((looks -= 1)) -gt 0 ] || {shown(('stop', until.missing(), *back))}"
        yield "  sleep 1"
        yield "done"
    elif isinstance(until, Pause):
        yield f"sleep {until.seconds}"
    elif until:
        yield f"{shown(until, options)} || {shown(('stop', *back))}"
