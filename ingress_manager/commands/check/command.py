"""`ingress-manager check`: all that is looked at, in its order, and the command that tells of it."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from time import monotonic, sleep
from typing import NamedTuple

import click

from ingress_manager.commands.check import expected, hook, provided
from ingress_manager.commands.check.cluster import Cluster, Line, State, ok, unknown
from ingress_manager.commands.reading.kubectl import KubectlFailed
from ingress_manager.commands.reading.options import CLUSTER, Source, timeout_option, with_source
from ingress_manager.commands.terminal import note
from ingress_manager.core.text import one_line

COLOURS = {State.WRONG: "red", State.WARNING: "yellow", State.UNKNOWN: "cyan", State.OK: "green"}
PAUSE = 2.0
"""Seconds between two looks of --wait."""

AGAIN = "Apply this version's in the way in which it was installed, with your settings: docs/upgrade.md says how."
"""No command: over an installation by Helm, or with settings or a namespace of its own, it would change more."""

INSTALL = "Install it: docs/install.md says how."
REACH = "See whether it runs, and whether a NetworkPolicy is in the way."


class Check(NamedTuple):
    """One thing that is looked at."""

    part: str
    """The part of the installation."""

    what: str
    """What should be. It is said where it is so, and where that isn't known."""

    look: Callable[[Cluster], Iterable[Line]]
    """Yields what is otherwise. Raises KubectlFailed where that can't be read."""

    remedy: str = ""
    """What to do, where a line doesn't say it itself."""


CHECKS = (
    Check("Kubernetes", "its version has all that is needed", provided.kubernetes),
    Check("Metacontroller", "it runs, in no old version, with harmless arguments", provided.runs, INSTALL),
    Check("DecoratorController", "it is as this version has it", provided.decorator, AGAIN),
    Check("hook", "it runs, in this program's version", hook.runs, AGAIN),
    Check("hook", "its settings can be used, pause nothing, and hold, as far as it tells", hook.settings, AGAIN),
    Check("hook", "Metacontroller reaches it, as far as Events tell", hook.reached, REACH),
    Check("admission policies", "each is as this version has it", expected.policies, AGAIN),
    Check("admission webhook", "it is there, if the settings deny, and in order", hook.webhook, AGAIN),
    Check("rights of Metacontroller", "it has what it needs, and may not write Services", provided.rights),
    Check("Gateway API", "HTTPRoutes and ListenerSets are made, if asked for, and have CRDs", provided.gateway_api),
)


def looked_at(cluster: Cluster) -> Iterator[Line]:
    """Yield a line for each thing that isn't well, isn't known, or is well."""
    for part, what, look, remedy in CHECKS:
        found: list[Line] = []
        try:
            found.extend(look(cluster))  # what was found before something can't be read stays
            found = found or [ok(what)]
        except KubectlFailed as failed:
            found.append(unknown(f"it isn't known whether {what}: {failed.message}"))
        for state, sentence, its in found:
            is_well = state in {State.OK, State.UNKNOWN}
            yield Line(state, f"{part}: {sentence}", its or ("" if is_well else remedy))


@click.command(short_help="Check the installation, part by part.")
@with_source(*CLUSTER)
@click.option("--wait", is_flag=True, help="Check again until nothing is wrong, at most for --timeout.")
@timeout_option(120, "How long to wait with --wait")
@click.pass_context
def check(context: click.Context, source: Source, *, wait: bool, seconds: int) -> None:
    """Check the installation, part by part, and say how to fix what is wrong.

    `check` only reads. It lists what it may not read.

    Exit status: 0 if nothing is wrong, even with warnings; 1 if something is wrong; 2 for wrong use, or if nothing is
    known to be wrong, and a part could not be read.

    \b
    Examples:
      ingress-manager check
      ingress-manager check --wait --timeout 300
    """  # noqa: D301 - \b keeps click from joining lines
    until, told = monotonic() + seconds, ""
    while True:
        found = [*looked_at(Cluster(source.kubectl))]
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
