"""`ingress-manager settings`: whether the hook would start with a settings file."""

import click

from ingress_manager.commands.printing import show
from ingress_manager.commands.reading.settings import SettingsText, settings_of_file
from ingress_manager.commands.snapshot.items import Message
from ingress_manager.commands.terminal import note
from ingress_manager.commands.text import counted
from ingress_manager.core.copying import ANY


@click.command(short_help="Check settings files.")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.pass_context
def settings(context: click.Context, files: tuple[str, ...]) -> None:
    """Check settings files as the hook reads them, for CI and before a commit.

    A FILE is the settings, a ConfigMap with them, or - for standard input. `settings` tells the first mistake of
    each on standard error, as `file:line: sentence`.

    Exit status: 0 if the hook would start with each file, 1 if it would not, 2 if a file can't be opened.

    \b
    Examples:
      ingress-manager settings manifests/settings.yaml
      kubectl get configmap NAME --namespace ingress-manager -o yaml | ingress-manager settings -
    """  # noqa: D301 - \b keeps click from joining lines
    context.exit(1 if sum([problems_of(settings_of_file(file)) for file in files]) else 0)


def problems_of(text: SettingsText) -> int:
    """Print a summary of the settings, or what is wrong with them; return how many problems there are."""
    settings = text.parse()
    if isinstance(settings, Message):
        return show([settings])
    profiles = counted(len(settings.profiles), "profile")
    click.echo(f"{text.file}: the hook would start with it: {profiles}, {len(settings.namespaces):,} under namespaces")
    if settings.limits.hosts == ANY:
        note(f"{text.file}: limits.hosts is {ANY}: a namespace without limits of its own may claim every host.")
    return 0
