"""The report: what becomes of each Ingress at the gateway, and how HTTPRoutes would say the same."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ingress_manager.commands.leaving.table import AsHttpRoute, AtGateway, Judged
from ingress_manager.commands.printing.columns import wrapped
from ingress_manager.commands.printing.messages import counted
from ingress_manager.commands.printing.objects import as_json
from ingress_manager.commands.printing.words import Paint
from ingress_manager.commands.reading.manifests import Item
from ingress_manager.core.text import listed, one_line, quoted
from ingress_manager.core.vocabulary import NGINX, protects

FORMATS = ("table", "json")
HEAD = ("AT THE GATEWAY", "AS HTTPROUTES", "INGRESS", "BECAUSE OF")
NARROW, WIDE = 80, 160
"""Characters of a line. What a terminal has beyond them is left empty."""

ALIKE = "served alike"
WORDS = {
    AtGateway.OPEN: "open",
    AtGateway.REFUSED: "refused",
    AtGateway.DIFFERS: "served, but for",
    AtGateway.IGNORED: ALIKE,
    AtGateway.ALIKE: ALIKE,
}
IN_HTTPROUTES = {
    AsHttpRoute.NO: "not",
    AsHttpRoute.FILTER: "by a filter",
    AsHttpRoute.PROFILE: "by a profile",
    AsHttpRoute.WITHOUT: "the same",
    AsHttpRoute.SAME: "the same",
}


class Left(NamedTuple):
    """An Ingress, and what becomes of what it says, the worst first."""

    item: Item
    judged: Sequence[Judged]

    @property
    def gateway(self) -> AtGateway:
        """Return what the gateway makes of it: the worst of all that it says."""
        return min((each.gateway for each in self.judged), key=[*AtGateway].index, default=AtGateway.ALIKE)

    @property
    def httproutes(self) -> AsHttpRoute:
        """Return how HTTPRoutes say it: the worst of all that it says."""
        return min((each.httproutes for each in self.judged), key=[*AsHttpRoute].index, default=AsHttpRoute.SAME)

    @property
    def differing(self) -> list[Judged]:
        """Return what of it the gateway answers otherwise than ingress-nginx does."""
        return [each for each in self.judged if WORDS[each.gateway] != ALIKE]

    @property
    def rank(self) -> tuple[int, bool, str]:
        """Return what sorts Ingresses: the worst first, and of those the ones with protection."""
        protected = any(protects(each.key) for each in self.judged)
        return [*WORDS.values()].index(WORDS[self.gateway]), not protected, self.item.full_name


def printed(left: Sequence[Left], form: str, width: int, paint: Paint) -> Iterator[str]:
    """Yield the report in pieces; `width` is that of the terminal."""
    left = sorted(left, key=lambda each: each.rank)
    if form == "json":
        yield as_json({"ingresses": [_as_json(each) for each in left]})
        return
    width = max(NARROW, min(width, WIDE))
    yield from _table(left, width, paint)
    yield from _remedies(left, width, paint)
    yield from _as_httproutes(left, width)
    words = Counter(WORDS[each.gateway] for each in left)
    counts = ", ".join(f"{count:,} {word}{' differences' * word.endswith('for')}" for word, count in words.items())
    yield f"\n{counted(len(left), 'Ingress')}: {counts}.\n"


def _table(left: Sequence[Left], width: int, paint: Paint) -> Iterator[str]:
    rows = [HEAD]
    for each in left:
        because = ", ".join(dict.fromkeys(_called(judged) for judged in each.differing))
        rows.append((WORDS[each.gateway], IN_HTTPROUTES[each.httproutes], each.item.full_name, because))
    *widths, longest = (max(len(one_line(row[column])) for row in rows) for column in range(3))
    widths.append(min(longest, width // 3))
    indent = " " * (sum(widths) + 6)
    for row, role in zip(rows, ("head", *(each.gateway for each in left)), strict=True):
        *cells, last = map(one_line, row)
        first, *others = (cell.ljust(size) for cell, size in zip(cells, widths, strict=True))
        line = _wrapped("  ".join([first, *others, last]), width, indent)
        yield f"{paint(first, role)}{line.removeprefix(first)}\n"


def _remedies(left: Sequence[Left], width: int, paint: Paint) -> Iterator[str]:
    """Yield what differs and what to do, once for all Ingresses of which the same is said."""
    found: dict[tuple[AtGateway, str, str], list[tuple[str, str]]] = {}
    for ingress in left:
        for each in ingress.differing:
            told = each.gateway, _called(each), f"{each.but} {each.do}".strip()
            found.setdefault(told, []).append((each.value, ingress.item.full_name))
    for (gateway, name, sentence), of in sorted(found.items(), key=lambda each: [*AtGateway].index(each[0][0])):
        values = {value for value, _ in of}
        shown = f" {quoted(value)}" if len(values) == 1 and (value := values.pop()) else ""
        head = f"{WORDS[gateway]}: {name}{shown} of {listed([ingress for _, ingress in of])}"
        yield f"\n{paint(_wrapped(head, width), gateway)}\n{_wrapped(f'  {sentence}', width)}\n"


def _as_httproutes(left: Sequence[Left], width: int) -> Iterator[str]:
    """Yield what HTTPRoutes don't say as Ingresses do."""
    for how in (AsHttpRoute.NO, AsHttpRoute.FILTER, AsHttpRoute.PROFILE):
        found: dict[str, list[str]] = {}
        for ingress in left:
            for name in dict.fromkeys(_called(each) for each in ingress.judged if each.httproutes is how):
                found.setdefault(name, []).append(ingress.item.full_name)
        yield f"\nHTTPRoutes say {IN_HTTPROUTES[how]}:\n" if found else ""
        yield from (f"{_wrapped(f'  {name} of {listed(of)}', width, '    ')}\n" for name, of in found.items())


def _called(judged: Judged) -> str:
    return judged.key.removeprefix(NGINX)


def _wrapped(text: str, width: int, indent: str = "  ") -> str:
    return "\n".join(wrapped(one_line(text), width, hanging=indent))


def _as_json(left: Left) -> dict[str, Any]:
    item = left.item
    place = {"file": item.origin.file, "line": item.line()} if item.origin.file else {}
    return {
        "namespace": item.namespace,
        "name": item.name,
        "gateway": left.gateway,
        "httproutes": left.httproutes,
        "annotations": [each._asdict() for each in left.judged],
        **place,
    }
