"""`ingress-manager audit`: the shell."""

import click
from click.core import ParameterSource

from ingress_manager.commands.audit.kinds import KINDS, Severity
from ingress_manager.commands.audit.looking import look_at, view_of
from ingress_manager.commands.audit.preview import TAKING, Effect, preview
from ingress_manager.commands.audit.printing import FORMATS, Report, printed
from ingress_manager.commands.printing.console import note, painter, width
from ingress_manager.commands.reading.options import (
    ALL_OBJECTS,
    INSTALLATION,
    PATHS,
    Source,
    settings_option,
    with_source,
)
from ingress_manager.commands.reading.settings import policy_of, settings_of_file
from ingress_manager.commands.view.cluster import read_policy, scope_of
from ingress_manager.core.policy import Policy

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
NOT_IN_FILES = "What is around them (IngressClasses, EndpointSlices, Gateways, Secrets, Events) is for a cluster alone."


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
@click.pass_context
def audit(context: click.Context, source: Source, new: str | None, output: str, only: tuple[str, ...]) -> None:
    """Find the problems of a cluster, each with the kubectl command that fixes it.

    `audit` changes nothing. It judges Services, and what was made for them, by the cluster's settings, or by
    --current-settings, and lists what it may not read. To see why a URL doesn't answer, it also reads IngressClasses,
    EndpointSlices, Gateways and the certificates in Secrets of a cluster; of files, it looks at Services and what was
    made for them alone.

    With --settings FILE, it tells instead what would change with these new settings.

    Exit status: 0 if nothing is found but hints (with --settings: if nothing would be removed or moved), 1 if something
    is found or a file can't be read, 2 for wrong use, if any of these, Events or the settings could not be read, or if
    there was nothing to read.

    \b
    Examples:
      ingress-manager audit --all-namespaces
      ingress-manager audit -n team-a --only refused --only name-taken
      kubectl get services,ingresses -A -o json | ingress-manager audit -f - --current-settings settings.yaml
      ingress-manager audit --all-namespaces --settings new-settings.yaml
    """  # noqa: D301 - \b keeps click from joining lines
    kinds = {*KINDS} if new is None else {effect.value for effect in Effect}
    for kind in only:
        if kind not in kinds:
            raise click.UsageError(f"--only {kind} is for an audit {'with' if new is None else 'without'} --settings")
    # The variable of --current-settings may be set for other commands.
    stated = context.get_parameter_source("settings") is ParameterSource.COMMANDLINE
    if new is not None and (source.installation or stated):
        raise click.UsageError("--installation and --current-settings are for an audit without --settings")
    report, is_wrong, is_blind = found(source, only) if new is None else foreseen(source, new, only)
    if report.paused:
        note(f"The settings pause {report.paused}: nothing changes there until `paused` is false.")
    for text in printed(report, output, paint, width()):
        click.echo(text, nl=False)
    context.exit(COULD_NOT_LOOK if is_blind else int(is_wrong))


def found(source: Source, only: tuple[str, ...]) -> tuple[Report, bool, bool]:
    """Return what needs a person, whether any of it isn't a hint, and whether too little could be looked at."""
    policy = read_policy(source, "--current-settings")
    seen = look_at(source, policy, only or KINDS)
    paused = policy.pauses if isinstance(policy, Policy) else ""
    options = source.kubectl.options
    report = Report(seen.view, seen.findings, seen.unseen, scope(source), paused, options=options)
    return report, any(KINDS[each.kind].severity is not Severity.HINT for each in seen.findings), seen.is_blind


def foreseen(source: Source, new: str, only: tuple[str, ...]) -> tuple[Report, bool, bool]:
    """Return what other settings would do, whether they take something, and whether too little could be looked at."""
    policy = policy_of(settings_of_file(new))
    view = view_of(source, policy)
    changes = preview(view, policy)
    shown = [each for each in changes if not only or each.kind in only]
    unseen = view.unseen()
    report = Report(view, shown, [*unseen.values()], scope(source), policy.pauses, is_preview=True)
    return report, any(each.kind in TAKING for each in changes), bool(unseen)


def scope(source: Source) -> str:
    """Return what was not looked at because nobody asked for it, as a sentence; "" where all was."""
    if source.files:
        return NOT_IN_FILES
    return "" if source.all_namespaces else f"Only {scope_of(source)} was looked at."
