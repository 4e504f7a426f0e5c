"""The settings that Ingresses would need: limits under which those can be adopted that nothing but limits keeps out.

They allow only what these Ingresses say, hosts, classes and values one by one, and only in the namespace of each.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from ingress_manager.commands.adopt.adoption import CANARY, COPY, Adoption, Need
from ingress_manager.commands.adopt.asked import BOOKKEEPING
from ingress_manager.core.annotations import PATH_TYPES
from ingress_manager.core.copying import ANY, COPIED, Limit, not_allowed, wrong_copied_key
from ingress_manager.core.namespace_policy import NamespacePolicy, in_namespace
from ingress_manager.core.policy import NO_LIMITS, Limits, Policy, overlay
from ingress_manager.core.syntax import EVERY_HOST
from ingress_manager.core.vocabulary import protects

HOSTS, CLASSES, TYPES = "hosts", "classes", "pathTypes"


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
    keys = {key for each in adoptions if each.messages for key in each.item.annotations}
    lost = {key for key in keys if key.startswith(BOOKKEEPING) or f"metadata.annotations.{key}" in accepted}
    copied = {key: ANY for key in keys - lost if not wrong_copied_key(key)}
    for each, free in zip(adoptions, plan(lifted(policy, copied)), strict=True):
        if each.messages:
            each.needs = tuple(dict.fromkeys(needs_of(free, in_namespace(policy, each.item.namespace))))
            each.messages = (*each.messages, *(new for new in free.messages if new not in each.messages))


def lifted(policy: Policy, copied: Mapping[str, Limit]) -> Policy:
    """Return the settings without limits; of annotations, these are copied, too."""

    def without(limits: Limits) -> Any:
        copies = {**(limits.copy_annotations or policy.whole.limits.copy_annotations or {}), **copied}
        return overlay(Limits(ANY, ANY, PATH_TYPES, copies), limits)

    own = {
        name: msgspec.structs.replace(each, limits=without(each.limits)) if each.limits else each
        for name, each in policy.namespaces.items()
    }
    return msgspec.structs.replace(policy, limits=without(policy.whole.limits), namespaces=own)


def needs_of(adoption: Adoption, here: NamespacePolicy) -> Iterator[Need]:
    """Yield what the limits don't allow of what is made.

    What protects has to be copied. What else an Ingress has only needs to be where a new one takes its place.
    """
    for each in adoption.objects:
        metadata, spec = each["metadata"], each["spec"]
        stated, ingress_class = metadata.get("annotations", {}), spec.get("ingressClassName")
        rules = [(rule.get("host", EVERY_HOST), rule["http"]["paths"]) for rule in spec.get("rules", ())]
        yield from (Need(HOSTS, host) for host, _ in rules if not here.allows_host(host))
        if not here.allows_class(ingress_class):
            yield Need(CLASSES, str(ingress_class))
        types = (path["pathType"] for _, paths in rules for path in paths)
        yield from (Need(TYPES, each) for each in types if each not in here.path_types)
        for key in filter(None, stated.get(COPIED, "").split(", ")):
            is_lost = key in adoption.item.annotations and metadata["name"] != adoption.item.name
            keeps_out = key == CANARY or (protects(key) and key not in here.accepted_losses)
            if (is_lost or keeps_out) and not_allowed(key, stated[key], here.copy_annotations):
                yield Need(COPY, key, stated[key])


def entries(policy: Policy, adoptions: Iterable[Adoption]) -> dict[str, Any]:
    """Return the entries of `namespaces`, as the settings file has them, that allow what the Ingresses need.

    Each has what holds there by its entry or pattern, too.
    """
    made: dict[str, Any] = {}
    for adoption in sorted(adoptions, key=lambda each: each.item.namespace):
        own = policy.entry_of(adoption.item.namespace)
        holds = msgspec.to_builtins(overlay(own.limits or NO_LIMITS, policy.whole.limits))
        for limit, name, value in adoption.needs:
            entry = made.setdefault(adoption.item.namespace, msgspec.to_builtins(own))
            limits = entry.setdefault("limits", {})
            allowed = limits.get(limit, holds[limit])
            if limit == COPY:
                limits[limit] = {**allowed, name: [*dict.fromkeys([*allowed.get(name, ()), value])]}
            else:
                limits[limit] = [*dict.fromkeys([*allowed, name])]
    return made
