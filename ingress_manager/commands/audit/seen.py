"""What is seen for an audit: a view in which nothing is paused, with what several finders need, sorted out once."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from ingress_manager.commands.audit import remedies
from ingress_manager.commands.plans.steps import kubectl
from ingress_manager.commands.printing.words import Command
from ingress_manager.commands.reading.manifests import Item
from ingress_manager.commands.view.known import UNKNOWN, Unknown
from ingress_manager.commands.view.look import ServiceView, View
from ingress_manager.commands.view.objects import ObjectView, is_being_deleted
from ingress_manager.commands.view.surroundings import Surroundings
from ingress_manager.core.entrances import entrance_for
from ingress_manager.core.errors import Reason
from ingress_manager.core.kubernetes import Key
from ingress_manager.core.policy import Policy


class Finding(NamedTuple):
    """Something that needs a person."""

    item: Item
    sentence: str
    command: Command = ()
    """What fixes it; empty where no command does."""

    reasons: Sequence[Reason] = ()
    """Why the Service is refused, or the object is forbidden, in the words of the Events, logs and metrics."""

    kind: str = ""
    """A key of `kinds.KINDS`, which gives it."""

    about: Key | None = None
    """The object that it is about, if that isn't `item`."""


Found = Iterator[Finding]


class Standing(NamedTuple):
    """An object that was made for a Service, and isn't being deleted, with what is around it."""

    each: ObjectView
    service: ServiceView
    around: Surroundings


class Seen:
    """What there is, sorted out for the finders; `policy` says what is paused."""

    def __init__(self, view: View, policy: Policy | Unknown, around: Surroundings) -> None:
        self.view, self.policy, self.around = view, policy, around
        self.exposed = [each for each in view.services.values() if each.is_exposed or each.observed]
        self.accepted = [each for each in self.exposed if not (each.refused or is_being_deleted(each.item))]
        """The Services whose desired objects Metacontroller makes."""

        missing = [
            (service, key)
            for service in self.accepted
            for key in service.desired
            if key not in service.observed or is_being_deleted(service.observed[key].item)
        ]
        self.absent = [(service, key, view.object(key)) for service, key in missing]
        """What Services ask for and Metacontroller doesn't have, or not for long, with what has its name."""

        self.made = [
            (service, each, forbidden.get(key))
            for service in self.exposed
            for forbidden in [view.forbidden(service)]
            for key, each in service.observed.items()
        ]
        """What was made for Services, each with why it is forbidden, if it is."""

        self.settled = [
            (service, each)
            for service, each, forbidden in self.made
            if not (forbidden or is_being_deleted(each.item) or is_being_deleted(service.item))
            and not isinstance(service.decision, Unknown)
        ]
        """What was made for Services, and may stand."""

        ours = [(each, view.owner_of(each)) for each in view.objects.values() if each.looks_ours]
        self.alone = [
            (each, owner) for each, owner in ours if not (isinstance(owner, Unknown) or (owner and each.is_marked))
        ]
        """What says that it is ours, and Metacontroller takes for no Service's; with the Service that controls it."""

        standing = [(each, owner) for each, owner in ours if each.is_marked and not is_being_deleted(each.item)]
        self.standing = [Standing(each, owner, around) for each, owner in standing if isinstance(owner, ServiceView)]

    def asking_for(self, each: ObjectView) -> ServiceView | Unknown | None:
        """Return the Service that asks for an object, or that may ask for it once it is not refused."""
        # No Service's name has a dot: what is behind it tells one of its objects from the others.
        namesake = self.view.service(each.item.full_name.partition(".")[0])
        if isinstance(namesake, Unknown) or not namesake:
            return namesake
        if entrance_for(namesake.service, each.key) not in namesake.entrances:
            return None
        if isinstance(namesake.decision, Unknown):
            return UNKNOWN
        return namesake if namesake.refused or each.key in namesake.desired else None

    def undone(self, item: Item, sentence: str, about: Key | None = None) -> Finding:
        """Return the finding that Metacontroller has not done something, with the command that makes it do so."""
        if isinstance(self.policy, Policy) and self.policy.paused_in(item.namespace):
            return Finding(item, f"{sentence}, because of the pause", about=about)
        return Finding(item, sentence, remedies.SYNC_ALL, about=about)

    def of_another_host(self, each: ObjectView) -> Command:
        """Return the command that gives another host to an object, or to the Service that controls it."""
        owner = self.view.owner_of(each)
        if not isinstance(owner, ServiceView):
            return kubectl("edit", each.item)
        return remedies.other_host(owner.item, entrance_for(owner.service, each.key))


Finder = Callable[[Seen], Found]
