"""The command `python -m bench`."""

import os
import sys
import time

import click
from rich.console import Console

from bench.cluster import cluster_sections
from bench.commands import commands_section
from bench.core import core_section
from bench.figures import Section, show
from bench.gateway import gateway_section
from bench.hook import hook_section
from bench.throughput import throughput_section
from devcluster.console import Command, end_on_signals, progress
from devcluster.engines import CHOICES
from tests.worst import worst_requests

PARTS = ("core", "commands", "hook", "gateway", "cluster", "throughput")

BUSY = 1.5
"""A load average above this at the start makes the figures worth nothing on a small machine."""


@click.command(cls=Command, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("parts", nargs=-1, type=click.Choice(PARTS))
@click.option(
    "--services",
    type=click.IntRange(min=20),
    default=10_000,
    show_default=True,
    help="How many Services the largest cluster has; the others have three tenths of that.",
)
@click.option(
    "--engine",
    type=click.Choice(CHOICES),
    default="auto",
    show_default=True,
    help="What drives the hook; auto is Metacontroller when it is on PATH, else the stand-in for it.",
)
@click.option("--short", is_flag=True, help="Leave out the changes during resyncs, which take five minutes.")
def main(parts: tuple[str, ...], services: int, engine: str, *, short: bool) -> None:
    """Measure what users experience: the PARTS core, commands, hook, gateway, cluster and throughput.

    Nothing else may run on the machine meanwhile. All parts take about nine minutes. A figure that doesn't reach its
    aim is marked. The exit status is 0 when everything was measured, whatever the figures are; 2 when a program is
    missing; else 1. The throughput needs wrk and nginx: Debian's are unpacked into .build/, unless they are installed.

    \b
    Examples:
      python -m bench
      python -m bench core hook
      python -m bench throughput
      python -m bench cluster --services 300 --short --engine standin
    """  # noqa: D301 - \b keeps click from joining lines
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
            if not parts or "core" in parts:
                sections.append(core_section(report, worst_requests()))
            if not parts or "commands" in parts:
                sections.append(commands_section(report))
            if not parts or "hook" in parts:
                sections.append(hook_section(report))
            if not parts or "gateway" in parts:
                sections.append(gateway_section(engine, report))
            if not parts or "cluster" in parts:
                for section in cluster_sections(engine, services, resyncs=not short, progress=report):
                    sections.append(section)  # noqa: PERF402 - those before one that fails are kept
            if not parts or "throughput" in parts:
                sections.append(throughput_section(engine, report))
    finally:
        # Also after an error: what was measured until then took minutes.
        show(sections, Console(highlight=False, width=None if sys.stdout.isatty() else 130))
    busy = "; THE MACHINE WAS BUSY" if load_before > BUSY else ""
    click.echo(
        f"{os.cpu_count()} cores, {time.monotonic() - started:.0f} s. "
        f"Load before: {load_before:.2f}, after: {load():.2f}{busy}."
    )


def load() -> float:
    """Return the load average of the last minute."""
    return os.getloadavg()[0]


if __name__ == "__main__":
    end_on_signals()
    main(prog_name="python -m bench")
