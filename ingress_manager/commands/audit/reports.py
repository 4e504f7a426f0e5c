"""Reports: what `audit` has found, or what would change, as a table or as JSON."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from ingress_manager.commands.audit.audit import Audit
from ingress_manager.commands.audit.kinds import KINDS
from ingress_manager.commands.audit.seen import Finding
from ingress_manager.commands.printing.columns import INDENT, beside, command_lines, wrapped
from ingress_manager.commands.printing.messages import counted
from ingress_manager.commands.printing.objects import as_json
from ingress_manager.commands.printing.words import Command, Paint, plain, shown
from ingress_manager.core.text import one_line

FORMATS = ("table", "json")


def findings(audit: Audit, form: str, paint: Paint = plain, width: int = 0) -> Iterator[str]:
    """Yield what was found, in pieces; lines of the table are broken at words to be no longer than a `width` over 0."""
    if form == "json":
        yield as_json(
            {
                "findings": [_as_json(audit, finding) for finding in audit.findings],
                "kinds": Counter(finding.kind for finding in audit.findings),
                "objects": audit.counts,
                "paused": audit.paused or None,
                "unseen": audit.unseen,
                "scope": audit.scope or None,
            }
        )
    else:
        yield from _table(audit, paint, width)
        yield from (f"{line}\n" for line in wrapped(_summary(audit), width))
        for sentence in _unseen(audit):
            yield from (f"{paint(line, 'unseen')}\n" for line in wrapped(one_line(sentence), width, hanging=INDENT))


def _table(audit: Audit, paint: Paint, width: int) -> Iterator[str]:
    """Yield each finding, and below it the command that fixes it."""
    long = max((len(finding.kind) for finding in audit.findings), default=0)
    longest = max((len(one_line(str(finding.item))) for finding in audit.findings), default=0)
    for finding in audit.findings:
        head = f"{finding.kind.ljust(long)}  {one_line(str(finding.item)).ljust(min(longest, 60))}"
        (begin, text), *more = beside(head, one_line(finding.sentence), width)
        yield f"{paint(begin[:long], _role(audit, finding))}{begin[long:]}{text}\n"
        yield from (f"{begin}{text}\n" for begin, text in more)
        yield from _command(finding.command, audit.options, paint, width)
    if audit.findings:
        yield "\n"


def _role(audit: Audit, finding: Finding) -> str:
    return finding.kind if audit.is_preview else KINDS[finding.kind].severity


def _command(command: Command, options: Sequence[str], paint: Paint, width: int) -> Iterator[str]:
    for line in command_lines(command, options, width, INDENT):
        yield f"{INDENT}{paint(one_line(line.removeprefix(INDENT)), 'command')}\n"


def _as_json(audit: Audit, finding: Finding) -> dict[str, Any]:
    place = {"file": finding.item.origin.file, "line": finding.item.line()} if finding.item.origin.file else {}
    return {
        "kind": finding.kind,
        "severity": None if audit.is_preview else KINDS[finding.kind].severity,
        "object": {
            "kind": finding.item.object.get("kind"),
            "namespace": finding.item.namespace,
            "name": finding.item.name,
        },
        "sentence": finding.sentence,
        "reasons": finding.reasons,
        "command": shown(finding.command, audit.options) or None,
        **place,
    }


def _summary(audit: Audit) -> str:
    """Return what was found in how much, in a line."""
    ours = {"Service": "to be exposed"}
    looked = [
        f"{counted(count.all, kind)} ({count.ours:,} {ours.get(kind, 'made by ingress-manager')})"
        for kind, count in audit.counts.items()
        if count.all or kind == "Service"
    ]
    tally = Counter(finding.kind for finding in audit.findings)
    found = ", ".join(f"{count:,} {kind}" for kind, count in tally.items())
    noun, nothing = ("change", "Nothing would change") if audit.is_preview else ("finding", "Nothing was found")
    total = f"{counted(len(audit.findings), noun)} ({found})" if found else nothing
    return " ".join(filter(None, (f"{total} in {', '.join(looked)}.", audit.scope)))


def _unseen(audit: Audit) -> Iterator[str]:
    """Yield what could not be looked at, and what was therefore not looked for, a line each."""
    for each in audit.unseen:
        therefore = f" Not looked for, or not everywhere: {', '.join(each.findings)}." if each.findings else ""
        yield f"{each.sentence}.{therefore}"
