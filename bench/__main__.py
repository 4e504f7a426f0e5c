"""The command `python -m bench`."""

import os
from collections.abc import Callable

import click

from bench import Section
from bench.cluster import cluster_section
from bench.commands import commands_section
from bench.core import core_section
from devcluster.build import Progress
from devcluster.console import end_on_signals, engine_option, progress

BUSY = 1.5
"""The load average at the start above which figures vary too much on a small machine."""

PARTS: dict[str, Callable[[str, int, Progress], Section]] = {
    "core": lambda _engine, _services, report: core_section(report),
    "commands": lambda _engine, _services, report: commands_section(report),
    "cluster": cluster_section,
}


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("parts", nargs=-1, type=click.Choice([*PARTS]))
@click.option("--services", type=click.IntRange(min=20), default=3000, show_default=True, help="Services in a cluster.")
@engine_option
def main(parts: tuple[str, ...], services: int, engine: str) -> None:
    """Measure what users experience. PARTS may be core, commands and cluster; the default is all three.

    Close other programs first: figures vary on a busy machine. All parts take about two minutes. Figures over their
    bound are marked ✘.
    """
    if (load := os.getloadavg()[0]) > BUSY:
        click.secho(f"THE MACHINE IS BUSY (load {load:.1f}): figures will vary.", fg="red", bold=True, err=True)
    with progress() as report:
        for part in parts or PARTS:
            title, figures = PARTS[part](engine, services, report)
            rows = "".join(f"| {' | '.join(figure)} |\n" for figure in figures)
            click.echo(f"**{title}**\n\n| | measured | bound |\n|---|---|---|\n{rows}")


if __name__ == "__main__":
    end_on_signals()
    main(prog_name="python -m bench")
