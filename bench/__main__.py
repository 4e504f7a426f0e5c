"""The command `python -m bench`."""

from collections.abc import Iterator

import click

from bench.cluster import cluster_sections
from bench.commands import commands_section
from bench.core import core_section
from bench.figures import Section
from bench.gateway import gateway_section
from bench.hook import hook_section
from bench.run import run
from bench.throughput import throughput_section
from devcluster.build import Progress
from devcluster.console import Command, end_on_signals, engine_option
from devcluster.worst import worst_requests

PARTS = ("core", "commands", "hook", "gateway", "cluster", "throughput")


@click.command(cls=Command, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("parts", nargs=-1, type=click.Choice(PARTS))
@click.option(
    "--services",
    type=click.IntRange(min=20),
    default=10_000,
    show_default=True,
    help="How many Services the largest cluster has; the others have three tenths of that.",
)
@engine_option
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

    def measure(report: Progress) -> Iterator[Section]:
        if not parts or "core" in parts:
            yield core_section(report, worst_requests())
        if not parts or "commands" in parts:
            yield commands_section(report)
        if not parts or "hook" in parts:
            yield hook_section(report)
        if not parts or "gateway" in parts:
            yield gateway_section(engine, report)
        if not parts or "cluster" in parts:
            yield from cluster_sections(engine, services, resyncs=not short, progress=report)
        if not parts or "throughput" in parts:
            yield throughput_section(engine, report)

    run(measure)


if __name__ == "__main__":
    end_on_signals()
    main(prog_name="python -m bench")
