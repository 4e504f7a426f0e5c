"""The API server's contract: the bytes of an AdmissionReview in, the bytes of its response out.

Who applies a Service is told at once what Metacontroller's Event would say later.

| answer  | when                                                        | what the API server does                 |
|---------|-------------------------------------------------------------|------------------------------------------|
| allowed | nothing is wrong                                            | writes                                   |
| warned  | it would be refused, or an annotation has no effect; paused | writes, and passes the sentences on      |
| denied  | the settings deny what would be refused, and it gets worse  | does not write, and tells why            |
| unread  | the body is not the contract: the status is 400             | writes, because of failurePolicy: Ignore |

Source: https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/ (version v1).
"""

from typing import Any, Literal

import msgspec

from hooks.sync import UNREADABLE, Answer, StoredService
from ingress_manager.core.annotations import without_effect
from ingress_manager.core.copying import keys_not_copied
from ingress_manager.core.decide import decide, refusal_of
from ingress_manager.core.errors import Problem, Reason, Refused
from ingress_manager.core.kubernetes import NOTHING, Service
from ingress_manager.core.policy import Policy

LONGEST_WARNING, MOST_WARNINGS = 256, 15
"""Characters of one, and how many: the API server passes on 4,096 characters, and cuts off what is longer than 256."""

ALLOWED, WARNED, DENIED, UNREAD = ANSWERS = ("allowed", "warned", "denied", "unread")


class Request(msgspec.Struct, rename="camel", frozen=True):
    """What the API server asks, without the fields that are not used here."""

    uid: str
    object: StoredService
    old_object: StoredService | None = None


class Review(msgspec.Struct, rename="camel", frozen=True):
    api_version: Literal["admission.k8s.io/v1"]
    kind: Literal["AdmissionReview"]
    request: Request


decode = msgspec.json.Decoder(Review).decode


def answer(body: bytes, policy: Policy) -> Answer:
    """Return the answer to a request of the API server. Never raises."""
    try:
        request = decode(body).request
    except UNREADABLE as error:
        problem = Problem(f"not an AdmissionReview (admission.k8s.io/v1): {error}", Reason.INVALID_REQUEST)
        return Answer(400, f"{problem.told()}\n".encode(), UNREAD)
    told: list[Problem] = []
    decision = decide(request.object, NOTHING, policy)
    if isinstance(decision, Refused) and decision.is_paused:
        told, policy = [*decision.problems], policy.without_pause()
        decision = decide(request.object, NOTHING, policy)
    if isinstance(decision, Refused):
        if policy.admission.deny and is_denied(request.old_object, decision, policy):
            return reviewed(request, DENIED, decision, allowed=False, status=denial(request.object, decision))
        why = Refused([*told, *decision.problems], decision.more)
    else:
        stated = request.object.metadata.annotations or {}
        for key in keys_not_copied(stated, decision.objects.values()):
            sentence = f"{key} is not copied to what is made for the Service"
            told.append(Problem(sentence, Reason.ANNOTATION_NOT_ALLOWED, key))
        why = Refused([*told, *without_effect(stated)])
    return reviewed(request, WARNED, why, warnings=warnings(why)) if why.problems else reviewed(request, ALLOWED)


def reviewed(request: Request, word: str, why: Refused | None = None, **response: Any) -> Answer:
    """Return the answer with a response, which allows the change if nothing is said."""
    review = {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "response": {"uid": request.uid, "allowed": True} | response,
    }
    return Answer(200, msgspec.json.encode(review), word, request.object, why)


def warnings(why: Refused) -> list[str]:
    """Return a warning for each problem, as many as the API server passes on, and how many more there are."""
    told = [problem.told(LONGEST_WARNING) for problem in why.problems[:MOST_WARNINGS]]
    more = why.more + len(why.problems) - len(told)
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


def is_denied(old: Service | None, refused: Refused, policy: Policy) -> bool:
    """Return whether a change makes the Service one that is refused, or one with more problems than before.

    What was wrong before stays allowed: somebody may have to change something else, or correct one thing at a time,
    which may have hidden other mistakes.
    """
    before = refusal_of(decide(old, NOTHING, policy)) if old else None
    if before is None:
        return True
    known, wrong = ({(each.annotation, each.reason) for each in one.problems} for one in (before, refused))
    return len(refused.problems) + refused.more > len(before.problems) + before.more and known <= wrong
