"""`ingress-manager explain`: the shell."""

import re

import click
from click.shell_completion import CompletionItem

from ingress_manager.commands.audit.audit import audit
from ingress_manager.commands.audit.why import with_reasons
from ingress_manager.commands.explain.entries import KIND, REASON, entries, find, listing
from ingress_manager.commands.explain.sentences import words_in
from ingress_manager.commands.explain.service import told
from ingress_manager.commands.reading.kinds import SERVICES
from ingress_manager.commands.reading.kubectl import KubectlFailed
from ingress_manager.commands.reading.manifests import Item
from ingress_manager.commands.reading.names import named
from ingress_manager.commands.reading.options import CLUSTER, FILES, ONE_NAMESPACE, SETTINGS, Source, with_source
from ingress_manager.commands.view.cluster import read_objects, read_policy, read_surroundings
from ingress_manager.commands.view.events import EVENT, reports, reports_in
from ingress_manager.commands.view.look import Known, look
from ingress_manager.core.text import did_you_mean, quoted

SERVICE_NAME = re.compile(r"(?:services?|svc)/(.+)")

COULD_NOT_LOOK = 2


def complete(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(entry.key, help=entry.meaning) for entry in entries() if entry.key.startswith(incomplete)]


@click.command(short_help="Explain an annotation, a setting, a reason or a Service.")
@click.argument("words", metavar="[KEY | SENTENCE | service/NAME]", nargs=-1, shell_complete=complete)
@with_source(*FILES, ONE_NAMESPACE, *CLUSTER, *SETTINGS)
@click.pass_context
def explain(context: click.Context, source: Source, words: tuple[str, ...]) -> None:
    """Explain an annotation, a setting, the reason of a refusal, a kind of finding, or a Service.

    A SENTENCE is a message as `kubectl describe` shows it. Without an argument, `explain` lists all keys.

    For service/NAME, it tells what the Service asks for, which objects it has, its Events, and what to do. Only then do
    the options have an effect.

    Exit status: 0, or 2 if the word is unknown, or something could not be read.

    \b
    Examples:
      ingress-manager explain ingress/routes
      ingress-manager explain limits.hosts
      ingress-manager explain host-not-allowed
      ingress-manager explain 'Sync error: … ingress/host: "a.b" may not be claimed; … [host-not-allowed]'
      ingress-manager explain service/shop -n team-a
    """  # noqa: D301 - \b keeps click from joining lines
    text = " ".join(words)
    if name := SERVICE_NAME.fullmatch(text):
        context.exit(explain_service(source, name[1]))
    if source != Source(settings=source.settings):
        raise click.UsageError("the options say where a Service is, and none is named: service/NAME")
    if not text:
        click.echo(listing(), nl=False)
        return
    found = find(text) or [entry for word in words_in(text) for entry in find(word) if entry.sort in {REASON, KIND}]
    if not found:
        near = did_you_mean(text, [entry.key for entry in entries()]) or "; without a key, `explain` lists all"
        raise click.UsageError(f"{quoted(text)} is no annotation, setting, reason or kind of finding{near}")
    click.echo("\n".join(entry.text() for entry in found), nl=False)


def explain_service(source: Source, name: str) -> int:
    """Print what becomes of a Service; return the exit status."""
    manifests, known = read_objects(source)
    policy = read_policy(source, manifests, known, "--settings")
    item = named(manifests, SERVICES, name, source.namespace)
    view = look(manifests.items, policy, known)
    service = view.services.get(item.full_name)
    if service is None:
        raise click.UsageError("; ".join(map(str, view.invalid)))
    events = manifests.items if source.files else read_events(source, item, known)
    around = read_surroundings(source, manifests, view)
    audited = audit(manifests.items, policy, known, around)
    found = (
        reports_in(events) if source.files else "Events may not be read" if EVENT in known.unread else reports(events)
    )
    findings = with_reasons(audited.findings, found)
    unseen = [*view.unseen().values(), *(sentence for _, sentence in around.unseen())]
    click.echo(told(service, view, findings, events, unseen, source.kubectl.options), nl=False)
    return COULD_NOT_LOOK if view.unseen() else 0


def read_events(source: Source, item: Item, known: Known) -> list[Item]:
    """Return the Events of a Service; none, with a note in `known`, where they can't be read."""
    which = f"--field-selector=involvedObject.kind=Service,involvedObject.name={item.name}"
    try:
        return source.kubectl.get("events", which, f"--namespace={item.namespace}").items
    except KubectlFailed as failed:
        known.unread[EVENT] = f"Events could not be looked at: {failed.message}"
        return []
