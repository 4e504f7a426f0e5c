"""The hook's contract with Metacontroller: the bytes of a sync request in, the bytes of an answer out.

| status | when                                              | what Metacontroller does        |
|--------|---------------------------------------------------|---------------------------------|
| 200    | the answer lists the objects that should exist    | creates, updates and deletes    |
| 400    | the request is invalid                            | creates an Event, and retries   |
| 422    | a refusal or a missing object is reported         | creates an Event, and retries   |
| 429    | a pause, or a change or report is held back       | retries later, without an Event |

Source: https://metacontroller.github.io/metacontroller/api/decoratorcontroller.html (hook version v2).
"""

from collections.abc import Mapping
from contextlib import suppress

import msgspec

from ingress_manager.core.decide import (
    RESYNC_SECONDS,
    Refused,
    RemovedFirst,
    decide,
    next_attempt,
    not_made,
    recheck_after,
    spread,
)
from ingress_manager.core.errors import Problem, Problems, Reason
from ingress_manager.core.kubernetes import Key, Object, ObjectMeta, Observed, Service, ServiceSpec
from ingress_manager.core.settings import Settings

PAUSE_SECONDS = range(60, 91)  # the Retry-After for a paused Service

OFF, INCOMPLETE, COMPLETE, REMOVED, REFUSED = "off", "incomplete", "complete", "removed", "refused"
"""The outcomes of a sync, in this order: no objects are requested, some are missing, all exist, forbidden ones are
removed first, or nothing changes."""


class SyncRequest(msgspec.Struct, frozen=True):
    object: Service
    attachments: Observed


class NamedObject(msgspec.Struct, frozen=True):
    metadata: ObjectMeta


class NamedBody(msgspec.Struct, frozen=True):
    """The part of a sync request, or of an AdmissionReview, that names the Service."""

    object: NamedObject | None = None
    request: "NamedBody | None" = None


class Answer(msgspec.Struct, frozen=True):
    """An HTTP response, and the facts to log and count."""

    status: int
    body: bytes
    """JSON if the status is 200, else a line of text."""
    outcome: str
    """The outcome of a sync, or one of `admission.OUTCOMES`."""
    service: Service | None = None
    """The Service, or only its metadata if the rest can't be decoded, or None if nothing can be."""
    problems: Problems | None = None
    """The reasons for a refusal, removal, warning or denial, or the missing objects."""
    retry_after: int | None = None
    """The Retry-After header, in seconds."""
    attempt: str = ""
    """WRITE, REMOVAL, or "" if Metacontroller has nothing to do."""


decode = msgspec.json.Decoder(SyncRequest).decode
UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""The errors raised for a body that can't be decoded. Deep nesting raises RecursionError; an admission policy
(metacontroller/controller/size.yaml) limits it in metadata.managedFields."""


def answer(body: bytes, settings: Settings, now: float = 0) -> Answer:
    """Answer a sync request. `now` is a Unix time; if 0, every Service counts as just changed. Never raises."""
    try:
        request = decode(body)
    except UNREADABLE as error:
        problem = Problem(f"not a request of Metacontroller's contract v2: {error}", Reason.INVALID_REQUEST)
        return refusal(400, Problems([problem]), identify_service(body))
    service = request.object
    decision = decide(service, request.attachments, settings)
    if isinstance(decision, Refused):
        if decision.is_paused:
            return refusal(429, decision.problems, service, spread(service, PAUSE_SECONDS))
        return refusal(422, decision.problems, service)
    if isinstance(decision, RemovedFirst):
        # The log and the metric need one reason. If no object is forbidden, it is the Service's mistake.
        reasons = [*decision.forbidden.values(), *(decision.problems.kept if decision.problems else ())]
        problems, resync, outcome = Problems(reasons[:1]), None, REMOVED
    elif decision.missing:
        missing = not_made(f"{service.metadata.namespace}/{service.metadata.name}", decision.missing)
        age = service.metadata.age(now) if now else 0
        problems, resync, outcome = Problems([missing]), recheck_after(service, age), INCOMPLETE
    else:
        problems, resync = None, spread(service, RESYNC_SECONDS) if decision.objects else None
        outcome = COMPLETE if decision.objects else OFF
    attempt = next_attempt(decision.objects, request.attachments)
    return Answer(200, encode(decision.objects, resync), outcome, service, problems, attempt=attempt)


def identify_service(body: bytes) -> Service | None:
    """Return a malformed body's Service with only its metadata, or None if the metadata is malformed, too."""
    with suppress(*UNREADABLE):
        read = msgspec.json.decode(body, type=NamedBody)
        if named := (read.request or read).object:
            return Service("v1", "Service", named.metadata, ServiceSpec())
    return None


def encode(objects: Mapping[Key, Object], resync_after: int | None = None) -> bytes:
    resync = {} if resync_after is None else {"resyncAfterSeconds": resync_after}
    return msgspec.json.encode({"attachments": [*objects.values()], **resync})


def refusal(status: int, problems: Problems, service: Service | None = None, retry_after: int | None = None) -> Answer:
    """Return an answer with an error status, so that Metacontroller changes nothing."""
    return Answer(status, f"{problems.line()}\n".encode(), REFUSED, service, problems, retry_after)
