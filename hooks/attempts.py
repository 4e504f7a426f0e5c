"""Attempts: whether a refusal is told now, or Metacontroller is to ask again later.

Metacontroller makes an Event of a refusal (422), and tries again. The failed attempts of all Services wait in one
queue, which ten leave in a second, after a hundred at once. Whoever fails faster delays what failed for others: a
Service that is patched all the time, or thousands that new settings refuse at once. A 429 makes no Event, and its
attempt waits outside of that queue. So:

- A refusal is told once for each version of its Service, and again before its Event is forgotten. In between the answer
  is 429, every five minutes or so: by then, changed settings reach every other Service, too.
- Few refusals are under way at a time. One is so until Metacontroller asks for the same version again, which says that
  it has left the queue, or for a second. When there is no room, the answer is 429, for half a minute or so.
- A Service is answered for few of its versions a minute while what it should have isn't there. A quota, a name that is
  taken or somebody's admission denies the write then, which is a failed attempt for each version, and an Event.
- The last of the room is for a mistake that was made just now, in a namespace in which little was told lately. That is
  what somebody waits for; thousands that new settings refuse are older.

All of it is in memory. What another replica knows, or the process before, is told once more. Texts are kept as their
hashes: whoever reaches the hook's port can send a uid of 16 MiB.

Source: client-go, DefaultTypedControllerRateLimiter; Metacontroller, pkg/controller/decorator, processNextWorkItem.
"""

from collections import OrderedDict
from math import exp
from typing import TypeVar

from ingress_manager.core.decide import RESYNC_SECONDS, spread
from ingress_manager.core.kubernetes import Service

ROOM = 4
"""Refusals that may be under way. If no end of one is seen, two replicas tell eight a second: fewer than the queue
takes in."""

UNDER_WAY_SECONDS = 1.0

MOST_VERSIONS = 12
"""How many versions of a Service are answered in about LATELY_SECONDS while what it should have isn't there. After the
first of them it nearly always is; but `release`, and then `adopt`, write it three times each while an Ingress of its
name stands that isn't its own."""

NEW_SECONDS = 60
"""How long ago a Service was changed that was changed just now: longer than LATER_SECONDS."""

TOLD_MUCH = 3
"""Refusals told lately, from which on a namespace leaves the last of the room to others."""

LATELY_SECONDS = 60.0
"""The time in which a refusal counts for a third of what it did."""

TOLD_SECONDS = 50 * 60.0
"""After how long a refusal is told again. The API server forgets an Event that isn't repeated within an hour."""

LATER_SECONDS = range(15, 46)
"""After how long Metacontroller is to ask again when there was no room."""

MOST_SERVICES, MOST_NAMESPACES = 20_000, 1_000
"""How many are remembered: 10 MB. What is told of one that was forgotten is told once more, or counts for nothing."""

T = TypeVar("T")


class Attempts:
    """Remembers which refusals were told. `now` is always in seconds, by a clock that never goes back."""

    def __init__(self) -> None:
        self._told: OrderedDict[int, tuple[int, float]] = OrderedDict()
        """By the uid of a Service, which version was told, and when; the last one at the end."""

        self._under_way: dict[tuple[int, int], float] = {}
        """By uid and version, when it was told."""

        self._awaited: OrderedDict[int, tuple[int, float, float]] = OrderedDict()
        """By the uid of a Service whose objects aren't there, which version was answered last, how many until when."""

        self._lately: OrderedDict[int, tuple[float, float]] = OrderedDict()
        """By namespace, how much was told until when; the last one at the end."""

    def later(self, service: Service, now: float, *, is_new: bool) -> int | None:
        """Return after how many seconds Metacontroller is to ask again; None: the refusal is to be told, and counts.

        `is_new` says that the Service was changed just now.
        """
        if not service.metadata.resource_version:
            return None  # it doesn't come from an API server: a person asks
        metadata = service.metadata
        uid, version, namespace = hash(metadata.uid), hash(metadata.resource_version), hash(metadata.namespace)
        told, at = self._told.get(uid, (None, 0.0))
        if told == version and now - at < TOLD_SECONDS:
            self._under_way.pop((uid, version), None)
            return spread(service, RESYNC_SECONDS)
        self._under_way = {key: since for key, since in self._under_way.items() if now - since < UNDER_WAY_SECONDS}
        told_lately = self._told_lately(namespace, now)
        if len(self._under_way) >= (ROOM if is_new and told_lately < TOLD_MUCH else ROOM - 1):
            return spread(service, LATER_SECONDS)
        self._under_way[uid, version] = now
        remember(self._told, uid, (version, now), MOST_SERVICES)
        remember(self._lately, namespace, (told_lately + 1, now), MOST_NAMESPACES)
        return None

    def not_made(self, service: Service, now: float) -> int | None:
        """Return after how many seconds Metacontroller is to ask again about a Service whose objects aren't there.

        None: it is to make them now.
        """
        uid, version = hash(service.metadata.uid), hash(service.metadata.resource_version)
        answered, count, at = self._awaited.get(uid, (None, 0.0, now))
        if answered == version:
            return None  # that Metacontroller tries it again, ever more slowly, holds up nobody
        lately = faded(count, at, now)
        if lately + 1 > MOST_VERSIONS:
            return spread(service, LATER_SECONDS)
        remember(self._awaited, uid, (version, lately + 1, now), MOST_SERVICES)
        return None

    def _told_lately(self, namespace: int, now: float) -> float:
        """Return how much was told in a namespace."""
        return faded(*self._lately.get(namespace, (0.0, now)), now)


def faded(count: float, at: float, now: float) -> float:
    """Return what a count of some time ago counts for now: what is long ago, for little."""
    return count * exp((at - now) / LATELY_SECONDS)


def remember(known: OrderedDict[int, T], key: int, value: T, most: int) -> None:
    """Put an entry at the end, and forget the first one when there are more than `most`."""
    known[key] = value
    known.move_to_end(key)
    if len(known) > most:
        known.popitem(last=False)
