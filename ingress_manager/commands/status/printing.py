"""How `status` is printed: as a table, as JSON, or all that is known of one Service. Pure."""

from collections.abc import Iterable, Iterator, Sequence

from click import style

from ingress_manager.commands.audit.audit import Looked
from ingress_manager.commands.audit.kinds import KINDS
from ingress_manager.commands.audit.seen import Finding
from ingress_manager.commands.printing.objects import as_json
from ingress_manager.commands.printing.words import shown
from ingress_manager.commands.reading.kinds import SERVICE
from ingress_manager.commands.reading.manifests import Item
from ingress_manager.commands.reasons import REASONS
from ingress_manager.commands.status.states import Row, State
from ingress_manager.commands.view.events import about_whom, report_of
from ingress_manager.commands.view.look import ServiceView
from ingress_manager.commands.view.managed import keys_of
from ingress_manager.commands.view.objects import backends_of
from ingress_manager.core.text import one_line, quoted

FORMATS = ("table", "json")
COLOURS = {
    State.SERVING: "green",
    State.ACCEPTED: "cyan",
    State.WAITING: "yellow",
    State.REFUSED: "red",
    State.UNKNOWN: "red",
}
HEAD = ("NAMESPACE", "SERVICE", "URL", "OUTPUT", "CLASS/GATEWAY", "ADDRESS", "STATE")
MOST_EVENTS = 5
"""Events that are told, the newest first."""


def printed(rows: Sequence[Row], unseen: Sequence[str], form: str) -> Iterator[str]:
    """Yield what is exposed, in pieces; `unseen` is what could not be looked at, a sentence each."""
    if form == "json":
        yield as_json({"exposed": rows, "unseen": unseen})
        return
    lines = [[one_line(cell) for cell in _cells(row)] for row in rows]
    widths = [max(map(len, column)) for column in zip(HEAD, *lines, strict=True)]
    widths[-1] = 0
    yield f"{style(_line(HEAD, widths), bold=True)}\n" if rows else "Nothing is exposed.\n"
    for row, cells in zip(rows, lines, strict=True):
        yield f"{_line(cells[:-1], widths)}  {style(row.state, fg=COLOURS[row.state])}\n"
        yield from (f"{' ' * (sum(widths[:2]) + 4)}{one_line(url)}\n" for url in row.urls[1:])
        if row.sentence:
            yield f"    {style(one_line(row.sentence), fg=COLOURS[row.state])}\n"
    yield from (f"{style(one_line(sentence), fg='red')}.\n" for sentence in unseen)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=False))


def _cells(row: Row) -> Sequence[str]:
    at = ", ".join(row.gateways) or row.ingress_class or ""
    url = row.urls[0] if row.urls else ""
    return row.namespace, row.about, url, row.output or "", at, ", ".join(row.addresses), row.state


def line_of(row: Row) -> str:
    """Return a row as one line that can stand alone."""
    state = f"{row.state}: {row.sentence}" if row.sentence else row.state
    return " ".join(filter(None, (f"{row.namespace}/{row.about}", row.output, row.name, *row.urls, state)))


def told(service: ServiceView, rows: Iterable[Row], seen: Looked, options: Sequence[str] = ()) -> str:
    """Return all that is known of a Service, for a terminal: `rows` are its own, and `options` those of kubectl."""
    findings = [finding for finding in seen.findings if finding.service is service.item]
    to_do = [line for finding in findings for line in _to_do(finding, options)]
    parts = (
        ("asks for", [*_asked_for(service)]),
        ("stands", [*_standing(service, rows, seen)]),
        ("happened", [*_happened(service, seen.events)]),
        ("to do", to_do or ["nothing was found"]),
        ("not looked at", seen.unseen),
    )
    lines = [f"Service {service.item.full_name}"]
    for title, found in parts:
        lines += ["", f"  {title}", *(f"    {one_line(each)}" for each in found)] if found else []
    return "\n".join([*lines, ""])


def _asked_for(service: ServiceView) -> Iterator[str]:
    annotations = service.item.annotations
    if not service.entrances:
        yield 'nothing: it has no annotation ingress/http: "true"'
    for entrance in service.entrances:
        yield from (f"{key}: {quoted(annotations[key])}" for key in keys_of(entrance, annotations))


def _standing(service: ServiceView, rows: Iterable[Row], seen: Looked) -> Iterator[str]:
    stands = list(map(line_of, rows))
    for each in seen.view.objects.values():
        leads = each.item.namespace == service.item.namespace and (SERVICE, service.item.name) in backends_of(each)
        if leads and each.key not in service.observed:
            stands.append(f"{each}: not made for it, but leads to it")
    yield from stands or (() if seen.view.unseen() else ("nothing",))


def _happened(service: ServiceView, events: Iterable[Item]) -> Iterator[str]:
    found = []
    for event in events:
        if about_whom(event) == service.service.metadata.uid != "":
            time, sentence = report_of(event)
            count = f" ({event.object['count']} times)" if event.object.get("count", 1) != 1 else ""
            found.append((time, f"{event.object.get('reason')}{count}: {sentence}"))
    yield from (f"{time} {sentence}" for time, sentence in sorted(found, reverse=True)[:MOST_EVENTS])


def _to_do(finding: Finding, options: Sequence[str]) -> Iterator[str]:
    about = "" if finding.item is finding.service else f"{finding.item}: "
    yield f"{finding.kind}: {about}{finding.sentence}"
    remedies = [REASONS[reason] for reason in finding.reasons] if finding.kind == "refused" else []
    yield from (f"  {remedy}" for remedy in remedies or [KINDS[finding.kind].remedy])
    if finding.command:
        yield f"  $ {shown(finding.command, options)}"
