"""The decision: what should exist for a Service. The whole flow on one page, without any I/O."""

from collections.abc import Container, Mapping
from zlib import crc32

import msgspec

from ingress_manager.core import annotations, refusals
from ingress_manager.core.errors import Problem, Reason, Refused, as_value
from ingress_manager.core.exposure import Exposure, expose
from ingress_manager.core.kubernetes import Attachment, Key, Object, Observed, Service, key_of
from ingress_manager.core.outputs import OUTPUTS
from ingress_manager.core.policy import NamespacePolicy, Policy, in_namespace
from ingress_manager.core.standing import check_standing, has_record, record_of

RECHECK_SECONDS = range(4, 9)
"""After how long a new Service is synced again while an object that it should have isn't there yet."""

RESYNC_SECONDS = range(240, 361)
"""After how long a Service is synced again when all its objects are there."""

PAUSE_SECONDS = range(60, 91)
"""After how long Metacontroller is to ask again while the settings pause everything."""

LARGEST_OBJECT = 100_000
"""Bytes of an object as JSON. Metacontroller stores this JSON as an annotation of the object, beside the annotations
that we copy. The API server takes 262,144 bytes of annotations in all; it would refuse a larger object at every try."""

LARGEST_ANSWER = 500_000
"""Bytes of all objects of one Service. Each comes back with every request, with its copy: larger ones would not fit."""

LINE_SEPARATORS = ("\u2028".encode(), "\u2029".encode())


class Decision(msgspec.Struct, frozen=True):
    """What should become of a Service."""

    wanted: bool
    """Whether the Service asks to be exposed."""

    objects: tuple[Object, ...] = ()
    """The objects that should exist; any other that was made for the Service should not."""

    resync_after: int | None = None
    """Seconds until this is to be decided again; None: only when something changes."""

    refused: Refused | None = None
    """Why nothing should change. Unless something is `forbidden`, `objects` is then empty, which does not mean that any
    should be removed."""

    forbidden: Problem | None = None
    """Why something that stands has to go first: the policy forbids it. Then `objects` lacks that, even if it is to be
    made anew; and if the Service is refused, `objects` are those that may stay."""


def decide(service: Service, observed: Observed, policy: Policy, age: float = 0) -> Decision:
    """Return what should exist for `service`. Never raises.

    `observed` are the objects that were made for it earlier and are there now. `age` is that of the Service, in
    seconds; only `resync_after` depends on it.
    """
    wishes = annotations.read(service.metadata.annotations or {})
    if wishes is None and not (policy.paused and observed.all()):
        return Decision(wanted=False)
    standing = observed.all()
    here = in_namespace(policy, service.metadata.namespace)
    if wishes is None or policy.paused:
        return unchanged(service, standing, here, pause(service), wanted=wishes is not None)
    try:
        if here.makes_httproutes and observed.httproutes is None:
            raise Refused(422, [refusals.no_httproutes()])
        exposure = with_class(expose(service, wishes, here), observed)
        objects = tuple([made for output in here.outputs for made in OUTPUTS[output](exposure)])
        refuse_too_large(objects)
    except Refused as refused:
        return unchanged(service, standing, here, as_value(refused), wanted=True)
    # What has no record was never answered with: it is adopted, in place.
    recorded = {key: each for key, each in standing.items() if has_record(each)}
    allowed, forbidden = judge(service, recorded, here)
    if forbidden:
        # An update in place could be denied, by the admission of others, and leave what is forbidden where it is. A
        # delete can't: a Service's owner has no say in it. What is allowed now is made by the sync that it causes.
        going = recorded.keys() - allowed.keys()
        return Decision(
            wanted=True, objects=tuple(made for made in objects if key_of(made) not in going), forbidden=forbidden
        )
    return Decision(wanted=True, objects=objects, resync_after=resync_after(service, objects, standing, age))


def with_class(exposure: Exposure, observed: Observed) -> Exposure:
    """Return the exposure with the class that its Ingress has, where neither the Service nor the settings state one.

    The API server gives the cluster's default class to an Ingress only when it is created. One that lost its class
    later would be served by nobody.
    """
    if exposure.ingress_class is not None:
        return exposure
    ingress = observed.ingresses.get(f"{exposure.namespace}/{exposure.name}")
    return msgspec.structs.replace(exposure, ingress_class=ingress.spec.ingress_class_name) if ingress else exposure


def unchanged(
    service: Service, standing: Mapping[Key, Attachment], policy: NamespacePolicy, refused: Refused, *, wanted: bool
) -> Decision:
    """Return the decision to change nothing; or to remove those of the objects that stand which the policy forbids.

    Once they are removed, Metacontroller syncs the Service again, and the refusal then tells its owner why.
    """
    allowed, forbidden = judge(service, standing, policy)
    if forbidden is None:
        return Decision(wanted=wanted, refused=refused)
    kept = [record for each in allowed.values() if (record := record_of(each)) is not None]
    return Decision(wanted=wanted, objects=tuple(kept), refused=refused, forbidden=forbidden)


def judge(
    service: Service, standing: Mapping[Key, Attachment], policy: NamespacePolicy
) -> tuple[dict[Key, Attachment], Problem | None]:
    """Return which of the objects that stand may stay, and why the first of the others may not."""
    allowed: dict[Key, Attachment] = {}
    forbidden: Problem | None = None
    for key, each in standing.items():
        try:
            check_standing(service, each, policy)
        except Problem as problem:
            forbidden = forbidden or as_value(problem)
        else:
            allowed[key] = each
    return allowed, forbidden


def pause(service: Service) -> Refused:
    """Return the refusal (429) after which Metacontroller changes nothing and asks again later."""
    problem = Problem("ingress-manager is paused by its settings", Reason.PAUSED)
    return Refused(429, [problem], retry_after=spread(service, PAUSE_SECONDS))


def resync_after(service: Service, objects: tuple[Object, ...], standing: Container[Key], age: float) -> int:
    """Return after how many seconds the Service is to be synced again.

    When all objects are there, that is after some minutes: changed settings have to reach them. When one isn't there
    yet, it is soon: Metacontroller reports no error when its create meets an object of the same name, so it has to try
    again. A create can also fail for long, because of a quota or a name that is taken. So the older the Service is, the
    longer the next try waits: many that fail must not hold up the others.
    """
    some_minutes = spread(service, RESYNC_SECONDS)
    if all(key_of(made) in standing for made in objects):
        return some_minutes
    return max(spread(service, RECHECK_SECONDS), min(int(age / 4), some_minutes))


def spread(service: Service, seconds: range) -> int:
    """Return one of `seconds`: the same one at each call for a Service, and all of them evenly over many Services.

    Services that are all synced in the same second would hold up every other change.
    """
    return seconds[crc32(service.metadata.uid.encode()) % len(seconds)]


def refuse_too_large(objects: tuple[Object, ...]) -> None:
    """Raise Refused (422) when an object is larger than Metacontroller can apply, or all are too large to be sent."""
    texts = [msgspec.json.encode(made) for made in objects]
    # Go writes one byte as at most six. So what is small can't become too large, and needs no counting.
    if 6 * sum(map(len, texts)) <= LARGEST_OBJECT:
        return
    sizes = [size_in_go(text) for text in texts]
    for made, size in zip(objects, sizes, strict=True):
        if size > LARGEST_OBJECT:
            raise Refused(422, [refusals.too_large(made["kind"], size, LARGEST_OBJECT)])
    if sum(sizes) > LARGEST_ANSWER:
        raise Refused(422, [refusals.answer_too_large(len(objects), sum(sizes), LARGEST_ANSWER)])


def size_in_go(text: bytes) -> int:
    """Return how many bytes the same JSON has when Go writes it: Go escapes <, >, & and two line separators."""
    return len(text) + 5 * sum(map(text.count, b"<>&")) + 3 * sum(map(text.count, LINE_SEPARATORS))
