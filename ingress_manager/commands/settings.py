"""`ingress-manager settings`: check settings as the hook does, or print admission policies for their limits."""

import click

from ingress_manager.commands.policies import ACTIONS, policies_of
from ingress_manager.commands.printing import as_yaml, show
from ingress_manager.commands.reading.settings import settings_of_file, usable_settings
from ingress_manager.commands.snapshot.items import Message
from ingress_manager.commands.terminal import note
from ingress_manager.commands.text import counted
from ingress_manager.core.copying import ANY

PRINT = "Print admission policies that enforce the limits in one FILE for all routes. With =warn, they only warn."


@click.command(short_help="Check settings files.")
@click.argument("files", metavar="FILE...", nargs=-1)
@click.option("--policies", is_flag=False, flag_value="deny", metavar="[=warn]", help=PRINT)
@click.pass_context
def settings(context: click.Context, files: tuple[str, ...], policies: str | None) -> None:
    """Check settings files as the hook does, in CI or before a commit.

    A FILE contains settings or a ConfigMap with settings, and can be - for standard input. The first error in each
    file is reported on standard error, as `file:line: message`.

    Exit status: 0 if all files are valid; 1 if any is invalid (with --policies, 2); 2 for a usage error, or if a file
    can't be opened.

    \b
    Examples:
      ingress-manager settings manifests/settings.yaml
      kubectl get configmap NAME --namespace ingress-manager -o yaml | ingress-manager settings -
      ingress-manager settings --policies=warn manifests/settings.yaml | kubectl apply -f -
    """  # noqa: D301 - \b keeps click from joining lines
    if policies is not None and policies not in ACTIONS:
        files, policies = (policies, *files), "deny"  # click takes the word after the option for its value
    if not files or (policies and files[1:]):
        raise click.UsageError(f"name {'exactly' if policies else 'at least'} one FILE")
    if policies:
        text = settings_of_file(files[0])
        objects = policies_of(usable_settings(text), policies)
        if not objects:
            note(f"{text.file}: the settings have no limits, so no policies are needed.")
        click.echo(as_yaml(*objects) if objects else "", nl=False)
        return
    wrong = 0
    for text in map(settings_of_file, files):
        if isinstance(settings := text.parse(), Message):
            wrong += show([settings])
            continue
        parts = f"{counted(len(settings.profiles), 'profile')}, {len(settings.namespaces):,} under `namespaces`"
        click.echo(f"{text.file}: the hook would start with these settings: {parts}")
        if settings.limits.hosts == ANY:
            note(f"{text.file}: limits.hosts is {ANY}, so a namespace without its own limits may claim every host.")
    context.exit(1 if wrong else 0)
