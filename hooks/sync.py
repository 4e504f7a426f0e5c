"""Metacontroller's contract: the bytes of a request in, the bytes of an answer out.

| status | when                                            | what Metacontroller does                       |
|--------|-------------------------------------------------|------------------------------------------------|
| 200    | the desired objects                             | creates, updates and deletes                   |
|        | the settings forbid an observed object,         | deletes it, and asks again                     |
|        | or an entrance is off beside a mistake          |                                                |
| 400    | the body is not the contract                    | changes nothing, Event on the Service, retries |
| 422    | the Service is refused, which is reported now   | the same                                       |
|        | an object is missing, which is reported now     | the same                                       |
| 429    | paused; or refused, and the report is held back | changes nothing, no Event, retries later       |

Source: https://metacontroller.github.io/metacontroller/api/decoratorcontroller.html (hook version v2).
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated
from zlib import crc32

import msgspec

from ingress_manager.core.decide import RESYNC_SECONDS, Refused, RemovedFirst, decide, not_made, recheck_after, spread
from ingress_manager.core.errors import Problem, Problems, Reason
from ingress_manager.core.kubernetes import Key, Object, ObjectMeta, Observed, Service
from ingress_manager.core.settings import Settings

HOUR = 3600
"""Seconds. A problem is reported this often: the API server forgets an Event after an hour."""

PAUSE_SECONDS = range(60, 91)
"""After how long Metacontroller should ask again while the settings pause the Service."""

OFF, ASKED, THERE, REMOVED, REFUSED = "off", "asked", "there", "removed", "refused"
"""The meaning of an answer: nothing is requested; a requested object is missing; none is; …"""


class ManagedFieldsEntry(msgspec.Struct, frozen=True):
    """Says when a part of an object was changed. Source: the Kubernetes API reference, ManagedFieldsEntry."""

    time: Annotated[datetime, msgspec.Meta(tz=True)] | None = None


class StoredMeta(ObjectMeta, rename="camel", frozen=True):
    creation_timestamp: Annotated[datetime, msgspec.Meta(tz=True)] | None = None
    managed_fields: tuple[ManagedFieldsEntry, ...] = ()

    @property
    def changed(self) -> float:
        """Return when the object was created or last changed, as Unix time; 0 if that isn't known.

        Anybody who may edit the object can write any time there.
        """
        times = [self.creation_timestamp, *[entry.time for entry in self.managed_fields]]
        return max((time.timestamp() for time in times if time), default=0)


class StoredService(Service, rename="camel", frozen=True):
    metadata: StoredMeta


class SyncRequest(msgspec.Struct, frozen=True):
    """The fields of Metacontroller's request that are used here."""

    object: StoredService
    attachments: Observed


class Answer(msgspec.Struct, frozen=True):
    """An HTTP response (JSON if the status is 200, else one line of text), and what is logged and counted of it."""

    status: int
    body: bytes
    word: str
    """Its meaning."""

    service: StoredService | None = None
    """None: it couldn't be read."""

    problems: Problems | None = None
    """The reasons of a refusal, a removal or a warning; or the missing objects."""

    later: int | None = None
    """After how many seconds Metacontroller should ask again."""


decode = msgspec.json.Decoder(SyncRequest).decode
UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""The errors that decoding a bad body raises. Admission policies keep Services from being nested too deeply."""


def answer(body: bytes, settings: Settings, now: float = 0) -> Answer:
    """Return the answer to a sync request. Never raises.

    `now` is a Unix time; without it, every Service counts as new.
    """
    try:
        request = decode(body)
    except UNREADABLE as error:
        problem = Problem(f"not a request of Metacontroller's contract v2: {error}", Reason.INVALID_REQUEST)
        return refusal(400, Problems([problem]))
    service = request.object
    decision = decide(service, request.attachments, settings)
    if isinstance(decision, Refused):
        if decision.is_paused:
            return refusal(429, decision.problems, service, spread(service, PAUSE_SECONDS))
        return refusal(422, decision.problems, service)
    if isinstance(decision, RemovedFirst):
        # One reason is enough. If only an entrance is off, it is the mistake beside it.
        reasons = [*decision.forbidden.values(), *(decision.problems.kept if decision.problems else ())]
        return Answer(200, encode(decision.objects), REMOVED, service, Problems(reasons[:1]))
    objects = decision.objects
    if not decision.missing:
        resync = spread(service, RESYNC_SECONDS) if objects else None
        return Answer(200, encode(objects, resync), THERE if objects else OFF, service)
    age = now - service.metadata.changed if now else 0
    resync = min(recheck_after(service, age), int(until_hourly(service, now)) + 1)
    missing = not_made(f"{service.metadata.namespace}/{service.metadata.name}", decision.missing)
    return Answer(200, encode(objects, resync), ASKED, service, Problems([missing]))


def until_hourly(service: Service, now: float) -> float:
    """Return in how many seconds the hourly report of a Service is due."""
    return HOUR - (now - crc32(service.metadata.uid.encode())) % HOUR


def encode(objects: Mapping[Key, Object], resync_after: int | None = None) -> bytes:
    """Return the JSON of a 200 answer with these objects."""
    later = {} if resync_after is None else {"resyncAfterSeconds": resync_after}
    return msgspec.json.encode({"attachments": [*objects.values()], **later})


def refusal(status: int, problems: Problems, service: StoredService | None = None, later: int | None = None) -> Answer:
    """Return the answer by which nothing changes."""
    return Answer(status, f"{problems.line()}\n".encode(), REFUSED, service, problems, later)
