"""The API server's contract: the bytes of an AdmissionReview in, the bytes of its response out.

Who applies a Service is told at once what Metacontroller's Event would say later.

| answer  | when                                                        | what the API server does                 |
|---------|-------------------------------------------------------------|------------------------------------------|
| allowed | nothing is wrong                                            | writes                                   |
| warned  | it would be refused, or an annotation has no effect; paused | writes, and passes the sentences on      |
| denied  | the settings deny what would be refused, and it gets worse  | does not write, and tells why            |
| unread  | the Service can't be read                                   | writes                                   |
|         | the body is not the contract: the status is 400             | writes, because of failurePolicy: Ignore |

Source: https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/ (version v1).
"""

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from hooks.sync import UNREADABLE
from ingress_manager.core.annotations import without_effect
from ingress_manager.core.copying import keys_not_copied
from ingress_manager.core.decide import Decision, Desired, decide, refusal_of
from ingress_manager.core.errors import Problem, Reason, Refused
from ingress_manager.core.kubernetes import NOTHING, Service
from ingress_manager.core.policy import Policy

LONGEST_WARNING, MOST_WARNINGS = 256, 15
"""Characters of one, and how many: the API server passes on 4,096 characters, and cuts off what is longer than 256."""

ALLOWED, WARNED, DENIED, UNREAD = ANSWERS = ("allowed", "warned", "denied", "unread")


class Request(msgspec.Struct, rename="camel", frozen=True):
    """What the API server asks, without the fields that are not used here."""

    uid: str
    object: msgspec.Raw
    old_object: msgspec.Raw = msgspec.Raw(b"null")
    """null: there is none yet."""


class Review(msgspec.Struct, rename="camel", frozen=True):
    api_version: Literal["admission.k8s.io/v1"]
    kind: Literal["AdmissionReview"]
    request: Request


class Answer(msgspec.Struct, frozen=True):
    """An HTTP response: JSON when the status is 200, otherwise one line of text."""

    status: int
    body: bytes
    word: str = UNREAD
    """One of ANSWERS."""

    service: Service | None = None
    """The Service that somebody is told something of."""

    problems: Sequence[Problem] = ()
    """What is told."""

    later: None = None
    """The API server never asks again."""


_reviews, _services = msgspec.json.Decoder(Review), msgspec.json.Decoder(Service)


def answer(body: bytes, policy: Policy) -> Answer:
    """Return the answer to a request of the API server. Never raises."""
    try:
        request = _reviews.decode(body).request
    except UNREADABLE as error:
        problem = Problem(f"not an AdmissionReview (admission.k8s.io/v1): {error}", Reason.INVALID_REQUEST)
        return Answer(400, f"{problem.told()}\n".encode())
    try:
        service = _services.decode(request.object)
    except UNREADABLE:
        return reviewed(request, UNREAD)
    paused = refusal_of(decide(service, NOTHING, policy)) if policy.pauses else None
    policy = policy.without_pause() if policy.pauses else policy
    decision = decide(service, NOTHING, policy)
    refused = refusal_of(decision)
    stated = service.metadata.annotations or {}
    problems = refused.problems if refused else [*not_copied(stated, decision), *without_effect(stated)]
    if refused and policy.admission.deny and is_denied(request, refused, policy):
        return reviewed(request, DENIED, service, problems, allowed=False, status=denial(service, refused))
    if paused and paused.is_paused:
        problems = [*paused.problems, *problems]
    if not problems:
        return reviewed(request, ALLOWED)
    told = warnings(problems, refused.more if refused else 0)
    return reviewed(request, WARNED, service, problems, allowed=True, warnings=told)


def reviewed(
    request: Request, word: str, service: Service | None = None, problems: Sequence[Problem] = (), **response: object
) -> Answer:
    """Return the answer with a response, which allows the change if nothing is said."""
    review = {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "response": {"uid": request.uid, "allowed": True} | response,
    }
    return Answer(200, msgspec.json.encode(review), word, service, problems)


def not_copied(stated: Mapping[str, str], decision: Decision) -> Sequence[Problem]:
    """Return a problem for each annotation that looks meant for a controller and reaches none."""
    objects = decision.objects.values() if isinstance(decision, Desired) else ()
    return [
        Problem(f"{key} is not copied to what is made for the Service", Reason.ANNOTATION_NOT_ALLOWED, key)
        for key in keys_not_copied(stated, objects)
    ]


def warnings(problems: Sequence[Problem], more: int) -> list[str]:
    """Return a warning for each problem, as many as the API server passes on, and how many more there are."""
    told = [problem.told(LONGEST_WARNING) for problem in problems[:MOST_WARNINGS]]
    more += len(problems) - len(told)
    return [*told, f"and {more} more"] if more else told


def denial(service: Service, refused: Refused) -> dict[str, object]:
    """Return the status that says why a Service is not written.

    kubectl prints its causes, one a line: without any, `kubectl edit` would say nothing at all. The field is that by
    which a Service asks for what it can't have.

    Source: the Kubernetes API reference, Status.
    """
    causes = [{"field": "metadata.annotations", "message": problem.told()} for problem in refused.problems]
    details = {"kind": "Service", "name": service.metadata.name, "causes": causes}
    return {"code": 422, "reason": "Invalid", "message": refused.line(), "details": details}


def is_denied(request: Request, refused: Refused, policy: Policy) -> bool:
    """Return whether a change makes the Service one that is refused, or one with more problems than before.

    What was wrong before stays allowed: somebody may have to change something else, or correct one thing at a time,
    which may have hidden other mistakes.
    """
    if bytes(request.old_object) == b"null":
        return True
    try:
        old = refusal_of(decide(_services.decode(request.old_object), NOTHING, policy))
    except UNREADABLE:
        return False
    if old is None:
        return True
    has_more = len(refused.problems) + refused.more > len(old.problems) + old.more
    return has_more and kinds_of(old) <= kinds_of(refused)


def kinds_of(refused: Refused) -> set[tuple[str, Reason]]:
    """Return which annotations are wrong, each with the reason."""
    return {(problem.annotation, problem.reason) for problem in refused.problems}
