"""Plans and their steps, and how they are shown. The pure part.

Some steps have to wait until Metacontroller has seen what they did. It knows Services and Ingresses by two watches,
either of which can lag. While it sees an Ingress that is ours and a Service that asks for none, it deletes the Ingress.
An Event proves that it has seen a change: the hook tells which objects a Service asks for that Metacontroller doesn't
know as that Service's.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ingress_manager.commands.printing.words import Command, Message, comment, shown, word
from ingress_manager.commands.reading.manifests import Item

PAUSE = 10
"""Seconds in which Metacontroller sees a change, where nothing can tell that it has."""


@dataclass(frozen=True, slots=True)
class Seen:
    """Something that has to be seen on the cluster."""

    what: str
    """A sentence, such as: Ingress team-a/shop stands as planned."""

    command: Command
    """`kubectl get`, for the object or the objects, without a format."""

    holds: Callable[[Item], bool]
    """Whether one of them shows it."""

    otherwise: str
    """What may be the matter when none does."""

    is_new: bool = False
    """Whether an object doesn't count that is as it was before the step."""


@dataclass(frozen=True, slots=True)
class Step:
    """One command of a plan. Every command here has its program, such as kubectl, as its first word."""

    command: Command = ()
    """Empty when there is nothing to do but to tell the notes, or to look."""

    undo: Command | None = ()
    """The command that takes it back; empty when nothing has to be. None: something goes, so that what was done before
    must stay."""

    until: Sequence[Seen] = ()
    pause: int = 0
    """Seconds to wait before that, where nothing can be seen."""

    notes: Sequence[str] = ()
    stdin: str = ""
    """What the command reads, in one line."""


@dataclass(slots=True)
class Plan:
    """What is to be done about one object."""

    item: Item
    title: str
    """What a person calls it."""

    steps: list[Step] = field(default_factory=list)
    """Empty when nothing can be done, or nothing has to be."""

    messages: Sequence[Message] = ()
    notes: Sequence[str] = ()
    done: str = ""
    """What is told once it was carried out."""

    def lines(self, options: Sequence[str] = ()) -> Iterator[str]:
        """Yield the plan as a person reads it; nothing where nothing can be done, or has to be."""
        if self.steps:
            yield comment(self.title)
            yield from listed(self.steps, options)


def going_back(begun: Sequence[Step], options: Sequence[str]) -> list[str]:
    """Return the lines that tell how to go on, or to take back what was begun."""
    if any(step.undo is None for step in begun):
        return ["What was done before has to stay. Plan it again to go on."]
    undo = dict.fromkeys(shown(step.undo, options) for step in reversed(begun) if step.undo)
    return ["Plan it again to go on.", *(["To go back:", *(f"  {each}" for each in undo)] if undo else [])]


def listed(steps: Iterable[Step], options: Sequence[str] = ()) -> Iterator[str]:
    """Yield a plan as a person reads it: commands, and as comments what they are for and what has to be seen."""
    for step in steps:
        yield from map(comment, step.notes)
        if step.command:
            reading = f"printf '%s' {word(step.stdin)} | " if step.stdin else ""
            yield f"{reading}{shown(step.command, options)}"
        if step.pause:
            yield comment(f"  wait {step.pause} seconds")
        yield from (comment(f"  wait until {each.what}: {shown(each.command, options)}") for each in step.until)
