"""`ingress-manager release`: the shell."""

import click

from ingress_manager.commands.plans.carrying_out import How, perform, plan_options
from ingress_manager.commands.reading.kinds import OF_GATEWAY_API, SERVICES
from ingress_manager.commands.reading.manifests import Manifests
from ingress_manager.commands.reading.names import named, read_named
from ingress_manager.commands.reading.options import CLUSTER, FILES, ONE_NAMESPACE, Source, with_source
from ingress_manager.commands.release.releases import release as releases_of
from ingress_manager.commands.view.events import OF_SERVICES


@click.command(short_help="Make Ingresses hand-written again, as they are.")
@click.argument("names", metavar="[NAMESPACE/]SERVICE[.ENTRANCE]...", nargs=-1, required=True)
@plan_options
@with_source(*FILES, ONE_NAMESPACE, *CLUSTER)
@click.pass_context
def release(context: click.Context, source: Source, names: tuple[str, ...], how: How) -> None:
    """Show the steps that make the Ingresses of Services hand-written ones again, or carry them out.

    The Ingresses, HTTPRoutes and ListenerSets stay as they are, and are served all the time. The ingress/… annotations
    are taken off the Service, and with the last entrance also the copied annotations. SERVICE means all its entrances,
    and SERVICE.ENTRANCE only one.

    Exit status: 0 if all can be released, 1 if a Service can't or a part of a file can't be read, 2 for wrong use or if
    kubectl has failed.

    \b
    Examples:
      ingress-manager release team-a/shop
      ingress-manager release shop blog --namespace team-a --apply
      ingress-manager release team-a/shop.internal
    """  # noqa: D301 - \b keeps click from joining lines
    if how.apply and source.files:
        raise click.UsageError("--apply works on the cluster, not on files")
    # No Service's name has a dot.
    asked = {name: name.partition(".")[::2] for name in names}
    manifests, services = read_named(source, SERVICES, [service for service, _ in asked.values()])
    if not source.files:
        for namespace in sorted({item.namespace for item in services}):
            # Whoever can't see them must not release their Service: they would be deleted.
            for resource in OF_GATEWAY_API:
                manifests.extend(source.kubectl.get_if_known(resource, f"--namespace={namespace}") or Manifests())
            # A Service that is refused is waited for in another way.
            manifests.extend(source.kubectl.get("events", f"--namespace={namespace}", OF_SERVICES))
    plans = [
        plan
        for service, entrance in asked.values()
        for plan in releases_of(
            manifests,
            [named(manifests, SERVICES, service, source.namespace)],
            entrance or None,
            complete=not source.files,
        )
    ]
    wrong = perform(source.kubectl, plans, how)
    context.exit(1 if wrong else 0)
