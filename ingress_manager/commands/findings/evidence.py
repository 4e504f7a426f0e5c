"""The evidence that findings rest on: a snapshot in which nothing is paused, sorted once for all of them."""

from ingress_manager.commands.snapshot.objects import ObjectSnapshot
from ingress_manager.commands.snapshot.services import ServiceSnapshot, Snapshot
from ingress_manager.commands.snapshot.surroundings import Surroundings
from ingress_manager.core.annotations import entrance_of
from ingress_manager.core.settings import Settings


class Evidence:
    """A snapshot with its surroundings; `settings` say what is paused, None if they could not be read.

    What could not be read is no evidence: no list below holds something because an object is unknown.
    """

    def __init__(self, snapshot: Snapshot, settings: Settings | None, around: Surroundings) -> None:
        self.snapshot, self.settings, self.around = snapshot, settings, around
        # Without the settings, nobody knows what a Service should have.
        decided = [service for service in snapshot.services.values() if service.decision]
        self.exposed = [service for service in decided if service.is_exposed or service.observed]
        self.accepted = [service for service in self.exposed if not (service.refused or service.item.is_being_deleted)]
        """The Services whose desired objects Metacontroller makes."""

        self.missing = [
            (service, key, snapshot.objects.get(key))
            for service in self.accepted
            for key in service.desired
            if key not in service.observed or service.observed[key].item.is_being_deleted
            if key in snapshot.objects or key[0] not in snapshot.known.unread
        ]
        """Desired objects that are not observed, or being deleted: Service, key, and the object of that name."""

        pairs = [(service, obj) for service in self.exposed for obj in service.observed.values()]
        pairs = [(service, obj) for service, obj in pairs if not obj.item.is_being_deleted]
        self.observed = [(service, obj, service.forbidden.get(obj.key)) for service, obj in pairs]
        """Observed objects of Services, each with the reason why it is forbidden, or None."""

        kept = [(service, obj) for service, obj in pairs if not service.item.is_being_deleted]
        self.allowed = [(service, obj) for service, obj in kept if obj.key not in service.forbidden]
        """Observed objects that are not forbidden, of Services that are not being deleted."""

        ours = [(obj, snapshot.owner_of(obj)) for obj in snapshot.objects.values() if obj.looks_managed]
        ours = [(obj, owner) for obj, owner in ours if not obj.item.is_being_deleted]
        self.managed = [(obj, owner) for obj, owner in ours if owner and obj.is_decorated]
        self.unmanaged = [(obj, owner) for obj, owner in ours if snapshot.settings and not (owner and obj.is_decorated)]
        """Objects labelled or marked as ours that Metacontroller doesn't manage, with the Service that owns them."""

    def service_requesting(self, obj: ObjectSnapshot) -> ServiceSnapshot | None:
        """Return the Service that requests an object, or may request it once it is no longer refused."""
        # No Service's name has a dot: the first one ends the Service's part of the object's name.
        service = self.snapshot.services.get(obj.item.full_name.partition(".")[0])
        if not service or entrance_of(service.item.name, obj.key[1]) not in service.entrances:
            return None
        return service if service.refused or obj.key in service.desired else None
