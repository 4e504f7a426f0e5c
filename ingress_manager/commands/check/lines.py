"""The lines of a check: one for each thing that was looked at, and how they are printed."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from functools import partial
from typing import NamedTuple

import click

from ingress_manager.commands.printing.words import Command, shown
from ingress_manager.core.text import one_line


class State(StrEnum):
    """How a part is, as the sign that a line begins with."""

    WRONG = "✗"
    WARNING = "!"
    UNKNOWN = "?"
    OK = "✓"


COLOURS = {State.WRONG: "red", State.WARNING: "yellow", State.UNKNOWN: "cyan", State.OK: "green"}


class Line(NamedTuple):
    """What was found when one thing was looked at."""

    state: State
    sentence: str
    remedy: str = ""
    command: Command = ()
    """The command of kubectl that helps; empty where none does."""

    part: str = ""
    """The part of the installation, under which it is told."""


wrong, warning, unknown, ok = (partial(Line, state) for state in State)


def printed(lines: Iterable[Line], options: Sequence[str] = ()) -> Iterator[str]:
    """Yield the lines of the report, and last how many are how. `options` of kubectl say which cluster."""
    part, count = "", Counter[State]()
    for line in lines:
        if line.part != part:
            part = line.part
            yield from ([""] if count else [])
            yield click.style(one_line(part), bold=True)
        count[line.state] += 1
        yield f"{click.style(line.state, fg=COLOURS[line.state])} {one_line(line.sentence)}"
        if line.remedy:
            yield f"    {one_line(line.remedy)}"
        if line.command:
            yield click.style(f"    {one_line(shown(line.command, options))}", dim=True)
    told = ", ".join(f"{count[state]} {state.name.lower()}" for state in State if count[state])
    yield f"\n{'All is well: ' if {*count} == {State.OK} else ''}{told}."
