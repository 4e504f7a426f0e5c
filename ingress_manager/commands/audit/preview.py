"""`audit --settings`: what other settings would do to a cluster."""

from collections.abc import Iterator

from ingress_manager.commands.findings.claims import claims_of
from ingress_manager.commands.findings.evidence import Evidence
from ingress_manager.commands.findings.finding import Finding, Kind, Severity
from ingress_manager.commands.findings.services import drifted, missing, refused
from ingress_manager.commands.snapshot.drift import merged
from ingress_manager.commands.snapshot.items import Item
from ingress_manager.commands.snapshot.objects import as_object
from ingress_manager.commands.snapshot.services import Snapshot
from ingress_manager.commands.snapshot.surroundings import Surroundings
from ingress_manager.core.decide import Refused
from ingress_manager.core.text import listed

# A URL would lose its answer by the first two.
REMOVED, MOVED = (Kind(name, Severity.ERROR) for name in ("removed", "moved"))
REFUSED, CHANGED, CREATED = (Kind(name, Severity.HINT) for name in ("refused", "changed", "created"))
EFFECTS = (REMOVED, MOVED, REFUSED, CHANGED, CREATED)


def preview(evidence: Evidence) -> list[Finding]:
    """Return what the settings of the evidence would do once nothing is paused, the gravest effects first."""
    snapshot = evidence.snapshot
    evidence = Evidence(snapshot, snapshot.settings, Surroundings())
    changes = [
        *_removals(snapshot),
        *(_as(REFUSED, finding) for finding in refused(evidence)),
        *(_as(CREATED, finding) for finding in missing(evidence) if finding.awaits_sync),
        *(_change(snapshot, finding) for finding in drifted(evidence) if finding.awaits_sync),
    ]
    return sorted(changes, key=lambda change: EFFECTS.index(change.kind))


def _as(effect: Kind, finding: Finding) -> Finding:
    """Return a finding as an effect, which needs no person."""
    return finding._replace(kind=effect, command=(), awaits_sync=False)


def _removals(snapshot: Snapshot) -> Iterator[Finding]:
    """Yield each object that the hook would remove, and its creation if the next sync makes it again."""
    for _, service in sorted(snapshot.services.items()):
        if service.item.is_being_deleted or isinstance(service.decision, Refused | None):
            continue
        # All objects of a refused Service go with a forbidden one.
        fallback = next(iter(service.forbidden.values()), None) if service.refused else None
        for key, obj in sorted(service.observed.items()):
            if key in service.desired or obj.item.is_being_deleted:
                continue
            problem = service.forbidden.get(key, fallback)
            sentence = problem.line() if problem else f"Service {service.item.full_name} doesn't ask for it"
            if key in snapshot.desired_once_allowed(service):
                sentence += "; it is then made anew"
                yield Finding(service.item, f"its {' '.join(key)} is made anew", kind=CREATED)
            yield Finding(obj.item, sentence, kind=REMOVED)


def _change(snapshot: Snapshot, drift: Finding) -> Finding:
    """Return the effect of correcting a drifted object: it is moved if it loses a claim, else changed."""
    obj = snapshot.objects[drift.key]
    service = snapshot.owner_of(obj)
    if service is None:
        return _as(CHANGED, drift)
    after = merged(obj.item, service.desired[obj.key])
    metadata = {**obj.item.metadata, **after["metadata"]}
    kept = {*claims_of(as_object(Item({**obj.item.object, "metadata": metadata, "spec": after["spec"]})))}
    lost = list(dict.fromkeys(str(claim) for claim in claims_of(obj) if claim not in kept))
    if not lost:
        return _as(CHANGED, drift)
    return _as(MOVED, drift._replace(sentence=f"{listed(lost)} would answer no more: {drift.sentence}"))
