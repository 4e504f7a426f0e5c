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
from contextlib import suppress
from datetime import datetime
from zlib import crc32

import msgspec

from ingress_manager.core.decide import RESYNC_SECONDS, Refused, RemovedFirst, decide, not_made, recheck_after, spread
from ingress_manager.core.errors import Problem, Problems, Reason
from ingress_manager.core.kubernetes import Key, Name, Object, ObjectMeta, Observed, Service, ServiceSpec
from ingress_manager.core.settings import Settings

HOUR = 3600
"""Seconds. A problem is reported this often: the API server forgets an Event after an hour."""

PAUSE_SECONDS = range(60, 91)
"""After how long Metacontroller should ask again while the settings pause the Service."""

OFF, ASKED, THERE, REMOVED, REFUSED = "off", "asked", "there", "removed", "refused"
"""The meaning of an answer: nothing is requested; a requested object is missing; none is; …"""


class ManagedFieldsEntry(msgspec.Struct, frozen=True):
    """Says when a part of an object was changed. Source: the Kubernetes API reference, ManagedFieldsEntry."""

    time: str | None = None


class StoredMeta(ObjectMeta, rename="camel", frozen=True):
    creation_timestamp: str | None = None
    managed_fields: tuple[ManagedFieldsEntry, ...] | None = None

    @property
    def changed(self) -> float:
        """Return when the object was created or last changed, as Unix time; 0 if that isn't known.

        Anybody who may edit the object can write any time there, also one that is no time in Python, as of the year 0.
        """
        latest = 0.0
        for text in (self.creation_timestamp, *[entry.time for entry in self.managed_fields or ()]):
            with suppress(ValueError, OverflowError):
                latest = max(latest, datetime.fromisoformat(text or "").timestamp())
        return latest


class StoredService(Service, rename="camel", frozen=True):
    metadata: StoredMeta


class SyncRequest(msgspec.Struct, frozen=True):
    """The fields of Metacontroller's request that are used here."""

    object: StoredService
    attachments: Observed


class NamedObject(msgspec.Struct, frozen=True):
    metadata: Name


class NamedBody(msgspec.Struct, frozen=True):
    """A body of which only the name of its Service is read: a sync request, or an AdmissionReview, which nests it."""

    object: NamedObject | None = None
    request: "NamedBody | None" = None


class Answer(msgspec.Struct, frozen=True):
    """An HTTP response (JSON if the status is 200, else one line of text), and what is logged and counted of it."""

    status: int
    body: bytes
    word: str
    """Its meaning."""

    service: StoredService | None = None
    """It has only a name if its other fields couldn't be read. None: not even that."""

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
        return refusal(400, Problems([problem]), named(body))
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


def named(body: bytes) -> StoredService | None:
    """Return a Service with the name that an unreadable body holds; None if there is none."""
    with suppress(*UNREADABLE):
        read = msgspec.json.decode(body, type=NamedBody)
        if stated := (read.request or read).object:
            metadata = StoredMeta(**msgspec.structs.asdict(stated.metadata))
            return StoredService(api_version="v1", kind="Service", metadata=metadata, spec=ServiceSpec())
    return None


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
