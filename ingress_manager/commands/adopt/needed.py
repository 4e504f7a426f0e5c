"""The settings that would allow more adoptions. Each namespace is allowed only what its own Ingresses need."""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from typing import Any

import msgspec

from ingress_manager.commands.adopt.adoption import Adoption, Need
from ingress_manager.commands.snapshot.items import Item
from ingress_manager.commands.snapshot.managed import BOOKKEEPING
from ingress_manager.commands.snapshot.objects import as_spec
from ingress_manager.core.annotations import PATH_TYPES
from ingress_manager.core.copying import ANY, COPIED, why_not_copied, wrong_copied_key
from ingress_manager.core.effective import EffectiveSettings, effective_settings
from ingress_manager.core.kubernetes import Object
from ingress_manager.core.settings import Limits, Settings
from ingress_manager.core.syntax import EVERY_HOST
from ingress_manager.core.vocabulary import protects


def find_needs(
    adoptions: Sequence[Adoption],
    settings: Settings,
    plan: Callable[[Settings], Sequence[Adoption]],
    accepted: Container[str],
) -> None:
    """Set `needs` on adoptions that only limits prevent. To other failed adoptions, add messages that the limits hid.

    `plan` plans the same adoptions, in order, for other settings. Users accept changes to `accepted` fields.
    """
    refused = [adoption for adoption in adoptions if adoption.messages]
    if not refused:
        return
    keys = {key for adoption in refused for key in adoption.item.annotations if not wrong_copied_key(key)}
    dropped = {key for key in keys if key.startswith(BOOKKEEPING) or f"metadata.annotations.{key}" in accepted}
    for adoption, free in zip(adoptions, plan(lifted(settings, sorted(keys - dropped))), strict=True):
        if adoption.messages:
            adoption.needs = tuple(dict.fromkeys(needs_of(free, effective_settings(settings, adoption.item.namespace))))
            hidden = (message for message in free.messages if message not in adoption.messages)
            adoption.messages = [*adoption.messages, *hidden]


def lifted(settings: Settings, copied: Iterable[str]) -> Settings:
    """Return settings that also allow all hosts, classes and path types, and copying the annotations in `copied`."""
    replace = msgspec.structs.replace

    def without(limits: Limits) -> Limits:
        copies = {**limits.copy_annotations, **dict.fromkeys(copied, ANY)}
        return replace(limits, hosts=ANY, classes=ANY, path_types=PATH_TYPES, copy_annotations=copies)

    entries = {name: replace(entry, limits=without(entry.limits)) for name, entry in settings.namespaces.items()}
    return replace(settings, limits=without(settings.limits), namespaces=entries)


def needs_of(adoption: Adoption, effective: EffectiveSettings) -> Iterator[Need]:
    """Yield each value that an adoption's Ingresses need but the limits in `effective` don't allow."""
    for ingress in (ingress for part in adoption.parts for ingress in part.ingresses):
        annotations, spec = ingress["metadata"].get("annotations", {}), as_spec(Item(ingress))
        hosts = (rule.host or EVERY_HOST for rule in spec.rules or ())
        yield from (("hosts", host) for host in hosts if not effective.allows_host(host))
        if effective.why_not_allowed(spec.ingress_class_name, effective.limits.classes):
            yield "classes", str(spec.ingress_class_name)
        types = (path.path_type for _, path in spec.paths())
        yield from (("pathTypes", type_) for type_ in types if type_ not in effective.limits.path_types)
        for key in filter(None, annotations.get(COPIED, "").split(", ")):
            is_needed = key in adoption.item.annotations or (protects(key) and key not in effective.accepted_losses)
            if is_needed and why_not_copied(key, annotations[key], effective.limits.copy_annotations):
                yield "copyAnnotations", key, annotations[key]


def entries(settings: Settings, adoptions: Iterable[Adoption]) -> dict[str, Any]:
    """Return the entries to change under `namespaces` in the settings, with the values that the adoptions need."""
    needed: dict[str, Any] = {}
    general = msgspec.to_builtins(settings)
    for adoption in sorted(adoptions, key=lambda adoption: adoption.item.namespace):
        entry = msgspec.to_builtins(settings.entry_for(adoption.item.namespace))
        for limit, name, *value in adoption.needs:
            limits = needed.setdefault(adoption.item.namespace, overrides_of(entry, general)).setdefault("limits", {})
            allowed = limits.get(limit, entry["limits"][limit])
            if value:
                limits[limit] = {**allowed, name: [*dict.fromkeys([*allowed.get(name, ()), *value])]}
            else:
                limits[limit] = [*dict.fromkeys([*allowed, name])]
    return needed


def overrides_of(entry: Object, general: Object) -> Object:
    """Return the fields, including nested ones, in which a namespace's entry differs from the general settings."""
    differ = {field: value for field, value in entry.items() if value != general[field]}
    for field in differ.keys() & {"defaults", "limits"}:
        differ[field] = {key: value for key, value in entry[field].items() if value != general[field][key]}
    return differ
