"""The command `python -m bench.soak`."""

from collections.abc import Iterator

import click

from bench.abuse import abuse_section
from bench.changes import WRITERS
from bench.figures import Section
from bench.load import Size
from bench.run import run
from bench.scale import scale_sections
from devcluster.build import Progress
from devcluster.console import Command, end_on_signals, engine_option
from devcluster.worst import worst_services

PARTS = ("scale", "abuse")


@click.command(cls=Command, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("parts", nargs=-1, type=click.Choice(PARTS))
@click.option(
    "--services",
    type=click.IntRange(min=WRITERS),
    default=10_000,
    show_default=True,
    help="How many Services there are.",
)
@click.option(
    "--namespaces", type=click.IntRange(min=1), default=500, show_default=True, help="How many namespaces they are in."
)
@click.option(
    "--rate", type=click.FloatRange(min=1), default=100, show_default=True, help="How many of them change a second."
)
@click.option(
    "--seconds", type=click.FloatRange(min=1), default=600, show_default=True, help="How long, before anything fails."
)
@click.option(
    "--abuse-seconds",
    type=click.FloatRange(min=1),
    default=600,
    show_default=True,
    help="How long the worst requests are sent.",
)
@click.option(
    "--image", default="", help="The hook's image, such as `make image` builds, to send those to; else it is a process."
)
@engine_option
def main(  # noqa: PLR0913 - options, each by its name
    parts: tuple[str, ...],
    *,
    services: int,
    namespaces: int,
    rate: float,
    seconds: float,
    abuse_seconds: float,
    image: str,
    engine: str,
) -> None:
    """Measure a large cluster that changes all the time, and the hook under abuse: the PARTS scale and abuse.

    In scale, many Services change at a steady rate, also while the settings change and while each part is killed and
    started again. In abuse, 20 tenants send the worst requests to the hook while 20 others work. Nothing else may run
    on the machine meanwhile. Both parts take some 35 minutes. A figure that doesn't reach its aim is marked. The exit
    status is 0 when everything was measured, whatever the figures are; 2 when a program is missing; else 1.

    \b
    Examples:
      python -m bench.soak
      python -m bench.soak abuse --image localhost/ingress-manager:tested
      python -m bench.soak --services 300 --namespaces 30 --rate 20 --seconds 30 --abuse-seconds 30
    """  # noqa: D301 - \b keeps click from joining lines

    def measure(report: Progress) -> Iterator[Section]:
        if not parts or "scale" in parts:
            yield from scale_sections(engine, Size(services, namespaces), rate, seconds, report)
        if not parts or "abuse" in parts:
            yield abuse_section(engine, abuse_seconds, image, worst_services(), report)

    run(measure)


if __name__ == "__main__":
    end_on_signals()
    main(prog_name="python -m bench.soak")
