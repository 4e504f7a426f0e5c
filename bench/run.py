"""What a command of the benchmark does around its measurements: progress, tables, and a warning on a busy machine."""

import os
import shlex
import sys
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime

import click

from bench.figures import Section, markdown
from devcluster.build import Progress
from devcluster.console import progress

BUSY = 1.5
"""A load average above this at the start makes the figures worth nothing on a small machine."""


def run(measure: Callable[[Progress], Iterable[Section]]) -> None:
    """Print what `measure` yields as a page shows it, also when it fails in the middle, and on what it was measured."""
    started, load_before = time.monotonic(), load()
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
        f"{time.monotonic() - started:.0f} s. Load before: {load_before:.2f}, after: {load():.2f}{busy}."
    )


def load() -> float:
    """Return the load average of the last minute."""
    return os.getloadavg()[0]
