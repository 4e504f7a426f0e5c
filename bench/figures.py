"""What the benchmark prints: figures, each with what it is to reach."""

import os
from collections.abc import Callable, Iterable

import click

from devcluster.build import Progress
from devcluster.console import progress

BUSY = 1.5
"""A load average above this at the start makes the figures worth nothing on a small machine."""

Figure = tuple[str, str, str]
"""What was measured, its value, and what it is to reach, with a mark that says whether it does."""

Section = tuple[str, list[Figure]]
"""Figures that were measured together, and their title."""


def at_most(name: str, value: float, limit: float, shown: str) -> Figure:
    """Return a figure that is not to be above a limit; `shown` formats both."""
    return name, shown.format(value), f"at most {shown.format(limit)} {'✔' if value <= limit else '✘'}"


def run(measure: Callable[[Progress], Iterable[Section]]) -> None:
    """Print what `measure` yields, as a page shows it: a table in Markdown for each section."""
    if (load := os.getloadavg()[0]) > BUSY:
        click.secho(f"THE MACHINE IS BUSY (load {load:.1f}): these figures say nothing.", fg="red", bold=True, err=True)
    with progress() as report:
        for title, figures in measure(report):
            rows = "".join(f"| {' | '.join(figure)} |\n" for figure in figures)
            click.echo(f"**{title}**\n\n| | measured | to reach |\n|---|---|---|\n{rows}")
