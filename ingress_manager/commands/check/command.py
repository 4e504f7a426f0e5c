"""`ingress-manager check`: the table of checks, and the command that runs them."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from time import monotonic, sleep
from typing import NamedTuple

import click

from ingress_manager.commands.check import hook, provided
from ingress_manager.commands.check.cluster import Cluster, Outcome, Result, ok, unknown
from ingress_manager.commands.reading.kubectl import KubectlFailed
from ingress_manager.commands.reading.options import CLUSTER, Source, timeout_option, with_source
from ingress_manager.commands.terminal import note
from ingress_manager.core.text import one_line

COLOURS = {Outcome.WRONG: "red", Outcome.WARNING: "yellow", Outcome.UNKNOWN: "cyan", Outcome.OK: "green"}
SECONDS_BETWEEN_CHECKS = 2.0  # with --wait

REINSTALL = "Reinstall this version of ingress-manager the same way, with your settings: docs/upgrade.md shows how."
"""No command is named, because the right one depends on how, where and with which settings the user installed."""

INSTALL = "Install it: docs/install.md shows how."
CHECK_CONNECTION = "Check that the hook runs, and that no NetworkPolicy blocks Metacontroller."


class Check(NamedTuple):
    part: str
    what: str
    """The desired state of `part`, printed if the check finds no problem or can't be carried out."""

    look: Callable[[Cluster], Iterable[Result]]
    """Yields a result for each problem. Raises KubectlFailed if something can't be read."""

    remedy: str = ""


CHECKS = (
    Check("Kubernetes", "its version is supported", provided.kubernetes),
    Check("Metacontroller", "it runs, with a supported version and safe arguments", provided.runs, INSTALL),
    Check("DecoratorController", "it matches this version", provided.decorator, REINSTALL),
    Check("hook", "it runs the same version as this program", hook.runs, REINSTALL),
    Check("hook", "its settings are valid and in use, and pause no namespace", hook.settings, REINSTALL),
    Check("hook", "recent Events report no failed call", hook.check_reachable, CHECK_CONNECTION),
    Check("admission policies", "they match this version", provided.policies, REINSTALL),
    Check("admission webhook", "it works, or is neither installed nor needed", hook.webhook, REINSTALL),
    Check("Metacontroller's permissions", "they suffice and exclude write access to Services", provided.permissions),
    Check("Gateway API", "CRDs accept the profiles, and Metacontroller manages the needed kinds", provided.gateway_api),
)


def results(cluster: Cluster) -> Iterator[Result]:
    for part, what, look, remedy in CHECKS:
        outcomes: list[Result] = []
        try:
            outcomes.extend(look(cluster))  # keeps the results yielded before a failure
            outcomes = outcomes or [ok(what)]
        except KubectlFailed as failed:
            outcomes.append(unknown(f"could not check that {what}: {failed.message}"))
        for outcome, sentence, own_remedy in outcomes:
            is_well = outcome in {Outcome.OK, Outcome.UNKNOWN}
            yield Result(outcome, f"{part}: {sentence}", own_remedy or ("" if is_well else remedy))


@click.command(short_help="Check the installation, part by part.")
@with_source(*CLUSTER)
@click.option("--wait", is_flag=True, help="Repeat the checks until nothing is wrong, or --timeout has passed.")
@timeout_option(120, "How long to wait with --wait.")
@click.pass_context
def check(context: click.Context, source: Source, *, wait: bool, seconds: int) -> None:
    """Check each part of the installation, and print how to fix problems.

    `check` changes nothing, and reports which checks need permissions that you lack.

    Exit status: 0 if nothing is wrong, even if there are warnings; 1 if something is wrong; 2 for a usage error, or if
    nothing is known to be wrong but a check could not be completed.

    \b
    Examples:
      ingress-manager check
      ingress-manager check --wait --timeout 300
    """  # noqa: D301 - \b keeps click from joining lines
    until, noted = monotonic() + seconds, ""
    while True:
        checked = [*results(Cluster(source.kubectl))]
        wrong = next((result.sentence for result in checked if result.outcome is Outcome.WRONG), "")
        if not wrong or not wait or monotonic() >= until:
            break
        if wrong != noted:
            noted = wrong
            note(f"… waiting for this to be fixed: {wrong}")
        sleep(SECONDS_BETWEEN_CHECKS)
    for outcome, sentence, remedy in checked:
        click.echo(f"{click.style(outcome, fg=COLOURS[outcome])} {one_line(sentence)}")
        if remedy:
            click.echo(f"    {one_line(remedy)}")
    count = Counter(result.outcome for result in checked)
    summary = ", ".join(f"{count[outcome]} {outcome.name.lower()}" for outcome in Outcome if count[outcome])
    click.echo(f"\n{'All is well: ' if {*count} == {Outcome.OK} else ''}{summary}.")
    context.exit(1 if wrong else 2 if count[Outcome.UNKNOWN] else 0)
