"""`status`: what is exposed, at which URLs, and how far it has come, as Kubernetes says it. The pure part.

Each object that is made for a Service is a row, and so is a refused Service that has none. A state says what is known,
and nothing more: where something could not be looked at, it is UNKNOWN, or the last one that is sure.
"""

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

import msgspec

from ingress_manager.commands.audit.audit import Looked
from ingress_manager.commands.audit.seen import Finding
from ingress_manager.commands.snapshot.items import INGRESS, LISTENERSET, Item
from ingress_manager.commands.snapshot.objects import ObjectSnapshot, as_object, backends_of, class_of, deletion_of
from ingress_manager.commands.snapshot.services import ServiceSnapshot
from ingress_manager.commands.snapshot.surroundings import (
    GATEWAY,
    SLICE,
    addresses_of,
    attached_to,
    is_ready,
    is_taken,
    urls_of,
)
from ingress_manager.commands.text import plural
from ingress_manager.core.annotations import entrance_of
from ingress_manager.core.errors import Reason
from ingress_manager.core.kubernetes import Key


class State(StrEnum):
    """How far something that is exposed has come; docs/commands/status.md says what each means."""

    SERVING = "serving"
    ACCEPTED = "accepted"
    WAITING = "waiting"
    REFUSED = "refused"
    UNKNOWN = "unknown"


UNDONE = ("name-taken", "missing", "drifted", "forbidden", "unwanted")
"""The kinds of findings for which an object isn't as its Service asks."""

IN_THE_WAY = ("no-class", "not-accepted", "no-endpoints", "certificate")
"""Those about what an object has around it. They say why nothing answers."""

KINDS_OF_STATES = ("refused", *UNDONE, *IN_THE_WAY)


class Judged(NamedTuple):
    """A state, and what a person has to know of it."""

    state: State
    sentence: str | None = None
    """Why it has come no further."""

    unsure: bool = False
    """Whether it may have come further: that depends on what could not be looked at."""


class Row(msgspec.Struct, frozen=True, rename={"ingress_class": "class"}):
    """Something that is exposed: what is made for a Service, or a Service for which nothing is. As JSON has it."""

    namespace: str
    service: str
    state: State
    sentence: str | None
    unsure: bool
    reasons: Sequence[Reason]
    """Why the Service is refused, in the words of the Events, logs and metrics."""

    entrance: str | None = None
    output: str | None = None
    """The kind of the object; None where there is none."""

    name: str | None = None
    urls: Sequence[str] = ()
    ingress_class: str | None = None
    gateways: Sequence[str] = ()
    addresses: Sequence[str] = ()

    @property
    def about(self) -> str:
        """Return what a person calls it: the Service's name, with that of the entrance in brackets."""
        return f"{self.service} ({self.entrance})" if self.entrance else self.service


class Judge:
    """Judges what was looked at: by what `audit` finds in it, and by what controllers say."""

    def __init__(self, seen: Looked) -> None:
        self._snapshot, self._around = seen.snapshot, seen.around
        self._findings: dict[Key, list[Finding]] = {}
        for finding in seen.findings:
            about = finding.about or (finding.item.object["kind"], finding.item.full_name)
            self._findings.setdefault(about, []).append(finding)

    def rows(self, services: Iterable[ServiceSnapshot]) -> Iterator[Row]:
        """Yield what the Services expose, or ask to have exposed, sorted by their names."""
        for service in sorted(services, key=lambda each: each.item.full_name):
            if service.is_exposed or service.observed:
                yield from self._of_service(service)

    def _of_service(self, service: ServiceSnapshot) -> Iterator[Row]:
        wanted = {**self._snapshot.desired_once_allowed(service), **service.desired}
        item, of_all = service.item, self._of_all(service)
        problems = service.refused.kept if service.refused else ()
        reasons = list(dict.fromkeys(problem.reason for problem in problems))
        for key in sorted({**wanted, **service.observed}):
            # One that doesn't stand is shown as it would be.
            each = service.observed.get(key) or as_object(Item(wanted[key]))
            judged = of_all or self._judged(service, key)
            gateways = self._gateways(each)
            at = [gateway for gateway in gateways.values() if gateway] if gateways else [each.item]
            found = [address for one in at for address in addresses_of(one)] if key in service.observed else []
            yield Row(
                *(item.namespace, item.name, *judged, reasons),
                entrance=entrance_of(service.item.name, key[1]) or None,
                output=each.kind,
                name=each.item.name,
                urls=urls_of(each, found, self._around),
                ingress_class=class_of(each.item, each.typed.spec) if each.kind == INGRESS else None,
                gateways=list(gateways),
                addresses=list(dict.fromkeys(found)),
            )
        if of_all and not (wanted or service.observed):
            yield Row(item.namespace, item.name, *of_all, reasons)

    def _gateways(self, each: ObjectSnapshot) -> dict[str, Item | None]:
        """Return the Gateways of an object, or of its ListenerSets, by namespace/name; None: it wasn't read."""
        found = {label: self._around.items[GATEWAY].get(label) for label in attached_to(each, GATEWAY)}
        for label in attached_to(each, LISTENERSET):
            if between := self._snapshot.objects.get((LISTENERSET, label)):
                found |= self._gateways(between)
        return found

    def _of_all(self, service: ServiceSnapshot) -> Judged | None:
        """Return the state of all that a Service asks for, None where each object has its own."""
        if deletion := deletion_of(service.item):
            return Judged(State.WAITING, deletion)
        if service.refused:
            return Judged(State.REFUSED, service.refused.line())
        if service.decision is None:
            return Judged(State.UNKNOWN, "the settings could not be looked at", unsure=True)
        return None

    def _judged(self, service: ServiceSnapshot, key: Key) -> Judged:
        """Return the state of an object, which need not be there."""
        found = self._findings.get(key, [])
        if undone := next((each for each in found if each.kind in UNDONE), None):
            return Judged(State.WAITING, undone.sentence)
        each = service.observed.get(key)
        if each is None:
            sentence = f"whether {key[0]} {key[1]} is there: not all {plural(key[0])} could be looked at"
            return Judged(State.UNKNOWN, sentence, unsure=True)
        why = "; ".join(one.sentence for one in found if one.kind in IN_THE_WAY)
        for label in attached_to(each, LISTENERSET):
            between = self._judged(service, (LISTENERSET, label))
            if between.state not in {State.SERVING, State.ACCEPTED}:
                return between
        if each.kind == INGRESS:
            is_there, late = bool(addresses_of(each.item)), "no controller of its class has given it an address"
        else:
            is_there, late = is_taken(each), "its controller has not taken it"
        if why or not is_there:
            return Judged(State.ACCEPTED if is_there else State.WAITING, why or late)
        return self._of_taken(service, each)

    def _of_taken(self, service: ServiceSnapshot, each: ObjectSnapshot) -> Judged:
        """Return the state of an object that a controller has taken, and that nothing is known to be in the way of."""
        for label, gateway in self._gateways(each).items():
            if gateway is None:
                return Judged(State.ACCEPTED, f"Gateway {label} could not be looked at", unsure=True)
            if not addresses_of(gateway):
                return Judged(State.ACCEPTED, f"Gateway {label} has no address")
        slices = self._around.slices.get(service.item.full_name, ())
        leads = each.kind == INGRESS or backends_of(each)  # else it redirects, or is a ListenerSet
        if not leads or any(map(is_ready, slices)):
            return Judged(State.SERVING)
        if SLICE not in self._around.read:
            return Judged(State.ACCEPTED, "not all EndpointSlices could be looked at", unsure=True)
        return Judged(State.ACCEPTED, f"Service {service.item.full_name} has no endpoint that is ready")
