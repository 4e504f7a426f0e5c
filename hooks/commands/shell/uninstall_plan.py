"""`ingress-manager uninstall-plan`: the shell."""

import click

from hooks.commands.findings import about_file
from hooks.commands.manifests import Manifests
from hooks.commands.shell.console import show
from hooks.commands.shell.options import CLUSTER, FILES, Source, with_source
from hooks.commands.steps import comment, shown
from hooks.commands.uninstall_plan import uninstall_plan as plan_of

OPTIONAL = (
    "httproutes.gateway.networking.k8s.io",
    "decoratorcontrollers.metacontroller.k8s.io",
    "compositecontrollers.metacontroller.k8s.io",
)
"""Kinds that a cluster may not know."""


@click.command(name="uninstall-plan", short_help="Print the commands that remove ingress-manager.")
@click.option(
    "--keep/--remove", default=None, help="Whether the Ingresses and HTTPRoutes stay, or go. One of the two is needed."
)
@with_source(*FILES, *CLUSTER)
@click.pass_context
def uninstall_plan(context: click.Context, source: Source, *, keep: bool | None) -> None:
    """Print the commands that remove ingress-manager from a cluster. Read them, then run them.

    With --keep, every Ingress and HTTPRoute that it has made stays as it is, and is served all the time. With --remove,
    all of them go.

    Exit status: 0, 1 when a part of a file can't be read, or 2 for wrong use or when kubectl has failed.

    \b
    Examples:
      ingress-manager uninstall-plan --keep > uninstall.sh
      sh -e uninstall.sh
    """  # noqa: D301 - \b keeps click from joining lines
    if keep is None:
        raise click.UsageError("say what becomes of the Ingresses: --keep or --remove")
    manifests = source.read("services,ingresses") if source.files else whole_cluster(source)
    click.echo("set -e")
    for line in plan_of(manifests, keep=keep, whole=not source.files):
        click.echo(f"\n{comment(line)}" if isinstance(line, str) else shown(line, source.kubectl.options))
    context.exit(1 if show(map(about_file, manifests.unreadable)) else 0)


def whole_cluster(source: Source) -> Manifests:
    """Return what the plan is made from. Raises KubectlFailed."""
    found = source.kubectl.get("services,ingresses", "--all-namespaces")
    for resource in OPTIONAL:
        found.extend(source.kubectl.get_if_known(resource, "--all-namespaces"))
    return found
