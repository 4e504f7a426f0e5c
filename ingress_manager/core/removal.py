"""Removal: which of the objects that stand for a Service have to go first. The theory of every decision, in one table.

Metacontroller asks with a Service and the objects that are **observed**: made for it earlier, and there now. An answer
with the status 200 says what is **desired**: it makes what is missing, changes what is otherwise, and deletes what is
observed and not in the answer. With another status, all that is observed stays **unchanged**. A Service is **purged**
where something can't stay even so: the answer is then all of its objects but that, each as this table says.

| a Service is | one of its objects is, the first that holds        | what becomes of the object | decision        |
|--------------|----------------------------------------------------|----------------------------|-----------------|
| silent       | any: the Service asks for nothing                  | goes                       | Desired         |
| ACCEPTED     | ANSWERED: desired as before, or adopted: no record | stays, or is changed       | Desired         |
|              | FORBIDDEN by the policy                            | goes first                 | Purged          |
|              | OPTED_OUT: its entrance asks for nothing           | goes                       | Desired         |
|              | ALLOWED: desired otherwise, or not any more        | is changed, or goes        | Desired         |
| REFUSED      | FORBIDDEN or OPTED_OUT                             | goes first                 | Purged          |
|              | ALLOWED                                            | stays as it stands         | Unchanged (422) |
| PAUSED       | FORBIDDEN                                          | goes first                 | Purged          |
|              | OPTED_OUT or ALLOWED                               | stays as it stands         | Unchanged (429) |

What goes first comes back with the next sync, which its removal causes, if it is desired. It is not changed in place:
the admission of others can deny an update, and leave what is forbidden where it is. A delete can't be denied so: the
owner of a Service has no say in it.
"""

from collections.abc import Mapping
from enum import Enum, auto
from functools import cache, partial

import msgspec

from ingress_manager.core.annotations import Stated
from ingress_manager.core.entrances import entrance_for
from ingress_manager.core.errors import Problem, without_frames
from ingress_manager.core.kubernetes import Attachment, Key, Object, Service
from ingress_manager.core.observed import check_observed, has_record, is_recorded_as, named_twice
from ingress_manager.core.policy import Policy, in_namespace


class State(Enum):
    """What is the matter with a Service that asks for something. While it is paused, it may also ask for nothing."""

    ACCEPTED = auto()
    REFUSED = auto()
    PAUSED = auto()


class Condition(Enum):
    """What is the matter with an object that is judged: ANSWERED is what need not be."""

    FORBIDDEN = auto()
    OPTED_OUT = auto()
    ALLOWED = auto()


GOES_FIRST = {
    State.ACCEPTED: {Condition.FORBIDDEN},
    State.REFUSED: {Condition.FORBIDDEN, Condition.OPTED_OUT},
    State.PAUSED: {Condition.FORBIDDEN},
}
"""The rows of the table by which an object goes first."""


class Sync(msgspec.Struct, frozen=True, gc=False):
    """What Metacontroller asks about."""

    service: Service
    stated: Mapping[str, Stated]
    """What the Service asks for, by the entrance."""

    observed: Mapping[Key, Attachment]
    policy: Policy


def removals(sync: Sync, state: State, desired: Mapping[Key, Object]) -> dict[Key, Problem | None]:
    """Return which of the objects go first, and why the policy forbids each; None: it doesn't.

    `desired` is what is desired of a Service that is accepted.
    """
    found: dict[Key, Problem | None] = {}
    judged = sync.observed
    if state is State.ACCEPTED:
        judged = {key: each for key, each in judged.items() if not is_answered(each, desired.get(key))}
    if not judged:
        return found  # nearly always: what is observed stands as it was answered
    forbidden = judge(sync.service, judged, sync.policy, is_mended=state is State.ACCEPTED)
    for key in judged:
        condition = Condition.ALLOWED
        if key in forbidden:
            condition = Condition.FORBIDDEN
        elif entrance_for(sync.service, key) not in sync.stated:
            condition = Condition.OPTED_OUT
        if condition in GOES_FIRST[state]:
            found[key] = forbidden.get(key)
    return found


def is_answered(observed: Attachment, desired: Object | None) -> bool:
    """Return whether the hook answers with an object as before, or never has: then it is as allowed as `desired` is.

    What it never answered with is adopted: it has no record yet.
    """
    if named_twice(observed):
        return False
    return not has_record(observed) or (desired is not None and is_recorded_as(observed, desired))


def judge(
    service: Service, attachments: Mapping[Key, Attachment], policy: Policy, *, is_mended: bool
) -> dict[Key, Problem]:
    """Return which of the objects may not stay, and why. `is_mended`: the Service isn't refused, so they are mended."""
    # Each is judged by the profile that it has. A Service that takes another one is given what that adds in place.
    with_profile = cache(partial(in_namespace, policy, service.metadata.namespace))
    forbidden = {}
    for key, each in attachments.items():
        try:
            check_observed(service, each, with_profile, is_mended=is_mended)
        except Problem as problem:
            forbidden[key] = without_frames(problem)
    return forbidden
