"""The inspection that `audit` and `status` share: read a cluster or files, decide on each Service once, find problems.

The hook's code makes the decisions, and observed objects are compared as Metacontroller would compare them. So each
finding is something that the hook and Metacontroller would change, or can't change. Kinds are read one after the other:
of a change made in the meantime, only a part may be seen.

Events explain why Metacontroller hasn't done something. After each failed sync, it writes an Event on the Service,
which quotes the API server or the hook, and retries within 1,000 s.
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
    """Metacontroller's Events on Services; empty unless the caller or a finding needs them."""

    unseen: list[str]  # a message for each thing that could not be read
    lacking: Set[str]
    """What could not be read although a reliable result needs it: kinds of objects, EVENT or UNREAD_SETTINGS."""


def inspect(
    source: Source,
    settings: Settings | str,
    find: Callable[[Evidence], list[Finding]] = findings_of,
    *,
    surroundings: Collection[str] = SURROUNDING_RESOURCES,
    events: bool = False,
) -> Inspection:
    """Inspect a source as if nothing were paused. `settings` may be a message saying why the settings can't be read.

    `surroundings` are the kinds to read besides Services and their objects. With `events`, Events and the times of
    changes are read, too; otherwise, Events are read only if a finding needs them. From files, no surroundings and no
    Events are read. Raises click.UsageError, Unreadable, and KubectlFailed if Services can't be read.
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
