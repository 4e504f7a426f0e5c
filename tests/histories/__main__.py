"""The command `python -m tests.histories`."""

import sys
import time

import click

from devcluster.build import Progress
from devcluster.cluster import DevCluster
from devcluster.console import Command, end_on_signals, engine_option, progress
from tests.histories.rounds import Rounds, Seen, made_up_plan, script

STEPS, TOGETHER, ROUNDS = 22, 200, 6
"""How many steps a history has, how many are played side by side, and how many such rounds a cluster lives for."""


@click.command(cls=Command, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--histories", type=click.IntRange(min=1), default=400, show_default=True, help="How many are played.")
@click.option("--seed", default="1", show_default=True, help="The same seed makes the same histories.")
@engine_option
def main(engine: str, histories: int, seed: str) -> None:
    """Play random histories on a real API server, every other round with faults, and ask the hook again about what
    stands in the end.

    The exit status is 0 when nothing was different, else 1. A history that fails is printed.
    """
    seen, began = Seen(), time.monotonic()
    try:
        with progress() as tell:
            play(engine, histories, seed, seen, tell)
    finally:
        show(seen, time.monotonic() - began)
    sys.exit(1 if seen.diverged else 0)


def play(engine: str, histories: int, seed: str, seen: Seen, progress: Progress) -> None:
    """Play histories until one diverges or all are played; `seen` then says what they came to."""
    number = 0
    while seen.histories < histories and not seen.diverged:
        with DevCluster(engine, progress=progress) as cluster:
            rounds = Rounds(cluster, seen)
            for _ in range(ROUNDS):
                if seen.histories >= histories or seen.diverged:
                    break
                count = min(TOGETHER, histories - seen.histories)
                plan = made_up_plan(f"{seed}-{number}", count, STEPS, faults=number % 2 == 1)
                wrong = rounds.play(plan)
                number += 1
                progress(f"{seen.histories} histories, {len(wrong)} diverged")
                for index, why in list(wrong.items())[:3]:
                    click.echo(f"\nround {plan.seed}, history {index}: {why}", err=True)
                    seen.diverged.append(why)
                    if index >= 0:
                        click.echo(script(plan, index))


def show(seen: Seen, seconds: float) -> None:
    """Print what was played."""
    faults = ", ".join(f"{count} {what}" for what, count in sorted(seen.faults.items())) or "no faults"
    click.echo(f"{seen.histories} histories of {STEPS} steps, with {faults}, in {seconds:.0f} s")
    click.echo(f"{len(seen.diverged)} diverged; {seen.denied} writes were denied, as they should be")
    click.echo(f"settled at the latest after {seen.slowest[0]:.0f} s; what came last had been: {seen.slowest[1]}")


if __name__ == "__main__":
    end_on_signals()
    main(prog_name="python -m tests.histories")
