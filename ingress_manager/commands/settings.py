"""`ingress-manager settings`: whether the hook would start with a settings file."""

import click

from ingress_manager.commands.printing import show
from ingress_manager.commands.reading.settings import settings_of_file
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
    wrong = 0
    for text in map(settings_of_file, files):
        settings = text.parse()
        if isinstance(settings, Message):
            wrong += show([settings])
            continue
        parts = f"{counted(len(settings.profiles), 'profile')}, {len(settings.namespaces):,} under namespaces"
        click.echo(f"{text.file}: the hook would start with it: {parts}")
        if settings.limits.hosts == ANY:
            note(f"{text.file}: limits.hosts is {ANY}: a namespace without limits of its own may claim every host.")
    context.exit(1 if wrong else 0)
