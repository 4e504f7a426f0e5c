"""Inspects a cluster or files for `audit` and `status`: reads objects, decides on each Service, and finds problems.

The hook's code makes the decisions, and objects are compared as Metacontroller compares them. So the findings show what
the hook and Metacontroller would change, or fail to change. Kinds are read one after another, so a change that is made
meanwhile may be seen only in part.

After each failed sync, Metacontroller retries within 1,000 s. It also writes an Event on the Service, which quotes the
API server or the hook. These Events explain why Metacontroller hasn't made a change.
"""

from collections.abc import Callable, Collection, Sequence, Set
from typing import NamedTuple

from ingress_manager.commands.findings.evidence import Evidence
from ingress_manager.commands.findings.finding import Finding
from ingress_manager.commands.findings.registry import findings_of
from ingress_manager.commands.reading.cluster import read_objects, read_surroundings
from ingress_manager.commands.reading.kubectl import KubectlFailed
from ingress_manager.commands.reading.options import Source
from ingress_manager.commands.snapshot.events import EVENT, OF_SERVICES, reports
from ingress_manager.commands.snapshot.items import Item
from ingress_manager.commands.snapshot.services import UNREAD_SETTINGS, Snapshot, snapshot_of
from ingress_manager.commands.snapshot.surroundings import SURROUNDING_RESOURCES, Surroundings
from ingress_manager.commands.terminal import waiting
from ingress_manager.core.settings import Settings


class Inspection(NamedTuple):
    snapshot: Snapshot
    around: Surroundings
    findings: list[Finding]
    events: Sequence[Item]
    """Metacontroller's Events on Services. Empty if `inspect` could not read them, or had no need to."""

    unseen: list[str]  # a message for each thing that could not be read
    lacking: Set[str]
    """The data that could not be read and that the result depends on: keys of `Gaps.unread`, and EVENT for Events."""


def inspect(
    source: Source,
    settings: Settings | str,
    find: Callable[[Evidence], list[Finding]] = findings_of,
    *,
    surroundings: Collection[str] = SURROUNDING_RESOURCES,
    events: bool = False,
) -> Inspection:
    """Inspect a source as if nothing were paused. `settings` may be a message that says why the settings can't be read.

    `surroundings` are the kinds to read besides Services and their objects. With `events`, also read Events and
    managedFields, which date changes. Otherwise, read Events only if a finding awaits a sync. From files, read only
    Services and their objects. Raises click.UsageError, Unreadable, and KubectlFailed if Services can't be read.
    """
    known_settings = settings if isinstance(settings, Settings) else None
    with waiting("evaluating"):
        items, gaps = read_objects(source, *(["--show-managed-fields"] if events else []))
        if isinstance(settings, str):
            gaps.unread[UNREAD_SETTINGS] = settings
        snapshot = snapshot_of(items, known_settings and known_settings.without_pause(), gaps)
    around = Surroundings() if source.files else read_surroundings(source, snapshot, surroundings)
    findings = find(Evidence(snapshot, known_settings, around))
    unseen, lacking = [*snapshot.unseen().values(), *around.unseen], {*snapshot.unseen()}
    reported: Sequence[Item] | None = None
    if not source.files and (events or any(finding.awaits_sync for finding in findings)):
        try:
            reported = source.kubectl.get("events", OF_SERVICES, *source.scope)
        except KubectlFailed as failed:
            unseen.append(f"Events could not be read: {failed.message}")
            lacking.add(EVENT)
    by_service = None if reported is None else reports(reported)
    explained = [finding.explained(by_service) for finding in findings]
    return Inspection(snapshot, around, explained, reported or (), unseen, lacking)
