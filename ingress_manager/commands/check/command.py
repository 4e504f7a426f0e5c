"""`ingress-manager check`: the shell."""

from collections import Counter
from time import monotonic, sleep

import click

from ingress_manager.commands.check import table
from ingress_manager.commands.check.cluster import Cluster
from ingress_manager.commands.check.lines import State
from ingress_manager.commands.printing.console import note
from ingress_manager.commands.reading.options import CLUSTER, INSTALLATION, Source, timeout_option, with_source
from ingress_manager.core.text import one_line

COLOURS = {State.WRONG: "red", State.WARNING: "yellow", State.UNKNOWN: "cyan", State.OK: "green"}
PAUSE = 2.0
"""Seconds between two looks of --wait."""


@click.command(short_help="Check the installation, part by part.")
@with_source(*CLUSTER, INSTALLATION)
@click.option("--wait", is_flag=True, help="Check again until nothing is wrong, at most for --timeout.")
@timeout_option("2m", "How long to wait with --wait")
@click.pass_context
def check(context: click.Context, source: Source, *, wait: bool, seconds: int) -> None:
    """Check the installation, part by part, and say how to fix what is wrong.

    `check` only reads. It lists what it may not read.

    Exit status: 0 if nothing is wrong, even with warnings; 1 if something is wrong; 2 for wrong use, or if nothing is
    known to be wrong, and a part could not be read.

    \b
    Examples:
      ingress-manager check
      ingress-manager check --wait --timeout 5m
    """  # noqa: D301 - \b keeps click from joining lines
    until, told = monotonic() + seconds, ""
    while True:
        found = [*table.check(Cluster(source.kubectl, source.installation))]
        wrong = next((line.sentence for line in found if line.state is State.WRONG), "")
        if not wrong or not wait or monotonic() >= until:
            break
        if wrong != told:
            told = wrong
            note(f"… waiting until nothing is wrong: {told}")
        sleep(PAUSE)
    for line in found:
        click.echo(f"{click.style(line.state, fg=COLOURS[line.state])} {one_line(line.sentence)}")
        if line.remedy:
            click.echo(f"    {one_line(line.remedy)}")
    count = Counter(line.state for line in found)
    told = ", ".join(f"{count[state]} {state.name.lower()}" for state in State if count[state])
    click.echo(f"\n{'All is well: ' if {*count} == {State.OK} else ''}{told}.")
    context.exit(1 if wrong else 2 if count[State.UNKNOWN] else 0)
