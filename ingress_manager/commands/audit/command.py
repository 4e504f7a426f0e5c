"""`ingress-manager audit`: the shell, with the look that `status` shares, and what is printed: a table, or JSON."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import click

from ingress_manager.commands.audit.audit import KINDS, Looked, audit_of, is_unexplained, preview, with_reason
from ingress_manager.commands.audit.seen import Finding, Severity
from ingress_manager.commands.printing import FORMATS, as_json, unseen_lines
from ingress_manager.commands.reading.cluster import read_objects, read_policy, read_surroundings, scope_of
from ingress_manager.commands.reading.kubectl import KubectlFailed
from ingress_manager.commands.reading.options import ALL_OBJECTS, PATHS, Source, settings_option, with_source
from ingress_manager.commands.reading.settings import policy_of, settings_of_file
from ingress_manager.commands.snapshot.events import OF_SERVICES, reports
from ingress_manager.commands.snapshot.items import Item
from ingress_manager.commands.snapshot.services import UNREAD_SETTINGS, snapshot_of
from ingress_manager.commands.snapshot.surroundings import Surroundings
from ingress_manager.commands.terminal import INDENT, note, waiting, width, wrapped
from ingress_manager.commands.text import counted, shown
from ingress_manager.core.policy import Policy
from ingress_manager.core.text import one_line

COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.HINT: "cyan"}
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
    is, or if what is in a file can't be read, 2 for wrong use, if a file can't be opened, if any of these, Events or
    the settings could not be read, or if there was nothing to read.

    \b
    Examples:
      ingress-manager audit --all-namespaces
      ingress-manager audit -n team-a
      kubectl get services,ingresses -A -o json | ingress-manager audit -f - --current-settings settings.yaml
      ingress-manager audit --all-namespaces --settings new-settings.yaml
    """  # noqa: D301 - \b keeps click from joining lines
    if new is not None and source.settings is not None:
        raise click.UsageError("--current-settings is for an audit without --settings")
    policy = read_policy(source, "--current-settings") if new is None else policy_of(settings_of_file(new))
    seen = look_at(source, policy, is_new=new is not None)
    if isinstance(policy, Policy) and policy.pauses:
        note(f"The settings pause {policy.pauses}: nothing changes there until `paused` is false.")
    not_asked_for = [NOT_IN_FILES] if source.files else [f"Only {scope_of(source)} was looked at"]
    told = seen._replace(unseen=[*([] if source.all_namespaces else not_asked_for), *seen.unseen])
    for text in printed(told, output, "change" if new else "finding", source.kubectl.options, width()):
        click.echo(text, nl=False)
    is_wrong = any(each.severity is not Severity.HINT for each in seen.findings)
    context.exit(2 if seen.is_blind else int(is_wrong))


def look_at(
    source: Source, policy: Policy | str, kinds: Collection[str] = KINDS, *, events: bool = False, is_new: bool = False
) -> Looked:
    """Return what there is, as if nothing were paused, and what of some kinds is found, with what Events say of it.

    `policy` are the settings, or the sentence why they can't be read; if they are new ones, what they would do is found
    instead. `events` says whether Events are read in any case. Of files, what is around isn't looked at.

    Raises click.UsageError, KubectlFailed for Services, and Unreadable.
    """
    by = None if isinstance(policy, str) else policy
    with waiting("judging what is there"):
        items, known = read_objects(source)
        if isinstance(policy, str):
            known.unread[UNREAD_SETTINGS] = policy
        snapshot = snapshot_of(items, by and by.without_pause(), known)
    around = Surroundings() if source.files or is_new else read_surroundings(source, snapshot)
    findings = audit_of(snapshot, by, around, kinds) if by is None or not is_new else preview(snapshot, by)
    sentences, is_blind = [*snapshot.unseen().values(), *around.unseen], bool(snapshot.unseen())
    said: Sequence[Item] | None = None
    if not source.files and (events or any(map(is_unexplained, findings))):
        try:
            said = source.kubectl.get("events", OF_SERVICES, *source.scope)
        except KubectlFailed as failed:
            sentences.append(f"Events could not be looked at: {failed.message}")
            is_blind = True
    by_service = None if said is None else reports(said)
    findings = [with_reason(each, by_service) for each in findings]
    return Looked(snapshot, around, findings, said or (), sentences, is_blind)


def printed(
    seen: Looked, form: str, noun: str = "finding", options: Sequence[str] = (), width: int = 0
) -> Iterator[str]:
    """Yield what was found, in pieces. `noun` is what a finding is: with other settings, a change.

    `options` of kubectl say which cluster; every command has them. Sentences of the table are broken at words to be
    no longer than a `width` over 0.
    """
    exposed = [service.is_exposed for service in seen.snapshot.services.values()]
    tally = Counter(finding.kind for finding in seen.findings)
    if form == "json":
        found = [_as_json(finding, options) for finding in seen.findings]
        services = {"all": len(exposed), "exposed": sum(exposed)}
        yield as_json({"findings": found, "kinds": tally, "services": services, "unseen": seen.unseen})
        return
    yield from _table(seen.findings, options, width)
    of_kinds = ", ".join(f"{count:,} {kind}" for kind, count in tally.items())
    total = f"{counted(len(seen.findings), noun)}{of_kinds and f' ({of_kinds})'}"
    summary = f"{total} in {counted(len(exposed), 'Service')}, {sum(exposed):,} to be exposed."
    yield from (f"{line}\n" for line in wrapped(summary, width))
    yield from unseen_lines(seen.unseen, width)


def _table(findings: Sequence[Finding], options: Sequence[str], width: int) -> Iterator[str]:
    """Yield each finding, and below it the command that fixes it."""
    long = max((len(finding.kind) for finding in findings), default=0)
    longest = max((len(one_line(str(finding.item))) for finding in findings), default=0)
    for finding in findings:
        head = f"{finding.kind.ljust(long)}  {one_line(str(finding.item)).ljust(min(longest, 60))}"
        first, *more = wrapped(f"{head}  {one_line(finding.sentence)}", width, hanging=INDENT)
        yield f"{click.style(first[:long], fg=COLOURS[finding.severity])}{first[long:]}\n"
        yield from (f"{line}\n" for line in more)
        if finding.command:
            yield f"{INDENT}{click.style(one_line(shown(finding.command, options)), dim=True)}\n"
    if findings:
        yield "\n"


def _as_json(finding: Finding, options: Sequence[str]) -> dict[str, Any]:
    item = finding.item
    place = {"file": item.file, "line": item.line()} if item.file else {}
    return {
        "kind": finding.kind,
        "severity": finding.severity,
        "object": {"kind": item.object.get("kind"), "namespace": item.namespace, "name": item.name},
        "sentence": finding.sentence,
        "reasons": finding.reasons,
        "command": shown(finding.command, options) or None,
        **place,
    }
