"""The states that `status` shows: how far each exposed object has come, by what Kubernetes reports. Pure.

Each object of a Service has a row, and so has a Service that is refused or undecided and has none. A state claims no
more than is known: if something could not be read, it is UNKNOWN, or the last state that is certain.
"""

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

import msgspec

from ingress_manager.commands.findings.finding import Blocks, Finding
from ingress_manager.commands.inspection import Inspection
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
    """How far an exposed object has come; docs/commands/status.md explains each."""

    SERVING = "serving"
    ACCEPTED = "accepted"
    WAITING = "waiting"
    REFUSED = "refused"
    UNKNOWN = "unknown"


class Verdict(NamedTuple):
    """A state and its explanation."""

    state: State
    sentence: str | None = None
    """Why it has come no further."""

    unsure: bool = False
    """Whether it may have come further: that depends on something that could not be read."""


class Row(msgspec.Struct, frozen=True, rename={"ingress_class": "class"}):
    """An exposed object, or a Service without one, as in JSON."""

    namespace: str
    service: str
    state: State
    sentence: str | None
    unsure: bool
    reasons: Sequence[Reason]
    """Why the Service is refused, as in Events, logs and metrics."""

    entrance: str | None = None
    output: str | None = None
    """The kind of the object; None if there is none."""

    name: str | None = None
    urls: Sequence[str] = ()
    ingress_class: str | None = None
    gateways: Sequence[str] = ()
    addresses: Sequence[str] = ()

    @property
    def label(self) -> str:
        """Return the Service's name, with that of the entrance in brackets."""
        return f"{self.service} ({self.entrance})" if self.entrance else self.service


class Judge:
    """Derives states from the findings of an inspection, and from what controllers report."""

    def __init__(self, inspection: Inspection) -> None:
        self._snapshot, self._around = inspection.snapshot, inspection.around
        self._findings: dict[Key, list[Finding]] = {}
        for finding in inspection.findings:
            self._findings.setdefault(finding.key, []).append(finding)

    def rows(self, services: Iterable[ServiceSnapshot]) -> Iterator[Row]:
        """Yield the rows of Services that are exposed, or still have objects, by namespace and name."""
        for service in sorted(services, key=lambda service: service.item.full_name):
            if service.is_exposed or service.observed:
                yield from self._rows_of(service)

    def _rows_of(self, service: ServiceSnapshot) -> Iterator[Row]:
        item, shared = service.item, self._shared_verdict(service)
        desired = {**self._snapshot.desired_once_allowed(service), **service.desired}
        problems = service.refused.kept if service.refused else ()
        reasons = list(dict.fromkeys(problem.reason for problem in problems))
        for key in sorted({**desired, **service.observed}):
            # An object that doesn't exist yet is shown as it would be.
            obj = service.observed.get(key) or as_object(Item(desired[key]))
            verdict = shared or self._verdict(service, key)
            gateways = self._gateways(obj)
            targets = [gateway for gateway in gateways.values() if gateway] if gateways else [obj.item]
            addresses = [address for target in targets for address in addresses_of(target)]
            if key not in service.observed:
                addresses = []
            yield Row(
                *(item.namespace, item.name, *verdict, reasons),
                entrance=entrance_of(item.name, key[1]) or None,
                output=obj.kind,
                name=obj.item.name,
                urls=urls_of(obj, addresses, self._around),
                ingress_class=class_of(obj.item, obj.typed.spec) if obj.kind == INGRESS else None,
                gateways=list(gateways),
                addresses=list(dict.fromkeys(addresses)),
            )
        if shared and not (desired or service.observed):
            yield Row(item.namespace, item.name, *shared, reasons)

    def _gateways(self, obj: ObjectSnapshot) -> dict[str, Item | None]:
        """Return the Gateways of an object, or of its ListenerSets, by namespace/name; None: it wasn't read."""
        gateways = {label: self._around.items[GATEWAY].get(label) for label in attached_to(obj, GATEWAY)}
        for label in attached_to(obj, LISTENERSET):
            if listener_set := self._snapshot.objects.get((LISTENERSET, label)):
                gateways |= self._gateways(listener_set)
        return gateways

    def _shared_verdict(self, service: ServiceSnapshot) -> Verdict | None:
        """Return the state of all objects of a Service, None if each has its own."""
        if deletion := deletion_of(service.item):
            return Verdict(State.WAITING, deletion)
        if service.refused:
            return Verdict(State.REFUSED, service.refused.line())
        if service.decision is None:
            return Verdict(State.UNKNOWN, "the settings could not be looked at", unsure=True)
        return None

    def _verdict(self, service: ServiceSnapshot, key: Key) -> Verdict:
        """Return the state of an object, which need not exist."""
        findings = self._findings.get(key, [])
        if blocked := next((finding for finding in findings if finding.kind.blocks is Blocks.SYNC), None):
            return Verdict(State.WAITING, blocked.sentence)
        obj = service.observed.get(key)
        if obj is None:
            sentence = f"whether {key[0]} {key[1]} is there: not all {plural(key[0])} could be looked at"
            return Verdict(State.UNKNOWN, sentence, unsure=True)
        for label in attached_to(obj, LISTENERSET):
            listener_set = self._verdict(service, (LISTENERSET, label))
            if listener_set.state not in {State.SERVING, State.ACCEPTED}:
                return listener_set
        if obj.kind == INGRESS:
            taken, otherwise = bool(addresses_of(obj.item)), "no controller of its class has given it an address"
        else:
            taken, otherwise = is_taken(obj), "its controller has not taken it"
        causes = "; ".join(finding.sentence for finding in findings if finding.kind.blocks is Blocks.TRAFFIC)
        if causes or not taken:
            return Verdict(State.ACCEPTED if taken else State.WAITING, causes or otherwise)
        return self._verdict_on_taken(service, obj)

    def _verdict_on_taken(self, service: ServiceSnapshot, obj: ObjectSnapshot) -> Verdict:
        """Return the state of an object that a controller has taken and no finding is about."""
        for label, gateway in self._gateways(obj).items():
            if gateway is None:
                return Verdict(State.ACCEPTED, f"Gateway {label} could not be looked at", unsure=True)
            if not addresses_of(gateway):
                return Verdict(State.ACCEPTED, f"Gateway {label} has no address")
        slices = self._around.slices.get(service.item.full_name, ())
        needs_pod = obj.kind == INGRESS or backends_of(obj)  # a redirect and a ListenerSet need none
        if not needs_pod or any(map(is_ready, slices)):
            return Verdict(State.SERVING)
        if SLICE not in self._around.read:
            return Verdict(State.ACCEPTED, "not all EndpointSlices could be looked at", unsure=True)
        return Verdict(State.ACCEPTED, f"Service {service.item.full_name} has no endpoint that is ready")
