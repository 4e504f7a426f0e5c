"""What Services ask for, and what was made for them: finders of mistakes, and of what Metacontroller hasn't done.

A Service is being deleted, or refused, or else is given something. What was made for one is being deleted, forbidden,
unwanted, or else as it should be, or drifted. So no two kinds tell of the same.

In a command, a word in capitals is for a person to fill in.
"""

from ingress_manager.commands.audit.seen import Finding, Found, Seen
from ingress_manager.commands.plans import steps
from ingress_manager.commands.plans.steps import kubectl
from ingress_manager.commands.snapshot import managed
from ingress_manager.commands.snapshot.drift import differences
from ingress_manager.commands.snapshot.items import INGRESS, SERVICE, Item
from ingress_manager.commands.snapshot.objects import ObjectSnapshot, backends_of, deletion_of
from ingress_manager.commands.snapshot.services import ServiceSnapshot
from ingress_manager.commands.text import Command
from ingress_manager.core.annotations import HTTP, PREFIX, PROFILE, WORDS, entrance_of, without_effect
from ingress_manager.core.copying import MANAGED_BY_LABEL, keys_not_copied
from ingress_manager.core.errors import Problem, Problems, Reason
from ingress_manager.core.kubernetes import DECORATOR, LAST_APPLIED
from ingress_manager.core.text import listed, nearest
from ingress_manager.core.vocabulary import protects

TAKEN_OFF = {
    Reason.ANNOTATION_NOT_ALLOWED,
    Reason.CLASS_NOT_ALLOWED,
    Reason.CONTRADICTION,
    Reason.UNKNOWN_ANNOTATION,
}
"""Reasons for which the annotation can go, unless it protects, or says by which entrance the Service is served."""

THOUGHT = {Reason.DUPLICATE_ROUTE, Reason.NOT_IN_HTTPROUTE, Reason.PROTECTION_LOST, Reason.TOO_LARGE} | TAKEN_OFF
"""Reasons for which another value doesn't do: a person looks at the whole Service."""

NOT_OURS = {"metadata": {"labels": {MANAGED_BY_LABEL: None}, "annotations": {DECORATOR: None}}}
"""The change after which an object doesn't say any more that it is ours."""


def refused(seen: Seen) -> Found:
    for service in seen.exposed:
        if service.refused and not service.item.is_being_deleted:
            item, why = service.item, service.refused
            reasons = list(dict.fromkeys(problem.reason for problem in why.kept))
            yield Finding(item, why.line(), _correct(item, why), item, reasons)


def not_copied(seen: Seen) -> Found:
    for service in seen.accepted:
        keys = keys_not_copied(service.item.annotations, seen.snapshot.desired_once_allowed(service).values())
        # One that protects may be lost, say the settings: else the Service would be refused.
        if left := [key for key in keys if not protects(key)]:
            sentence = f"{listed(left)} {'is' if len(left) == 1 else 'are'} not copied"
            command = kubectl("annotate", service.item, changes=[f"{key}-" for key in left])
            yield Finding(service.item, sentence, command, service.item)


def no_http(seen: Seen) -> Found:
    for service in seen.snapshot.services.values():
        for each in without_effect(service.item.annotations):
            yield Finding(service.item, each.sentence, kubectl("edit", service.item), service.item)


def name_taken(seen: Seen) -> Found:
    for service, key, other in seen.absent:
        if other is None or other.item.is_being_deleted:
            continue
        # What is ours and belongs to no Service is told of as detached.
        if not other.looks_managed or (other.is_decorated and seen.snapshot.owner_of(other)):
            backends = backends_of(other)
            leads = f", and leads to {listed(backends, ' '.join)}" if backends else ""
            sentence = f"{other} is in the way: it was not made for this Service{leads}"
            command = kubectl("edit", service.item)
            if (SERVICE, service.item.name) in backends and other.kind == INGRESS and not other.is_decorated:
                command = ("ingress-manager", "adopt", other.item.full_name)
            yield Finding(service.item, sentence, command, service.item, about=key)


def forbidden(seen: Seen) -> Found:
    for service, each, why in seen.made:
        if why:
            yield Finding(each.item, why.told(), kubectl("delete", each.item), service.item, [why.reason])


def missing(seen: Seen) -> Found:
    for service, key, other in seen.absent:
        if other is None:
            yield seen.undone(service, service.item, f"its {' '.join(key)} isn't there", about=key)
        elif deletion := deletion_of(other.item):
            yield Finding(service.item, f"its {deletion}", kubectl("describe", other.item), service.item, about=key)


def drifted(seen: Seen) -> Found:
    for service, each in seen.settled:
        if service.refused or each.key not in service.desired:
            continue
        try:
            found = differences(each.item, service.desired[each.key])
        except ValueError:
            sentence = f"its annotation {LAST_APPLIED} can't be read, so that Metacontroller doesn't change it"
            yield Finding(
                each.item, sentence, kubectl("annotate", each.item, changes=[f"{LAST_APPLIED}-"]), service.item
            )
        else:
            if found:
                yield seen.undone(service, each.item, listed(found))


def unguarded(seen: Seen) -> Found:
    for service, each in seen.settled:
        if not _is_wanted(service, each):
            continue
        made = service.desired.get(each.key, {}).get("metadata", {}).get("annotations", {})
        others = {key: text for key, text in each.item.annotations.items() if protects(key) and key not in made}
        # What Metacontroller applied last, `drifted` tells of. Its record is JSON.
        stated, record = service.item.annotations, each.item.annotations.get(LAST_APPLIED, "")
        if lost := {key: text for key, text in others.items() if key not in stated and f'"{key}":' not in record}:
            sentence = f"Service {service.item.full_name} lacks {listed(sorted(lost))}, by which this is protected"
            command = kubectl("edit", service.item)
            if all(text.isprintable() for text in lost.values()):  # somebody else has written them
                command = steps.annotating(service.item, lost).command
            yield Finding(each.item, sentence, command, service.item)


def unwanted(seen: Seen) -> Found:
    for service, each in seen.settled:
        if not _is_wanted(service, each):
            sentence = f"Service {service.item.full_name} doesn't ask for it"
            yield Finding(each.item, sentence, kubectl("delete", each.item), service.item)


def _is_wanted(service: ServiceSnapshot, each: ObjectSnapshot) -> bool:
    """Return whether a Service asks for an object. One that is refused asks for all of its entrances."""
    is_on = entrance_of(service.item.name, each.key[1]) in service.entrances
    return is_on if service.refused else each.key in service.desired


def detached(seen: Seen) -> Found:
    for each, owner in seen.alone:
        is_anothers = bool(each.owner) and not each.service
        if asking := owner or (None if is_anothers else seen.asking_for(each)):
            change = managed.patch_to_own(each.item, asking.item)
            # What it was when it was read may be long ago, and its controller writes its status.
            del change["resourceVersion"]
            command = steps.patch(each.item, {"metadata": change})
            yield Finding(each.item, _lacks(each, owner), command, asking.item)
        else:
            # Kubernetes deletes what belongs to a Service that is gone. What is nobody's may answer: it serves on.
            command = kubectl("delete", each.item) if each.service else steps.patch(each.item, NOT_OURS)
            yield Finding(each.item, _lacks(each, owner), command)


def _lacks(each: ObjectSnapshot, owner: ServiceSnapshot | None) -> str:
    """Return what an object lacks that Metacontroller doesn't take for ours."""
    if owner:
        return f"it lacks the annotation {DECORATOR}"
    if not each.owner:
        return "it has no owner"
    begin = f"its owner, {each.owner.get('kind')} {each.owner.get('name')}"
    return f"{begin} of uid {each.owner_uid}, isn't there" if each.service else f"{begin}, is no Service"


def _correct(service: Item, refusal: Problems) -> Command:
    """Return the command with which a Service is corrected; `kubectl edit`, unless all of it is sure.

    It is empty where the administrator has to do something.
    """
    if any(problem.reason is Reason.NOT_WATCHED for problem in refusal.kept):
        return ()
    corrections = [_correction(service, problem) for problem in refusal.kept]
    if refusal.more or not all(corrections):
        return kubectl("edit", service)
    changes: dict[str, str] = {}
    for each in corrections:
        # What is stated for one problem isn't taken off for another.
        changes |= {key: change for key, change in each.items() if changes.get(key, "-")[-1] == "-"}
    options = ["--overwrite"] if any(change[-1] != "-" for change in changes.values()) else []
    return kubectl("annotate", service, options=options, changes=changes.values())


def _correction(service: Item, problem: Problem) -> dict[str, str]:
    """Return the changes of annotations that fix a problem, by their keys; none where a person has to think."""
    key, value = problem.annotation, service.annotations.get(problem.annotation, "")
    begin, _, end = key.rpartition(PREFIX)
    near = nearest(end, WORDS) if problem.reason is Reason.UNKNOWN_ANNOTATION else ""
    right = f"{begin}{PREFIX}{near}"
    if near and right not in service.annotations and value.isprintable():
        return {key: f"{key}-", right: f"{right}={value}"}
    if key and problem.reason in TAKEN_OFF and not (protects(key) or key.endswith((PROFILE, HTTP))):
        return {key: f"{key}-"}
    # What is "true" is no wrong value: the key has the name of an entrance that can't be one.
    return {key: f"{key}=VALUE"} if key and problem.reason not in THOUGHT and value != "true" else {}
