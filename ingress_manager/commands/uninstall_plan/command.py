"""`ingress-manager uninstall-plan`: the shell."""

import click

from ingress_manager.commands.printing.console import note, show
from ingress_manager.commands.reading.installations import RESOURCE, pick
from ingress_manager.commands.reading.kinds import HTTPROUTE, RESOURCES
from ingress_manager.commands.reading.manifests import Manifests
from ingress_manager.commands.reading.options import CLUSTER, FILES, INSTALLATION, Source, with_source
from ingress_manager.commands.uninstall_plan.plan import lines
from ingress_manager.commands.uninstall_plan.plan import uninstall_plan as plan_of

OPTIONAL = (RESOURCES[HTTPROUTE], RESOURCE, "compositecontrollers.metacontroller.k8s.io")


@click.command(name="uninstall-plan", short_help="Print the commands that remove ingress-manager.")
@click.option(
    "--keep/--remove", default=None, help="Keep the Ingresses and HTTPRoutes, or remove them. One of the two is needed."
)
@click.option("--keep-metacontroller", is_flag=True, help="Keep Metacontroller, even if nobody else uses it.")
@with_source(*FILES, *CLUSTER, INSTALLATION)
@click.pass_context
def uninstall_plan(context: click.Context, source: Source, *, keep: bool | None, keep_metacontroller: bool) -> None:
    """Print the commands that remove ingress-manager from a cluster. Read them, then run them.

    With --keep, every Ingress and HTTPRoute stays as it is, and is served all the time. With --remove, all of them go.

    Exit status: 0, 1 if a part of a file can't be read, 2 for wrong use or if kubectl has failed.

    \b
    Examples:
      ingress-manager uninstall-plan --keep > uninstall.sh
      sh -e uninstall.sh
    """  # noqa: D301 - \b keeps click from joining lines
    if keep is None:
        raise click.UsageError("say what becomes of the Ingresses: --keep or --remove")
    has_controllers: bool | None = None
    installation = source.by_name
    if source.files:
        manifests = source.read("services,ingresses")
    else:
        manifests, has_controllers = whole_cluster(source)
        found, unseen = source.installations()
        if picked := pick(found, source.installation):
            installation = picked
        else:
            note(f"The plan goes by the name {installation}: {unseen or 'no DecoratorController leads to a hook'}.")
    plan = plan_of(
        manifests, installation, keep=keep, keep_metacontroller=keep_metacontroller, has_controllers=has_controllers
    )
    for line in lines(plan, source.kubectl.options):
        click.echo(line)
    context.exit(1 if show(manifests.unreadable) else 0)


def whole_cluster(source: Source) -> tuple[Manifests, bool]:
    """Return what the plan is made from, and whether the cluster knows DecoratorControllers. Raises KubectlFailed."""
    found = source.kubectl.get("services,ingresses", "--all-namespaces")
    others = {resource: source.kubectl.get_if_known(resource, "--all-namespaces") for resource in OPTIONAL}
    for other in others.values():
        found.extend(other or Manifests())
    return found, others[RESOURCE] is not None
