"""The command `python -m tests.histories`."""

import sys
import time
from dataclasses import dataclass
from typing import Any

import click

from devcluster.build import Progress
from devcluster.cluster import DevCluster
from devcluster.console import Command, end_on_signals, engine_option, progress
from tests.histories.rounds import Rounds, Seen, made_up_plan, namespace_of, script, shortest

TRIES = 30
"""How often a history that fails is played again, to make it shorter."""

ROUNDS = 6
"""How many rounds a cluster lives for."""


@click.command(cls=Command, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--histories", type=click.IntRange(min=1), default=400, show_default=True, help="How many are played.")
@click.option("--steps", type=click.IntRange(min=3), default=22, show_default=True, help="How many steps each has.")
@click.option("--together", type=click.IntRange(min=1), default=200, show_default=True, help="How many side by side.")
@click.option("--seed", default="1", show_default=True, help="The same seed makes the same histories.")
@click.option(
    "--faults", type=click.Choice(["half", "none", "all"]), default="half", show_default=True, help="In which rounds."
)
@engine_option
def main(engine: str, **options: Any) -> None:
    """Play random histories on a real API server, and compare what stands with what the docs say.

    The exit status is 0 when nothing was different, else 1. A history that fails is played again and made shorter, and
    printed as commands of kubectl.

    \b
    Examples:
      python -m tests.histories
      python -m tests.histories --histories 10000 --seed 7
      python -m tests.histories --histories 1 --faults none
    """  # noqa: D301 - \b keeps click from joining lines
    seen, began = Seen(), time.monotonic()
    try:
        with progress() as tell:
            play(engine, Options(**options), seen, tell)
    finally:
        show(seen, time.monotonic() - began)
    sys.exit(1 if seen.diverged else 0)


@dataclass(frozen=True)
class Options:
    """Those of the command."""

    histories: int
    steps: int
    together: int
    seed: str
    faults: str


def play(engine: str, options: Options, seen: Seen, progress: Progress) -> None:
    """Play histories until one diverges or all are played; `seen` then says what they came to."""
    began, number = time.monotonic(), 0
    while seen.histories < options.histories and not seen.diverged:
        with DevCluster(engine, progress=progress) as cluster:
            rounds = Rounds(cluster, seen)
            for _ in range(ROUNDS):
                if seen.histories >= options.histories or seen.diverged:
                    break
                broken = options.faults == "all" or (options.faults == "half" and number % 2 == 1)
                count = min(options.together, options.histories - seen.histories)
                plan = made_up_plan(f"{options.seed}-{number}", count, options.steps, faults=broken)
                wrong = rounds.play(plan)
                number += 1
                passed = time.monotonic() - began
                progress(f"{seen.histories} histories, {seen.steps} steps, {len(wrong)} diverged, {passed:.0f} s")
                for index, why in list(wrong.items())[:3]:
                    click.echo(f"\nround {plan.seed}, history {index}: {why}", err=True)
                    seen.diverged.append(why)
                    if index >= 0:
                        smaller, why_then = shortest(cluster, plan, index, TRIES, progress)
                        click.echo(f"\n# {why_then}\n" + script(smaller.histories[0], smaller.events, namespace_of(0)))


def show(seen: Seen, seconds: float) -> None:
    """Print what was played."""
    click.echo(f"{seen.histories} histories ({seen.with_faults} with faults) of {seen.steps} steps, in {seconds:.0f} s")
    click.echo(f"{len(seen.diverged)} diverged; {seen.settings} changes of the settings; {seen.denied} writes denied")
    click.echo(f"settled at the latest after {seen.slowest[0]:.0f} s; what came last had been: {seen.slowest[1]}")
    for title, counter in (("faults", seen.faults), ("writes of the engine", seen.writes)):
        click.echo(f"{title}: " + (", ".join(f"{count} {what}" for what, count in sorted(counter.items())) or "none"))


if __name__ == "__main__":
    end_on_signals()
    main(prog_name="python -m tests.histories")
