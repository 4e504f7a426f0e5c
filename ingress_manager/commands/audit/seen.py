"""What is seen for an audit: a view in which nothing is paused, with what several finders need, sorted out once."""

from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

from ingress_manager.commands.printing import Command
from ingress_manager.commands.reading.manifests import Item
from ingress_manager.commands.view.look import ServiceView, View
from ingress_manager.commands.view.objects import ObjectView
from ingress_manager.commands.view.surroundings import Surroundings
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

    def __init__(self, view: View, policy: Policy | None, around: Surroundings) -> None:
        self.view, self.policy, self.around = view, policy, around
        # Without the settings, nobody knows what a Service should have.
        decided = [each for each in view.services.values() if each.decision]
        self.exposed = [each for each in decided if each.is_exposed or each.observed]
        self.accepted = [each for each in self.exposed if not (each.refused or each.item.is_being_deleted)]
        """The Services whose desired objects Metacontroller makes."""

        self.absent = [
            (service, key, view.objects.get(key))
            for service in self.accepted
            for key in service.desired
            if key not in service.observed or service.observed[key].item.is_being_deleted
            if key in view.objects or key[0] not in view.known.unread
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

        ours = [(each, view.owner_of(each)) for each in view.objects.values() if each.looks_ours]
        ours = [(each, owner) for each, owner in ours if not each.item.is_being_deleted]
        self.standing = [(each, owner) for each, owner in ours if owner and each.is_marked]
        """What Metacontroller takes for made for a Service."""

        self.alone = [(each, owner) for each, owner in ours if view.policy and not (owner and each.is_marked)]
        """What says that it is ours, and Metacontroller takes for no Service's; with the Service that controls it."""

    def asking_for(self, each: ObjectView) -> ServiceView | None:
        """Return the Service that asks for an object, or that may ask for it once it is not refused."""
        # No Service's name has a dot: what is behind it tells one of its objects from the others.
        namesake = self.view.services.get(each.item.full_name.partition(".")[0])
        if not namesake or entrance_of(namesake.item.name, each.key[1]) not in namesake.entrances:
            return None
        return namesake if namesake.refused or each.key in namesake.desired else None

    def undone(self, service: ServiceView, item: Item, sentence: str, about: Key | None = None) -> Finding:
        """Return the finding that Metacontroller has not done something, with the command that makes it do so."""
        if isinstance(self.policy, Policy) and self.policy.entry_of(item.namespace).paused:
            return Finding(item, f"{sentence}, because of the pause", service=service.item, about=about)
        return Finding(item, sentence, SYNC_ALL, service.item, about=about)


Finder = Callable[[Seen], Found]
