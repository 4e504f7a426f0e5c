"""`ingress-manager leaving`: a row for each Ingress, and below the rows what differs, and what to do."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import click

from ingress_manager.commands.leaving.judge import CLASS, OWN_CLASS, AsHttpRoute, AtGateway, Judged, judge
from ingress_manager.commands.leaving.order import by_host, near
from ingress_manager.commands.printing import FORMATS, as_json, counted, note, width, wrapped
from ingress_manager.commands.reading.kubectl import RESOURCES
from ingress_manager.commands.reading.manifests import INGRESS, Item
from ingress_manager.commands.reading.options import ALL_OBJECTS, Source, with_source
from ingress_manager.commands.view.objects import class_of, ingresses_in
from ingress_manager.core.text import listed, one_line, quoted
from ingress_manager.core.vocabulary import NGINX

MOST_VALUES = 3
"""Of an annotation, which are shown; more would say little."""


class Left(NamedTuple):
    """An Ingress, and what becomes of what it says, the worst first."""

    item: Item
    judged: Sequence[Judged]

    @property
    def differing(self) -> list[Judged]:
        """Return what of it the gateway answers otherwise than ingress-nginx does."""
        return [each for each in self.judged if each.row.gateway not in {AtGateway.IGNORED, AtGateway.ALIKE}]

    @property
    def gateway(self) -> AtGateway:
        """Return what the gateway makes of it: the worst of all that it says."""
        return next((each.row.gateway for each in self.differing), AtGateway.ALIKE)

    @property
    def httproutes(self) -> AsHttpRoute:
        """Return how HTTPRoutes say it: the worst of all that it says."""
        return min((each.row.httproutes for each in self.judged), key=[*AsHttpRoute].index, default=AsHttpRoute.SAME)


@click.command(short_help="Tell what becomes of each Ingress without ingress-nginx.")
@click.argument("controller", type=click.Choice(["ingress-nginx"]), expose_value=False)
@with_source(*ALL_OBJECTS)
@click.option("-o", "--output", type=click.Choice(FORMATS), default="table", show_default=True, help="The format.")
@click.pass_context
def leaving(context: click.Context, source: Source, output: str) -> None:
    """Tell what becomes of each Ingress of the class nginx without ingress-nginx, whoever wrote it.

    A row says what the gateway with its component ingress-nginx does with the Ingress: "open" where it would answer a
    request that ingress-nginx keeps out, "refused" where it would not serve it; and whether HTTPRoutes say the "same",
    by a "filter", by what else a "profile" has, or not. Below the rows, it is said what differs, and what to do.
    Annotations stand without nginx.ingress.kubernetes.io/.

    Exit status: 0 if nothing is open or refused, 1 if something is, or if what is in a file can't be read, 2 for wrong
    use, if a file can't be opened, if kubectl has failed, or if there is no such Ingress.

    \b
    Examples:
      ingress-manager leaving ingress-nginx --all-namespaces
      helm template shop ./chart | ingress-manager leaving ingress-nginx -f -
      ingress-manager leaving ingress-nginx --all-namespaces -o json
    """  # noqa: D301 - \b keeps click from joining lines
    found = ingresses_in(source.read(RESOURCES[INGRESS]))
    estate = by_host(found)
    of_nginx = [(item, spec) for item, spec in found if class_of(item, spec) == CLASS]
    left = [Left(item, judge(item, spec, near(spec, estate))) for item, spec in of_nginx]
    left.sort(key=lambda each: ([*AtGateway].index(each.gateway), each.item.full_name))
    if output == "json":
        click.echo(as_json({"ingresses": [_as_json(each) for each in left]}), nl=False)
    elif left:
        click.echo("\n".join(report(left, width())))
    else:
        note("There is no Ingress of the class nginx in what was read.")
    if not (source.files or source.all_namespaces):
        note("What Ingresses of other namespaces answer for the same hosts isn't known: --all-namespaces reads them.")
    if without_class := [item.full_name for item, spec in found if not class_of(item, spec)]:
        note(
            "The gateway serves no Ingress without a class; ingress-nginx does with --watch-ingress-without-class. "
            f"Then give the class nginx to {listed(without_class)}."
        )
    others = Counter(name for each in found if (name := class_of(*each)) not in {CLASS, OWN_CLASS, ""})
    if told := [f"{name} ({count:,})" for name, count in sorted(others.items())]:
        note(f"Ingresses of other classes weren't judged, though ingress-nginx may serve them: {listed(told)}.")
    bad = any(each.gateway in {AtGateway.OPEN, AtGateway.REFUSED} for each in left)
    context.exit(1 if bad else 0 if left else 2)


def report(left: Sequence[Left], columns: int) -> Iterator[str]:
    """Yield the lines of the report: the rows, the worst first, what to do, and how many there are of each word."""
    rows = [("AT THE GATEWAY", "AS HTTPROUTES", "INGRESS", "BECAUSE OF")]
    for each in left:
        because = ", ".join(dict.fromkeys(_called(judged) for judged in each.differing))
        rows.append((each.gateway, each.httproutes, each.item.full_name, because))
    *widths, longest = (max(len(one_line(row[column])) for row in rows) for column in range(3))
    widths.append(min(longest, columns // 3 or longest))
    for row in rows:
        *cells, last = map(one_line, row)
        line = "  ".join([*(cell.ljust(size) for cell, size in zip(cells, widths, strict=True)), last]).rstrip()
        yield from _wrapped(line, columns, " " * (sum(widths) + 6))
    yield from _remedies(left, columns)
    yield from _as_httproutes(left, columns)
    counts = ", ".join(f"{count:,} {word}" for word, count in Counter(each.gateway for each in left).items())
    yield f"\n{counted(len(left), 'Ingress')}: {counts}."


def _remedies(left: Sequence[Left], columns: int) -> Iterator[str]:
    """Yield what differs and what to do, once for all Ingresses of which the same is said."""
    found: dict[tuple[AtGateway, str, str], list[tuple[str, str]]] = {}
    for ingress in left:
        for each in ingress.differing:
            told = each.row.gateway, _called(each), f"{each.row.but} {each.row.do}".strip()
            found.setdefault(told, []).append((each.value, ingress.item.full_name))
    for (gateway, name, sentence), of in sorted(found.items(), key=lambda each: [*AtGateway].index(each[0][0])):
        values = [quoted(value) for value in dict.fromkeys(value for value, _ in of) if value]
        shown = f" {listed(values)}" if 0 < len(values) <= MOST_VALUES else ""
        yield ""
        yield from _wrapped(
            f"{gateway}: {name}{shown} of {listed([*dict.fromkeys(label for _, label in of)])}", columns
        )
        yield from _wrapped(f"  {sentence}", columns)


def _as_httproutes(left: Sequence[Left], columns: int) -> Iterator[str]:
    """Yield what HTTPRoutes don't say as Ingresses do."""
    for how in (AsHttpRoute.NO, AsHttpRoute.FILTER, AsHttpRoute.PROFILE):
        found: dict[str, list[str]] = {}
        for ingress in left:
            for name in dict.fromkeys(_called(each) for each in ingress.judged if each.row.httproutes is how):
                found.setdefault(name, []).append(ingress.item.full_name)
        yield from [f"\nAs HTTPRoutes, {how}:"] if found else []
        for name, of in found.items():
            yield from _wrapped(f"  {name} of {listed(of)}", columns, "    ")


def _called(judged: Judged) -> str:
    return judged.key.removeprefix(NGINX)


def _wrapped(text: str, columns: int, indent: str = "  ") -> list[str]:
    return wrapped(one_line(text), columns, hanging=indent)


def _as_json(left: Left) -> dict[str, Any]:
    item = left.item
    place = {"file": item.file, "line": item.line()} if item.file else {}
    told = ("gateway", "httproutes", "but", "do")
    annotations = [
        {"key": each.key, "value": each.value, **{name: getattr(each.row, name) for name in told}}
        for each in left.judged
    ]
    said = {"gateway": left.gateway, "httproutes": left.httproutes, "annotations": annotations}
    return {"namespace": item.namespace, "name": item.name, **said, **place}
