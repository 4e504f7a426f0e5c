"""`ingress-manager migrate`: the shell."""

import click

from ingress_manager.commands.migrate.migration import CONFIGMAPS
from ingress_manager.commands.migrate.migration import migrate as migration_of
from ingress_manager.commands.printing.console import note, show
from ingress_manager.commands.reading.kubectl import KubectlFailed
from ingress_manager.commands.reading.manifests import Manifests
from ingress_manager.commands.reading.options import Source, source_options


@click.command(short_help="Move Services from exposecontroller or Xposer.")
@source_options
@click.pass_context
def migrate(context: click.Context, source: Source) -> None:
    """Print the commands that move Services from exposecontroller or Xposer to ingress-manager.

    It reads Services, the ConfigMap of the other controller, and the Ingresses that it made, which are adopted. Nothing
    is changed: read the commands, then run them. What has no counterpart is told on standard error.

    Exit status: 0 when all is carried over, 1 when something isn't or can't be read, 2 for wrong use.

    \b
    Examples:
      ingress-manager migrate --all-namespaces > steps.sh
      ingress-manager migrate -f old/ --settings settings.yaml
    """  # noqa: D301 - \b keeps click from joining lines
    manifests = source.read("services,ingresses")
    if not source.files:
        manifests.extend(configmaps(source))
    migration = migration_of(manifests, source.policy(), source.kubectl.options)
    click.echo(migration.script(), nl=False)
    wrong = show(manifests.unreadable) + show(migration.messages)
    context.exit(1 if wrong else 0)


def configmaps(source: Source) -> Manifests:
    """Return the ConfigMaps of the other controllers, as far as the user may read them."""
    found = Manifests()
    for name in CONFIGMAPS:
        try:
            selector = f"--field-selector=metadata.name={name}"
            found.extend(source.kubectl.get("configmaps", selector, "--all-namespaces"))
        except KubectlFailed as failed:
            note(f"Without the ConfigMap {name}: {failed.message}")
    return found
