"""Why something isn't as it should be, though nothing is wrong with the Service: what its Events say is in the way.

Metacontroller reports each failed attempt as an Event of the Service, in the API server's words or with the hook's, and
tries again after 1,000 s at most. The pure part.
"""

from collections.abc import Iterable, Mapping

from ingress_manager.commands.audit import remedies
from ingress_manager.commands.audit.seen import Finding
from ingress_manager.commands.printing.words import Command
from ingress_manager.commands.reading.kinds import SERVICES
from ingress_manager.commands.reading.manifests import Item
from ingress_manager.commands.view.events import Report
from ingress_manager.commands.view.managed import controller_of
from ingress_manager.core.text import is_seen


def is_unexplained(finding: Finding) -> bool:
    """Return whether something was found that Events may explain."""
    return finding.command == remedies.SYNC_ALL


def with_reasons(findings: Iterable[Finding], found: Mapping[str, Report] | str) -> list[Finding]:
    """Return the findings, with what is in the way; `found`: the Services' reports, or why they can't be looked at."""
    return [_with_reason(each, found) if is_unexplained(each) else each for each in findings]


def _with_reason(finding: Finding, found: Mapping[str, Report] | str) -> Finding:
    service = service_of(finding.item)
    kind = service.kind.rpartition("/")[2].lower()
    command: Command = ("kubectl", "describe", f"--namespace={service.namespace}", "--", kind, service.name)
    if isinstance(found, str):
        return finding._replace(sentence=f"{finding.sentence}; it isn't known why: {found}", command=command)
    report = found.get(str(service.metadata.get("uid") or ""))
    if report is None:
        return finding._replace(sentence=f"{finding.sentence}, and no Event of its Service says why")
    said = f"Metacontroller said at {report.time}: {report.sentence.removeprefix('Sync error: ')}"
    return finding._replace(sentence=f"{finding.sentence}; {said}", command=command)


def service_of(item: Item) -> Item:
    """Return a Service as it is, and for what was made for one: that Service, as far as its owner reference says it."""
    if item.kind == SERVICES:
        return item
    owner = controller_of(item)
    metadata = {"name": owner.get("name"), "namespace": item.namespace, "uid": owner.get("uid")}
    service = Item({"apiVersion": "v1", "kind": "Service", "metadata": metadata}, item.origin)
    # No API server has a Service of a name that a command can't hold.
    return service if is_seen(service.name) else item
