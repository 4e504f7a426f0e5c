"""`audit --settings`: what new settings would change in a cluster."""

from collections.abc import Iterator
from dataclasses import replace

from ingress_manager.commands.findings.claims import claims_of
from ingress_manager.commands.findings.evidence import Evidence
from ingress_manager.commands.findings.finding import Finding, Kind, Severity
from ingress_manager.commands.findings.services import drifted, missing, refused
from ingress_manager.commands.snapshot.drift import field_differences, managed_parts, merged
from ingress_manager.commands.snapshot.items import CLASS_KIND, Item
from ingress_manager.commands.snapshot.objects import as_object
from ingress_manager.commands.snapshot.services import Snapshot
from ingress_manager.commands.snapshot.surroundings import Surroundings
from ingress_manager.core.decide import Refused
from ingress_manager.core.settings import Settings
from ingress_manager.core.text import listed, quoted

# REMOVED and MOVED would make a URL stop answering.
REMOVED, MOVED = (Kind(name, Severity.ERROR) for name in ("removed", "moved"))
REFUSED, CHANGED, CREATED = (Kind(name, Severity.HINT) for name in ("refused", "changed", "created"))
EFFECTS = (REMOVED, MOVED, REFUSED, CHANGED, CREATED)

PREVIEWED = (CLASS_KIND,)


def preview(evidence: Evidence, current: Settings | None) -> list[Finding]:
    """Return the changes that the new settings in `evidence` would make, the most serious ones first.

    Changes that `current` would also make are omitted, unless only `current` pauses the namespace. If `current` is None
    (unknown), none are omitted. If the new settings pause a namespace, messages say what happens after the pause.
    """
    new, known = evidence.settings or Settings(), set[tuple[str, ...]]()
    if current:
        for change in _effects(evidence.snapshot.decided_by(current.without_pause())):
            namespace = change.item.namespace
            if new.entry_for(namespace).paused or not current.entry_for(namespace).paused:
                known.add(_identity(change))
    changes = [change for change in _effects(evidence.snapshot) if _identity(change) not in known]
    for number, change in enumerate(changes):
        begin = "once the pause ends: " if new.entry_for(change.item.namespace).paused else ""
        changes[number] = replace(change, sentence=f"{begin}{change.sentence}{_missing_class(evidence, change)}")
    return sorted(changes, key=lambda change: EFFECTS.index(change.kind))


def _effects(snapshot: Snapshot) -> Iterator[Finding]:
    evidence = Evidence(snapshot, snapshot.settings, Surroundings())
    yield from _removals(snapshot)
    yield from (_as(REFUSED, finding) for finding in refused(evidence))
    created = (finding for finding in missing(evidence) if finding.awaits_sync)
    yield from (_as(CREATED, finding, f"{' '.join(finding.key)} would be created") for finding in created)
    yield from (_change(snapshot, finding) for finding in drifted(evidence) if finding.awaits_sync)


def _identity(change: Finding) -> tuple[str, ...]:
    """Return a key that is equal for equal changes. For removals and refusals, the key ignores the reasons."""
    return (change.kind.name, *change.key, "" if change.kind in (REMOVED, REFUSED) else change.sentence)


def _missing_class(evidence: Evidence, change: Finding) -> str:
    """Return a suffix for a change's message if the object's new IngressClass doesn't exist, or else ""."""
    service = change.service and evidence.snapshot.services[change.service.full_name]
    desired = evidence.snapshot.desired_once_allowed(service).get(change.key, {}) if service else {}
    name, around = desired.get("spec", {}).get("ingressClassName"), evidence.around
    is_missing = name and CLASS_KIND in around.read and name not in around.items[CLASS_KIND]
    return f"; IngressClass {quoted(name)} doesn't exist" if is_missing else ""


def _as(effect: Kind, finding: Finding, sentence: str = "") -> Finding:
    return replace(finding, kind=effect, sentence=sentence or finding.sentence, command=(), awaits_sync=False)


def _removals(snapshot: Snapshot) -> Iterator[Finding]:
    """Yield a finding for each object that the hook would remove, and another if the object would be recreated."""
    for _, service in sorted(snapshot.services.items()):
        if service.item.is_being_deleted or isinstance(service.decision, Refused | None):
            continue
        # If a refused Service has a forbidden object, all its objects are removed.
        fallback = next(iter(service.forbidden.values()), None) if service.refused else None
        for key, obj in sorted(service.observed.items()):
            if key in service.desired or obj.item.is_being_deleted:
                continue
            problem = service.forbidden.get(key, fallback)
            sentence = problem.line() if problem else f"{service.item} doesn't request this {obj.kind}"
            if key in snapshot.desired_once_allowed(service):
                sentence += f"; this {obj.kind} would be removed, then recreated as its Service requests"
                created = f"{' '.join(key)} would be recreated"
                yield Finding(service.item, created, service=service.item, about=key, kind=CREATED)
            yield Finding(obj.item, sentence, service=service.item, kind=REMOVED)


def _change(snapshot: Snapshot, drift: Finding) -> Finding:
    """Return a drifted object's finding as MOVED if a host or path would no longer be served, or else as CHANGED."""
    obj = snapshot.objects[drift.key]
    if (service := snapshot.owner_of(obj)) is None:
        return _as(CHANGED, drift)
    after = merged(obj.item, service.desired[obj.key])
    changes = listed([*field_differences(managed_parts(obj.item.object), after, "", "would")])
    metadata = {**obj.item.metadata, **after["metadata"]}
    kept = {*claims_of(as_object(Item({**obj.item.object, "metadata": metadata, "spec": after["spec"]})))}
    lost = list(dict.fromkeys(str(claim) for claim in claims_of(obj) if claim not in kept))
    if not lost:
        return _as(CHANGED, drift, changes)
    return _as(MOVED, drift, f"{listed(lost)} would no longer be served as before: {changes}")
