"""`ingress-manager status`: the shell."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from time import monotonic, sleep

import click

from ingress_manager.commands.audit.audit import audit_of
from ingress_manager.commands.audit.kinds import KINDS
from ingress_manager.commands.audit.seen import Finding
from ingress_manager.commands.audit.why import with_reasons
from ingress_manager.commands.printing.console import note, painter, width
from ingress_manager.commands.reading.kinds import SERVICES
from ingress_manager.commands.reading.manifests import Manifests
from ingress_manager.commands.reading.names import named
from ingress_manager.commands.reading.options import ALL_OBJECTS, SETTINGS, Source, timeout_option, with_source
from ingress_manager.commands.status.printing import FORMATS, line_of, printed
from ingress_manager.commands.status.service import told
from ingress_manager.commands.status.states import IN_THE_WAY, WAITS_FOR, Judge, Row, State, has_reached, is_over
from ingress_manager.commands.view.cluster import read_objects, read_policy, read_reports, read_surroundings
from ingress_manager.commands.view.events import EVENT, Report
from ingress_manager.commands.view.known import Known, Unknown
from ingress_manager.commands.view.look import ServiceView, View, look
from ingress_manager.core.policy import Policy
from ingress_manager.core.text import one_line

paint = painter(
    {
        State.SERVING: "green",
        State.ACCEPTED: "cyan",
        State.WAITING: "yellow",
        State.REFUSED: "red",
        State.UNKNOWN: "red",
        "head": "bold",
        "unseen": "red",
    }
)
COULD_NOT_LOOK = 2
BETWEEN_LOOKS = 2.0
"""Seconds."""


@click.command(short_help="List the exposed URLs, and whether they are served.")
@click.argument("names", metavar="[[NAMESPACE/]SERVICE]...", nargs=-1)
@with_source(*ALL_OBJECTS, *SETTINGS)
@click.option("-o", "--output", type=click.Choice(FORMATS), default="table", show_default=True, help="The format.")
@click.option(
    "--wait",
    "wanted",
    type=click.Choice([State.SERVING.value, State.ACCEPTED.value]),
    help="Wait until all URLs of the named Services have this state.",
)
@timeout_option("60s", "How long --wait waits")
@click.pass_context
def status(  # noqa: PLR0913, PLR0917 - each is an option
    context: click.Context,
    source: Source,
    names: tuple[str, ...],
    output: str,
    wanted: str | None,
    seconds: int,
) -> None:
    """List the URLs that Services expose, the Ingress or HTTPRoute of each, its address, and its state.

    `status` lists what it may not read, and then no state says more than is known.

    With one SERVICE, it tells all about it: what it asks for, what stands, its Events, and what to do. With several, or
    as JSON, it lists only the URLs of these. With --wait, it ends when all of them are served, or accepted by a
    controller; a refusal ends it at once.

    Exit status: 0, whatever the states are; with --wait, 1 if the state wasn't reached in time or a Service is
    refused; 1 if a part of a file can't be read; 2 for wrong use, or if something could not be read.

    \b
    Examples:
      ingress-manager status
      ingress-manager status --all-namespaces
      ingress-manager status -n team-a -o json
      ingress-manager status team-a/shop
      ingress-manager status team-a/shop --wait=serving --timeout=2m
    """  # noqa: D301 - \b keeps click from joining lines
    if source.files and wanted:
        raise click.UsageError("--wait is for the cluster, not for files")
    if wanted and not names:
        raise click.UsageError("--wait is for Services that are named")
    looker = Looker(source, names)
    seen = wait_for(looker, State(wanted), seconds) if wanted else looker.look()
    if len(names) == 1 and output == "table" and not wanted:
        click.echo(looker.told(seen, width()), nl=False)
    else:
        for text in printed(seen.rows, seen.unseen, output, paint, width()):
            click.echo(text, nl=False)
    if wanted and (late := [row for row in seen.rows if not has_reached(row, State(wanted))]):
        for row in late:
            click.secho(one_line(f"Not {wanted}: {line_of(row)}"), fg="red", err=True)
        context.exit(COULD_NOT_LOOK if any(row.judged.is_unseen for row in late) else 1)
    context.exit(COULD_NOT_LOOK if seen.could_not_look and not wanted else 0)


@dataclass(frozen=True, slots=True)
class Seen:
    """What one look has seen."""

    rows: list[Row]
    unseen: dict[str, str]
    manifests: Manifests
    could_not_look: bool
    """Whether a state may be another one for what could not be looked at."""

    services: list[ServiceView]
    view: View
    findings: list[Finding]
    said: Mapping[str, Report] | str


class Looker:
    """Looks at what is exposed, once or again and again. The settings are read once."""

    def __init__(self, source: Source, names: tuple[str, ...]) -> None:
        namespaces = {name.rpartition("/")[0] or source.namespace or "" for name in names}
        if len(namespaces) > 1:
            raise click.UsageError("the Services that are named have to be in one namespace")
        if "".join(namespaces) and not source.files:
            source = replace(source, namespace=namespaces.pop())
        self._source = source
        self._names = names
        self._policy: tuple[Policy | Unknown, dict[str, str]] | None = None

    def look(self) -> Seen:
        """Return what is exposed. Raises click.UsageError, and KubectlFailed for Services."""
        source = self._source
        manifests, known = read_objects(source)
        policy = self._settings(known)
        view = look(manifests.items, policy.without_pause() if isinstance(policy, Policy) else policy, known)
        unseen = view.unseen()
        around = read_surroundings(source, view)
        said = read_reports(source)
        if isinstance(said, str) and not source.files:
            unseen[EVENT] = f"Events could not be looked at: {said}"
            said = "Events may not be read"
        services = [view.services[label] for label in set(self._labels(manifests, view))]
        kinds = KINDS.keys() if len(services) == 1 else {"refused", *WAITS_FOR, *IN_THE_WAY}
        findings = with_reasons(audit_of(view, policy, around, kinds).findings, said)
        rows = list(Judge(view, findings, around).rows(services))
        unseen |= {kind: sentence for kinds, sentence in around.unseen() for kind in kinds}
        could_not = any(row.judged.is_unseen for row in rows) or bool(view.unseen())
        return Seen(rows, unseen, manifests, could_not, services, view, findings, said)

    def told(self, seen: Seen, columns: int) -> str:
        """Return all that is known of the one Service that was looked at."""
        [service] = seen.services
        source, events = self._source, seen.manifests.items
        if isinstance(seen.said, str) and not source.files:
            events = []
        elif not source.files:
            about = f"--field-selector=involvedObject.kind=Service,involvedObject.name={service.item.name}"
            events = source.kubectl.get("events", about, f"--namespace={service.item.namespace}").items
        unseen = [*dict.fromkeys(seen.unseen.values())]
        return told(service, seen.rows, seen.view, seen.findings, events, unseen, source.kubectl.options, columns)

    def _settings(self, known: Known) -> Policy | Unknown:
        if self._policy is None:
            before = {*known.unread}
            policy = read_policy(self._source, known, "--settings")
            self._policy = policy, {what: why for what, why in known.unread.items() if what not in before}
        policy, unknown = self._policy
        known.unread |= unknown
        return policy

    def _labels(self, manifests: Manifests, view: View) -> Iterator[str]:
        """Yield the Services that are looked at, as namespace/name."""
        if not self._names:
            yield from view.services
        for name in self._names:
            label = named(manifests, SERVICES, name, self._source.namespace).full_name
            if label not in view.services:
                raise click.UsageError(f"Service {label} is not valid")
            yield label


def wait_for(looker: Looker, wanted: State, seconds: int) -> Seen:
    """Return the first look at which all is as it is wanted, or nothing more can be hoped for, or the last in time."""
    end = monotonic() + seconds
    told: set[str] = set()
    while True:
        seen = looker.look()
        if not seen.rows:
            raise click.UsageError('there is nothing to wait for: no annotation ingress/http: "true"')
        if all(has_reached(row, wanted) for row in seen.rows) or any(is_over(row, wanted) for row in seen.rows):
            return seen
        if monotonic() >= end:
            return seen
        lines = {line_of(row) for row in seen.rows}
        for line in sorted(lines - told):
            note(line)
        told = lines
        sleep(min(BETWEEN_LOOKS, max(end - monotonic(), 0)))
