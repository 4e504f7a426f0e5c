"""The settings that Ingresses would need: limits under which those can be adopted that nothing but limits keeps out.

They allow only what these Ingresses say, hosts, classes and values one by one, and only in the namespace of each.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from typing import Any

import msgspec

from ingress_manager.commands.adopt.adoption import Adoption, Need
from ingress_manager.commands.adopt.asked import BOOKKEEPING, CANARY
from ingress_manager.commands.snapshot.items import Item
from ingress_manager.commands.snapshot.objects import as_spec
from ingress_manager.core.annotations import PATH_TYPES
from ingress_manager.core.copying import ANY, COPIED, not_allowed, wrong_copied_key
from ingress_manager.core.kubernetes import Object
from ingress_manager.core.namespace_policy import NamespacePolicy, in_namespace
from ingress_manager.core.policy import Limits, Policy
from ingress_manager.core.syntax import EVERY_HOST
from ingress_manager.core.vocabulary import protects


def find_needs(
    adoptions: Sequence[Adoption],
    policy: Policy,
    plan: Callable[[Policy], Sequence[Adoption]],
    accepted: Container[str],
) -> None:
    """Note of each Ingress what keeps it out if nothing but limits does.

    `plan` returns what becomes of the same Ingresses by other settings, with the `accepted` fields. What these refuse,
    too, is told beside the limit that has hidden it.
    """
    keys = {key for each in adoptions if each.messages for key in each.item.annotations if not wrong_copied_key(key)}
    lost = {key for key in keys if key.startswith(BOOKKEEPING) or f"metadata.annotations.{key}" in accepted}
    for each, free in zip(adoptions, plan(lifted(policy, sorted(keys - lost))), strict=True):
        if each.messages:
            each.needs = tuple(dict.fromkeys(needs_of(free, in_namespace(policy, each.item.namespace))))
            each.messages = (*each.messages, *(new for new in free.messages if new not in each.messages))


def lifted(policy: Policy, copied: Iterable[str]) -> Policy:
    """Return the settings without limits; of annotations, these are copied, too."""
    replace = msgspec.structs.replace

    def without(limits: Limits) -> Limits:
        copies = {**limits.copy_annotations, **dict.fromkeys(copied, ANY)}
        return replace(limits, hosts=ANY, classes=ANY, path_types=PATH_TYPES, copy_annotations=copies)

    own = {name: replace(each, limits=without(each.limits)) for name, each in policy.namespaces.items()}
    return replace(policy, limits=without(policy.limits), namespaces=own)


def needs_of(adoption: Adoption, here: NamespacePolicy) -> Iterator[Need]:
    """Yield what the limits don't allow of what is made.

    What protects has to be copied. What else an Ingress has only needs to be where a new one takes its place.
    """
    for each in (made for part in adoption.parts for made in part.ingresses):
        stated, spec = each["metadata"].get("annotations", {}), as_spec(Item(each))
        hosts = (rule.host or EVERY_HOST for rule in spec.rules or ())
        yield from (("hosts", host) for host in hosts if not here.allows_host(host))
        if here.not_allowed(spec.ingress_class_name, here.limits.classes):
            yield "classes", str(spec.ingress_class_name)
        types = (path.path_type for _, path in spec.paths())
        yield from (("pathTypes", each) for each in types if each not in here.limits.path_types)
        for key in filter(None, stated.get(COPIED, "").split(", ")):
            is_lost = key in adoption.item.annotations and each["metadata"]["name"] != adoption.item.name
            keeps_out = key == CANARY or (protects(key) and key not in here.accepted_losses)
            if (is_lost or keeps_out) and not_allowed(key, stated[key], here.limits.copy_annotations):
                yield "copyAnnotations", key, stated[key]


def entries(policy: Policy, adoptions: Iterable[Adoption]) -> dict[str, Any]:
    """Return the entries of `namespaces`, as the settings file has them, that allow what the Ingresses need.

    Each has what holds there by its entry or pattern, too.
    """
    made: dict[str, Any] = {}
    general = msgspec.to_builtins(policy)
    for adoption in sorted(adoptions, key=lambda each: each.item.namespace):
        own = msgspec.to_builtins(policy.entry_of(adoption.item.namespace))
        holds = own["limits"]
        for limit, name, *value in adoption.needs:
            limits = made.setdefault(adoption.item.namespace, beyond(own, general)).setdefault("limits", {})
            allowed = limits.get(limit, holds[limit])
            if value:
                limits[limit] = {**allowed, name: [*dict.fromkeys([*allowed.get(name, ()), *value])]}
            else:
                limits[limit] = [*dict.fromkeys([*allowed, name])]
    return made


def beyond(own: Object, general: Object) -> Object:
    """Return what of an entry of a namespace isn't as in general, each field of its mappings by itself."""
    differ = {part: value for part, value in own.items() if value != general[part]}
    for part in differ.keys() & {"defaults", "limits"}:
        differ[part] = {key: value for key, value in own[part].items() if value != general[part][key]}
    return differ
