"""The lines of a check: one for each thing that was looked at, and how they are printed. The pure part."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from functools import partial
from typing import NamedTuple

from ingress_manager.commands.printing.words import Command, Paint, plain, shown
from ingress_manager.core.text import one_line

INDENT = "    "


class State(StrEnum):
    """How a part is."""

    OK = "ok"
    WARNING = "warning"
    WRONG = "wrong"
    UNKNOWN = "unknown"


SIGNS = {State.OK: "✓", State.WARNING: "!", State.WRONG: "✗", State.UNKNOWN: "?"}


class Line(NamedTuple):
    """What was found when one thing was looked at."""

    state: State
    sentence: str
    remedy: str = ""
    command: Command = ()
    """The command of kubectl that helps; empty where none does."""

    part: str = ""
    """The part of the installation, under which it is told."""


ok, warning, wrong, unknown = (partial(Line, state) for state in State)


def table(lines: Iterable[Line], paint: Paint = plain, options: Sequence[str] = ()) -> Iterator[str]:
    """Yield the report as text. `options` of kubectl say which cluster."""
    part = ""
    for line in lines:
        if line.part != part:
            between = "\n" if part else ""
            part = line.part
            yield f"{between}{paint(one_line(part), 'head')}\n"
        yield f"{paint(SIGNS[line.state], line.state)} {one_line(line.sentence)}\n"
        if line.remedy:
            yield f"{INDENT}{one_line(line.remedy)}\n"
        if command := shown(line.command, options):
            yield f"{INDENT}{paint(one_line(command), 'command')}\n"


def summary(lines: Iterable[Line]) -> str:
    """Return how many lines are how, in a sentence."""
    count = Counter(line.state for line in lines)
    worse = [f"{count[state]} {state}" for state in (State.WRONG, State.WARNING, State.UNKNOWN) if count[state]]
    if not worse:
        return f"All is well: {count[State.OK]} checks."
    head = "Nothing is wrong"
    if count[State.WRONG]:
        head = "Something is wrong"
    elif count[State.UNKNOWN]:
        head = "Nothing wrong was found, and not everything could be looked at"
    return f"{head}: {', '.join(worse)}, {count[State.OK]} ok."


def exit_status(lines: Iterable[Line]) -> int:
    """Return 1 when something is wrong, else 2 when something could not be looked at, else 0."""
    states = {line.state for line in lines}
    return 1 if State.WRONG in states else 2 if State.UNKNOWN in states else 0
