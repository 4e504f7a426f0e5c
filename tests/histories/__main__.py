"""The command `python -m tests.histories`."""

import sys

import click

from devcluster.cluster import DevCluster
from devcluster.console import Command, end_on_signals, engine_option, progress
from tests.histories.rounds import Plan, play

STEPS, TOGETHER = 22, 200
"""How many steps a history has, and how many are played side by side on one cluster."""


@click.command(cls=Command, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--histories", type=click.IntRange(min=1), default=400, show_default=True, help="How many are played.")
@click.option("--seed", default="1", show_default=True, help="The same seed makes the same histories.")
@engine_option
def main(engine: str, histories: int, seed: str) -> None:
    """Play random histories on a real API server, every other round with faults.

    Then the hook is asked again about what stands. The exit status is 0 when nothing was different, else 1. A history
    that fails is printed.
    """
    with progress() as tell:
        for number, first in enumerate(range(0, histories, TOGETHER)):
            count = min(TOGETHER, histories - first)
            plan = Plan(f"{seed}-{number}", count, STEPS, faults=number % 2 == 0)
            with DevCluster(engine, progress=tell) as cluster:
                wrong = play(cluster, plan)
            tell(f"{first + count} histories, {len(wrong)} diverged")
            if wrong:
                sys.exit("\n\n".join(wrong))


if __name__ == "__main__":
    end_on_signals()
    main(prog_name="python -m tests.histories")
