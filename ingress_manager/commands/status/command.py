"""`ingress-manager status`: the shell."""

from dataclasses import replace
from time import monotonic, sleep

import click

from ingress_manager.commands.audit.audit import KINDS, Looked
from ingress_manager.commands.audit.command import COULD_NOT_LOOK, look_at
from ingress_manager.commands.printing.console import width
from ingress_manager.commands.reading.kinds import SERVICES
from ingress_manager.commands.reading.options import OF_CLUSTER, SETTINGS, Source, named, timeout_option, with_source
from ingress_manager.commands.status.printing import FORMATS, line_of, printed, told
from ingress_manager.commands.status.states import KINDS_OF_STATES, Judge, Row, State
from ingress_manager.commands.view.cluster import read_policy
from ingress_manager.commands.view.look import ServiceView
from ingress_manager.core.text import one_line

BETWEEN_LOOKS = 2.0
"""Seconds."""


@click.command(short_help="List the exposed URLs, and whether they are served.")
@click.argument("name", metavar="[[NAMESPACE/]SERVICE]", required=False)
@with_source(*OF_CLUSTER, *SETTINGS)
@click.option("-o", "--output", type=click.Choice(FORMATS), default="table", show_default=True, help="The format.")
@click.option(
    "--wait",
    "wanted",
    type=click.Choice([State.SERVING.value, State.ACCEPTED.value]),
    help="Wait until all that is listed has this state.",
)
@timeout_option("60s", "How long --wait waits")
@click.pass_context
def status(  # noqa: PLR0913, PLR0917 - each is an option
    context: click.Context, source: Source, name: str | None, output: str, wanted: str | None, seconds: int
) -> None:
    """List the URLs that Services expose, the Ingress or HTTPRoute of each, its address, and its state.

    `status` lists what it may not read, and then no state says more than is known.

    With a SERVICE, it tells all about it: what it asks for, what stands, Metacontroller's Events, and what to do. As
    JSON, it lists only its URLs. With --wait, it ends when all of them are served, or accepted by a controller; a
    refusal ends it at once.

    Exit status: 0, whatever the states are; with --wait, 1 if the state wasn't reached in time or a Service is
    refused; 2 for wrong use, or if something could not be read.

    \b
    Examples:
      ingress-manager status
      ingress-manager status --all-namespaces
      ingress-manager status -n team-a -o json
      ingress-manager status team-a/shop
      ingress-manager status team-a/shop --wait=serving --timeout=2m
    """  # noqa: D301 - \b keeps click from joining lines
    if name and "/" in name:
        source = replace(source, namespace=name.partition("/")[0])
    seen, services, rows, late = wait_for(source, name, wanted, seconds)
    if name and output == "table" and not wanted:
        click.echo(told(services[0], rows, seen, source.kubectl.options, width()), nl=False)
    else:
        for text in printed(rows, seen.unseen, output, width()):
            click.echo(text, nl=False)
    for row in late:
        click.secho(one_line(f"Not {wanted}: {line_of(row)}"), fg="red", err=True)
    is_blind = any(row.unsure for row in (late if wanted else rows)) or (seen.is_blind and not wanted)
    context.exit(COULD_NOT_LOOK if is_blind else int(bool(late)))


def wait_for(
    source: Source, name: str | None, wanted: str | None, seconds: int
) -> tuple[Looked, list[ServiceView], list[Row], list[Row]]:
    """Return the first look at which all is as it is wanted, or nothing more can be hoped for, or the last in time.

    With it, the Service that is named, or all, their rows, and those that are late. The settings are read once.
    """
    policy, end = read_policy(source, "--settings"), monotonic() + seconds
    while True:
        seen = look_at(source, policy, KINDS if name else KINDS_OF_STATES, events=bool(name))
        services = [*seen.view.services.values()]
        if name:
            found = named([each.item for each in services], SERVICES, name, source.namespace)
            services = [seen.view.services[found.full_name]]
        rows = list(Judge(seen).rows(services))
        if wanted and not rows:
            raise click.UsageError('there is nothing to wait for: no annotation ingress/http: "true"')
        late = [row for row in rows if wanted and row.state not in {State.SERVING, wanted}]
        is_vain = any(row.state is State.REFUSED or row.unsure for row in late)
        if not late or is_vain or monotonic() >= end:
            return seen, services, rows, late
        sleep(min(BETWEEN_LOOKS, max(end - monotonic(), 0)))
