"""The inspection that `audit` and `status` share: read a cluster or files, decide on each Service once, find problems.

Each Service is decided on as the hook would, and observed objects are compared as Metacontroller would. So a finding is
what these two would change, or can't. Kinds are read one after the other: a change made meanwhile may be half in it.

Events tell why Metacontroller hasn't done something: it reports each failed attempt on the Service, in the words of the
API server or of the hook, and retries within 1,000 s.
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
    """Metacontroller's Events on Services, if a finding needs them."""

    unseen: list[str]
    """A sentence for each thing that could not be read."""

    lacking: Set[str]
    """Which of these are essential: kinds of objects, EVENT or UNREAD_SETTINGS."""


def inspect(
    source: Source,
    settings: Settings | str,
    find: Callable[[Evidence], list[Finding]] = findings_of,
    *,
    surroundings: Collection[str] = SURROUNDING_RESOURCES,
    events: bool = False,
) -> Inspection:
    """Inspect a source as if nothing were paused; `settings` may be the sentence why the settings can't be read.

    `surroundings` are their kinds to read. With `events`, Events and the times of changes are read, too; Events are
    read anyway if a finding needs them. Files are inspected without both. Raises click.UsageError, KubectlFailed for
    Services, and Unreadable.
    """
    known_settings = settings if isinstance(settings, Settings) else None
    with waiting("evaluating"):
        items, known = read_objects(source, *(["--show-managed-fields"] if events else []))
        if isinstance(settings, str):
            known.unread[UNREAD_SETTINGS] = settings
        snapshot = snapshot_of(items, known_settings and known_settings.without_pause(), known)
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
