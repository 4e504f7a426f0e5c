"""How `audit` is printed: what it has found, or what would change, as a table or as JSON."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ingress_manager.commands.audit.kinds import KINDS, OBJECTS
from ingress_manager.commands.audit.seen import Finding
from ingress_manager.commands.printing.columns import INDENT, beside, command_lines, wrapped
from ingress_manager.commands.printing.messages import counted
from ingress_manager.commands.printing.objects import as_json
from ingress_manager.commands.printing.words import Paint, plain, shown
from ingress_manager.commands.view.look import View
from ingress_manager.core.text import one_line

FORMATS = ("table", "json")


@dataclass(frozen=True, slots=True)
class Report:
    """What was found, and in how much."""

    view: View
    findings: Sequence[Finding]
    unseen: Sequence[str] = ()
    """What could not be looked at, a sentence each."""

    scope: str = ""
    """What was not looked at because nobody asked for it, as a sentence; "" where all was."""

    paused: str = ""
    """What is paused, as a person would say it; "" for nothing."""

    is_preview: bool = False
    """Whether the findings are what other settings would do."""

    options: Sequence[str] = ()
    """kubectl's options that say which cluster; every command has them."""

    def role(self, finding: Finding) -> str:
        """Return the severity of a finding; what other settings would do has none."""
        return finding.kind if self.is_preview else KINDS[finding.kind].severity

    def counts(self) -> dict[str, dict[str, int]]:
        """Return how many objects there are of each kind that could be read, and how many of them are ours."""
        services = self.view.services.values()
        found = {"Service": {"all": len(services), "ours": sum(each.is_exposed for each in services)}}
        for kind in OBJECTS:
            ours = [each.looks_ours for each in self.view.objects.values() if each.kind == kind]
            if ours or kind not in self.view.known.unread:
                found[kind] = {"all": len(ours), "ours": sum(ours)}
        return found


def printed(report: Report, form: str, paint: Paint = plain, width: int = 0) -> Iterator[str]:
    """Yield what was found, in pieces; lines of the table are broken at words to be no longer than a `width` over 0."""
    if form == "json":
        told = {
            "findings": [_as_json(report, finding) for finding in report.findings],
            "kinds": Counter(finding.kind for finding in report.findings),
            "objects": report.counts(),
            "paused": report.paused or None,
            "unseen": report.unseen,
            "scope": report.scope or None,
        }
        yield as_json(told)
        return
    yield from _table(report, paint, width)
    yield from (f"{line}\n" for line in wrapped(_summary(report), width))
    for sentence in report.unseen:
        yield from (f"{paint(line, 'unseen')}\n" for line in wrapped(f"{one_line(sentence)}.", width, hanging=INDENT))


def _table(report: Report, paint: Paint, width: int) -> Iterator[str]:
    """Yield each finding, and below it the command that fixes it."""
    long = max((len(finding.kind) for finding in report.findings), default=0)
    longest = max((len(one_line(str(finding.item))) for finding in report.findings), default=0)
    for finding in report.findings:
        head = f"{finding.kind.ljust(long)}  {one_line(str(finding.item)).ljust(min(longest, 60))}"
        (begin, text), *more = beside(head, one_line(finding.sentence), width)
        yield f"{paint(begin[:long], report.role(finding))}{begin[long:]}{text}\n"
        yield from (f"{begin}{text}\n" for begin, text in more)
        for line in command_lines(finding.command, report.options, width, INDENT):
            yield f"{INDENT}{paint(one_line(line.removeprefix(INDENT)), 'command')}\n"
    if report.findings:
        yield "\n"


def _as_json(report: Report, finding: Finding) -> dict[str, Any]:
    item = finding.item
    place = {"file": item.origin.file, "line": item.line()} if item.origin.file else {}
    return {
        "kind": finding.kind,
        "severity": None if report.is_preview else report.role(finding),
        "object": {"kind": item.object.get("kind"), "namespace": item.namespace, "name": item.name},
        "sentence": finding.sentence,
        "reasons": finding.reasons,
        "command": shown(finding.command, report.options) or None,
        **place,
    }


def _summary(report: Report) -> str:
    """Return what was found in how much, in a line."""
    ours = {"Service": "to be exposed"}
    looked = [
        f"{counted(count['all'], kind)} ({count['ours']:,} {ours.get(kind, 'made by ingress-manager')})"
        for kind, count in report.counts().items()
        if count["all"] or kind == "Service"
    ]
    tally = Counter(finding.kind for finding in report.findings)
    found = ", ".join(f"{count:,} {kind}" for kind, count in tally.items())
    noun, nothing = ("change", "Nothing would change") if report.is_preview else ("finding", "Nothing was found")
    total = f"{counted(len(report.findings), noun)} ({found})" if found else nothing
    return " ".join(filter(None, (f"{total} in {', '.join(looked)}.", report.scope)))
