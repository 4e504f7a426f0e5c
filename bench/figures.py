"""What the benchmark prints: figures, each with what it is to reach."""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import click

from devcluster.build import Progress
from devcluster.console import progress

BUSY = 1.5
"""A load average above this at the start makes the figures worth nothing on a small machine."""


@dataclass(frozen=True)
class Figure:
    """One measured value; `reached` is None where nothing is to be reached."""

    name: str
    value: str
    to_reach: str = ""
    reached: bool | None = None


@dataclass(frozen=True)
class Section:
    """Figures that were measured together."""

    title: str
    figures: list[Figure]


def markdown(section: Section) -> str:
    """Return a Markdown table of a section, below its title. What isn't reached is marked."""
    marks = {None: "", True: "✔", False: "✘"}
    rows = "".join(
        f"| {each.name} | {each.value} | {each.to_reach} {marks[each.reached]} |\n" for each in section.figures
    )
    return f"**{section.title}**\n\n| | measured | to reach |\n|---|---|---|\n{rows}"


def at_most(name: str, value: float, limit: float, shown: str) -> Figure:
    """Return a figure that is not to be above a limit; `shown` formats both."""
    return Figure(name, shown.format(value), f"at most {shown.format(limit)}", value <= limit)


def run(measure: Callable[[Progress], Iterable[Section]]) -> None:
    """Print what `measure` yields, as a page shows it."""
    if (load := os.getloadavg()[0]) > BUSY:
        click.secho(f"THE MACHINE IS BUSY (load {load:.1f}): these figures say nothing.", fg="red", bold=True, err=True)
    with progress() as report:
        for section in measure(report):
            click.echo(markdown(section))
