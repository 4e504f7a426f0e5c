"""`ingress-manager explain`: the shell."""

import click
from click.shell_completion import CompletionItem

from ingress_manager.commands.explain.entries import entries, find, listing
from ingress_manager.core.text import did_you_mean, quoted


def complete(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the keys that begin with what was typed, for the shell."""
    return [CompletionItem(entry.key, help=entry.meaning) for entry in entries() if entry.key.startswith(incomplete)]


@click.command(short_help="Say what an annotation, a setting or a reason means.")
@click.argument("key", required=False, shell_complete=complete)
def explain(key: str | None) -> None:
    """Say what an annotation, a setting, the reason of a refusal or a finding of an audit means.

    Without KEY: all there are.

    Exit status: 0, or 2 when there is no such KEY.

    \b
    Examples:
      ingress-manager explain ingress/routes
      ingress-manager explain limits.hosts
      ingress-manager explain host-not-allowed
    """  # noqa: D301 - \b keeps click from joining lines
    if key is None:
        click.echo(listing(), nl=False)
        return
    found = find(key)
    if not found:
        near = did_you_mean(key, [entry.key for entry in entries()]) or "; without a key, `explain` lists all"
        raise click.UsageError(f"{quoted(key)} is no annotation, setting, reason or kind of finding{near}")
    click.echo("\n".join(entry.text() for entry in found), nl=False)
