"""How `status` is printed: as a table, or as JSON. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from ingress_manager.commands.printing.columns import INDENT, wrapped
from ingress_manager.commands.printing.objects import as_json
from ingress_manager.commands.printing.words import Paint, plain
from ingress_manager.commands.status.states import Row
from ingress_manager.core.text import one_line

FORMATS = ("table", "json")
HEAD = ("NAMESPACE", "SERVICE", "URL", "OUTPUT", "CLASS/GATEWAY", "ADDRESS", "STATE")
ROOM = 40
"""The columns that a state needs beside the others; with fewer, each row is a block."""


def printed(
    rows: Sequence[Row], unseen: Mapping[str, str], form: str, paint: Paint = plain, width: int = 0
) -> Iterator[str]:
    """Yield what is exposed, in pieces; `unseen` is what could not be looked at, with the sentences that say why.

    Lines of a table are broken at words to be no longer than a `width` over 0.
    """
    if form == "json":
        told = [{"what": what, "sentence": sentence} for what, sentence in unseen.items()]
        yield as_json({"exposed": list(map(_as_json, rows)), "unseen": told})
    else:
        yield from table(rows, paint, width) if rows else ("Nothing is exposed.\n",)
        for sentence in dict.fromkeys(unseen.values()):
            lines = wrapped(f"{one_line(sentence)}.", width, hanging=INDENT)
            yield from (f"{paint(line, 'unseen')}\n" for line in lines)


def table(rows: Sequence[Row], paint: Paint, width: int) -> Iterator[str]:
    """Yield a line for each row, and one for each further URL; where there is no room beside it, the state is below."""
    lines = [(row, [one_line(cell) for cell in _cells(row)]) for row in rows]
    longest = [max(map(len, column)) for column in zip(HEAD, *(cells for _, cells in lines), strict=True)]
    url = HEAD.index("URL")
    longest[url] = max([longest[url], *(len(one_line(each)) for row in rows for each in row.urls)])
    widths = [*longest[:-1], 0]
    before = sum(widths) + 2 * len(widths) - 2
    if 0 < width < before + ROOM:
        for row, cells in lines:
            yield from _block(row, cells, paint, width)
        return
    yield f"{paint(_line(HEAD, widths), 'head')}\n"
    for row, cells in lines:
        *others, told = cells
        urls = [one_line(each) for each in row.urls] or [""]
        pairs = zip_longest(urls, wrapped(told, width and width - before), fillvalue="")
        for number, (each, text) in enumerate(pairs):
            begin = f"{' ' * (sum(widths[:url]) + 2 * url)}{each}" if number else _line(others, widths)
            yield f"{begin.ljust(before) if text else begin}{paint(text, row.judged.state)}\n"


def _block(row: Row, cells: Sequence[str], paint: Paint, width: int) -> Iterator[str]:
    namespace, about, _, *facts, told = cells
    yield f"{'  '.join(filter(None, (f'{namespace}/{about}', *facts)))}\n"
    yield from (f"{INDENT}{one_line(each)}\n" for each in row.urls)
    for line in wrapped(told, width, INDENT, INDENT):
        yield f"{paint(line, row.judged.state)}\n"


def line_of(row: Row) -> str:
    """Return a row as one line that can stand alone."""
    return " ".join(filter(None, (f"{row.service.namespace}/{row.about}", row.kind, row.name, *row.urls, row.told)))


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=False))


def _cells(row: Row) -> Iterator[str]:
    yield from (row.service.namespace, row.about, row.urls[0] if row.urls else "", row.kind)
    yield ", ".join(row.gateways) or row.ingress_class
    yield ", ".join(row.addresses)
    yield row.told


def _as_json(row: Row) -> dict[str, Any]:
    return {
        "namespace": row.service.namespace,
        "service": row.service.name,
        "entrance": row.entrance or None,
        "output": row.kind or None,
        "name": row.name or None,
        "urls": [*row.urls],
        "class": row.ingress_class or None,
        "gateways": [*row.gateways],
        "addresses": [*row.addresses],
        "state": str(row.judged.state),
        "sentence": row.judged.sentence or None,
        "reasons": [*map(str, row.reasons)],
    }
