"""`ingress-manager release`: the shell."""

import click

from ingress_manager.commands.plans.steps import script
from ingress_manager.commands.plans.taking import PAUSE, apply_option, take, without_event_option
from ingress_manager.commands.printing.console import note, show
from ingress_manager.commands.printing.words import comment
from ingress_manager.commands.reading.manifests import Manifests
from ingress_manager.commands.reading.names import read_named
from ingress_manager.commands.reading.options import CLUSTER, FILES, ONE_NAMESPACE, Source, with_source
from ingress_manager.commands.release.releases import release as releases_of
from ingress_manager.commands.view.typed import SERVICE

HTTPROUTES = "httproutes.gateway.networking.k8s.io"


@click.command(short_help="Give Ingresses back as they are, unmanaged.")
@click.argument("names", metavar="[NAMESPACE/]SERVICE...", nargs=-1, required=True)
@apply_option
@without_event_option
@with_source(*FILES, *ONE_NAMESPACE, *CLUSTER)
@click.pass_context
def release(
    context: click.Context, source: Source, names: tuple[str, ...], *, apply: bool, without_event: bool
) -> None:
    """Print the commands after which the Ingresses of Services stay as they are, unmanaged; or run them.

    The Ingress, and the HTTPRoutes, are served all the time. Then the Service's ingress/… annotations are taken off.

    Exit status: 0 when all is well, 1 when a Service can't be released or a part of a file can't be read, 2 for wrong
    use or when kubectl has failed.

    \b
    Examples:
      ingress-manager release team-a/shop
      ingress-manager release shop blog --namespace team-a --apply
    """  # noqa: D301 - \b keeps click from joining lines
    if apply and source.files:
        raise click.UsageError("--apply works on the cluster, not on files")
    manifests, wanted = read_named(source, SERVICE, names, "services,ingresses")
    if not source.files:
        for namespace in sorted({item.namespace for item in wanted}):
            # Whoever can't see them must not release their Service: they would be deleted.
            manifests.extend(source.kubectl.get_if_known(HTTPROUTES, f"--namespace={namespace}") or Manifests())
    wrong = show(manifests.unreadable)
    for made in releases_of(manifests, wanted):
        wrong += show(made.messages)
        for sentence in made.notes:
            note(sentence)
        if apply and made.steps:
            take(source.kubectl, made.service.label, made.steps, without_event=without_event)
            kept = ", ".join(f"{item.kind.rpartition('/')[2]} {item.label}" for item in made.kept)
            click.echo(f"{made.service.label} is released{f'; {kept} stays as it is' if kept else ''}.")
        elif made.steps:
            click.echo(comment(made.service.label))
            for line in script(made.steps, options=source.kubectl.options, pause=PAUSE if without_event else None):
                click.echo(line)
    context.exit(1 if wrong else 0)
