"""What a command of the benchmark does around its measurements: progress, tables, and a warning on a busy machine."""

import os
import sys
import time
from collections.abc import Callable, Iterable

import click
from rich.console import Console

from bench.figures import Section, show
from devcluster.build import Progress
from devcluster.console import progress

BUSY = 1.5
"""A load average above this at the start makes the figures worth nothing on a small machine."""


def run(measure: Callable[[Progress], Iterable[Section]]) -> tuple[list[Section], str]:
    """Show what `measure` yields, also when it fails in the middle; return it, and on what it was measured."""
    started, load_before = time.monotonic(), load()
    if load_before > BUSY:
        click.secho(
            f"WARNING: THE MACHINE IS BUSY (load {load_before:.1f}). These figures say nothing about ingress-manager.",
            fg="red",
            bold=True,
            err=True,
        )
    sections: list[Section] = []
    try:
        with progress() as report:
            for section in measure(report):
                sections.append(section)  # noqa: PERF402 - those before one that fails are kept
    finally:
        # Also after an error: what was measured until then took minutes.
        show(sections, Console(highlight=False, width=None if sys.stdout.isatty() else 130))
    busy = "; THE MACHINE WAS BUSY" if load_before > BUSY else ""
    machine = f"{os.cpu_count()} cores, {time.monotonic() - started:.0f} s. "
    machine += f"Load before: {load_before:.2f}, after: {load():.2f}{busy}."
    click.echo(machine)
    return sections, machine


def load() -> float:
    """Return the load average of the last minute."""
    return os.getloadavg()[0]
