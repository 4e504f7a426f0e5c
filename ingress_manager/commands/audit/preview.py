"""Preview: what other settings would do to a cluster: what the hook answers by them, and what `audit` finds then."""

from collections.abc import Iterator

from ingress_manager.commands.audit.audit import audit_of, is_unexplained
from ingress_manager.commands.audit.claims import claims_of
from ingress_manager.commands.audit.seen import Finding, Severity
from ingress_manager.commands.reading.manifests import Item
from ingress_manager.commands.view.drift import merged
from ingress_manager.commands.view.look import Unknown, View
from ingress_manager.commands.view.objects import ObjectView, as_object, is_being_deleted
from ingress_manager.commands.view.surroundings import Surroundings
from ingress_manager.core.errors import Refused
from ingress_manager.core.kubernetes import Object
from ingress_manager.core.policy import Policy
from ingress_manager.core.text import listed

REMOVED, MOVED, REFUSED, CHANGED, CREATED = EFFECTS = ("removed", "moved", "refused", "changed", "created")
"""What other settings would do, in the order in which it is told. What is moved no longer answers all that it does."""

OF_KIND = {"refused": REFUSED, "drifted": CHANGED, "missing": CREATED}
"""What the hook or Metacontroller does about a kind of findings."""

TAKING = {REMOVED, MOVED}
"""What takes away something that answers."""


def preview(view: View, policy: Policy) -> list[Finding]:
    """Return what the settings `policy`, by which the view is decided, would do once nothing is paused."""
    done = audit_of(view, policy.without_pause(), Surroundings(), OF_KIND)
    found = [
        *_removed(view),
        *(_effect(view, each) for each in done if each.kind == "refused" or is_unexplained(each)),
    ]
    found.sort(key=lambda each: EFFECTS.index(each.kind))
    return [each._replace(severity=Severity.ERROR if each.kind in TAKING else Severity.HINT) for each in found]


def _removed(view: View) -> Iterator[Finding]:
    """Yield the objects that the hook would remove, and why. What is forbidden goes first, and may be made anew.

    What is made anew is yielded twice: as removed, and as created.
    """
    for _, service in sorted(view.services.items()):
        if is_being_deleted(service.item) or isinstance(service.decision, Refused | Unknown):
            continue
        # If the Service is refused, all that was made for it goes.
        why_all = next(iter(service.forbidden.values()), None) if service.refused else None
        for key, each in sorted(service.observed.items()):
            if key in service.desired or is_being_deleted(each.item):
                continue
            problem = service.forbidden.get(key, why_all)
            sentence = problem.told() if problem else f"Service {service.item.full_name} doesn't ask for it"
            if key in view.anew(service):
                sentence += "; it is then made anew"
                yield Finding(service.item, f"its {' '.join(key)} is made anew", kind=CREATED)
            yield Finding(each.item, sentence, kind=REMOVED)


def _effect(view: View, finding: Finding) -> Finding:
    """Return what would be done about a finding. No person has to do it."""
    effect, sentence = OF_KIND[finding.kind], finding.sentence
    if effect == CHANGED and (lost := _lost(view, finding.item)):
        effect, sentence = MOVED, f"{listed(lost)} would answer no more: {sentence}"
    return finding._replace(kind=effect, sentence=sentence, command=())


def _lost(view: View, item: Item) -> list[str]:
    """Return the hosts and paths that an object would no longer answer, or not in the same class or Gateway."""
    each = view.objects[item.object["kind"], item.full_name]
    service = view.owner_of(each)
    then = {*claims_of(_changed(each, service.desired[each.key]))} if service else set()
    return list(dict.fromkeys(str(claim) for claim in claims_of(each) if service and claim not in then))


def _changed(observed: ObjectView, desired: Object) -> ObjectView:
    """Return an object as Metacontroller would make it."""
    then = merged(observed.item, desired)
    metadata = {**observed.item.metadata, **then["metadata"]}
    return as_object(Item({**observed.item.object, "metadata": metadata, "spec": then["spec"]}))
