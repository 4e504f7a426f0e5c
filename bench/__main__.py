"""The command `python -m bench`."""

from collections.abc import Callable, Iterable, Iterator

import click

from bench.admission import admission_section
from bench.cluster import cluster_sections
from bench.commands import commands_section
from bench.core import core_section
from bench.figures import Section, run
from bench.hook import hook_section
from devcluster.build import Progress
from devcluster.console import Command, end_on_signals, engine_option
from devcluster.worst import worst_requests

PARTS = ("core", "commands", "hook", "cluster", "admission")


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
def main(parts: tuple[str, ...], services: int, engine: str) -> None:
    """Measure what users experience: the PARTS core, commands, hook, cluster and admission.

    Nothing else may run on the machine meanwhile. All parts take about six minutes. A figure that doesn't reach its
    aim is marked. The exit status is 0 when everything was measured, whatever the figures are; 2 when a program is
    missing; else 1.

    \b
    Examples:
      python -m bench
      python -m bench core hook
      python -m bench cluster --services 300 --engine standin
    """  # noqa: D301 - \b keeps click from joining lines

    def measure(report: Progress) -> Iterator[Section]:
        sections: dict[str, Callable[[], Iterable[Section]]] = {
            "core": lambda: [core_section(report, worst_requests())],
            "commands": lambda: [commands_section(report)],
            "hook": lambda: [hook_section(report)],
            "cluster": lambda: cluster_sections(engine, services, report),
            "admission": lambda: [admission_section(engine, report)],
        }
        for part in PARTS:
            if not parts or part in parts:
                yield from sections[part]()

    run(measure)


if __name__ == "__main__":
    end_on_signals()
    main(prog_name="python -m bench")
