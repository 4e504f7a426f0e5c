"""The states that `status` shows: how close each exposed object is to serving, as Kubernetes reports it. No I/O.

Each object of a Service has a row. A Service without objects has a row if it is refused or no decision is possible. A
state never claims more than is known. If data could not be read, the state is the best one that is certain, or UNKNOWN.

If the settings could not be read, there is no decision on a Service. Metacontroller's last Event then shows whether the
Service is refused. Without an Event, the Service's objects are assumed to be as requested.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from enum import StrEnum
from typing import NamedTuple

import msgspec

from ingress_manager.commands.findings.finding import Blocks, Finding
from ingress_manager.commands.inspection import Inspection
from ingress_manager.commands.snapshot import objects, surroundings
from ingress_manager.commands.snapshot.certificates import can_be_read
from ingress_manager.commands.snapshot.events import EVENT, reports
from ingress_manager.commands.snapshot.items import GATEWAY, INGRESS, LISTENERSET, SECRET, SLICE, Item
from ingress_manager.commands.snapshot.objects import ObjectSnapshot
from ingress_manager.commands.snapshot.services import ServiceSnapshot
from ingress_manager.commands.snapshot.surroundings import addresses_of, attached_to, changed_at, is_ready, time_of
from ingress_manager.commands.text import plural
from ingress_manager.core.annotations import entrance_of
from ingress_manager.core.errors import Reason
from ingress_manager.core.kubernetes import Key
from ingress_manager.core.text import listed

SYNC_TIME = timedelta(seconds=10)
"""How long Metacontroller may take to act on a changed Service. It usually takes a tenth of a second."""


class State(StrEnum):
    """How close an exposed object is to serving; docs/commands/status.md explains each value."""

    SERVING = "serving"
    ACCEPTED = "accepted"
    WAITING = "waiting"
    REFUSED = "refused"
    UNKNOWN = "unknown"


class Verdict(NamedTuple):
    state: State
    sentence: str | None = None
    unsure: bool = False
    """Whether the real state may be better, because data that it depends on could not be read."""

    reasons: Sequence[Reason] = ()


class Row(msgspec.Struct, frozen=True, rename={"ingress_class": "class"}):
    """A row of the output: an exposed object, or a Service that has none. The JSON output has the same fields."""

    namespace: str
    service: str
    state: State
    sentence: str | None
    unsure: bool
    reasons: Sequence[Reason]
    entrance: str | None = None
    output: str | None = None
    name: str | None = None
    urls: Sequence[str] = ()
    ingress_class: str | None = None
    gateways: Sequence[str] = ()
    addresses: Sequence[str] = ()

    @property
    def label(self) -> str:
        return f"{self.service} ({self.entrance})" if self.entrance else self.service


class Judge:
    """Derives states from an inspection's findings and from the status that controllers report."""

    def __init__(self, inspection: Inspection) -> None:
        self._snapshot, self._around = inspection.snapshot, inspection.around
        self._reports = None if EVENT in inspection.lacking else reports(inspection.events)
        self._findings: dict[Key, list[Finding]] = {}
        for finding in inspection.findings:
            self._findings.setdefault(finding.key, []).append(finding)

    def rows(self, services: Iterable[ServiceSnapshot]) -> Iterator[Row]:
        """Yield the rows of all Services that are exposed or have objects, sorted by Service namespace and name."""
        for service in sorted(services, key=lambda service: service.item.full_name):
            if service.is_exposed or service.observed:
                yield from self._rows_of(service)

    def _rows_of(self, service: ServiceSnapshot) -> Iterator[Row]:
        item, shared = service.item, self._shared_verdict(service)
        desired = {**self._snapshot.desired_once_allowed(service), **service.desired}
        for key in sorted({**desired, **service.observed}):
            # An object that doesn't exist yet is shown as it would be created.
            obj = service.observed.get(key) or objects.as_object(Item(desired[key]))
            verdict = shared or self._verdict(service, key)
            gateways = self._gateways(obj)
            targets = [gateway for gateway in gateways.values() if gateway] if gateways else [obj.item]
            addresses = [address for target in targets if key in service.observed for address in addresses_of(target)]
            yield Row(
                *(item.namespace, item.name, *verdict),
                entrance=entrance_of(item.name, key[1]) or None,
                output=obj.kind,
                name=obj.item.name,
                urls=surroundings.urls_of(obj, addresses, self._around),
                ingress_class=objects.class_of(obj.item, obj.typed.spec) if obj.kind == INGRESS else None,
                gateways=list(gateways),
                addresses=list(dict.fromkeys(addresses)),
            )
        if shared and not (desired or service.observed):
            yield Row(item.namespace, item.name, *shared)
        elif not (shared or service.decision):
            # The objects of an entrance can't be named without the settings.
            for entrance in service.entrances.keys() - {entrance_of(item.name, name) for _, name in service.observed}:
                yield Row(item.namespace, item.name, *self._nothing_made(), entrance=entrance or None)

    def _gateways(self, obj: ObjectSnapshot) -> dict[str, Item | None]:
        """Return the Gateways of an object and of its ListenerSets, by namespace/name. Unread Gateways are None."""
        gateways = {label: self._around.items[GATEWAY].get(label) for label in attached_to(obj, GATEWAY)}
        for label in attached_to(obj, LISTENERSET):
            if listener_set := self._snapshot.objects.get((LISTENERSET, label)):
                gateways |= self._gateways(listener_set)
        return gateways

    def _shared_verdict(self, service: ServiceSnapshot) -> Verdict | None:
        """Return the verdict on all objects of a Service, or None if each object needs a separate verdict."""
        if deletion := objects.deletion_of(service.item):
            return Verdict(State.WAITING, deletion)
        if service.refused:
            reasons = dict.fromkeys(problem.reason for problem in service.refused.kept)
            return Verdict(State.REFUSED, service.refused.line(), reasons=[*reasons])
        return self._reported(service) if service.decision is None else None

    def _reported(self, service: ServiceSnapshot) -> Verdict | None:
        """Return a verdict if the last Event is current, if a sync is due, or if Events are unread; otherwise None."""
        if self._reports is None:
            return Verdict(State.UNKNOWN, "neither the settings nor Events could be read", unsure=True)
        report, changed = self._reports.get(service.service.metadata.uid), changed_at(service.item)
        synced = max((changed_at(obj.item) for obj in service.observed.values()), default=None)
        if report and report.precedes(service.service.metadata.resource_version):
            report = None  # outdated: the Service has changed, but removing an annotation leaves no timestamp
        if report and time_of(report.time) >= changed and not (synced and time_of(report.time) <= synced):
            state = State.REFUSED if report.reasons else State.WAITING
            sentence = f"at {report.time}, Metacontroller reported: {report.problem}"
            return Verdict(state, sentence, reasons=report.reasons)
        if synced and synced < changed and self._around.now - changed < SYNC_TIME:
            return Verdict(State.WAITING, "the Service has just changed, and Metacontroller has yet to sync it")
        return None

    def _nothing_made(self) -> Verdict:
        if unread := [plural(kind) for kind in objects.TYPES if kind in self._snapshot.gaps.unread]:
            return Verdict(State.UNKNOWN, f"{listed(unread)} could not be read", unsure=True)
        return Verdict(State.WAITING, "nothing has been created yet, and no Event on the Service explains why")

    def _verdict(self, service: ServiceSnapshot, key: Key) -> Verdict:
        findings = self._findings.get(key, [])
        if blocked := next((finding for finding in findings if finding.kind.blocks is Blocks.SYNC), None):
            return Verdict(State.WAITING, f"{blocked.item}: {blocked.sentence}".removeprefix(f"{service.item}: "))
        obj = service.observed.get(key)
        if obj is None:
            sentence = f"{key[0]} {key[1]} may be missing: not all {plural(key[0])} could be read"
            return Verdict(State.UNKNOWN, sentence, unsure=True)
        if service.decision is None:
            is_wanted = entrance_of(service.item.name, key[1]) in service.entrances
            if sentence := objects.deletion_of(obj.item) or ("" if is_wanted else "the Service doesn't request it"):
                return Verdict(State.WAITING, sentence)
        for label in attached_to(obj, LISTENERSET):
            listener_set = self._verdict(service, (LISTENERSET, label))
            if listener_set.state not in {State.SERVING, State.ACCEPTED}:
                return listener_set
        if obj.kind == INGRESS:
            taken, otherwise = bool(addresses_of(obj.item)), "no controller of the Ingress's class has set an address"
        else:
            taken, otherwise = surroundings.is_taken(obj), f"no controller has accepted {obj.item}"
        causes = "; ".join(finding.sentence for finding in findings if finding.kind.blocks is Blocks.TRAFFIC)
        if causes or not taken:
            return Verdict(State.ACCEPTED if taken else State.WAITING, causes or otherwise)
        return next(self._obstacles(service, obj), Verdict(State.SERVING))

    def _obstacles(self, service: ServiceSnapshot, obj: ObjectSnapshot) -> Iterator[Verdict]:
        """Yield a verdict for each reason why an accepted object may not be serving yet."""
        for label, gateway in self._gateways(obj).items():
            if gateway is None:
                yield Verdict(State.ACCEPTED, f"Gateway {label} could not be read", unsure=True)
            elif not addresses_of(gateway):
                yield Verdict(State.ACCEPTED, f"Gateway {label} has no address")
        listener_sets = (self._verdict(service, (LISTENERSET, label)) for label in attached_to(obj, LISTENERSET))
        yield from (verdict for verdict in listener_sets if verdict.state is not State.SERVING)
        for name, _ in objects.secrets_of(obj):
            label = f"{obj.item.namespace}/{name}"
            if SECRET not in self._around.read or not can_be_read():
                yield Verdict(State.ACCEPTED, f"the certificate in Secret {label} could not be read", unsure=True)
            elif label not in self._around.items[SECRET]:
                sentence = f"Secret {label} doesn't exist yet: create it, or wait for an issuer such as cert-manager"
                yield Verdict(State.ACCEPTED, sentence)
        needs_pod = obj.kind == INGRESS or objects.backends_of(obj)  # a redirect and a ListenerSet need none
        if needs_pod and not any(map(is_ready, self._around.slices.get(service.item.full_name, ()))):
            if SLICE not in self._around.read:
                yield Verdict(State.ACCEPTED, "not all EndpointSlices could be read", unsure=True)
            yield Verdict(State.ACCEPTED, f"Service {service.item.full_name} has no ready endpoint")
