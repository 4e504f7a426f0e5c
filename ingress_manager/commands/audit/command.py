"""`ingress-manager audit`: the command, and its output as a table or JSON."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import click

from ingress_manager.commands.audit.preview import PREVIEWED, preview
from ingress_manager.commands.findings.finding import Finding, Responsible, Severity
from ingress_manager.commands.inspection import Inspection, inspect
from ingress_manager.commands.printing import as_json, unseen_lines
from ingress_manager.commands.reading.cluster import read_settings, scope_of
from ingress_manager.commands.reading.options import (
    ALL_OBJECTS,
    CERTIFICATE_DAYS,
    OUTPUT,
    PATHS,
    Source,
    settings_option,
    with_source,
)
from ingress_manager.commands.reading.settings import settings_of_file, usable_settings
from ingress_manager.commands.snapshot.items import VERSIONS
from ingress_manager.commands.terminal import INDENT, note, width, wrapped
from ingress_manager.commands.text import counted, shown
from ingress_manager.core.settings import Settings
from ingress_manager.core.text import one_line

COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.HINT: "cyan"}
NOT_IN_FILES = "IngressClasses, EndpointSlices, Gateways, Secrets and Events are read only from a cluster"
NEW_SETTINGS = "Print only what the new settings in this file or ConfigMap create, change, move, remove or refuse."


@click.command(short_help="Find problems in a cluster, and how to fix them.")
@with_source(PATHS, *ALL_OBJECTS, CERTIFICATE_DAYS, settings_option("the cluster's", "--current-settings"))
@click.option("--settings", "new", metavar="FILE", help=NEW_SETTINGS)
@OUTPUT
@click.pass_context
def audit(context: click.Context, source: Source, new: str | None, output: str) -> None:
    """Find problems in a cluster, and suggest commands that fix or explain them.

    `audit` changes nothing. It checks Services and their objects against the cluster's settings, or against
    --current-settings, and reports what it couldn't read. To find out why a URL doesn't answer, it also reads the
    cluster's IngressClasses, EndpointSlices and Gateways, and the certificates in Secrets. From files, it reads
    only Services and their objects.

    With --settings FILE, it instead prints what would change if the settings in FILE replaced the current settings.

    Exit status: 0 if nothing or only hints are found (with --settings: if nothing is removed or moved); 1 for any other
    finding, or if a file is invalid; 2 for a usage error, if a file can't be opened, if there is nothing to check, or
    if Services, their objects or Events couldn't be read (without --settings, also if the settings couldn't).

    \b
    Examples:
      ingress-manager audit --all-namespaces
      ingress-manager audit -n team-a
      kubectl get services,ingresses -A -o json | ingress-manager audit -f - --current-settings settings.yaml
      ingress-manager audit --all-namespaces --settings new-settings.yaml
    """  # noqa: D301 - \b keeps click from joining lines
    if new is None:
        settings = read_settings(source, "--current-settings")
        inspection = inspect(source, settings)
    else:
        settings = usable_settings(settings_of_file(new))
        try:
            current = read_settings(source, "--current-settings")
        except click.UsageError as error:
            if source.settings is not None:
                raise
            current = error.message
        known = current if isinstance(current, Settings) else None
        inspection = inspect(source, settings, partial(preview, current=known), surroundings=PREVIEWED)
        if known is None:
            inspection.unseen.append(f"{current}. This run compares the new settings with the observed objects")
    if isinstance(settings, Settings) and settings.pauses:
        note(f"The settings pause {settings.pauses}: nothing changes there until `paused` is false.")
    if not source.all_namespaces:
        limit = NOT_IN_FILES if source.files else f"Only {scope_of(source)} was read"
        inspection = inspection._replace(unseen=[limit, *inspection.unseen])
    for text in printed(inspection, output, "change" if new else "finding", source.kubectl.options, width()):
        click.echo(text, nl=False)
    has_problems = any(finding.kind.severity is not Severity.HINT for finding in inspection.findings)
    # A dump may lack kinds, but a preview needs all kinds to show everything that would be removed.
    is_blind = inspection.lacking - ({*VERSIONS} if source.files and new is None else set())
    context.exit(2 if is_blind else int(has_problems))


def printed(
    inspection: Inspection, form: str, noun: str = "finding", options: Sequence[str] = (), width: int = 0
) -> Iterator[str]:
    """Yield the findings as JSON, or as a table that ends with a count of `noun`s. Suggested commands get `options`."""
    findings, services = inspection.findings, inspection.snapshot.services.values()
    exposed = sum(service.is_exposed for service in services)
    tally = Counter(finding.kind.name for finding in findings)
    if form == "json":
        rows = [_as_json(finding, options) for finding in findings]
        counts = {"all": len(services), "exposed": exposed}
        yield as_json({"findings": rows, "kinds": tally, "services": counts, "unseen": inspection.unseen})
        return
    yield from _table(findings, options, width)
    by_kind = ", ".join(f"{count:,} {kind}" for kind, count in tally.items())
    total = f"{counted(len(findings), noun)}{by_kind and f' ({by_kind})'}"
    summary = f"{total}. Services checked: {len(services):,}, requesting exposure: {exposed:,}."
    yield from (f"{line}\n" for line in wrapped(summary, width))
    yield from unseen_lines(inspection.unseen, width)


def _table(findings: Sequence[Finding], options: Sequence[str], width: int) -> Iterator[str]:
    kind_width = max((len(finding.kind.name) for finding in findings), default=0)
    item_width = max((len(one_line(str(finding.item))) for finding in findings), default=0)
    for finding in findings:
        head = f"{finding.kind.name.ljust(kind_width)}  {one_line(str(finding.item)).ljust(min(item_width, 60))}"
        first, *more = wrapped(f"{head}  {one_line(finding.sentence)}", width, hanging=INDENT)
        yield f"{click.style(first[:kind_width], fg=COLOURS[finding.kind.severity])}{first[kind_width:]}\n"
        yield from (f"{line}\n" for line in more)
        if finding.whose is Responsible.ADMINISTRATOR:
            yield f"{INDENT}the administrator has to fix this\n"
        if finding.command:
            yield f"{INDENT}{click.style(one_line(shown(finding.command, options)), dim=True)}\n"
    if findings:
        yield "\n"


def _as_json(finding: Finding, options: Sequence[str]) -> dict[str, Any]:
    item = finding.item
    return {
        "kind": finding.kind.name,
        "severity": finding.kind.severity,
        "object": {"kind": item.object.get("kind"), "namespace": item.namespace, "name": item.name},
        "sentence": finding.sentence,
        "reasons": finding.reasons,
        "whose": finding.whose,
        "command": shown(finding.command, options) or None,
        **({"file": item.file, "line": finding.line} if item.file else {}),
    }
