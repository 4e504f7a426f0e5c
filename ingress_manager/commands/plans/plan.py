"""Plans and their steps, and how they are printed. The pure part.

Some steps have to wait until Metacontroller has seen what they did. It knows Services and Ingresses by two watches,
either of which can lag. While it sees an Ingress that is ours and a Service that asks for none, it deletes the Ingress.
An Event proves that it has seen a change: when a Service asks for an Ingress whose name is taken, Metacontroller tries
to create it, and the policy name-taken denies that.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from ingress_manager.commands.printing.messages import Message
from ingress_manager.commands.printing.words import Command, comment, shown, with_options, word
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
    steps: Sequence[Step] = ()
    """Empty when nothing can be done, or nothing has to be."""

    messages: Sequence[Message] = ()
    notes: Sequence[str] = ()


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


LOOKING = """\
stop() { printf '%s\\n' "$@" >&2; exit 1; }
see() {
  looks=$1 text=$2; shift 2
  until seen=$("$@") && printf '%s\\n' "$seen" | grep -F -- "$text" | grep -qvxF -- "$before"; do
    [ $((looks -= 1)) -gt 0 ] || { last=$(printf '%s\\n' "$seen" | tail -n 1); return 1; }
    sleep 1
  done
}
before="""
"""Functions of a script: `see LOOKS TEXT COMMAND` returns once the command prints a line that holds the text, and that
it has not printed before. There is a second between two looks."""


def script(steps: Sequence[Step], options: Sequence[str] = (), seconds: int = PATIENCE) -> Iterator[str]:
    """Yield the lines of a script for a POSIX shell. It waits about so many seconds for each thing to be seen."""
    several = sum(bool(step.command) + len(step.until) for step in steps) > 1
    # A step after one that has failed, or that somebody has stopped, could make Metacontroller delete the Ingress.
    # Lines that are pasted into a shell go on; those of a subshell do not.
    yield from ["(set -e"] if several else []
    if any(isinstance(until, Seen) for step in steps for until in step.until):
        yield from LOOKING.split("\n")
    for number, step in enumerate(steps, start=1):
        yield from _lines(step, going_back(steps[:number], options), options, seconds)
    yield from [")"] if several else []


def _lines(step: Step, back: Sequence[str], options: Sequence[str], seconds: int) -> Iterator[str]:
    yield from map(comment, step.notes)
    new = [shown(each.command, options) for each in step.until if isinstance(each, Seen) and each.is_new]
    yield from (f"before=$({command})" for command in new)
    if step.command:
        reading = f"printf '%s' {word(step.stdin)} | " if step.stdin else ""
        yield f"{reading}{shown(step.command, options)}"
    for until in step.until:
        if isinstance(until, Pause):
            yield f"sleep {until.seconds}"
        else:
            looks = "1" if until.at_once else str(seconds)
            told = " ".join([word(late(until, seconds)), '"Last seen: $last"', *map(word, back)])
            yield f"{shown(('see', looks, until.text, *with_options(until.command, options)))} || stop {told}"
    yield from ["before="] if new else []
