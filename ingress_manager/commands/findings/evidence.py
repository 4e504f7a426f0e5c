"""The evidence for findings: the objects in a snapshot, grouped once for all kinds of findings."""

from ingress_manager.commands.snapshot.objects import ObjectSnapshot
from ingress_manager.commands.snapshot.services import ServiceSnapshot, Snapshot
from ingress_manager.commands.snapshot.surroundings import Surroundings
from ingress_manager.core.annotations import entrance_of
from ingress_manager.core.settings import Settings


class Evidence:
    """Lists of a snapshot's objects, including those in paused namespaces. `missing` omits kinds that weren't read."""

    def __init__(self, snapshot: Snapshot, settings: Settings | None, around: Surroundings) -> None:
        self.snapshot, self.settings, self.around = snapshot, settings, around
        # Without the settings, a Service has no decision.
        decided = [service for service in snapshot.services.values() if service.decision]
        self.exposed = [service for service in decided if service.is_exposed or service.observed]
        self.accepted = [service for service in self.exposed if not (service.refused or service.item.is_being_deleted)]
        """The Services whose desired objects Metacontroller creates."""

        self.missing = [
            (service, key, snapshot.objects.get(key))
            for service in self.accepted
            for key in service.desired
            if key not in service.observed or service.observed[key].item.is_being_deleted
            if key in snapshot.objects or key[0] not in snapshot.gaps.unread
        ]
        """(Service, key, existing object or None) for each desired object that isn't observed, or is being deleted."""

        pairs = [(service, obj) for service in self.exposed for obj in service.observed.values()]
        pairs = [(service, obj) for service, obj in pairs if not obj.item.is_being_deleted]
        self.observed = [(service, obj, service.forbidden.get(obj.key)) for service, obj in pairs]
        """(Service, observed object, problem that forbids the object or None) for objects that aren't being deleted."""

        kept = [(service, obj) for service, obj in pairs if not service.item.is_being_deleted]
        self.allowed = [(service, obj) for service, obj in kept if obj.key not in service.forbidden]
        """(Service, observed object) pairs where the object isn't forbidden and neither is being deleted."""

        ours = [(obj, snapshot.owner_of(obj)) for obj in snapshot.objects.values() if obj.looks_managed]
        ours = [(obj, owner) for obj, owner in ours if not obj.item.is_being_deleted]
        self.managed = [(obj, owner) for obj, owner in ours if owner and obj.is_decorated]
        self.unmanaged = [(obj, owner) for obj, owner in ours if snapshot.settings and not (owner and obj.is_decorated)]
        """(object, its Service or None) for objects that have our label or annotation but aren't managed."""

    def service_requesting(self, obj: ObjectSnapshot) -> ServiceSnapshot | None:
        """Return the Service that requests `obj`, if any. A refused one counts as requesting its entrances' objects."""
        # A Service's name has no dot, so the Service's part of the object's name ends at the first dot.
        service = self.snapshot.services.get(obj.item.full_name.partition(".")[0])
        if not service or entrance_of(service.item.name, obj.key[1]) not in service.entrances:
            return None
        return service if service.refused or obj.key in service.desired else None
