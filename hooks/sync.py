"""Metacontroller's contract: the bytes of a request in, the bytes of an answer out.

| status | when                                           | what Metacontroller does                         |
|--------|------------------------------------------------|--------------------------------------------------|
| 200    | the desired state                              | makes it so                                      |
|        | the policy forbids something that is observed, | removes that, and asks again                     |
|        | or an entrance is off beside a mistake         |                                                  |
| 400    | the body is not the contract                   | changes nothing, Event on the Service, retries   |
| 422    | the Service's annotations or ports are refused | the same                                         |
|        | what it should have isn't there, told now      | the same                                         |
| 429    | paused; or refused, and not told now           | changes nothing, no Event, retries after a while |

Source: https://metacontroller.github.io/metacontroller/api/decoratorcontroller.html (hook version v2).
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated
from zlib import crc32

import msgspec

from ingress_manager.core.decide import RESYNC_SECONDS, RemovedFirst, decide, not_made, recheck_after, spread
from ingress_manager.core.errors import Problem, Reason, Refused
from ingress_manager.core.kubernetes import Key, Object, ObjectMeta, Observed, Service
from ingress_manager.core.policy import Policy

HOUR = 3600
"""Seconds. So often a Service is told again what is wrong with it: the API server forgets an Event after an hour."""

PAUSE_SECONDS = range(60, 91)
"""After how long Metacontroller is to ask again while the settings pause everything."""

OFF, ASKED, THERE, REMOVED, REFUSED = "off", "asked", "there", "removed", "refused"
"""What an answer means: the Service asks for nothing; not all that it asks for is there; all of it is; …"""


class ManagedFieldsEntry(msgspec.Struct, frozen=True):
    """What says when a part of an object was changed. Source: the Kubernetes API reference, ManagedFieldsEntry."""

    time: Annotated[datetime, msgspec.Meta(tz=True)] | None = None


class StoredMeta(ObjectMeta, rename="camel", frozen=True):
    creation_timestamp: Annotated[datetime, msgspec.Meta(tz=True)] | None = None
    managed_fields: tuple[ManagedFieldsEntry, ...] = ()

    @property
    def changed(self) -> float:
        """Return when the object was made or changed last, as Unix time; 0 when that isn't known.

        Whoever may edit the object may write another time.
        """
        times = [self.creation_timestamp, *[entry.time for entry in self.managed_fields]]
        return max((each.timestamp() for each in times if each), default=0)


class StoredService(Service, rename="camel", frozen=True):
    metadata: StoredMeta


class SyncRequest(msgspec.Struct, frozen=True):
    """What Metacontroller sends, without the fields that are not used here."""

    object: StoredService
    attachments: Observed


class Answer(msgspec.Struct, frozen=True):
    """An HTTP response: JSON when the status is 200, otherwise one line of text. And what is told of it."""

    status: int
    body: bytes
    word: str
    """What it means."""

    service: StoredService | None = None
    """The Service that was asked about; None if it can't be read."""

    why: Refused | None = None
    """What is wrong: it is refused, removed or warned of for that; or what isn't there."""

    later: int | None = None
    """After how many seconds Metacontroller is to ask again."""


decode = msgspec.json.Decoder(SyncRequest).decode
UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What a body raises that is no such request. Admission policies keep Services from being nested too deeply."""


def answer(body: bytes, policy: Policy, now: float = 0) -> Answer:
    """Return the answer to a sync request. Never raises.

    `now` is the present time, as Unix time; without it, every Service counts as new.
    """
    try:
        request = decode(body)
    except UNREADABLE as error:
        problem = Problem(f"not a request of Metacontroller's contract v2: {error}", Reason.INVALID_REQUEST)
        return refusal(400, Refused([problem]))
    service = request.object
    decision = decide(service, request.attachments, policy)
    if isinstance(decision, Refused):
        if decision.is_paused:
            return refusal(429, decision, service, spread(service, PAUSE_SECONDS))
        return refusal(422, decision, service)
    if isinstance(decision, RemovedFirst):
        # It is enough to tell of one. If only an entrance is off, it is the mistake beside it.
        why = [*decision.forbidden.values(), *(decision.refused.problems if decision.refused else ())][0]
        return Answer(200, encode(decision.objects), REMOVED, service, Refused([why]))
    objects = decision.objects
    if not decision.missing:
        resync = spread(service, RESYNC_SECONDS) if objects else None
        return Answer(200, encode(objects, resync), THERE if objects else OFF, service)
    age = now - service.metadata.changed if now else 0
    resync = min(recheck_after(service, age), int(until_hourly(service, now)) + 1)
    absent = not_made(f"{service.metadata.namespace}/{service.metadata.name}", decision.missing)
    return Answer(200, encode(objects, resync), ASKED, service, Refused([absent]))


def until_hourly(service: Service, now: float) -> float:
    """Return in how many seconds a Service is told what is wrong, as every hour."""
    return HOUR - (now - crc32(service.metadata.uid.encode())) % HOUR


def encode(objects: Mapping[Key, Object], resync_after: int | None = None) -> bytes:
    """Return the JSON of a 200 answer with these objects."""
    later = {} if resync_after is None else {"resyncAfterSeconds": resync_after}
    return msgspec.json.encode({"attachments": [*objects.values()], **later})


def refusal(status: int, why: Refused, service: StoredService | None = None, later: int | None = None) -> Answer:
    """Return the answer that says why nothing changes."""
    return Answer(status, f"{why.line()}\n".encode(), REFUSED, service, why, later)
