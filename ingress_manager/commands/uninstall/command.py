"""`ingress-manager uninstall`: the shell."""

import click

from ingress_manager.commands.plans.carrying_out import carry_out
from ingress_manager.commands.printing.console import note
from ingress_manager.commands.reading.installations import DEFAULT, RESOURCE, named_by
from ingress_manager.commands.reading.kinds import OF_GATEWAY_API
from ingress_manager.commands.reading.kubectl import KubectlFailed
from ingress_manager.commands.reading.manifests import Manifests
from ingress_manager.commands.reading.options import CLUSTER, FILES, INSTALLATION, Source, with_source
from ingress_manager.commands.uninstall.plan import lines
from ingress_manager.commands.uninstall.plan import uninstall as plan_of

OPTIONAL = (*OF_GATEWAY_API, RESOURCE, "compositecontrollers.metacontroller.k8s.io")


@click.command(short_help="Remove ingress-manager, and keep what it made, or not.")
@click.option(
    "--keep/--remove", default=None, help="Keep the Ingresses and HTTPRoutes, or remove them. One of the two is needed."
)
@click.option("--keep-metacontroller", is_flag=True, help="Keep Metacontroller, even if nobody else uses it.")
@click.option("--apply", is_flag=True, help="Carry the steps out instead of showing them.")
@with_source(*FILES, *CLUSTER, INSTALLATION)
def uninstall(source: Source, *, keep: bool | None, keep_metacontroller: bool, apply: bool) -> None:
    """Show the steps that remove ingress-manager from a cluster, or carry them out.

    With --keep, every Ingress, HTTPRoute and ListenerSet stays as it is, and is served all the time. With --remove, all
    of them go. It takes an administrator of the cluster to carry them out.

    Exit status: 0, 1 if a part of a file can't be read, 2 for wrong use or if kubectl has failed.

    \b
    Examples:
      ingress-manager uninstall --keep
      ingress-manager uninstall --keep --apply
    """  # noqa: D301 - \b keeps click from joining lines
    if keep is None:
        raise click.UsageError("say what becomes of the Ingresses: --keep or --remove")
    if apply and source.files:
        raise click.UsageError("--apply works on the cluster, not on files")
    has_controllers: bool | None = None
    installation = source.installation or DEFAULT
    if source.files:
        manifests = source.read("services,ingresses")
    else:
        manifests, has_controllers = whole_cluster(source)
        found = source.installation or named_by(manifests.items)
        installation = found or DEFAULT
        if not found:
            note(f"The plan goes by the name {installation}: no DecoratorController leads to a hook.")
    plan = plan_of(
        manifests, installation, keep=keep, keep_metacontroller=keep_metacontroller, has_controllers=has_controllers
    )
    if apply:
        try:
            carry_out(source.kubectl, str(installation), plan)
        except KubectlFailed as failed:
            raise KubectlFailed(f"{failed.message}\nRun it again: it goes on there.") from failed
        click.echo("ingress-manager is removed.")
    else:
        for line in lines(plan, source.kubectl.options):
            click.echo(line)


def whole_cluster(source: Source) -> tuple[Manifests, bool]:
    """Return what the plan is made from, and whether the cluster knows DecoratorControllers. Raises KubectlFailed."""
    found = source.kubectl.get("services,ingresses", "--all-namespaces")
    others = {resource: source.kubectl.get_if_known(resource, "--all-namespaces") for resource in OPTIONAL}
    for other in others.values():
        found.extend(other or Manifests())
    return found, others[RESOURCE] is not None
