"""Reports: what `audit` has found, or what would change, as a table, as JSON or as Markdown."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ingress_manager.commands.audit.audit import Audit, Finding
from ingress_manager.commands.audit.kinds import KINDS, Effect, FindingKind
from ingress_manager.commands.audit.preview import Affected, Preview
from ingress_manager.commands.printing.messages import counted
from ingress_manager.commands.printing.objects import as_json
from ingress_manager.commands.printing.words import shown
from ingress_manager.core.text import one_line

FORMATS = ("table", "json", "markdown")

Paint = Callable[[str, str], str]
"""Returns a text in the style of a role: a severity, a change, "command" or "head"."""

INDENT = "    "


def plain(text: str, _role: str) -> str:
    """Return the text without any style."""
    return text


# What was found.


def findings(audit: Audit, form: str, unseen: Iterable[str] = (), paint: Paint = plain) -> Iterator[str]:
    """Yield the report of an audit, in pieces. `unseen` says what could not be looked at."""
    if form == "json":
        yield as_json(
            {
                "findings": [_as_json(finding, _command(finding, audit)) for finding in audit.findings],
                "kinds": _tally(audit),
                "objects": audit.counts,
                "paused": audit.paused or None,
                "unseen": list(unseen),
            }
        )
    elif form == "markdown":
        yield f"{_summary(audit)}\n"
        if audit.findings:
            yield from ("\n| kind | object | what | what to do |\n", "|---|---|---|---|\n")
        for finding in audit.findings:
            cells = (finding.kind, finding.about, finding.sentence)
            yield f"| {' | '.join(map(_cell, cells))} | {_code(_command(finding, audit))} |\n"
    else:
        yield from _table(audit, paint)
        yield f"{_summary(audit)}\n"


def _table(audit: Audit, paint: Paint) -> Iterator[str]:
    """Yield a line for each finding, and below it the command that mends it."""
    width = max((len(finding.kind) for finding in audit.findings), default=0)
    long = max((len(one_line(finding.about)) for finding in audit.findings), default=0)
    for finding in audit.findings:
        kind = paint(finding.kind.ljust(width), KINDS[finding.kind].severity)
        yield f"{kind}  {one_line(finding.about).ljust(min(long, 60))}  {one_line(finding.sentence)}\n"
        if command := _command(finding, audit):
            yield f"{INDENT}{paint(one_line(command), 'command')}\n"
    if audit.findings:
        yield "\n"


def _command(finding: Finding, audit: Audit) -> str:
    """Return what mends it as a line for a shell; empty where no command does."""
    return shown(finding.command, audit.options) if finding.command else ""


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
        "command": command or None,
        **place,
    }


def _tally(audit: Audit) -> dict[str, int]:
    tally = Counter(finding.kind for finding in audit.findings)
    return {kind: tally[kind] for kind in FindingKind if tally[kind]}


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
    return f"{total} in {', '.join(looked)}."


# What would change.


def effects(preview: Preview, form: str, paint: Paint = plain) -> Iterator[str]:
    """Yield the report of what other settings would do, in pieces."""
    if form == "json":
        yield as_json(
            {
                "changes": [_change_as_json(affected) for affected in preview.affected],
                "namespaces": {
                    namespace: {effect: counter[effect] for effect in Effect}
                    for namespace, counter in preview.by_namespace().items()
                },
                "paused": preview.paused or None,
            }
        )
    elif form == "markdown":
        yield from _plan_as_markdown(preview)
    else:
        yield from _plan_as_table(preview, paint)


def _plan_as_table(preview: Preview, paint: Paint) -> Iterator[str]:
    width = max((len(affected.effect) for affected in preview.affected), default=0)
    for affected in preview.affected:
        change = paint(affected.effect.ljust(width), affected.effect)
        yield f"{change}  {one_line(affected.about)}  {one_line(affected.sentence)}".rstrip() + "\n"
        for line in affected.diff.splitlines():
            yield f"{INDENT}{paint(one_line(line), _role_of(line))}\n"
    yield "\n" if preview.affected else ""
    rows = list(_counts(preview))
    if rows:
        yield from _columns((("NAMESPACE", *(effect.upper() for effect in Effect)), *rows), paint)
    else:
        yield "Nothing would change.\n"


def _plan_as_markdown(preview: Preview) -> Iterator[str]:
    rows = list(_counts(preview))
    if not rows:
        yield "Nothing would change.\n"
        return
    yield f"| namespace | {' | '.join(Effect)} |\n|---|{'--:|' * len(Effect)}\n"
    yield from (f"| {' | '.join(map(_cell, row))} |\n" for row in rows)
    yield "\n"
    for affected in preview.affected:
        why = f": {affected.sentence}" if affected.sentence else ""
        yield f"- **{affected.effect}** {_cell(affected.about + why)}\n"
        if affected.diff:
            body = "".join(f"  {one_line(line)}\n" for line in affected.diff.splitlines())
            yield f"\n  ```diff\n{body}  ```\n\n"


def _counts(preview: Preview) -> Iterator[tuple[str, ...]]:
    """Yield, for each namespace and then for all, how often each change would happen."""
    total: Counter[Effect] = Counter()
    for namespace, counter in preview.by_namespace().items():
        total += counter
        yield (one_line(namespace), *(str(counter[effect]) for effect in Effect))
    if total:
        yield ("all", *(str(total[effect]) for effect in Effect))


def _columns(rows: Iterable[tuple[str, ...]], paint: Paint) -> Iterator[str]:
    lines = list(rows)
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for number, (first, *numbers) in enumerate(lines):
        cells = [first.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(numbers, widths[1:], strict=True))]
        line = "  ".join(cells)
        yield f"{line if number else paint(line, 'head')}\n"


def _change_as_json(affected: Affected) -> dict[str, Any]:
    return {
        "change": affected.effect,
        "object": {"kind": affected.kind, "namespace": affected.namespace, "name": affected.name},
        "sentence": affected.sentence or None,
        "diff": affected.diff or None,
    }


def _role_of(line: str) -> str:
    """Return the role of a line of a diff."""
    if line.startswith(("---", "+++")):
        return "head"
    return {"+": Effect.CREATED, "-": Effect.REMOVED}.get(line[:1], "")


# What both need.


def _cell(text: str) -> str:
    """Return a text as Markdown that stays in its cell."""
    return one_line(text).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("`", "\\`")


def _code(command: str) -> str:
    """Return a command as code in a cell. GitHub takes a bar out of a cell even from code, unless it is escaped."""
    if not command:
        return ""
    fence = "``" if "`" in command else "`"
    return f"{fence}{one_line(command).replace('|', chr(92) + '|')}{fence}"
