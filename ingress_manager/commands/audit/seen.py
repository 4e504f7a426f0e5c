"""What is seen for an audit: a snapshot in which nothing is paused, with what several finders need, sorted out once."""

from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

from ingress_manager.commands.snapshot.items import Item
from ingress_manager.commands.snapshot.objects import ObjectSnapshot
from ingress_manager.commands.snapshot.services import ServiceSnapshot, Snapshot
from ingress_manager.commands.snapshot.surroundings import Surroundings
from ingress_manager.commands.text import Command
from ingress_manager.core.annotations import entrance_of
from ingress_manager.core.errors import Reason
from ingress_manager.core.kubernetes import Key
from ingress_manager.core.policy import Policy

SYNC_ALL = ("kubectl", "rollout", "restart", "--namespace=metacontroller", "--", "deployment", "metacontroller")
"""Metacontroller syncs every Service when it starts."""


class Severity(StrEnum):
    """How much a finding matters: it is wrong, or somebody may not have meant it, or it may well be as it should.

    A hint doesn't make the exit status 1.
    """

    ERROR = "error"
    WARNING = "warning"
    HINT = "hint"


class Finding(NamedTuple):
    """Something that needs a person."""

    item: Item
    sentence: str
    command: Command = ()
    """What fixes it; empty where no command does."""

    service: Item | None = None
    """The Service that it is about; None where there is none."""

    reasons: Sequence[Reason] = ()
    """Why the Service is refused, or the object is forbidden, in the words of the Events, logs and metrics."""

    about: Key | None = None
    """The object that it is about, if that isn't `item`."""

    kind: str = ""
    severity: Severity = Severity.HINT
    """These two come from the tables of kinds, or of effects."""


Found = Iterator[Finding]


class Seen:
    """What there is, sorted out for the finders; `policy` says what is paused."""

    def __init__(self, snapshot: Snapshot, policy: Policy | None, around: Surroundings) -> None:
        self.snapshot, self.policy, self.around = snapshot, policy, around
        # Without the settings, nobody knows what a Service should have.
        decided = [each for each in snapshot.services.values() if each.decision]
        self.exposed = [each for each in decided if each.is_exposed or each.observed]
        self.accepted = [each for each in self.exposed if not (each.refused or each.item.is_being_deleted)]
        """The Services whose desired objects Metacontroller makes."""

        self.absent = [
            (service, key, snapshot.objects.get(key))
            for service in self.accepted
            for key in service.desired
            if key not in service.observed or service.observed[key].item.is_being_deleted
            if key in snapshot.objects or key[0] not in snapshot.known.unread
        ]
        """What Services ask for and Metacontroller doesn't have, or not for long, with what has its name."""

        self.made = [
            (service, each, service.forbidden.get(key))
            for service in self.exposed
            for key, each in service.observed.items()
            if not each.item.is_being_deleted
        ]
        """What was made for Services, each with why it is forbidden, if it is."""

        self.settled = [
            (service, each) for service, each, why in self.made if not (why or service.item.is_being_deleted)
        ]
        """What was made for Services, and may stand."""

        ours = [(each, snapshot.owner_of(each)) for each in snapshot.objects.values() if each.looks_managed]
        ours = [(each, owner) for each, owner in ours if not each.item.is_being_deleted]
        self.standing = [(each, owner) for each, owner in ours if owner and each.is_decorated]
        """What Metacontroller takes for made for a Service."""

        self.alone = [(each, owner) for each, owner in ours if snapshot.policy and not (owner and each.is_decorated)]
        """What says that it is ours, and Metacontroller takes for no Service's; with the Service that controls it."""

    def asking_for(self, each: ObjectSnapshot) -> ServiceSnapshot | None:
        """Return the Service that asks for an object, or that may ask for it once it is not refused."""
        # No Service's name has a dot: what is behind it tells one of its objects from the others.
        namesake = self.snapshot.services.get(each.item.full_name.partition(".")[0])
        if not namesake or entrance_of(namesake.item.name, each.key[1]) not in namesake.entrances:
            return None
        return namesake if namesake.refused or each.key in namesake.desired else None

    def undone(self, service: ServiceSnapshot, item: Item, sentence: str, about: Key | None = None) -> Finding:
        """Return the finding that Metacontroller has not done something, with the command that makes it do so."""
        if isinstance(self.policy, Policy) and self.policy.entry_of(item.namespace).paused:
            return Finding(item, f"{sentence}, because of the pause", service=service.item, about=about)
        return Finding(item, sentence, SYNC_ALL, service.item, about=about)


Finder = Callable[[Seen], Found]
