"""The settings that Ingresses would need: limits under which those can be adopted that nothing but limits keeps out.

They allow only what these Ingresses say, hosts, classes and values one by one, and only in the namespace of each.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from typing import Any

import msgspec

from ingress_manager.commands.adopt.adoption import COPY, Adoption, Need
from ingress_manager.commands.adopt.asked import BOOKKEEPING, CANARY, Asked, protecting
from ingress_manager.commands.view.objects import class_of
from ingress_manager.core.copying import not_allowed, wrong_copied_key
from ingress_manager.core.policy import NO_LIMITS, NamespaceSettings, Policy, overlay
from ingress_manager.core.syntax import EVERY_HOST


def find_needs(
    adoptions: Sequence[Adoption],
    policy: Policy,
    plan: Callable[[Policy], Sequence[Adoption]],
    accepted: Container[str],
) -> None:
    """Note of each Ingress what keeps it out if nothing but limits does.

    `plan` returns what becomes of the same Ingresses by other settings, with the `accepted` fields. What those refuse
    that allow all needs, too, is told beside the limit that has hidden it.
    """
    for each in adoptions:
        needs = (need for part in each.parts for need in needs_of(part, accepted))
        each.needs = tuple(dict.fromkeys(needs)) if each.messages else ()
    allowing = msgspec.convert(entries(policy, adoptions), dict[str, NamespaceSettings])
    then = plan(msgspec.structs.replace(policy, namespaces=policy.namespaces | allowing))
    for each, free in zip(adoptions, then, strict=True):
        each.needs = () if free.messages else each.needs
        each.messages = (*each.messages, *(new for new in free.messages if new not in each.messages))


def needs_of(part: Asked, accepted: Container[str]) -> Iterator[Need]:
    """Yield what the limits don't allow of what an Ingress says, or its part.

    What protects has to be copied. What else an Ingress has only needs to be where a new one takes its place.
    """
    item, spec, here = part.item, part.spec, part.here
    hosts = (rule.host or EVERY_HOST for rule in spec.rules or ())
    yield from (Need("hosts", host) for host in hosts if not here.allows_host(host))
    ingress_class = class_of(item, spec) or here.default_class
    if ingress_class and not here.allows_class(ingress_class):
        yield Need("classes", ingress_class)
    yield from (Need("pathTypes", path.path_type) for _, path in spec.paths() if path.path_type not in here.path_types)
    guards = protecting(item, here, tls=bool(spec.tls))
    for key, value in item.annotations.items():
        may_go = part.stays or key.startswith(BOOKKEEPING) or f"metadata.annotations.{key}" in accepted
        is_kept_out = key not in here.added_with_tls and not wrong_copied_key(key)
        if (key in guards or key == CANARY or not may_go) and is_kept_out:
            yield from (Need(COPY, key, value) for _ in filter(None, [not_allowed(key, value, here.copy_annotations)]))


def entries(policy: Policy, adoptions: Iterable[Adoption]) -> dict[str, Any]:
    """Return the entries of `namespaces`, as the settings file has them, that allow what the Ingresses need.

    Each has what holds there by its entry or pattern, too.
    """
    made: dict[str, Any] = {}
    for adoption in sorted(adoptions, key=lambda each: each.item.namespace):
        own = policy.entry_of(adoption.item.namespace)
        holds = msgspec.to_builtins(overlay(own.limits or NO_LIMITS, policy.whole.limits))
        for limit, name, value in adoption.needs:
            limits = made.setdefault(adoption.item.namespace, msgspec.to_builtins(own)).setdefault("limits", {})
            allowed = limits.get(limit, holds[limit])
            if limit == COPY:
                limits[limit] = {**allowed, name: [*dict.fromkeys([*allowed.get(name, ()), value])]}
            else:
                limits[limit] = [*dict.fromkeys([*allowed, name])]
    return made
