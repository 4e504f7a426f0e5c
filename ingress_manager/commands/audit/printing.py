"""How `audit` is printed: what it has found, or what would change, as a table or as JSON."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from click import style

from ingress_manager.commands.audit.audit import Looked
from ingress_manager.commands.audit.seen import Finding, Severity
from ingress_manager.commands.printing.console import unseen_lines
from ingress_manager.commands.printing.objects import as_json
from ingress_manager.commands.printing.words import INDENT, beside, command_lines, counted, shown, wrapped
from ingress_manager.core.text import one_line

FORMATS = ("table", "json")


COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.HINT: "cyan"}


def printed(
    seen: Looked, form: str, noun: str = "finding", options: Sequence[str] = (), width: int = 0
) -> Iterator[str]:
    """Yield what was found, in pieces. `noun` is what a finding is: with other settings, a change.

    `options` of kubectl say which cluster; every command has them. Lines of the table are broken at words to be no
    longer than a `width` over 0.
    """
    exposed = [service.is_exposed for service in seen.view.services.values()]
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
        (begin, text), *more = beside(head, one_line(finding.sentence), width)
        yield f"{style(begin[:long], fg=COLOURS[finding.severity])}{begin[long:]}{text}\n"
        yield from (f"{begin}{text}\n" for begin, text in more)
        for line in command_lines(finding.command, options, width, INDENT):
            yield f"{INDENT}{style(one_line(line.removeprefix(INDENT)), dim=True)}\n"
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
