"""The core: bytes of a request in, an answer out. The whole flow on one page, and no I/O anywhere below it."""

from zlib import crc32

import msgspec

from hooks import contract
from hooks.answers import Answer, Refused, desired, refusal
from hooks.exposure import exposure
from hooks.ingress import ingress
from hooks.policy import Policy
from hooks.wishes import wishes

PAUSE_SECONDS = 60

RECHECK_SECONDS = 2

RESYNC_SECONDS = range(240, 361)

LINE_SEPARATORS = ("\u2028".encode(), "\u2029".encode())

LARGEST_INGRESS = 100_000
"""Bytes. Metacontroller stores what it applied last as an annotation, beside those that we copy, and an object's
annotations may have 262,144 bytes in all: what is larger would be refused by the API server at each try."""


def sync(body: bytes, policy: Policy) -> Answer:
    """Return which Ingress should exist for the Service in `body`, or why that is refused. Never raises."""
    try:
        request = contract.decode(contract.sync_requests, body)
        if policy.paused:
            raise Refused(429, "ingress-manager is paused by its settings", retry_after=PAUSE_SECONDS)
        wished = wishes(request.object.metadata.annotations or {})
        if wished is None:
            return desired({"attachments": []})
        exposed = exposure(request.object, wished, policy)
        made = ingress(exposed)
        text = msgspec.json.encode(made)
        # No byte becomes more than six: only what is large already has to be counted.
        if len(text) * 6 > LARGEST_INGRESS and (size := size_in_go(text)) > LARGEST_INGRESS:
            raise Refused(422, f"the Ingress would have {size} bytes; {LARGEST_INGRESS} is the most")
        return desired({"attachments": [made], "resyncAfterSeconds": resync_after(request)})
    except Refused as refused:
        return refusal(refused)


def resync_after(request: contract.SyncRequest) -> int:
    """Return after how many seconds the Service is to be synced again.

    An Ingress that isn't there yet is looked for soon: Metacontroller doesn't tell when its create met an object of the
    same name. One that is there is looked at now and then, so that changed settings reach it; the uid spreads those
    syncs, because all at once would hold up every other Service.
    """
    if not any(request.attachments.values()):
        return RECHECK_SECONDS
    return RESYNC_SECONDS[crc32(request.object.metadata.uid.encode()) % len(RESYNC_SECONDS)]


def size_in_go(text: bytes) -> int:
    """Return how many bytes the same JSON has as Go writes it, which escapes <, >, & and two line separators."""
    return len(text) + 5 * sum(map(text.count, b"<>&")) + 3 * sum(map(text.count, LINE_SEPARATORS))
