"""`ingress-manager audit`: the shell, with the look that `status` shares."""

from collections.abc import Collection, Sequence

import click
from click.core import ParameterSource

from ingress_manager.commands.audit.audit import KINDS, Looked, audit_of, is_unexplained, with_reasons
from ingress_manager.commands.audit.preview import preview
from ingress_manager.commands.audit.printing import FORMATS, printed
from ingress_manager.commands.audit.seen import Severity
from ingress_manager.commands.printing.console import note, waiting, width
from ingress_manager.commands.reading.kubectl import KubectlFailed
from ingress_manager.commands.reading.manifests import Item
from ingress_manager.commands.reading.options import ALL_OBJECTS, PATHS, Source, settings_option, with_source
from ingress_manager.commands.reading.settings import policy_of, settings_of_file
from ingress_manager.commands.view.cluster import read_objects, read_policy, read_surroundings, scope_of
from ingress_manager.commands.view.events import OF_SERVICES, reports
from ingress_manager.commands.view.look import SETTINGS, UNKNOWN, View, look
from ingress_manager.commands.view.surroundings import Surroundings
from ingress_manager.core.policy import Policy

COULD_NOT_LOOK = 2
NOT_IN_FILES = "What is around them (IngressClasses, EndpointSlices, Gateways, Secrets, Events) is for a cluster alone"


@click.command(short_help="Find the problems of a cluster, and how to fix them.")
@with_source(PATHS, *ALL_OBJECTS, settings_option("the cluster's", "--current-settings"))
@click.option(
    "--settings",
    "new",
    metavar="FILE",
    help="New settings, or a ConfigMap with them: print what they would create, change, move, remove "
    "and refuse, and nothing else.",
)
@click.option("-o", "--output", type=click.Choice(FORMATS), default="table", show_default=True, help="The format.")
@click.pass_context
def audit(context: click.Context, source: Source, new: str | None, output: str) -> None:
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
      ingress-manager audit -n team-a
      kubectl get services,ingresses -A -o json | ingress-manager audit -f - --current-settings settings.yaml
      ingress-manager audit --all-namespaces --settings new-settings.yaml
    """  # noqa: D301 - \b keeps click from joining lines
    # The variable of --current-settings may be set for other commands.
    stated = context.get_parameter_source("settings") is ParameterSource.COMMANDLINE
    if new is not None and stated:
        raise click.UsageError("--current-settings is for an audit without --settings")
    policy = read_policy(source, "--current-settings") if new is None else policy_of(settings_of_file(new))
    seen = foreseen(source, policy) if new and isinstance(policy, Policy) else look_at(source, policy)
    if isinstance(policy, Policy) and policy.pauses:
        note(f"The settings pause {policy.pauses}: nothing changes there until `paused` is false.")
    not_asked_for = [NOT_IN_FILES] if source.files else [f"Only {scope_of(source)} was looked at"]
    shown = seen._replace(unseen=[*([] if source.all_namespaces else not_asked_for), *seen.unseen])
    for text in printed(shown, output, "change" if new else "finding", source.kubectl.options, width()):
        click.echo(text, nl=False)
    is_wrong = any(each.severity is not Severity.HINT for each in seen.findings)
    context.exit(COULD_NOT_LOOK if seen.is_blind else int(is_wrong))


def look_at(
    source: Source, policy: Policy | str, kinds: Collection[str] = KINDS.keys(), *, events: bool = False
) -> Looked:
    """Return what there is, and what of some kinds is found, with what Events say of it. Raises as `view_of`.

    `policy` are the settings, or the sentence why they can't be read; `events` says whether Events are read in any
    case. Of files, what is around isn't looked at.
    """
    with waiting("judging what is there"):
        view = view_of(source, policy)
    around = Surroundings() if source.files else read_surroundings(source, view)
    findings = audit_of(view, UNKNOWN if isinstance(policy, str) else policy, around, kinds)
    sentences, is_blind = [*view.unseen().values(), *around.unseen], bool(view.unseen())
    said: Sequence[Item] | None = None
    if not source.files and (events or any(map(is_unexplained, findings))):
        try:
            said = source.kubectl.get("events", OF_SERVICES, *source.scope)
        except KubectlFailed as failed:
            sentences.append(f"Events could not be looked at: {failed.message}")
            is_blind = True
    findings = with_reasons(findings, None if said is None else reports(said))
    return Looked(view, around, findings, said or (), sentences, is_blind)


def foreseen(source: Source, policy: Policy) -> Looked:
    """Return what there is, and what other settings would do. Raises as `view_of`."""
    view = view_of(source, policy)
    return Looked(view, Surroundings(), preview(view, policy), (), [*view.unseen().values()], bool(view.unseen()))


def view_of(source: Source, policy: Policy | str) -> View:
    """Return what there is, by settings or for want of them, as if nothing were paused.

    Raises click.UsageError, KubectlFailed for Services, and Unreadable.
    """
    items, known = read_objects(source)
    if isinstance(policy, str):
        known.unread[SETTINGS] = policy
    return look(items, UNKNOWN if isinstance(policy, str) else policy.without_pause(), known)
