"""`ingress-manager audit`: the shell."""

from collections.abc import Collection
from functools import partial

import click
from click.core import ParameterSource

from ingress_manager.commands.audit.audit import Unseen, audit_of, look_at
from ingress_manager.commands.audit.kinds import KINDS, Effect, Severity
from ingress_manager.commands.audit.preview import preview
from ingress_manager.commands.audit.reports import FORMATS, effects, findings
from ingress_manager.commands.audit.why import is_unexplained, with_reasons
from ingress_manager.commands.printing.console import note, painter, show, waiting, width
from ingress_manager.commands.reading.manifests import Manifests
from ingress_manager.commands.reading.options import INSTALLATION, Options, Source, settings_option, source_options
from ingress_manager.commands.reading.settings import policy_of, settings_of_file
from ingress_manager.commands.view.cluster import read_objects, read_policy, read_reports, read_surroundings, scope_of
from ingress_manager.commands.view.events import EVENT
from ingress_manager.commands.view.known import Known
from ingress_manager.core.policy import Policy
from ingress_manager.core.text import did_you_mean, listed, quoted

paint = painter(
    {
        Severity.ERROR: "red",
        Severity.WARNING: "yellow",
        Severity.HINT: "cyan",
        Effect.REMOVED: "red",
        Effect.REFUSED: "yellow",
        Effect.CHANGED: "cyan",
        Effect.CREATED: "green",
        "command": "dim",
        "head": "bold",
        "unseen": "red",
    }
)
COULD_NOT_LOOK = 2
CURRENT_SETTINGS: Options = (
    INSTALLATION,
    settings_option("the cluster's; with files, those of a Deployment and ConfigMap in them", "--current-settings"),
)


def kinds_in(_context: click.Context, _option: click.Parameter, value: str | None) -> frozenset[str] | None:
    """Return the kinds of findings in a text with commas. Raises click.BadParameter for a word that is none."""
    words = [] if value is None else [word.strip() for word in value.split(",")]
    for word in words:
        if word not in KINDS:
            near = did_you_mean(word, KINDS)
            raise click.BadParameter(f"{quoted(word)} is no kind of findings{near}; there is {listed([*KINDS])}")
    return frozenset(words) or None


@click.command(short_help="Find the problems of a cluster, and how to fix them.")
@partial(source_options, settings=CURRENT_SETTINGS)
@click.option(
    "--settings",
    "new",
    metavar="FILE",
    help="New settings, or a ConfigMap with them: print what they would create, change, remove and refuse, and "
    "nothing else.",
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
@click.option(
    "--fail-on",
    metavar="KIND[,...]",
    callback=kinds_in,
    help="The kinds of findings that make the exit status 1. Without this option: all but hints.",
)
@click.option("--allow-empty", is_flag=True, help="End with 0, not 2, if there is nothing to look at.")
@click.pass_context
def audit(  # noqa: PLR0913, PLR0917 - each is an option
    context: click.Context,
    source: Source,
    new: str | None,
    output: str,
    only: tuple[str, ...],
    ignore: Collection[str] | None,
    fail_on: Collection[str] | None,
    *,
    allow_empty: bool,
) -> None:
    """Find the problems of a cluster, each with the kubectl command that fixes it.

    `audit` changes nothing. It judges Services, and what was made for them, by the cluster's settings, or by
    --current-settings, and lists what it may not read. To see why a URL doesn't answer, it also reads IngressClasses,
    EndpointSlices, Gateways and the certificates in Secrets.

    With --settings FILE, it tells instead what would change with these new settings.

    Exit status: 0 if nothing is found but hints (with --settings: if no URL would lose its answer), 1 if something is
    found or a part of a file can't be read, 2 for wrong use, if any of these, Events or the settings could not be
    read, or if there was nothing to read.

    \b
    Examples:
      ingress-manager audit --all-namespaces
      ingress-manager audit -n team-a --only refused --only name-taken
      ingress-manager audit -n team-a --ignore not-copied --fail-on refused,missing
      kubectl get services,ingresses -A -o json | ingress-manager audit -f - --current-settings settings.yaml
      ingress-manager audit --all-namespaces --settings new-settings.yaml
    """  # noqa: D301 - \b keeps click from joining lines
    kinds = {*KINDS} if new is None else {effect.value for effect in Effect}
    for kind in only:
        if kind not in kinds:
            raise click.UsageError(f"--only {kind} is for an audit {'with' if new is None else 'without'} --settings")
    # The variable of --current-settings may be set for other commands.
    stated = context.get_parameter_source("settings") is ParameterSource.COMMANDLINE
    if new is not None and (ignore or fail_on or source.installation or stated):
        raise click.UsageError(
            "--ignore, --fail-on, --installation and --current-settings are for an audit without --settings"
        )
    proposed = None if new is None else policy_of(settings_of_file(new))
    manifests, known = read_objects(source)
    with waiting(f"judging {len(manifests.items)} objects"):
        if proposed is None:
            wanted = {*(only or KINDS)} - {*(ignore or ())}
            counting = fail_on or {kind for kind in wanted if KINDS[kind].severity is not Severity.HINT}
            wrong, unseen = print_findings(source, manifests, known, output, wanted, counting)
        else:
            wrong, unseen = print_plan(source, manifests, known, proposed, output, only)
    wrong += show(manifests.unreadable)
    if allow_empty:
        unseen -= known.empty
    elif unseen and unseen <= known.empty:
        note("There is nothing to look at, hence exit status 2; if that is right, add --allow-empty.")
    context.exit(COULD_NOT_LOOK if unseen else 1 if wrong else 0)


def print_findings(  # noqa: PLR0913, PLR0917 - each is an option
    source: Source,
    manifests: Manifests,
    known: Known,
    output: str,
    wanted: Collection[str],
    fail_on: Collection[str],
) -> tuple[int, set[str]]:
    """Print what needs a person, of the `wanted` kinds. Return how much counts, and what could not be looked at."""
    policy = read_policy(source, manifests, known, "--current-settings")
    view = look_at(manifests.items, policy, known)
    audited = audit_of(view, policy, read_surroundings(source, manifests, view))
    audited.findings = [found for found in audited.findings if found.kind in wanted]
    if any(map(is_unexplained, audited.findings)):
        found = read_reports(source, manifests)
        if isinstance(found, str) and not source.files:
            audited.unseen.append(Unseen(EVENT, f"Events could not be looked at: {found}", []))
            found = "Events may not be read"
        audited.findings = with_reasons(audited.findings, found)
    if audited.paused:
        note(f"The settings pause {audited.paused}: nothing changes there until `paused` is false.")
    audited.options = source.kubectl.options
    if not (source.files or source.all_namespaces):
        audited.scope = f"Only {scope_of(source)} was looked at."
    for text in findings(audited, output, paint, width()):
        click.echo(text, nl=False)
    count = sum(found.kind in fail_on for found in audited.findings)
    return count + show(audited.invalid), {each.what for each in audited.unseen} & {EVENT, *known.unread}


def print_plan(  # noqa: PLR0913, PLR0917 - each has a say in it
    source: Source, manifests: Manifests, known: Known, policy: Policy, output: str, only: Collection[str]
) -> tuple[int, set[str]]:
    """Print what other settings would do. Return how much would be taken away, and what could not be looked at."""
    if policy.pauses:
        note(f"These settings pause {policy.pauses}: until `paused` is false there, nothing changes.")
    would = preview(manifests.items, policy, known)
    would.options = source.kubectl.options
    removed = sum(each.effect is Effect.REMOVED for each in would.affected)
    if only:
        would.affected = [each for each in would.affected if each.effect in only]
    for text in effects(would, output, paint, width()):
        click.echo(text, nl=False)
    for sentence in would.unseen.values():
        click.secho(sentence, fg="red", err=True)
    return removed + len(would.taken) + show(would.invalid), {*would.unseen}
