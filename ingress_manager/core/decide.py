"""The decision: what should exist for a Service. The whole flow on one page, without any I/O.

Metacontroller asks with a Service and the objects that are **observed**: made for it earlier, and there now.

| a Service        | what is observed          | the decision | what becomes of it                         |
|------------------|---------------------------|--------------|--------------------------------------------|
| is paused        |                           | Refused      | all stays                                  |
| asks for nothing |                           | Desired      | all goes                                   |
| is right         |                           | Desired      | is made as asked for                       |
|                  | something forbidden       | RemovedFirst | that goes, and the next sync makes it anew |
| has a mistake    |                           | Refused      | all stays                                  |
|                  | something forbidden       | RemovedFirst | all goes, and the next sync refuses it     |
|                  | of an entrance off by now | RemovedFirst | the same                                   |

What is forbidden is not changed in place: the admission of others can deny an update, and leave it where it is. A
delete can't be denied so: the owner of a Service has no say in it. While a Service is paused, nothing is judged.
"""

from collections.abc import Hashable, Mapping, Sequence
from itertools import islice
from zlib import crc32

import msgspec

from ingress_manager.core.annotations import Stated, entrance_of, read_entrances
from ingress_manager.core.basis import Basis
from ingress_manager.core.bounds import LARGEST_ANSWER, LARGEST_OBJECT, MOST_ENTRANCES, MOST_OBJECTS
from ingress_manager.core.errors import Problem, Problems, Reason, Refused
from ingress_manager.core.exposure import check_claims, expose
from ingress_manager.core.forbidden import forbidden
from ingress_manager.core.kubernetes import Key, Object, Observed, Service, key_of
from ingress_manager.core.namespace_policy import in_namespace
from ingress_manager.core.outputs import make_objects
from ingress_manager.core.policy import Policy
from ingress_manager.core.vocabulary import is_for_controllers

RECHECK_SECONDS = range(4, 9)
"""After how long a new Service is synced again while an object that it should have isn't there yet."""

RESYNC_SECONDS = range(240, 361)
"""After how long a Service is synced again when all its objects are there: changed settings have to reach them."""

LINE_SEPARATORS = ("\u2028".encode(), "\u2029".encode())
LONGEST_IN_GO = 6
"""Characters of JSON that Go writes for one byte: it escapes <, >, & and two line separators."""

LONGEST_LIST = 280
"""How many of a line's 500 characters may name missing objects."""


class Desired(msgspec.Struct, frozen=True):
    """What should exist for a Service; any other object that was made for it should not."""

    objects: Mapping[Key, Object] = {}
    """None when the Service doesn't ask to be exposed."""

    missing: Sequence[Key] = ()
    """Those of the objects that aren't observed, neither as they are nor otherwise."""


class RemovedFirst(msgspec.Struct, frozen=True):
    """Something observed has to go before anything else is done: it is forbidden, or of an entrance that is off by now.

    With `refused`, all goes, and the next sync refuses the Service for that. Without it, what is forbidden goes, and
    the next sync makes it anew.
    """

    objects: Mapping[Key, Object]
    """What should exist meanwhile: the rest of what the Service asks for."""

    forbidden: Mapping[Key, Problem]
    """What is forbidden, and why."""

    refused: Refused | None = None


Decision = Desired | Refused | RemovedFirst
"""What should become of a Service."""


def refusal_of(decision: Decision) -> Refused | None:
    """Return why the Service is, or will be, refused; None if it is not."""
    return decision if isinstance(decision, Refused) else getattr(decision, "refused", None)


def decide(service: Service, observed: Observed, policy: Policy) -> Decision:
    """Return what should become of `service`. Never raises.

    `observed` are the objects that were made for it earlier and are there now.
    """
    stated, there = read_entrances(service.metadata.annotations or {}), observed.all()
    if policy.entry_of(service.metadata.namespace).paused and (stated or there):
        return Refused([Problem("ingress-manager is paused by its settings", Reason.PAUSED)])
    if not stated:
        return Desired()
    problems = Problems()
    desired = desired_objects(service, stated, observed, policy, problems)
    refused = Refused(problems.kept, problems.more) if problems.kept else None
    not_to_stand: dict[Key, Problem] = {}
    for key, each in there.items():
        if problem := next(forbidden(each, service, policy, refused, desired.get(key)), None):
            not_to_stand[key] = problem
    if refused:
        # All that stands stays as it is, and is not mended; or all goes, also what was made for entrances that are
        # right, if any of it is forbidden, or was made for an entrance that is off by now: opting out wins over every
        # mistake, and nothing that is observed can be answered.
        is_off = any(entrance_of(service.metadata.name, key[1]) not in stated for key in there)
        return RemovedFirst({}, not_to_stand, refused) if not_to_stand or is_off else refused
    if not_to_stand:
        return RemovedFirst({key: desired[key] for key in desired if key not in not_to_stand}, not_to_stand)
    return Desired(desired, [key for key in desired if key not in there])


def desired_objects(
    service: Service, stated: Mapping[str, Stated], observed: Observed, policy: Policy, problems: Problems
) -> dict[Key, Object]:
    """Return the objects that the annotations ask for. Adds what is wrong with all entrances."""
    made: list[Object] = []
    claims: dict[Hashable, tuple[Basis, str]] = {}
    can_clash = sum([len(asked.routes) for asked in stated.values()]) > 1
    present = service.metadata.annotations or {}
    for_controllers = {key: value for key, value in present.items() if is_for_controllers(key)}
    for entrance, asked in islice(stated.items(), MOST_ENTRANCES + 1):  # of more, it is only told that there are many
        here, own = in_namespace(policy, service.metadata.namespace, asked.profile), Problems()
        exposure = expose(Basis(service, observed, entrance, asked, here, own), for_controllers)
        if exposure and can_clash:
            check_claims(exposure, claims)
        if exposure and not own.kept:
            made += make_objects(exposure)
        problems.extend(own.kept, own.more)
    if not problems.kept:
        check_bounds(made, problems)
    return {key_of(each): each for each in made}


def check_bounds(objects: Sequence[Object], problems: Problems) -> None:
    """Add a problem when there are too many objects, one is larger than Metacontroller can apply, or all to be sent."""
    if len(objects) > MOST_OBJECTS:
        sentence = (
            f"this Service would be given {len(objects)} objects, and {MOST_OBJECTS} is the most; "
            "hosts with the same paths share an HTTPRoute, and each with a certificate of its own has a ListenerSet"
        )
        problems.add(sentence, Reason.TOO_MANY_OBJECTS)
    elif len(msgspec.json.encode(objects)) * LONGEST_IN_GO > LARGEST_OBJECT:
        texts = [msgspec.json.encode(each) for each in objects]
        escapes = [5 * sum(map(text.count, b"<>&")) + 3 * sum(map(text.count, LINE_SEPARATORS)) for text in texts]
        sizes = [len(text) + more for text, more in zip(texts, escapes, strict=True)]
        if (largest := max(sizes)) > LARGEST_OBJECT:
            kind = objects[sizes.index(largest)]["kind"]
            problems.add(f"the {kind} would have {largest} bytes; {LARGEST_OBJECT} is the most", Reason.TOO_LARGE)
        elif sum(sizes) > LARGEST_ANSWER:
            sentence = f"the {len(objects)} objects would have {sum(sizes)} bytes in all; {LARGEST_ANSWER} is the most"
            problems.add(sentence, Reason.TOO_LARGE)


def not_made(service: str, missing: Sequence[Key]) -> Problem:
    """Return the problem of a Service, as namespace/name, that lacks these objects although they were asked for."""
    shown = [f"{kind} {name} isn't there yet" for kind, name in missing]
    while len(", ".join(shown)) > LONGEST_LIST and len(shown) > 1:
        shown.pop()
    more = f" and {len(missing) - len(shown)} more" if len(shown) < len(missing) else ""
    sentence = (
        f"{', '.join(shown)}{more}: one that ingress-manager didn't make has that name, or something denies it; "
        f"`ingress-manager status {service}` says which"
    )
    return Problem(sentence, Reason.NOT_MADE)


def recheck_after(service: Service, age: float) -> int:
    """Return after how many seconds a Service is to be synced again that lacks something, changed `age` seconds ago.

    It is soon: Metacontroller reports no error when its create meets an object of the same name, so it has to try
    again. A create can also fail for long, because of a quota or a name that is taken. So the longer ago the Service
    was changed, the longer the next try waits: many that fail must not hold up the others.
    """
    return min(spread(service, RESYNC_SECONDS), max(int(age / 4), spread(service, RECHECK_SECONDS)))


def spread(service: Service, seconds: range) -> int:
    """Return one of `seconds`: the same one at each call for a Service, and all of them evenly over many Services.

    Services that are all synced in the same second would hold up every other change.
    """
    return seconds[crc32(service.metadata.uid.encode()) % len(seconds)]
