"""Reports: what `audit` has found, or what would change, as a table or as JSON."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from ingress_manager.commands.audit.audit import Audit
from ingress_manager.commands.audit.kinds import KINDS, Effect
from ingress_manager.commands.audit.preview import Preview
from ingress_manager.commands.audit.seen import Finding
from ingress_manager.commands.audit.taken import Taken
from ingress_manager.commands.printing.columns import INDENT, beside, command_lines, wrapped
from ingress_manager.commands.printing.messages import counted
from ingress_manager.commands.printing.objects import as_json
from ingress_manager.commands.printing.words import Command, Paint, plain, shown
from ingress_manager.core.text import one_line

FORMATS = ("table", "json")

TAKEN = "No longer answered, or by something else:"
FIRST = "To take nothing away, do this before the settings are changed:"


def findings(audit: Audit, form: str, paint: Paint = plain, width: int = 0) -> Iterator[str]:
    """Yield what was found, in pieces; lines of the table are broken at words to be no longer than a `width` over 0."""
    if form == "json":
        yield as_json(
            {
                "findings": [_as_json(finding, shown(finding.command, audit.options)) for finding in audit.findings],
                "kinds": _tally(audit),
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
        yield f"{paint(begin[:long], KINDS[finding.kind].severity)}{begin[long:]}{text}\n"
        yield from (f"{begin}{text}\n" for begin, text in more)
        yield from _command(finding.command, audit.options, paint, width)
    if audit.findings:
        yield "\n"


def _command(command: Command, options: Sequence[str], paint: Paint, width: int, indent: str = INDENT) -> Iterator[str]:
    for line in command_lines(command, options, width, indent):
        text = line.removeprefix(indent)
        yield f"{indent}{paint(one_line(text), 'command')}\n"


def _as_json(finding: Finding, command: str) -> dict[str, Any]:
    row = KINDS[finding.kind]
    place = {"file": finding.item.origin.file, "line": finding.item.line()} if finding.item.origin.file else {}
    return {
        "kind": finding.kind,
        "severity": row.severity,
        "object": {
            "kind": finding.item.object.get("kind"),
            "namespace": finding.item.namespace,
            "name": finding.item.name,
        },
        "sentence": finding.sentence,
        "reasons": finding.reasons,
        "command": command or None,
        **place,
    }


def _tally(audit: Audit) -> dict[str, int]:
    tally = Counter(finding.kind for finding in audit.findings)
    return {kind: tally[kind] for kind in KINDS if tally[kind]}


def _summary(audit: Audit) -> str:
    """Return what was found in how much, in a line."""
    ours = {"Service": "to be exposed"}
    looked = [
        f"{counted(count.all, kind)} ({count.ours:,} {ours.get(kind, 'made by ingress-manager')})"
        for kind, count in audit.counts.items()
        if count.all or kind == "Service"
    ]
    found = ", ".join(f"{count:,} {kind}" for kind, count in _tally(audit).items())
    total = f"{counted(len(audit.findings), 'finding')} ({found})" if found else "Nothing was found"
    return " ".join(filter(None, (f"{total} in {', '.join(looked)}.", audit.scope)))


def _unseen(audit: Audit) -> Iterator[str]:
    """Yield what could not be looked at, and what was therefore not looked for, a line each."""
    for each in audit.unseen:
        therefore = f" Not looked for, or not everywhere: {', '.join(each.findings)}." if each.findings else ""
        yield f"{each.sentence}.{therefore}"


def effects(preview: Preview, form: str, paint: Paint = plain, width: int = 0) -> Iterator[str]:
    """Yield what would change, in pieces, as `findings` does."""
    if form == "json":
        yield as_json(
            {
                "changes": [
                    {
                        "change": affected.effect,
                        "object": {"kind": affected.kind, "namespace": affected.namespace, "name": affected.name},
                        "sentence": affected.sentence or None,
                        "diff": affected.diff or None,
                    }
                    for affected in preview.affected
                ],
                "namespaces": {
                    namespace: {effect: counter[effect] for effect in Effect}
                    for namespace, counter in preview.by_namespace().items()
                },
                "taken": [
                    {"url": each.url, "service": each.service, "sentence": each.sentence} for each in preview.taken
                ],
                "first": [
                    {
                        "service": each.service,
                        "sentence": each.sentence,
                        "command": shown(each.command, preview.options) or None,
                    }
                    for each in preview.kept
                ],
                "paused": preview.paused or None,
            }
        )
    else:
        yield from _plan_as_table(preview, paint, width)


def _plan_as_table(preview: Preview, paint: Paint, width: int) -> Iterator[str]:
    long = max((len(affected.effect) for affected in preview.affected), default=0)
    for affected in preview.affected:
        head = f"{affected.effect.ljust(long)}  {one_line(affected.about)}"
        (begin, text), *more = beside(head, one_line(affected.sentence), width)
        yield f"{paint(begin[:long], affected.effect)}{begin[long:]}{text}".rstrip() + "\n"
        yield from (f"{begin}{text}\n" for begin, text in more)
        for line in affected.diff.splitlines():
            roles = {"+": Effect.CREATED, "-": Effect.REMOVED}
            role = "head" if line.startswith(("---", "+++")) else roles.get(line[:1], "")
            yield f"{INDENT}{paint(one_line(line), role)}\n"
    yield "\n" if preview.affected else ""
    if preview.taken:
        yield f"{paint(TAKEN, 'head')}\n"
        for taken in preview.taken:
            yield from (f"{line}\n" for line in wrapped(one_line(_about_url(taken)), width, INDENT, INDENT))
        yield f"\n{paint(FIRST, 'head')}\n" if preview.kept else ""
        for each in preview.kept:
            sentence = one_line(f"Service {each.service}: {each.sentence}")
            yield from (f"{line}\n" for line in wrapped(sentence, width, INDENT, INDENT))
            yield from _command(each.command, preview.options, paint, width, INDENT * 2)
        yield "\n"
    counts = list(_counts(preview))
    if not counts:
        yield "Nothing would change.\n"
        return
    rows = [("NAMESPACE", *(effect.upper() for effect in Effect)), *counts]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for number, (first, *cells) in enumerate(rows):
        numbers = (cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True))
        line = "  ".join([first.ljust(widths[0]), *numbers])
        yield f"{line if number else paint(line, 'head')}\n"


def _counts(preview: Preview) -> Iterator[tuple[str, ...]]:
    """Yield, for each namespace and then for all, how often each change would happen."""
    total: Counter[Effect] = Counter()
    for namespace, counter in preview.by_namespace().items():
        total += counter
        yield (one_line(namespace), *(str(counter[effect]) for effect in Effect))
    if total:
        yield ("all", *(str(total[effect]) for effect in Effect))


def _about_url(each: Taken) -> str:
    return f"{each.url} of Service {each.service}: {each.sentence}"
