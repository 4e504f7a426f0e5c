"""Whether something is told now: the only thing that the hook remembers, and nothing depends on it.

Metacontroller makes an Event of a refusal (422), and tries again. The failed attempts of all Services wait in one
queue, which ten leave in a second, after a hundred at once. A 429 makes no Event, and waits outside of that queue. So:

- A mistake is told once, in the minute after its Service was changed, as far as its namespace's bucket goes. So is one
  for which something was removed, whenever the settings have changed: by the Pod that answered so. Another Pod doesn't
  know, and tells it within the hour.
- Each is told in a few seconds of each hour, spread over all Services: the API server forgets an Event that isn't
  repeated within an hour. In between, changed settings reach it after some minutes, as every other Service.
- What a Service should have and hasn't, although it was asked for, is told in the same way, and asked for in between:
  Metacontroller says nothing of a name that is taken. Each time but the first in five minutes takes of that bucket: a
  quota, or somebody's admission, may deny the write, and that is a failed attempt, too.

Source: client-go, DefaultTypedControllerRateLimiter; Metacontroller, pkg/controller/decorator, processNextWorkItem.
"""

from typing import NamedTuple

from hooks.sync import HOUR, Answer, refusal, until_hourly
from ingress_manager.core.decide import RECHECK_SECONDS, RESYNC_SECONDS, not_made, spread
from ingress_manager.core.errors import Refused
from ingress_manager.core.kubernetes import Service

FRESH_SECONDS, HOURLY_SECONDS = 60, 3
LATER_SECONDS = range(15, 46)
"""After how long Metacontroller is to ask again for what its namespace has asked for too often."""

MOST_KEYS = 60_000
"""Keys that are remembered, in some 10 MB; the one that was used longest ago is forgotten."""


class Bucket(NamedTuple):
    """What holds tokens: `size` of them at first, and `rate` more each second, up to `size`."""

    what: str
    size: int
    rate: float


NAMESPACE = Bucket("what was told in a namespace", 20, 2)
VERSION = Bucket("a Service, as it is stored now, was told", 1, 1 / 30)
ASKED = Bucket("what a Service lacks was asked for, and needs some time to be made", 1, 1 / RECHECK_SECONDS.start)
MISSING = Bucket("a Service lacks something", 1, 1 / 300)
REMOVED = Bucket("something forbidden of a Service was removed; if it is refused, its owner doesn't know why", 1, 0)


class Memory:
    """What the hook remembers: how many tokens the buckets have left."""

    def __init__(self) -> None:
        self._left: dict[int, tuple[float, float]] = {}
        """By the hash of bucket and key, which whoever reaches the port may make long: how many, and when."""

    def take(self, bucket: Bucket, key: str, now: float) -> bool:
        """Return whether there was a token for the key at that time, in seconds; it is gone now."""
        place = hash((bucket, key))
        left, at = self._left.pop(place, (bucket.size, now))
        left = min(bucket.size, left + max(0.0, now - at) * bucket.rate)
        self._left[place] = (left - 1 if left >= 1 else left, now)
        if len(self._left) > MOST_KEYS:
            del self._left[next(iter(self._left))]
        return left >= 1

    def forget(self, bucket: Bucket, key: str) -> None:
        """Let the key be as one that was never used."""
        self._left.pop(hash((bucket, key)), None)

    def knows(self, bucket: Bucket, key: str) -> bool:
        """Return whether the key was used."""
        return hash((bucket, key)) in self._left

    def told(self, answer: Answer, now: float) -> Answer:
        """Return the answer as it is given now: with a refusal, or what is missing, told or held back."""
        service = answer.service
        if service is None:
            return answer
        if answer.are_there:
            self.forget(MISSING, service.metadata.uid)
        if answer.forbidden is not None:
            self.take(REMOVED, service.metadata.uid, now)
        if answer.status == 422:
            status, later = self.of_refused(service, answer.age, now)
        elif answer.missing:
            status, later = self.of_missing(service, answer.age, now)
        else:
            return answer
        if status == answer.status:
            return answer
        name = f"{service.metadata.namespace}/{service.metadata.name}"
        refused = answer.refused or Refused([not_made(name, answer.missing)])
        return refusal(status, refused, service, later=later)

    def of_refused(self, service: Service, age: float, now: float) -> tuple[int, int | None]:
        """Return the status for a refused Service that was changed `age` seconds ago, and when to ask again."""
        until = until_hourly(service, now)
        if not service.metadata.resource_version:  # a person asks
            return 422, None
        # Once: each attempt that fails is soon followed by another one.
        if until > HOUR - HOURLY_SECONDS and self.take(VERSION, version_of(service), now):
            return 422, None
        if age < FRESH_SECONDS or self.knows(REMOVED, service.metadata.uid):
            # The namespace first: what its bucket held back isn't told yet, and must be when that has a token again.
            if not self.take(NAMESPACE, service.metadata.namespace, now):
                return 429, spread(service, RECHECK_SECONDS)
            if self.take(VERSION, version_of(service), now):
                self.forget(REMOVED, service.metadata.uid)
                return 422, None
        return 429, min(spread(service, RESYNC_SECONDS), int(until) + 1)

    def of_missing(self, service: Service, age: float, now: float) -> tuple[int, int | None]:
        """Return the same for a Service whose objects aren't all there; the status 200 asks for them."""
        is_first = not self.knows(MISSING, service.metadata.uid)
        is_free = self.take(MISSING, service.metadata.uid, now)
        is_hourly = until_hourly(service, now) > HOUR - HOURLY_SECONDS
        waited = self.take(ASKED, service.metadata.uid, now)
        if is_first or not service.metadata.resource_version:
            return 200, None
        if not (is_hourly or is_free or self.take(NAMESPACE, service.metadata.namespace, now)):
            return 429, spread(service, LATER_SECONDS)
        is_due = waited and (is_hourly or RECHECK_SECONDS.start <= age < FRESH_SECONDS)
        return 422 if is_due and self.take(VERSION, version_of(service), now) else 200, None


def version_of(service: Service) -> str:
    """Return a key for the Service as it is stored now."""
    return f"{service.metadata.uid} {service.metadata.resource_version}"
