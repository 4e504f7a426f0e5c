"""What was made for Services: finders of what Metacontroller has not done, can't do, or doesn't know of.

A Service is being deleted, or refused, or else is given something. What was made for one is being deleted, forbidden,
unwanted, or else as it should be, or drifted. So no two kinds tell of the same.
"""

from collections.abc import Mapping, Sequence

from ingress_manager.commands.audit import remedies
from ingress_manager.commands.audit.seen import Finding, Found, Seen
from ingress_manager.commands.plans.steps import kubectl
from ingress_manager.commands.printing.words import Command
from ingress_manager.commands.reading.kinds import INGRESS, SERVICE
from ingress_manager.commands.reading.manifests import Item, at, mappings
from ingress_manager.commands.view.drift import differences
from ingress_manager.commands.view.look import ServiceView
from ingress_manager.commands.view.merge import last_applied
from ingress_manager.commands.view.objects import (
    Backend,
    ObjectView,
    backends_of,
    finalizers_of,
    is_being_deleted,
)
from ingress_manager.core.entrances import entrance_for
from ingress_manager.core.kubernetes import LAST_APPLIED, ListenerSet
from ingress_manager.core.text import listed
from ingress_manager.core.vocabulary import protects


def name_taken(seen: Seen) -> Found:
    for service, key, other in seen.absent:
        if not isinstance(other, ObjectView) or is_being_deleted(other.item):
            continue
        # What is ours and belongs to no Service is told of as detached.
        if not other.looks_ours or (other.is_marked and isinstance(seen.view.owner_of(other), ServiceView)):
            backends = backends_of(other)
            does = _what_it_does(other, backends)
            sentence = f"{other} is in the way: it was not made for this Service{does}"
            command = kubectl("edit", service.item) if does else kubectl("delete", other.item)
            if (SERVICE, service.item.name) in backends and other.kind == INGRESS and not other.is_marked:
                command = ("ingress-manager", "adopt", other.item.full_name)
            yield Finding(service.item, sentence, command, about=key)


def forbidden(seen: Seen) -> Found:
    for _, each, why in seen.made:
        if why and not is_being_deleted(each.item):
            yield Finding(each.item, why.told(), kubectl("delete", each.item), [why.reason])


def missing(seen: Seen) -> Found:
    for service, key, other in seen.absent:
        if other is None:
            yield seen.undone(service.item, f"its {' '.join(key)} isn't there", about=key)
        elif isinstance(other, ObjectView) and is_being_deleted(other.item):
            names = listed(finalizers_of(other.item)) or "nothing"
            since = other.item.metadata["deletionTimestamp"]
            sentence = f"its {other} is being deleted since {since}; held by {names}"
            yield Finding(service.item, sentence, kubectl("describe", other.item), about=key)


def drifted(seen: Seen) -> Found:
    for service, each in seen.settled:
        if service.refused or each.key not in service.desired:
            continue
        try:
            found = differences(each.item, service.desired[each.key])
        except ValueError:
            sentence = f"its annotation {LAST_APPLIED} can't be read, so that Metacontroller doesn't change it"
            yield Finding(each.item, sentence, remedies.annotate(each.item, [f"{LAST_APPLIED}-"]))
        else:
            if found:
                yield seen.undone(each.item, listed(found))


def unguarded(seen: Seen) -> Found:
    for service, each in seen.settled:
        if not (service.refused or each.key in service.desired):
            continue
        made = service.desired.get(each.key, {}).get("metadata", {}).get("annotations", {})
        others = {key: text for key, text in each.item.annotations.items() if protects(key) and key not in made}
        stated = {*service.item.annotations, *_applied_to(each.item)} if others else ()
        if lost := {key: text for key, text in others.items() if key not in stated}:
            sentence = f"Service {service.item.full_name} lacks {listed(sorted(lost))}, by which this is protected"
            yield Finding(each.item, sentence, remedies.state(service.item, lost))


def _applied_to(item: Item) -> Mapping[str, str]:
    """Return the annotations that Metacontroller applied last: `drifted` tells whether they go."""
    try:
        return last_applied(item.object).get("metadata", {}).get("annotations") or {}
    except ValueError:
        return {}


def unwanted(seen: Seen) -> Found:
    for service, each in seen.settled:
        # One that is refused asks for all of its entrances.
        is_asked_for = (
            entrance_for(service.service, each.key) in service.entrances
            if service.refused
            else each.key in service.desired
        )
        if not is_asked_for:
            sentence = f"Service {service.item.full_name} doesn't ask for it"
            yield Finding(each.item, sentence, kubectl("delete", each.item))


def detached(seen: Seen) -> Found:
    for each, owner in seen.alone:
        if not is_being_deleted(each.item):
            yield Finding(each.item, *_lacks(seen, each, owner))


def _lacks(seen: Seen, each: ObjectView, owner: ServiceView | None) -> tuple[str, Command]:
    """Return what an object lacks that Metacontroller doesn't take for ours, and the command that fixes it."""
    if owner:
        return "it lacks Metacontroller's annotation", remedies.attach(each, owner)
    asking = None if each.owner and not each.service else seen.asking_for(each)
    # Where it isn't known which Service asks for it, no command can be told.
    attach = remedies.attach(each, asking) if isinstance(asking, ServiceView) else ()
    if each.service:
        sentence = f"it belongs to Service {each.service} of uid {each.owner_uid}, which isn't there"
        return sentence, attach if asking else kubectl("delete", each.item)
    if each.owner:
        sentence = f"it belongs to {each.owner.get('kind')} {each.owner.get('name')}, and is not ingress-manager's"
        return sentence, remedies.disown(each.item)
    sentence = "it has no owner" if each.is_marked else "it has no owner, and lacks Metacontroller's annotation"
    if asking:
        return sentence, attach
    there = [
        (kind, name)
        for kind, name in backends_of(each)
        if kind != SERVICE or seen.view.service(f"{each.item.namespace}/{name}")
    ]
    if does := _what_it_does(each, there):
        return f"{sentence}{does}", remedies.disown(each.item)
    return f"{sentence}, and leads to nothing that is there", kubectl("delete", each.item)


def _what_it_does(each: ObjectView, backends: Sequence[Backend]) -> str:
    """Return what an object answers with, as the end of a sentence: these backends, or a redirect; "" for nothing.

    No advice deletes what does something, unless it is forbidden or off.
    """
    if isinstance(each.typed, ListenerSet):
        return f", and has listeners for {listed([host or '*' for host in each.typed.hosts()])}"
    if backends:
        return f", and leads to {listed(backends, ' '.join)}"
    filters = (found for rule in mappings(at(each.item, "spec", "rules")) for found in mappings(at(rule, "filters")))
    return ", and redirects" if any(found.get("type") == "RequestRedirect" for found in filters) else ""
