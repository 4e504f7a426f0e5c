"""The snapshot of a cluster, or of files: what is observed, and what is desired for each Service, which is decided on once.

What could not be read isn't the same as what isn't there: `Known` tells them apart.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from ingress_manager.commands.snapshot.items import SERVICE, Item
from ingress_manager.commands.snapshot.objects import TYPES, ObjectSnapshot, as_object, as_type
from ingress_manager.core.annotations import Stated, read_entrances
from ingress_manager.core.decide import Decision, Desired, Refused, RemovedFirst, decide, refusal_of
from ingress_manager.core.errors import Problem, Problems
from ingress_manager.core.kubernetes import Key, Object, Observed, Service
from ingress_manager.core.policy import Policy

UNREAD_SETTINGS = "settings"
"""What `Known.unread` calls the settings."""


@dataclass(slots=True)
class Known:
    """How far one could look.

    A dump in files may have been made without a kind, so that one of which it holds no object is unread, too.
    """

    unread: dict[str, str] = field(default_factory=dict)
    """What could not be read, a kind or UNREAD_SETTINGS, with the sentence that says why."""

    lacking: set[str] = field(default_factory=set)
    """The kinds that the cluster doesn't know, so that Metacontroller can't look after any."""

    optional: set[str] = field(default_factory=set)
    """The kinds that are unread, which matters only where a Service asks for one."""


@dataclass(frozen=True)
class ServiceSnapshot:
    """A Service, with what is observed of what was made for it, and what is desired."""

    item: Item
    service: Service
    observed: Mapping[Key, ObjectSnapshot]
    """What Metacontroller takes for made for it."""

    decision: Decision | None
    """None where the settings could not be read."""

    @cached_property
    def entrances(self) -> dict[str, Stated]:
        """Return what its annotations ask for, by the name of the entrance."""
        return read_entrances(self.item.annotations)

    @cached_property
    def desired(self) -> Mapping[Key, Object]:
        """Return what should exist for it."""
        return {} if isinstance(self.decision, Refused | None) else self.decision.objects

    @property
    def refused(self) -> Problems | None:
        """Return why it is refused, None if it is not."""
        return refusal_of(self.decision) if self.decision else None

    @property
    def forbidden(self) -> Mapping[Key, Problem]:
        """Return which of the objects that were made for it the settings forbid, and why."""
        return self.decision.forbidden if isinstance(self.decision, RemovedFirst) else {}

    @property
    def is_exposed(self) -> bool:
        """Return whether it asks for something, even if it is refused."""
        if isinstance(self.decision, Desired):
            return bool(self.decision.objects)
        return bool(self.decision or self.entrances)


@dataclass(slots=True)
class Snapshot:
    """What there is. Of an object that was read twice, the last counts."""

    policy: Policy | None
    """None where the settings could not be read."""

    known: Known
    services: dict[str, ServiceSnapshot] = field(default_factory=dict)
    """By namespace/name."""

    objects: dict[Key, ObjectSnapshot] = field(default_factory=dict)

    def owner_of(self, each: ObjectSnapshot) -> ServiceSnapshot | None:
        """Return the Service that controls an object, None if it isn't there. All Services of a snapshot are known."""
        found = self.services.get(each.service)
        return found if found and each.owner_uid == found.service.metadata.uid != "" else None

    def unseen(self) -> dict[str, str]:
        """Return what of the unread matters here: a kind that may not be there doesn't where no Service asks for it."""
        skipped = self.known.optional - {kind for each in self.services.values() for kind, _ in each.desired}
        return {what: sentence for what, sentence in self.known.unread.items() if what not in skipped}

    def decided(self, service: Service, observed: Mapping[Key, ObjectSnapshot]) -> Decision | None:
        """Return what the hook answers to a Service with these objects; None where the settings are unknown."""
        if self.policy is None:
            return None
        found = {kind: {name: each.typed for (its, name), each in observed.items() if its == kind} for kind in TYPES}
        # Metacontroller doesn't look after the kinds that are lacking.
        ingresses, *others = (None if kind in self.known.lacking else each for kind, each in found.items())
        return decide(service, Observed(ingresses or {}, *others), self.policy)

    def desired_once_allowed(self, service: ServiceSnapshot) -> Mapping[Key, Object]:
        """Return what a Service would be given if nothing stood in its way."""
        if not isinstance(service.decision, RemovedFirst):
            return service.desired
        kept = {key: each for key, each in service.observed.items() if key not in service.forbidden}
        then = self.decided(service.service, kept)
        return then.objects if isinstance(then, Desired) else {}


def snapshot_of(items: Iterable[Item], policy: Policy | None, known: Known | None = None) -> Snapshot:
    """Return what there is among the items, and what becomes of each Service by the settings `policy`.

    Raises Unreadable for what no API server takes.
    """
    snapshot = Snapshot(policy, known or Known())
    services: dict[str, tuple[Item, Service]] = {}
    for item in items:
        if item.kind == SERVICE:
            services[item.full_name] = item, as_type(item, Service)
        elif item.kind in TYPES:
            each = as_object(item)
            snapshot.objects[each.key] = each
    made_for: dict[str, dict[Key, ObjectSnapshot]] = {}
    for each in snapshot.objects.values():
        if each.is_decorated and each.owner_uid:
            made_for.setdefault(each.owner_uid, {})[each.key] = each
    for label, (item, service) in services.items():
        observed = made_for.get(service.metadata.uid, {})
        snapshot.services[label] = ServiceSnapshot(item, service, observed, snapshot.decided(service, observed))
    return snapshot
