"""The settings that Ingresses would need: limits under which all can be adopted that nothing but limits keeps out.

They allow only what these Ingresses say, hosts, classes and values one by one, and only in the namespace of each.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import msgspec

from ingress_manager.commands.adopt.planned import Adoption
from ingress_manager.commands.annotating.annotated import is_bookkeeping, protecting
from ingress_manager.commands.reading.manifests import Item
from ingress_manager.core.annotations import PATH_TYPES, PROFILE
from ingress_manager.core.copying import ANY, COPIED, not_allowed, wrong_copied_key, wrong_value
from ingress_manager.core.kubernetes import Object
from ingress_manager.core.namespace_policy import NamespacePolicy, in_namespace
from ingress_manager.core.policy import NO_LIMITS, Limits, NamespaceSettings, Policy
from ingress_manager.core.syntax import EVERY_HOST
from ingress_manager.core.text import quoted


class Need(NamedTuple):
    """Something that a limit doesn't allow, and that an Ingress says."""

    limit: str
    """The field of `limits`, as the settings name it."""

    name: str
    value: str = ""
    """That of an annotation."""

    def __str__(self) -> str:
        """Return it as a person reads it."""
        return f"limits.{self.limit}: {self.name}{f': {quoted(self.value)}' if self.limit == COPY else ''}"


HOSTS, CLASSES, TYPES, COPY, PROFILES = "hosts", "classes", "pathTypes", "copyAnnotations", "profiles"

Choice = Callable[[Mapping[str, str], NamespacePolicy], dict[str, str]]
"""Returns some of the annotations of an Ingress."""

Plan = Callable[[Policy], Sequence[Adoption]]
"""Returns what becomes of the same Ingresses, in the same order, by other settings."""


def needed(before: Sequence[Adoption], policy: Policy, plan: Plan) -> list[tuple[Need, ...]]:
    """Return for each Ingress what keeps it out if nothing but limits does; nothing for any other.

    What protects has to be copied; what else an Ingress has, only where a new one takes its place, and would lack it.
    What limits have hidden of one that no limit lets in is added to its messages.
    """
    found: list[tuple[Need, ...]] = [() for _ in before]
    for copied in (partial(protecting, tls=True), meant):
        out = [each.item if each.messages and not known else None for each, known in zip(before, found, strict=True)]
        lifted = plan(lifting(policy, [item for item in out if item], copied))
        for number, (item, each) in enumerate(zip(out, lifted, strict=True)):
            if item and each.becomes:
                found[number] = tuple(dict.fromkeys(needs_of(each.objects, in_namespace(policy, item.namespace))))
    for item, each, even_so in zip(out, before, lifted, strict=True):
        hidden = [message for message in even_so.messages if item and message not in each.messages]
        told = (replace(message, sentence=f"limits aside, {message.sentence}") for message in hidden)
        each.messages = (*each.messages, *told)
    after = plan(allowing(policy, before, found))
    return [needs if each.becomes else () for each, needs in zip(after, found, strict=True)]


def lifting(policy: Policy, ingresses: Iterable[Item], copied: Choice) -> Policy:
    """Return the settings without limits in the namespaces of Ingresses, of whose annotations some are copied."""
    needs: dict[str, list[Need]] = {}
    for item in ingresses:
        needs.setdefault(item.namespace, []).extend(
            Need(COPY, key, value)
            for key, value in copied(item.annotations, in_namespace(policy, item.namespace)).items()
            if not (wrong_copied_key(key) or wrong_value(key, value)) and value.isprintable()
        )
    lifted = dict[str, Any](hosts=ANY, classes=ANY, path_types=PATH_TYPES, profiles=ANY)
    limits = {name: wider(in_namespace(policy, name), each) | lifted for name, each in needs.items()}
    return with_limits(policy, limits)


def meant(annotations: Mapping[str, str], _here: NamespacePolicy) -> dict[str, str]:
    """Return those annotations of an Ingress that one in its place must not lack."""
    return {key: value for key, value in annotations.items() if not is_bookkeeping(key)}


def needs_of(objects: Iterable[Object], here: NamespacePolicy) -> Iterator[Need]:
    """Yield what the limits don't allow of what is made."""
    for each in objects:
        metadata, spec = each["metadata"], each["spec"]
        stated = metadata.get("annotations", {})
        if each["kind"] == "Ingress":
            ingress_class = spec.get("ingressClassName")
            rules = [(rule.get("host", EVERY_HOST), rule["http"]["paths"]) for rule in spec.get("rules", ())]
            yield from (Need(HOSTS, host) for host, _ in rules if not here.allows_host(host))
            yield from [] if here.allows_class(ingress_class) else [Need(CLASSES, str(ingress_class))]
            types = (path["pathType"] for _, paths in rules for path in paths)
            yield from (Need(TYPES, each) for each in types if each not in here.path_types)
        if (profile := stated.get(PROFILE)) and profile not in here.usable_profiles():
            yield Need(PROFILES, profile)
        for key in stated.get(COPIED, "").split(", "):
            if key and not_allowed(key, stated[key], here.copy_annotations):
                yield Need(COPY, key, stated[key])


def allowing(policy: Policy, adoptions: Sequence[Adoption], found: Sequence[Sequence[Need]]) -> Policy:
    """Return the settings with what the Ingresses of these adoptions need."""
    by_namespace: dict[str, list[Need]] = {}
    for adoption, needs in zip(adoptions, found, strict=True):
        if needs:
            by_namespace.setdefault(adoption.item.namespace, []).extend(needs)
    limits = {name: wider(in_namespace(policy, name), needs) for name, needs in sorted(by_namespace.items())}
    return with_limits(policy, limits)


def wider(here: NamespacePolicy, needs: Sequence[Need]) -> dict[str, Any]:
    """Return the limits of a namespace, those that have to allow something more."""

    def more(limit: str, allowed: Sequence[str] | None) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*(allowed or ()), *(each.name for each in needs if each.limit == limit)]))

    copied: dict[str, Any] = {**here.copy_annotations}
    for each in needs:
        if each.limit == COPY and copied.get(each.name) != ANY:
            copied[each.name] = tuple(dict.fromkeys([*copied.get(each.name, ()), each.value]))
    whole = {
        HOSTS: more(HOSTS, here.hosts),
        CLASSES: more(CLASSES, here.classes),
        TYPES: more(TYPES, here.path_types),
        COPY: copied,
        PROFILES: more(PROFILES, here.allowed_profiles),
    }
    fields = {field.encode_name: field.name for field in msgspec.structs.fields(Limits)}
    return {fields[limit]: whole[limit] for limit in dict.fromkeys(each.limit for each in needs)}


def with_limits(policy: Policy, limits: dict[str, dict[str, Any]]) -> Policy:
    """Return the settings with these limits in namespaces, each beside what holds there by its entry or pattern."""
    entries = {}
    for name, fields in limits.items():
        own = policy.entry_of(name)
        widened = msgspec.structs.replace(own.limits or NO_LIMITS, **fields)
        entries[name] = NamespaceSettings(own.defaults, widened, own.paused)
    return msgspec.structs.replace(policy, namespaces=policy.namespaces | entries)


def entries(policy: Policy, adoptions: Sequence[Adoption], found: Sequence[Sequence[Need]]) -> dict[str, Any]:
    """Return the entries of `namespaces`, as the settings file has them, that allow what the Ingresses need."""
    namespaces = {each.item.namespace for each, needs in zip(adoptions, found, strict=True) if needs}
    allowed = allowing(policy, adoptions, found).namespaces
    return {name: msgspec.to_builtins(allowed[name]) for name in sorted(namespaces)}
