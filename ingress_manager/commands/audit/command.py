"""`ingress-manager audit`: the shell."""

from collections.abc import Collection

import click
from click.core import ParameterSource

from ingress_manager.commands.audit.audit import Audit, Unseen, audit_of, look_at
from ingress_manager.commands.audit.kinds import KINDS, Severity
from ingress_manager.commands.audit.preview import TAKING, Effect, preview
from ingress_manager.commands.audit.reports import FORMATS, findings
from ingress_manager.commands.audit.why import is_unexplained, with_reasons
from ingress_manager.commands.printing.console import note, painter, waiting, width
from ingress_manager.commands.reading.manifests import Manifests
from ingress_manager.commands.reading.options import (
    ALL_OBJECTS,
    INSTALLATION,
    PATHS,
    Source,
    settings_option,
    with_source,
)
from ingress_manager.commands.reading.settings import policy_of, settings_of_file
from ingress_manager.commands.view.cluster import read_objects, read_policy, read_reports, read_surroundings, scope_of
from ingress_manager.commands.view.events import EVENT
from ingress_manager.commands.view.known import Known
from ingress_manager.core.text import did_you_mean, listed, quoted

paint = painter(
    {
        Severity.ERROR: "red",
        Severity.WARNING: "yellow",
        Severity.HINT: "cyan",
        Effect.REMOVED: "red",
        Effect.MOVED: "red",
        Effect.REFUSED: "yellow",
        Effect.CHANGED: "cyan",
        Effect.CREATED: "green",
        "command": "dim",
        "unseen": "red",
    }
)
COULD_NOT_LOOK = 2


def kinds_in(_context: click.Context, _option: click.Parameter, value: str | None) -> frozenset[str] | None:
    """Return the kinds of findings in a text with commas. Raises click.BadParameter for a word that is none."""
    words = [] if value is None else [word.strip() for word in value.split(",")]
    for word in words:
        if word not in KINDS:
            near = did_you_mean(word, KINDS)
            raise click.BadParameter(f"{quoted(word)} is no kind of findings{near}; there is {listed([*KINDS])}")
    return frozenset(words) or None


@click.command(short_help="Find the problems of a cluster, and how to fix them.")
@with_source(PATHS, *ALL_OBJECTS, INSTALLATION, settings_option("the cluster's", "--current-settings"))
@click.option(
    "--settings",
    "new",
    metavar="FILE",
    help="New settings, or a ConfigMap with them: print what they would create, change, move, remove "
    "and refuse, and nothing else.",
)
@click.option("-o", "--output", type=click.Choice(FORMATS), default="table", show_default=True, help="The format.")
@click.option(
    "--only",
    metavar="KIND",
    multiple=True,
    type=click.Choice(list(dict.fromkeys([*KINDS, *(effect.value for effect in Effect)]))),
    help=f"Only findings of this kind. Can be repeated. With --settings: {', '.join(Effect)}.",
)
@click.option("--ignore", metavar="KIND[,...]", callback=kinds_in, help="Leave out findings of these kinds.")
@click.pass_context
def audit(  # noqa: PLR0913, PLR0917 - each is an option
    context: click.Context,
    source: Source,
    new: str | None,
    output: str,
    only: tuple[str, ...],
    ignore: Collection[str] | None,
) -> None:
    """Find the problems of a cluster, each with the kubectl command that fixes it.

    `audit` changes nothing. It judges Services, and what was made for them, by the cluster's settings, or by
    --current-settings, and lists what it may not read. To see why a URL doesn't answer, it also reads IngressClasses,
    EndpointSlices, Gateways and the certificates in Secrets.

    With --settings FILE, it tells instead what would change with these new settings.

    Exit status: 0 if nothing is found but hints (with --settings: if nothing would be removed or moved), 1 if something
    is found or a part of a file can't be read, 2 for wrong use, if any of these, Events or the settings could not be
    read, or if there was nothing to read.

    \b
    Examples:
      ingress-manager audit --all-namespaces
      ingress-manager audit -n team-a --only refused --only name-taken
      ingress-manager audit -n team-a --ignore not-copied,no-http
      kubectl get services,ingresses -A -o json | ingress-manager audit -f - --current-settings settings.yaml
      ingress-manager audit --all-namespaces --settings new-settings.yaml
    """  # noqa: D301 - \b keeps click from joining lines
    kinds = {*KINDS} if new is None else {effect.value for effect in Effect}
    for kind in only:
        if kind not in kinds:
            raise click.UsageError(f"--only {kind} is for an audit {'with' if new is None else 'without'} --settings")
    # The variable of --current-settings may be set for other commands.
    stated = context.get_parameter_source("settings") is ParameterSource.COMMANDLINE
    if new is not None and (ignore or source.installation or stated):
        raise click.UsageError("--ignore, --installation and --current-settings are for an audit without --settings")
    proposed = None if new is None else policy_of(settings_of_file(new))
    manifests, known = read_objects(source)
    with waiting(f"judging {len(manifests.items)} objects"):
        if proposed is None:
            audited = found_in(source, manifests, known, {*(only or KINDS)} - {*(ignore or ())})
            wrong = sum(KINDS[found.kind].severity is not Severity.HINT for found in audited.findings)
        else:
            audited = preview(look_at(manifests.items, proposed, known), proposed)
            wrong = sum(found.kind in TAKING for found in audited.findings)
            audited.findings = [found for found in audited.findings if not only or found.kind in only]
        if audited.paused:
            note(f"The settings pause {audited.paused}: nothing changes there until `paused` is false.")
        audited.options = source.kubectl.options
        if not (source.files or source.all_namespaces):
            audited.scope = f"Only {scope_of(source)} was looked at."
        for text in findings(audited, output, paint, width()):
            click.echo(text, nl=False)
    unseen = {each.what for each in audited.unseen} & {EVENT, *known.unread}
    context.exit(COULD_NOT_LOOK if unseen else 1 if wrong else 0)


def found_in(source: Source, manifests: Manifests, known: Known, kinds: Collection[str]) -> Audit:
    """Return what needs a person, of some kinds, with what Events say of it."""
    policy = read_policy(source, known, "--current-settings")
    view = look_at(manifests.items, policy, known)
    audited = audit_of(view, policy, read_surroundings(source, view), kinds)
    if any(map(is_unexplained, audited.findings)):
        found = read_reports(source)
        if isinstance(found, str) and not source.files:
            audited.unseen.append(Unseen(EVENT, f"Events could not be looked at: {found}", []))
            found = "Events may not be read"
        audited.findings = with_reasons(audited.findings, found)
    return audited
