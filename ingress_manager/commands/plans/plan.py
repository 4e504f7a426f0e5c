"""Plans and their steps, and how they are shown. The pure part.

Some steps have to wait until Metacontroller has seen what they did. It knows Services and Ingresses by two watches,
either of which can lag. While it sees an Ingress that is ours and a Service that asks for none, it deletes the Ingress.
An Event proves that it has seen a change: the hook tells which objects a Service asks for that Metacontroller doesn't
know as that Service's.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from ingress_manager.commands.printing.messages import Message
from ingress_manager.commands.printing.words import Command, comment, shown, word
from ingress_manager.commands.reading.manifests import Item

PATIENCE = 120
"""Seconds after which nothing is expected any more, unless --timeout states others."""


@dataclass(frozen=True, slots=True)
class Seen:
    """Something that has to be seen: a line that a command prints."""

    command: Command
    text: str
    missing: str
    is_new: bool = False
    """Whether the line must be another one than those before the step."""

    at_once: bool = False
    """Whether it has been seen before, so that nothing is waited for."""

    why: Command = ()
    """Prints what may tell why it isn't seen, in its last line; without it, what `command` prints."""


@dataclass(frozen=True, slots=True)
class Pause:
    """Some time, where nothing can be seen."""

    seconds: int = 10


Until = Seen | Pause


@dataclass(frozen=True, slots=True)
class Step:
    """One command of a plan. Every command here has its program, such as kubectl, as its first word."""

    command: Command = ()
    """Empty when there is nothing to do but to tell the notes, or to look."""

    undo: Command = ()
    """The command that takes it back; empty when nothing has to be."""

    until: Sequence[Until] = ()
    notes: Sequence[str] = ()
    stdin: str = ""
    """What the command reads, in one line."""

    takes_away: bool = False
    """Whether something has gone after it: then what was done before it must stay."""


@dataclass(slots=True)
class Plan:
    """What is to be done about one object."""

    item: Item
    steps: list[Step] = field(default_factory=list)
    """Empty when nothing can be done, or nothing has to be."""

    messages: Sequence[Message] = ()
    notes: Sequence[str] = ()
    done: str = ""
    """What is told once it was carried out."""

    label: str = ""
    """What a person calls it; "": the name of the object."""

    def lines(self, options: Sequence[str] = ()) -> Iterator[str]:
        """Yield the plan as a person reads it; nothing where nothing can be done, or has to be."""
        if self.steps:
            yield comment(self.title)
            yield from listed(self.steps, options)

    @property
    def title(self) -> str:
        return self.label or self.item.full_name


def without_events(steps: Iterable[Step]) -> list[Step]:
    """Return the steps with a pause in the place of each Event."""
    return [
        replace(step, until=[Pause() if isinstance(each, Seen) and each.is_new else each for each in step.until])
        for step in steps
    ]


def late(seen: Seen, seconds: int) -> str:
    return seen.missing if seen.at_once else f"After {seconds} s: {seen.missing}"


def going_back(done: Sequence[Step], options: Sequence[str]) -> list[str]:
    """Return the lines that tell how to take back what was done; none when nothing has to be."""
    undo = dict.fromkeys(step.undo for step in reversed(done) if step.undo)
    if not undo:
        return []
    if any(step.takes_away for step in done):
        return ["What was done before has to stay. Plan it again to go on."]
    return ["Plan it again to go on. To go back:", *(f"  {shown(command, options)}" for command in undo)]


def listed(steps: Iterable[Step], options: Sequence[str] = ()) -> Iterator[str]:
    """Yield a plan as a person reads it: commands, and as comments what they are for and what has to be seen."""
    for step in steps:
        yield from map(comment, step.notes)
        if step.command:
            reading = f"printf '%s' {word(step.stdin)} | " if step.stdin else ""
            yield f"{reading}{shown(step.command, options)}"
        yield from (comment(f"  {_waited_for(until, options)}") for until in step.until)


def _waited_for(until: Until, options: Sequence[str]) -> str:
    if isinstance(until, Pause):
        return f"wait {until.seconds} seconds"
    when = "go on only if" if until.at_once else "wait until"
    line = "another line with" if until.is_new else "a line with"
    return f"{when} this prints {line} `{until.text}`: {shown(until.command, options)}"
