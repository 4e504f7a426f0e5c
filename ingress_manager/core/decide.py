"""The decision: what should exist for a Service. The whole flow on one page, without any I/O.

`removal` has the theory of it in a table: what becomes of what is observed.
"""

from collections.abc import Iterable, Mapping
from typing import Any
from zlib import crc32

import msgspec

from ingress_manager.core import refusals
from ingress_manager.core.annotations import Stated
from ingress_manager.core.entrances import MOST_ENTRANCES, of_entrance, read_entrances
from ingress_manager.core.errors import Problem, Problems, Reason, Refused, without_frames
from ingress_manager.core.exposure import Exposure, expose
from ingress_manager.core.kubernetes import Key, Object, Observed, Service, key_of
from ingress_manager.core.observed import as_it_stands
from ingress_manager.core.outputs import OUTPUTS
from ingress_manager.core.policy import Policy, in_namespace
from ingress_manager.core.removal import State, Sync, removals
from ingress_manager.core.vocabulary import OLD_CLASS, is_for_controllers

RECHECK_SECONDS = range(4, 9)
"""After how long a new Service is synced again while an object that it should have isn't there yet."""

RESYNC_SECONDS = range(240, 361)
"""After how long a Service is synced again when all its objects are there."""

PAUSE_SECONDS = range(60, 91)
"""After how long Metacontroller is to ask again while the settings pause everything."""

LARGEST_OBJECT = 100_000
"""Bytes of an object as JSON. Metacontroller stores this JSON as an annotation of the object, beside the annotations
that we copy. The API server takes 262,144 bytes of annotations in all; it would refuse a larger object at every try."""

MOST_OBJECTS = 18
"""Of one Service: two for each of nine entrances, such as an HTTPRoute and its redirect. No Service of a real Ingress
that we have seen would have more than two HTTPRoutes. Metacontroller writes them one after the other, and other
Services wait meanwhile: three seconds on two cores when 20 such Services change at once."""

LARGEST_ANSWER = 500_000
"""Bytes of all objects of one Service. Each comes back with every request, with its copy: larger ones would not fit."""

LINE_SEPARATORS = ("\u2028".encode(), "\u2029".encode())

_objects = msgspec.json.Encoder()


class Desired(msgspec.Struct, frozen=True, gc=False):
    """What should exist for a Service; any other object that was made for it should not."""

    objects: tuple[Object, ...] = ()
    """None when the Service doesn't ask to be exposed."""

    json: bytes = b"[]"
    """The objects as JSON: they were written to be measured."""

    resync_after: int | None = None
    """Seconds until this is to be decided again; None: only when something changes."""

    are_there: bool = True
    """Whether each of the objects is observed, as it is or otherwise."""


class Unchanged(msgspec.Struct, frozen=True):
    """Nothing should change for a Service."""

    refused: Refused
    """Why."""


class Purged(msgspec.Struct, frozen=True):
    """Something observed has to go first."""

    objects: tuple[Object, ...]
    """What should exist beside it: the rest of what the Service asks for, or, if it is refused, what may stay."""

    removed: Mapping[Key, Problem | None]
    """What has to go, and why the policy forbids it; None: its entrance has opted out."""

    refused: Refused | None = None
    """Why the Service will be refused then; None if it will not be."""

    @property
    def forbidden(self) -> Problem | None:
        """Return why the first of what is forbidden has to go, which is enough to tell of; None: nothing is."""
        return next(filter(None, self.removed.values()), None)


Decision = Desired | Unchanged | Purged
"""What should become of a Service."""


def refusal_of(decision: Decision) -> Refused | None:
    """Return why the Service is, or will be, refused; None if it is not."""
    return None if isinstance(decision, Desired) else decision.refused


def decide(service: Service, observed: Observed, policy: Policy, age: float = 0) -> Decision:
    """Return what should become of `service`. Never raises.

    `observed` are the objects that were made for it earlier and are there now. `age` is that of the Service, in
    seconds; only `resync_after` depends on it.
    """
    stated = read_entrances(service.metadata.annotations or {})
    attachments = observed.all()
    sync = Sync(service, stated, attachments, policy)
    if policy.paused_in(service.metadata.namespace) and (stated or attachments):
        return undecided(sync, State.PAUSED, pause(service))
    if not stated:
        return Desired()
    try:
        objects = desired_objects(service, stated, observed, policy)
        text = as_json(objects)
    except Refused as refused:
        return undecided(sync, State.REFUSED, without_frames(refused))
    are_there = False
    if attachments:
        desired = {key_of(each): each for each in objects}
        if removed := removals(sync, State.ACCEPTED, desired):
            return Purged(tuple([each for key, each in desired.items() if key not in removed]), removed)
        are_there = desired.keys() <= attachments.keys()
    return Desired(objects, text, resync_after(service, age, are_there=are_there), are_there)


def undecided(sync: Sync, state: State, refused: Refused) -> Unchanged | Purged:
    """Return the decision about a Service that is paused or refused: what may stay of its objects stays as it stands.

    Once the others are removed, Metacontroller syncs the Service again, and the refusal then tells its owner why.
    """
    removed = removals(sync, state, desired={})
    if not removed:
        return Unchanged(refused)
    kept = [as_it_stands(sync.service, key, each) for key, each in sync.observed.items() if key not in removed]
    if None in kept and not any(removed.values()):
        # What has another's name can't be answered, and would go, too.
        return Unchanged(refused)
    return Purged(tuple([each for each in kept if each is not None]), removed, refused)


def desired_objects(
    service: Service, stated: Mapping[str, Stated], observed: Observed, policy: Policy
) -> tuple[Object, ...]:
    """Return the objects that the annotations ask for. Raises Refused (422), with what is wrong with all entrances."""
    objects: list[Object] = []
    refused: dict[str, Refused] = {}
    claims: dict[Any, str] = {}
    for_controllers = {
        key: value for key, value in (service.metadata.annotations or {}).items() if is_for_controllers(key)
    }
    for entrance, asked in stated.items():
        try:
            here = in_namespace(policy, service.metadata.namespace, asked.profile)
            exposure = expose(service, asked, here, for_controllers, entrance)
            if len(stated) > 1:
                check_claims(exposure.claims(by_ingress=here.makes_ingresses), entrance, claims)
            exposure = with_class(exposure, observed)
            if exposure.routing is not None and observed.httproutes is None:
                raise Refused(422, [refusals.no_httproutes()])
            for output in here.outputs:
                objects += OUTPUTS[output](exposure)
        except Refused as error:
            refused[entrance] = without_frames(error)
            if len(refused) > MOST_ENTRANCES:
                break  # there are too many, which is all that is told of each
    if refused:
        raise refused_entrances(refused)
    if len(objects) > MOST_OBJECTS:
        raise Refused(422, [refusals.too_many_objects(len(objects), MOST_OBJECTS)])
    return tuple(objects)


def check_claims(claims: Iterable[tuple[Any, str]], entrance: str, known: dict[Any, str]) -> None:
    """Remember what an entrance claims beside what is `known`. Raises Refused (422) if another one claims the same."""
    for claim, shown in claims:
        if (first := known.setdefault(claim, entrance)) != entrance:
            raise Refused(422, [refusals.duplicate_claim(shown, first)])


def refused_entrances(refused: Mapping[str, Refused]) -> Refused:
    """Return the refusal (422) of a Service for what is wrong with several entrances."""
    problems = Problems()
    for entrance, each in refused.items():
        problems.extend(
            [of_entrance(problem, entrance) if entrance else problem for problem in each.problems], each.more
        )
    return Refused(422, problems.kept, more=problems.more)


def with_class(exposure: Exposure, observed: Observed) -> Exposure:
    """Return the exposure with the class that its Ingress has, where neither the Service nor the settings state one.

    The API server gives the cluster's default class to an Ingress only when it is created. One that lost its class
    later would be served by nobody.
    """
    if exposure.ingress_class is not None or OLD_CLASS in exposure.annotations:
        return exposure
    ingress = observed.ingresses.get(f"{exposure.namespace}/{exposure.name}")
    return msgspec.structs.replace(exposure, ingress_class=ingress.spec.ingress_class_name) if ingress else exposure


def pause(service: Service) -> Refused:
    """Return the refusal (429) after which Metacontroller changes nothing and asks again later."""
    problem = Problem("ingress-manager is paused by its settings", Reason.PAUSED)
    return Refused(429, [problem], retry_after=spread(service, PAUSE_SECONDS))


def resync_after(service: Service, age: float, *, are_there: bool) -> int:
    """Return after how many seconds the Service is to be synced again.

    When all objects are there, that is after some minutes: changed settings have to reach them. When one isn't there
    yet, it is soon: Metacontroller reports no error when its create meets an object of the same name, so it has to try
    again. A create can also fail for long, because of a quota or a name that is taken. So the older the Service is, the
    longer the next try waits: many that fail must not hold up the others.
    """
    if are_there:
        return spread(service, RESYNC_SECONDS)
    later = int(age / 4)
    if later < RESYNC_SECONDS.start:
        return max(later, spread(service, RECHECK_SECONDS))
    return min(later, spread(service, RESYNC_SECONDS))


def spread(service: Service, seconds: range) -> int:
    """Return one of `seconds`: the same one at each call for a Service, and all of them evenly over many Services.

    Services that are all synced in the same second would hold up every other change.
    """
    return seconds[crc32(service.metadata.uid.encode()) % len(seconds)]


def as_json(objects: tuple[Object, ...]) -> bytes:
    """Return the objects as a JSON list.

    Raises Refused (422) when an object is larger than Metacontroller can apply, or all are too large to be sent.
    """
    text = _objects.encode(objects)
    # Go writes one byte as at most six. So what is small can't become too large, and needs no counting.
    if 6 * len(text) <= LARGEST_OBJECT:
        return text
    sizes = [size_in_go(msgspec.json.encode(each)) for each in objects]
    for each, size in zip(objects, sizes, strict=True):
        if size > LARGEST_OBJECT:
            raise Refused(422, [refusals.too_large(each["kind"], size, LARGEST_OBJECT)])
    if sum(sizes) > LARGEST_ANSWER:
        raise Refused(422, [refusals.answer_too_large(len(objects), sum(sizes), LARGEST_ANSWER)])
    return text


def size_in_go(text: bytes) -> int:
    """Return how many bytes the same JSON has when Go writes it: Go escapes <, >, & and two line separators."""
    return len(text) + 5 * sum(map(text.count, b"<>&")) + 3 * sum(map(text.count, LINE_SEPARATORS))
