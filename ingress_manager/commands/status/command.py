"""`ingress-manager status`: the command, and its output as a table, as JSON, or in detail for one Service."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from time import monotonic, sleep

import click
from click import style

from ingress_manager.commands.findings.finding import Finding
from ingress_manager.commands.findings.registry import KINDS, REASONS, findings_of
from ingress_manager.commands.inspection import Inspection, inspect
from ingress_manager.commands.printing import as_json, unseen_lines
from ingress_manager.commands.reading import options
from ingress_manager.commands.reading.cluster import read_settings
from ingress_manager.commands.reading.options import SERVICES, Source, named
from ingress_manager.commands.snapshot.events import report_of
from ingress_manager.commands.snapshot.items import SERVICE, Item
from ingress_manager.commands.snapshot.services import UNREAD_SETTINGS, ServiceSnapshot
from ingress_manager.commands.status.states import Judge, Row, State
from ingress_manager.commands.terminal import INDENT, width, wrapped
from ingress_manager.commands.text import shown
from ingress_manager.core.annotations import by_entrance, key_prefix
from ingress_manager.core.text import one_line, quoted

SECONDS_BETWEEN_LOOKS = 2.0
WAIT_STATES = click.Choice([State.SERVING.value, State.ACCEPTED.value])
COLOURS = dict(zip(State, ["green", "cyan", "yellow", "red", "red"], strict=True))
HEAD = ("STATE", "NAMESPACE", "SERVICE", "URL", "OUTPUT", "CLASS/GATEWAY", "ADDRESS")
ALWAYS_SHOWN = HEAD.index("URL") + 1  # columns that are printed even if the terminal is too narrow
MOST_EVENTS = 5


@click.command(short_help="List the exposed URLs, and whether they are served.")
@click.argument("name", metavar="[[NAMESPACE/]SERVICE]", required=False, shell_complete=SERVICES)
@options.with_source(*options.OF_CLUSTER, options.CERTIFICATE_DAYS, options.settings_option("the cluster's"))
@options.OUTPUT
@click.option("--wait", "wanted", type=WAIT_STATES, help="Wait until everything listed has this state.")
@options.timeout_option(60, "How long --wait waits.")
@click.pass_context
def status(  # noqa: PLR0913, PLR0917 - each is an option
    context: click.Context, source: Source, name: str | None, output: str, wanted: str | None, seconds: int
) -> None:
    """List the URLs that Services expose, with the Ingress or HTTPRoute, the address and the state of each.

    `status` also lists the data that it can't read, and shows the best state that is certain without that data. If it
    can't read the settings, it uses Metacontroller's Events to find refused Services.

    With a SERVICE, it shows the Service's annotations and objects, Metacontroller's Events, and how to fix problems.
    As JSON, it lists only the URLs. With --wait, it exits as soon as all URLs have the given state or a better one. It
    stops early if a Service is refused, or if a state depends on data that can't be read.

    Exit status: 0, whatever the states are; with --wait, 1 if a URL doesn't reach the given state in time, or if a
    Service is refused; 2 for a usage error, if kubectl fails, or if a state depends on data that can't be read.

    \b
    Examples:
      ingress-manager status
      ingress-manager status --all-namespaces
      ingress-manager status -n team-a -o json
      ingress-manager status team-a/shop
      ingress-manager status team-a/shop --wait=serving --timeout=120
    """  # noqa: D301 - \b keeps click from joining lines
    if name and "/" in name:
        source = replace(source, namespace=name.partition("/")[0])
    inspection, services, rows, late = wait_for(source, name, wanted, seconds)
    if name and output == "table" and not wanted:
        click.echo(details(services[0], rows, inspection, source.kubectl.options, width()), nl=False)
    else:
        for text in printed(rows, inspection.unseen, output, width()):
            click.echo(text, nl=False)
    for row in late:
        click.secho(one_line(f"Not {wanted}: {line_of(row)}"), fg="red", err=True)
    is_blind = any(row.unsure for row in (late if wanted else rows))
    is_blind |= bool(inspection.lacking - {UNREAD_SETTINGS} and not wanted)
    context.exit(2 if is_blind else int(bool(late)))


def wait_for(
    source: Source, name: str | None, wanted: str | None, seconds: int
) -> tuple[Inspection, list[ServiceSnapshot], list[Row], list[Row]]:
    """Inspect the cluster until all rows have the `wanted` state or a better one, or until `seconds` have passed.

    Without `wanted`, inspect once. Stop early if a Service is refused, or if a state depends on unread data. Return the
    last inspection, the Services (all or the named one), their rows, and the rows without the wanted state.
    """
    settings, end = read_settings(source, "--settings"), monotonic() + seconds
    # The details of a Service show all its findings, and its Events.
    kinds = KINDS if name else [kind for kind in KINDS if kind.blocks]
    needs_events = bool(name) or isinstance(settings, str)
    while True:
        inspection = inspect(source, settings, lambda evidence: findings_of(evidence, kinds), events=needs_events)
        services = [*inspection.snapshot.services.values()]
        if name:
            item = named([service.item for service in services], SERVICE, name, source.namespace)
            services = [inspection.snapshot.services[item.full_name]]
        rows = list(Judge(inspection).rows(services))
        if wanted and not rows:
            raise click.UsageError('there is nothing to wait for: no annotation ingress/http: "true" is set')
        late = [row for row in rows if wanted and row.state not in {State.SERVING, wanted}]
        if not late or any(row.state is State.REFUSED or row.unsure for row in late) or monotonic() >= end:
            return inspection, services, rows, late
        sleep(min(SECONDS_BETWEEN_LOOKS, max(end - monotonic(), 0)))


def printed(rows: Sequence[Row], unseen: Sequence[str], form: str, width: int = 0) -> Iterator[str]:
    """Yield rows and `unseen` messages as JSON or a table. The last columns are left out if a table exceeds `width`."""
    if form == "json":
        yield as_json({"exposed": rows, "unseen": unseen})
        return
    lines = [[one_line(cell) for cell in _cells(row)] for row in rows]
    widths = [max(map(len, column)) for column in zip(HEAD, *lines, strict=True)]
    while width and len(widths) > ALWAYS_SHOWN and sum(widths) + 2 * (len(widths) - 1) > width:
        widths.pop()
    yield f"{style(_line(HEAD, widths), bold=True)}\n" if rows else "Nothing is exposed.\n"
    for row, cells in zip(rows, lines, strict=True):
        yield f"{style(row.state, fg=COLOURS[row.state])}{_line(cells, widths)[len(row.state) :]}\n"
        yield from (f"{' ' * (sum(widths[:3]) + 6)}{one_line(url)}\n" for url in row.urls[1:])
        for line in wrapped(one_line(row.sentence), width, INDENT) if row.sentence else ():
            yield f"{style(line, fg=COLOURS[row.state])}\n"
    yield from unseen_lines(unseen, width)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=False)).rstrip()


def _cells(row: Row) -> Sequence[str]:
    server = ", ".join(row.gateways) or row.ingress_class or ""
    url = next(iter(row.urls), "")
    return row.state, row.namespace, row.label, url, row.output or "", server, ", ".join(row.addresses)


def line_of(row: Row) -> str:
    state = f"{row.state}: {row.sentence}" if row.sentence else row.state
    return " ".join(filter(None, (f"{row.namespace}/{row.label}", row.output, row.name, *row.urls, state)))


def details(
    service: ServiceSnapshot, rows: Iterable[Row], inspection: Inspection, options: Sequence[str] = (), width: int = 0
) -> str:
    """Return a Service's details as text wrapped at `width`. kubectl's `options` are added to suggested commands."""
    rows = list(rows)
    findings = [finding for finding in inspection.findings if finding.service is service.item]
    remedies = [line for finding in findings for line in _remedy(finding, options, width)]
    if not service.decision:
        remedies += _lines(dict.fromkeys(REASONS[reason] for row in rows for reason in row.reasons), width)
    sections = (
        ("requests", _lines(_requests(service), width)),
        ("objects", _lines(_objects(service, rows, inspection), width)),
        ("events", _lines(_events(service, inspection.events), width)),
        ("to do", remedies or _lines(["no problem was found"], width)),
        ("not read", _lines(inspection.unseen, width)),
    )
    text = "\n".join("\n".join([f"  {title}", *lines, ""]) for title, lines in sections if lines)
    return f"Service {service.item.full_name}\n\n{text}"


def _lines(sentences: Iterable[str], width: int) -> list[str]:
    return [line for sentence in sentences for line in wrapped(one_line(sentence), width, INDENT, "  ")]


def _requests(service: ServiceSnapshot) -> Iterator[str]:
    annotations = by_entrance(service.item.annotations)
    if not service.entrances:
        yield 'nothing: the Service has no annotation ingress/http: "true"'
    for entrance in service.entrances:
        yield from (f"{key_prefix(entrance)}{key}: {quoted(value)}" for key, value in annotations[entrance].items())


def _objects(service: ServiceSnapshot, rows: Iterable[Row], inspection: Inspection) -> Iterator[str]:
    lines = list(map(line_of, rows))
    others = (obj for obj in inspection.snapshot.referring_to(service.item) if obj.key not in service.observed)
    lines += (f"{obj.item} routes to this Service, but wasn't created for it" for obj in others)
    yield from lines or (() if inspection.snapshot.unseen() else ("nothing",))


def _events(service: ServiceSnapshot, events: Iterable[Item]) -> Iterator[str]:
    reports = [(report_of(event), event) for event in events]
    own = [pair for pair in reports if pair[0].uid == service.service.metadata.uid != ""]
    for report, event in sorted(own, key=lambda pair: pair[0], reverse=True)[:MOST_EVENTS]:
        times = f" ({count} times)" if (count := event.object.get("count", 1)) != 1 else ""
        yield f"{report.time} {event.object.get('reason')}{times}: {report.sentence}"


def _remedy(finding: Finding, options: Sequence[str], width: int) -> Iterator[str]:
    about = "" if finding.item is finding.service else f"{finding.item}: "
    yield from _lines([f"{finding.kind.name}: {about}{finding.sentence}"], width)
    for sentence in [finding.remedy] if finding.remedy else [REASONS[reason] for reason in finding.reasons]:
        yield from wrapped(sentence, width, f"{INDENT}  ")
    if finding.command:
        yield f"{INDENT}  $ {one_line(shown(finding.command, options))}"
