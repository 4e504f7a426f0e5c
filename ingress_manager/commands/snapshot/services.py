"""The snapshot of a cluster or of files: the observed objects, and one decision on each Service."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from ingress_manager.commands.snapshot.items import SERVICE, Item
from ingress_manager.commands.snapshot.objects import TYPES, ObjectSnapshot, as_object, as_type, backends_of
from ingress_manager.core.annotations import Requested, read_entrances
from ingress_manager.core.decide import Decision, Desired, Refused, RemovedFirst, decide, refusal_of
from ingress_manager.core.errors import Problem, Problems
from ingress_manager.core.kubernetes import Attachment, Key, Object, Observed, Service
from ingress_manager.core.settings import Settings

UNREAD_SETTINGS = "settings"  # the key of the settings in `Gaps.unread`


@dataclass(slots=True)
class Gaps:
    """Data that could not be read. A kind missing from the files counts as unread: the files may be incomplete."""

    unread: dict[str, str] = field(default_factory=dict)
    """Messages by kind. Other keys: UNREAD_SETTINGS, "namespace" (it is empty), "namespaces" (some lack Services)."""

    lacking: set[str] = field(default_factory=set)
    """The kinds that the cluster lacks and that Metacontroller therefore can't manage."""

    optional: set[str] = field(default_factory=set)
    """The kinds that needn't be read unless a Service requests an object of that kind."""


@dataclass(frozen=True)
class ServiceSnapshot:
    """A Service, with its observed and desired objects."""

    item: Item
    service: Service
    observed: Mapping[Key, ObjectSnapshot]
    decision: Decision | None  # None if the settings could not be read

    @cached_property
    def entrances(self) -> dict[str, Requested]:
        return read_entrances(self.item.annotations)

    @cached_property
    def desired(self) -> Mapping[Key, Object]:
        return {} if isinstance(self.decision, Refused | None) else self.decision.objects

    @property
    def refused(self) -> Problems | None:
        return refusal_of(self.decision) if self.decision else None

    @property
    def forbidden(self) -> Mapping[Key, Problem]:
        """Return the observed objects that the settings forbid, each with the reason."""
        return self.decision.forbidden if isinstance(self.decision, RemovedFirst) else {}

    @property
    def is_exposed(self) -> bool:
        """Return whether the Service requests an object. A refused Service counts as requesting one."""
        if isinstance(self.decision, Desired):
            return bool(self.decision.objects)
        return bool(self.decision or self.entrances)


@dataclass(slots=True)
class Snapshot:
    """All Services and objects that were read. If one was read twice, the last version counts."""

    settings: Settings | None  # None if the settings could not be read
    gaps: Gaps
    services: dict[str, ServiceSnapshot] = field(default_factory=dict)  # by namespace/name
    objects: dict[Key, ObjectSnapshot] = field(default_factory=dict)

    def owner_of(self, obj: ObjectSnapshot) -> ServiceSnapshot | None:
        """Return the Service that controls an object, or None if no existing Service does."""
        service = self.services.get(obj.service)
        return service if service and obj.owner_uid == service.service.metadata.uid != "" else None

    def referring_to(self, service: Item) -> list[ObjectSnapshot]:
        """Return the objects that have a Service as a backend, whoever created them."""
        here = (obj for obj in self.objects.values() if obj.item.namespace == service.namespace)
        return [obj for obj in here if (SERVICE, service.name) in backends_of(obj)]

    def unseen(self) -> dict[str, str]:
        """Return the messages in `gaps.unread`, except those about optional kinds that no Service requests."""
        skipped = self.gaps.optional - {kind for service in self.services.values() for kind, _ in service.desired}
        return {kind: sentence for kind, sentence in self.gaps.unread.items() if kind not in skipped}

    def decided(self, service: Service, observed: Mapping[Key, ObjectSnapshot]) -> Decision | None:
        """Return the hook's decision on a Service with the `observed` objects, or None if the settings are unread."""
        if self.settings is None:
            return None
        by_kind: dict[str, dict[str, Attachment]] = {kind: {} for kind in TYPES}
        for (kind, name), obj in observed.items():
            by_kind[kind][name] = obj.typed
        # Metacontroller doesn't manage a kind that the cluster doesn't have.
        ingresses, *others = (None if kind in self.gaps.lacking else objects for kind, objects in by_kind.items())
        return decide(service, Observed(ingresses or {}, *others), self.settings)

    def decided_by(self, settings: Settings) -> "Snapshot":
        other = Snapshot(settings, self.gaps, objects=self.objects)
        for label, service in self.services.items():
            other.services[label] = replace(service, decision=other.decided(service.service, service.observed))
        return other

    def desired_once_allowed(self, service: ServiceSnapshot) -> Mapping[Key, Object]:
        """Return the objects that will be desired for a Service once its forbidden objects have been removed."""
        if not isinstance(service.decision, RemovedFirst):
            return service.desired
        kept = {key: obj for key, obj in service.observed.items() if key not in service.forbidden}
        decision = self.decided(service.service, kept)
        return decision.objects if isinstance(decision, Desired) else {}


def snapshot_of(items: Iterable[Item], settings: Settings | None, gaps: Gaps | None = None) -> Snapshot:
    """Return a snapshot of `items`, without decisions if `settings` is None. Raises Unreadable for invalid objects."""
    snapshot = Snapshot(settings, gaps or Gaps())
    services: dict[str, tuple[Item, Service]] = {}
    for item in items:
        if item.kind == SERVICE:
            services[item.full_name] = item, as_type(item, Service)
        elif item.kind in TYPES:
            obj = as_object(item)
            snapshot.objects[obj.key] = obj
    owned: dict[str, dict[Key, ObjectSnapshot]] = {}
    for obj in snapshot.objects.values():
        if obj.is_decorated and obj.owner_uid:
            owned.setdefault(obj.owner_uid, {})[obj.key] = obj
    for label, (item, service) in services.items():
        observed = owned.get(service.metadata.uid, {})
        snapshot.services[label] = ServiceSnapshot(item, service, observed, snapshot.decided(service, observed))
    return snapshot
