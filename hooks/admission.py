"""The webhook's contract with the API server: the bytes of an AdmissionReview in, the bytes of the response out.

The webhook makes `kubectl apply` show at once what Metacontroller would report in an Event later.

| outcome | when                                                                  | what the API server does          |
|---------|-----------------------------------------------------------------------|-----------------------------------|
| allowed | the Service is valid                                                  | writes it                         |
| warned  | the Service would be refused, is paused, or has an ignored annotation | writes it, and shows the warnings |
| denied  | admission.deny is true, and the change adds a mistake                 | rejects it, and shows the reason  |
| unread  | the body isn't an AdmissionReview (status 400)                        | writes it (failurePolicy: Ignore) |

Source: https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/ (version v1).
"""

from typing import Any, Literal

import msgspec

from hooks.sync import UNREADABLE, Answer, identify_service
from ingress_manager.core.annotations import without_effect
from ingress_manager.core.copying import keys_not_copied
from ingress_manager.core.decide import Refused, decide, refusal_of
from ingress_manager.core.errors import Problem, Problems, Reason
from ingress_manager.core.kubernetes import NOTHING_OBSERVED, Service
from ingress_manager.core.settings import Settings

LONGEST_WARNING, MOST_WARNINGS = 256, 15
"""Characters per warning, and warnings per response. The API server truncates warnings to 256 characters each, and
4,096 in total."""

ALLOWED, WARNED, DENIED, UNREAD = OUTCOMES = ("allowed", "warned", "denied", "unread")


class Request(msgspec.Struct, rename="camel", frozen=True):
    uid: str
    object: Service
    old_object: Service | None = None


class Review(msgspec.Struct, rename="camel", frozen=True):
    api_version: Literal["admission.k8s.io/v1"]
    kind: Literal["AdmissionReview"]
    request: Request


decode = msgspec.json.Decoder(Review).decode


def answer(body: bytes, settings: Settings) -> Answer:
    """Answer the API server's request to admit a Service. Never raises."""
    try:
        request = decode(body).request
    except UNREADABLE as error:
        problem = Problem(f"not an AdmissionReview (admission.k8s.io/v1): {error}", Reason.INVALID_REQUEST)
        return Answer(400, f"{problem.line()}\n".encode(), UNREAD, identify_service(body), Problems([problem]))
    problems, decision = Problems(), decide(request.object, NOTHING_OBSERVED, settings)
    if isinstance(decision, Refused) and decision.is_paused:
        # Also warn of problems that the end of the pause will reveal.
        problems, settings = decision.problems, settings.without_pause()
        decision = decide(request.object, NOTHING_OBSERVED, settings)
    if isinstance(decision, Refused):
        refusal = decision.problems
        if settings.admission.deny and is_denied(request.old_object, refusal, settings):
            return make_review(request, DENIED, refusal, allowed=False, status=denial(request.object, refusal))
        problems.extend(refusal.kept, refusal.more)
    else:
        annotations = request.object.metadata.annotations or {}
        for key in keys_not_copied(annotations, decision.objects.values()):
            sentence = f"{key} is not copied to the Service's objects"
            problems.add(sentence, Reason.NOT_COPIED, key)
        problems.extend(without_effect(annotations))
    if not problems.kept:
        return make_review(request, ALLOWED)
    return make_review(request, WARNED, problems, warnings=warnings(problems))


def make_review(request: Request, outcome: str, problems: Problems | None = None, **response: Any) -> Answer:
    """Return an AdmissionReview with the `response` fields. The change is allowed unless they include allowed=False."""
    review = {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "response": {"uid": request.uid, "allowed": True} | response,
    }
    return Answer(200, msgspec.json.encode(review), outcome, request.object, problems)


def warnings(problems: Problems) -> list[str]:
    shown = [problem.line(LONGEST_WARNING) for problem in problems.kept[:MOST_WARNINGS]]
    more = problems.more + len(problems.kept) - len(shown)
    return [*shown, f"and {more} more"] if more else shown


def denial(service: Service, refusal: Problems) -> dict[str, object]:
    """Return the Status for a denied change. Without causes, `kubectl edit` would print nothing."""
    causes = [{"field": "metadata.annotations", "message": problem.line()} for problem in refusal.kept]
    details = {"kind": "Service", "name": service.metadata.name, "causes": causes}
    return {"code": 422, "reason": "Invalid", "message": refusal.line(), "details": details}


def is_denied(old: Service | None, refusal: Problems, settings: Settings) -> bool:
    """Return whether a change from `old` adds mistakes and fixes none. A fix can reveal mistakes made earlier."""
    earlier = refusal_of(decide(old, NOTHING_OBSERVED, settings)) if old else None
    if earlier is None:
        return True
    known, now = ({(problem.annotation, problem.reason) for problem in one.kept} for one in (earlier, refusal))
    return len(refusal.kept) + refusal.more > len(earlier.kept) + earlier.more and known <= now
