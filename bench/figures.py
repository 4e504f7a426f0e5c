"""What the benchmark prints: figures, each with what it is to reach, and on what machine they were measured."""

import os
import shlex
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

import click

from devcluster.build import Progress
from devcluster.console import progress
from tools.markdown import table

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
    rows = [(each.name, each.value, f"{each.to_reach} {marks[each.reached]}".strip()) for each in section.figures]
    return f"**{section.title}**\n\n{table(('', 'measured', 'to reach'), rows)}\n"


def at_most(name: str, value: float, limit: float, shown: str) -> Figure:
    """Return a figure that is not to be above a limit; `shown` formats both."""
    return Figure(name, shown.format(value), f"at most {shown.format(limit)}", value <= limit)


def at_least(name: str, value: float, limit: float, shown: str) -> Figure:
    """Return a figure that is not to be below a limit; `shown` formats both."""
    return Figure(name, shown.format(value), f"at least {shown.format(limit)}", value >= limit)


def run(measure: Callable[[Progress], Iterable[Section]]) -> None:
    """Print what `measure` yields as a page shows it, also when it fails in the middle, and on what it was measured."""
    started, load_before = time.monotonic(), os.getloadavg()[0]
    if load_before > BUSY:
        click.secho(
            f"WARNING: THE MACHINE IS BUSY (load {load_before:.1f}). These figures say nothing about ingress-manager.",
            fg="red",
            bold=True,
            err=True,
        )
    sections: list[str] = []
    try:
        with progress() as report:
            for section in measure(report):
                sections.append(markdown(section))  # noqa: PERF401 - those before one that fails are kept
    finally:
        # Also after an error: what was measured until then took minutes.
        click.echo("\n".join(sections))
    busy = "; THE MACHINE WAS BUSY" if load_before > BUSY else ""
    click.echo(
        f"{datetime.now(UTC):%Y-%m-%d}, `{shlex.join(['python', *sys.orig_argv[1:]])}`: {os.cpu_count()} cores, "
        f"{time.monotonic() - started:.0f} s. Load before: {load_before:.2f}, after: {os.getloadavg()[0]:.2f}{busy}."
    )
