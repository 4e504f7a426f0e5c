"""The Service annotations that would reproduce an existing Ingress. Each Service requests its part of the Ingress."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import yaml

from ingress_manager.commands.adopt.changes import CLASS_FIELD, Change, changes_of
from ingress_manager.commands.snapshot import objects
from ingress_manager.commands.snapshot.items import INGRESS, SERVICE, Item, of_kind
from ingress_manager.commands.snapshot.managed import BOOKKEEPING, is_managed, is_read_from_services_alone
from ingress_manager.commands.snapshot.objects import IngressSpec, as_object, as_spec, backends_of, claim_keys, class_of
from ingress_manager.core import annotations
from ingress_manager.core.annotations import HTTP, PATH_TYPES, PROFILE, is_entrance_name, key_prefix, read_entrances
from ingress_manager.core.copying import why_not_copied
from ingress_manager.core.decide import Decision, Desired, decide
from ingress_manager.core.effective import EffectiveSettings, effective_settings
from ingress_manager.core.kubernetes import NOTHING_OBSERVED, Object, Service
from ingress_manager.core.settings import Settings
from ingress_manager.core.syntax import EVERY_HOST
from ingress_manager.core.vocabulary import EDIT_IN_PLACE, OLD_CLASS, is_read_from_services, protects


@dataclass(frozen=True)
class Part:
    """The part of an Ingress that routes to one Service, and the entrance (annotation group) that will request it."""

    item: Item
    spec: IngressSpec
    """The Ingress's spec, reduced to the rules that route to the Service."""

    service: Item
    entrance: str
    settings: Settings
    requested: Mapping[str, str | None] = field(default_factory=dict)  # annotations for the Service; None removes one

    @cached_property
    def annotations(self) -> dict[str, str | None]:
        """Return the annotations to change on the Service, with their new values; None removes an annotation."""
        return {key: value for key, value in self.requested.items() if self.service.annotations.get(key) != value}

    @cached_property
    def changed(self) -> Item:
        """Return the Service with its new annotations. Its resourceVersion is empty, as the new one isn't known yet."""
        after = {**self.service.annotations, **self.requested}
        annotations = {key: value for key, value in after.items() if value is not None}
        metadata = self.service.metadata | {"annotations": annotations, "resourceVersion": ""}
        return replace(self.service, object=self.service.object | {"metadata": metadata})

    @cached_property
    def typed(self) -> Service:
        return objects.as_type(self.changed, Service)

    @cached_property
    def effective(self) -> EffectiveSettings:
        profile = self.changed.annotations.get(f"{key_prefix(self.entrance)}{PROFILE}")
        return effective_settings(self.settings, self.service.namespace, profile)

    @cached_property
    def decision(self) -> Decision:
        return decide(self.typed, NOTHING_OBSERVED, self.settings)

    @property
    def full_name(self) -> str:
        """Return the namespace/name of the Ingress that this part's entrance requests."""
        return f"{self.service.namespace}/{annotations.object_name(self.entrance, self.service.name)}"

    @property
    def stays(self) -> bool:
        """Return whether the entrance requests an Ingress with the old Ingress's name, so the old Ingress stays."""
        return self.full_name == self.item.full_name

    @property
    def ingresses(self) -> list[Object]:
        """Return the desired Ingresses for all entrances of the Service, or [] if the Service would be refused."""
        desired = self.decision.objects if isinstance(self.decision, Desired) else {}
        return [obj for (kind, _), obj in desired.items() if kind == INGRESS]

    @cached_property
    def ingress(self) -> Object:
        """Return this entrance's desired Ingress, or {} if there is none or the Service would be refused."""
        return next((ingress for ingress in self.ingresses if Item(ingress).full_name == self.full_name), {})

    @cached_property
    def changes(self) -> list[Change]:
        return [*changes_of(self.typed, self.spec, self.item, self.ingress)] if self.ingress else []

    @cached_property
    def dropped(self) -> dict[str, bool]:
        """Return the metadata fields that a recreated Ingress would lack, and whether each restricts access."""
        if not self.ingress:
            return {}
        metadata, tls = self.ingress["metadata"], bool(self.ingress["spec"].get("tls"))
        desired: dict[str, str] = metadata.get("annotations", {})
        guarded = protecting(self.item, self.effective, tls=tls)
        dropped = {}
        for key, value in self.item.annotations.items():
            source = self.changed.annotations if is_read_from_services(key) else desired
            kept = self.changed.annotations if is_read_from_services_alone(key) else desired
            # Some controllers read the class from the annotation, others from the field.
            record = key.startswith(BOOKKEEPING) and (key != OLD_CLASS or self.spec.ingress_class_name in {None, value})
            if source.get(key) != value if key in guarded else not (record or key in kept or key == EDIT_IN_PLACE):
                dropped[f"metadata.annotations.{key}"] = key in guarded
        labels = (key for key in self.item.labels if not key.startswith(BOOKKEEPING) and key not in metadata["labels"])
        return dropped | {f"metadata.labels.{key}": False for key in labels}


def with_annotations(part: Part) -> Part:
    """Return `part` with the annotations that reproduce its Ingress as closely as possible.

    Existing ingress/… annotations stay if they reproduce it equally well. Raises Unreadable for an invalid Service.
    """
    item, effective, start = part.item, part.effective, key_prefix(part.entrance)
    present = annotations.by_entrance(part.service.annotations).get(part.entrance, {})
    excluded = {*effective.added_with_tls, *filter(is_read_from_services_alone, item.annotations)}
    # A command can't show unprintable values.
    shown = [(key, value) for key, value in item.annotations.items() if value.isprintable() and key not in excluded]
    copied = {key: value for key, value in shown if not why_not_copied(key, value, effective.limits.copy_annotations)}
    # Copied annotations affect all entrances. The hook refuses the Service if a protecting one may not be copied.
    enabled = read_entrances(part.service.annotations)
    is_shared = part.entrance or {*enabled} - {part.entrance}
    extra = {} if is_shared else copied | protecting(item, effective, tls=bool(objects.certificates_of(part.spec)))
    unset = {f"{start}{key}": None for key in present if key not in annotations.TABLE or annotations.TABLE[key].adopted}
    reproducing = annotations_for(part.spec, class_of(item, part.spec), effective)
    new = {f"{start}{key}": value for key, value in reproducing.items()}
    full = replace(part, requested=unset | new | extra)
    for key in reversed(new):
        # Leave out annotations that the settings and the ports imply.
        reduced = replace(part, requested={**full.requested, key: None})
        full = reduced if full.ingress and reduced.ingress == full.ingress else full
    kept = replace(part, requested=extra) if part.entrance in enabled else full
    return kept if kept.ingress and not (full.ingress and len(full.changes) < len(kept.changes)) else full


def protecting(item: Item, effective: EffectiveSettings, *, tls: bool) -> dict[str, str]:
    """Return annotations that restrict access, unless settings add them (depending on `tls`) or accept their loss."""
    excluded = {*(effective.added_with_tls if tls else effective.annotations), *effective.accepted_losses}
    excluded.update(filter(is_read_from_services_alone, item.annotations))
    return {key: value for key, value in item.annotations.items() if protects(key) and key not in excluded}


def annotations_for(spec: IngressSpec, ingress_class: str, effective: EffectiveSettings) -> dict[str, str]:
    """Return the ingress/… annotations that request all the rules and TLS of a spec that routes to only one Service.

    Path types outside the limits are omitted. The user must then accept the default type with --accept-changes.
    """
    referring = [(host, path, str(backend.port)) for host, path in spec.paths() if (backend := path.backend.service)]
    port, *more = dict.fromkeys(port for *_, port in referring)
    by_host: dict[str, list[dict[str, str]]] = {}
    for host, path, port_name in referring:
        route = {"path": path.path or "/"}
        if path.path_type in PATH_TYPES[1:] and path.path_type in effective.limits.path_types:
            route["pathType"] = path.path_type
        by_host.setdefault(host or EVERY_HOST, []).append(route | ({"port": port_name} if more else {}))
    words = {HTTP: "true"}
    routes, *others = by_host.values()
    if all(other == routes for other in others):
        words["ingress/host"] = ", ".join(by_host)
    else:
        routes = [{"host": host} | route for host, entries in by_host.items() for route in entries]
    if len(routes) > 1:
        text = yaml.safe_dump(routes, default_flow_style=True, sort_keys=False, width=float("inf"))
        words["ingress/routes"] = text.rstrip()
    else:
        words["ingress/path"] = routes[0]["path"]
        words["ingress/path-type"] = routes[0].get("pathType", PATH_TYPES[0])
    if not more:
        words["ingress/port"] = port
    if ingress_class and ingress_class != effective.default_class:
        words["ingress/class"] = ingress_class
    certificate = next(iter(objects.certificates_of(spec)), None)
    words["ingress/tls"] = "true" if certificate else "false"
    if certificate and certificate.secret_name:
        words["ingress/tls-secret"] = certificate.secret_name
    return words


class Inventory:
    """The existing Services and Ingresses, updated with the changes that earlier plans will make.

    The user accepts changes to the fields in `accepted`, such as spec.tls. Raises Unreadable if an Ingress is invalid.
    """

    def __init__(self, items: Sequence[Item], settings: Settings, accepted: Container[str]) -> None:
        self.settings, self.accepted = settings, accepted
        self.services = {item.full_name: item for item in of_kind(items, SERVICE)}
        # Whether each Ingress is managed, the (Ingress, class) pairs for each claim, and each Service's Ingresses.
        self.ingresses: dict[str, bool] = {}
        self.claims: dict[tuple[str, str, bool], list[tuple[Item, str]]] = {}
        self.referring: dict[str, list[str]] = {}
        for item in of_kind(items, INGRESS):
            self.add(item, managed=is_managed(item))

    def add(self, item: Item, *, managed: bool) -> None:
        spec = as_spec(item)
        self.ingresses[item.full_name] = managed
        for claim in dict.fromkeys(claim_keys(spec)):
            self.claims.setdefault(claim, []).append((item, class_of(item, spec)))
        for _, name in backends_of(as_object(item)):
            self.referring.setdefault(f"{item.namespace}/{name}", []).append(item.full_name)

    def add_planned(self, part: Part) -> None:
        self.services[part.service.full_name] = part.changed
        if part.full_name in self.ingresses:
            self.ingresses[part.full_name] = True
        else:
            # Letters sort after every timestamp, so a planned Ingress is the newest.
            metadata = part.ingress["metadata"] | {"creationTimestamp": "not born yet"}
            self.add(Item(part.ingress | {"metadata": metadata}), managed=True)


def with_entrance(part: Part, inventory: Inventory) -> Part:
    """Return `part` with an existing entrance that already requests its spec, or else with a new entrance."""
    item, service, name = part.item, part.service, part.service.name
    entrances = [*read_entrances(service.annotations)]
    for present in [replace(part, entrance=entrance) for entrance in entrances]:
        # An entrance from an earlier run may lack accepted metadata, but has the same hosts and paths.
        differ = (*(change.field for change in present.changes if not change.is_served_alike), *present.dropped)
        fits = all(field in inventory.accepted and field.startswith(("metadata.", CLASS_FIELD)) for field in differ)
        if present.ingress and fits:
            return present
    if "" not in entrances and service.full_name not in inventory.ingresses:
        return with_annotations(part)
    # The Ingress's name without the Service's name.
    rest = f"-{item.name}-".replace(".", "-").replace(f"-{name}-", "-", 1).strip("-")
    words = (rest[: annotations.LONGEST_ENTRANCE].strip("-"), "also", *(f"also-{number}" for number in range(2, 99)))
    new = (replace(part, entrance=word) for word in words if is_entrance_name(word) and word not in entrances)
    return with_annotations(next(part for part in new if part.full_name not in inventory.ingresses))
