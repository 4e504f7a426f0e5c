"""The core: bytes of a request in, an answer out. The whole flow on one page, and no I/O anywhere below it."""

from hooks import contract
from hooks.answers import Answer, Refused, desired, refusal
from hooks.exposure import exposure
from hooks.ingress import ingress
from hooks.ownership import refuse_disowned, refuse_stranger
from hooks.policy import Policy
from hooks.wishes import wishes

PAUSE_SECONDS = 60

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
        refuse_disowned(request)
        wished = wishes(request.object.metadata.annotations or {})
        if wished is None:
            return desired({"attachments": []})
        exposed = exposure(request.object, wished, policy)
        refuse_stranger(request)
        answer = desired({"attachments": [ingress(exposed)]})
        # No byte becomes more than six: only what is large already has to be counted.
        if len(answer.body) * 6 > LARGEST_INGRESS and (size := size_in_go(answer.body)) > LARGEST_INGRESS:
            raise Refused(422, f"the Ingress would have {size} bytes; {LARGEST_INGRESS} is the most")
        return answer
    except Refused as refused:
        return refusal(refused)


def customize(body: bytes) -> Answer:
    """Return which Ingress could be in the way of the Service in `body`: the one of its name. Never raises.

    Metacontroller caches the answer for 20 minutes by the Service's uid, so it depends on namespace and name alone.
    """
    try:
        service = contract.decode(contract.customize_requests, body).parent.metadata
    except Refused as refused:
        return refusal(refused)
    rule = {
        "apiVersion": "networking.k8s.io/v1",
        "resource": "ingresses",
        "namespace": service.namespace,
        "names": [service.name],
    }
    return desired({"relatedResources": [rule]})


def size_in_go(text: bytes) -> int:
    """Return how many bytes the same JSON has as Go writes it, which escapes <, >, & and two line separators."""
    return len(text) + 5 * sum(map(text.count, b"<>&")) + 3 * sum(map(text.count, LINE_SEPARATORS))
