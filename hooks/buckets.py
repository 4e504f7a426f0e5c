"""Whether a refusal is told now: the only thing that the hook remembers, and nothing depends on it.

Metacontroller makes an Event of a refusal (422), and tries again. The failed attempts of all Services wait in one
queue, which ten leave in a second, after a hundred at once. A 429 makes no Event, and waits outside of that queue. So:

- A mistake is told once, in the minute after its Service was changed, as far as its namespace's bucket goes.
- Each refusal is told in a few seconds of each hour, spread over all Services: the API server forgets an Event that
  isn't repeated within an hour. In between, changed settings reach it after some minutes, as every other Service.
- A Service that changes again and again while its objects aren't there is answered as far as that bucket goes: a quota,
  or somebody's admission, denies the write then, and that is a failed attempt, too. The first time is free: thousands
  may be made at once.

Source: client-go, DefaultTypedControllerRateLimiter; Metacontroller, pkg/controller/decorator, processNextWorkItem.
"""

from zlib import crc32

from ingress_manager.core.decide import RECHECK_SECONDS, RESYNC_SECONDS, spread
from ingress_manager.core.kubernetes import Service

FRESH_SECONDS, HOUR, HOURLY_SECONDS = 60, 3600, 3
LATER_SECONDS = range(15, 46)
"""After how long Metacontroller is to ask again about a Service that changes again and again."""

MOST_KEYS = 20_000
"""Buckets of a kind that are remembered, in some 3 MB; the one that was used longest ago is forgotten."""


class Buckets:
    """Tokens, by key: `size` at first, and `rate` more each second, up to `size`."""

    def __init__(self, size: int, rate: float) -> None:
        self._size, self._rate = size, rate
        self._left: dict[int, tuple[float, float]] = {}
        """By the hash of a key, which whoever reaches the port may make long: how many were left, and when."""

    def take(self, key: str, now: float) -> bool:
        """Return whether there was a token for the key at that time, in seconds; it is gone now."""
        left, at = self._left.pop(hash(key), (self._size, now))
        left = min(self._size, left + max(0.0, now - at) * self._rate)
        self._left[hash(key)] = (left - 1 if left >= 1 else left, now)
        if len(self._left) > MOST_KEYS:
            del self._left[next(iter(self._left))]
        return left >= 1


def version_of(service: Service) -> str:
    """Return a key for the Service as it is stored now."""
    return f"{service.metadata.uid} {service.metadata.resource_version}"


def retry_after(
    service: Service, changed: float, now: float, of_versions: Buckets, of_namespaces: Buckets
) -> int | None:
    """Return after how many seconds Metacontroller is to ask again; None: the refusal is told. Times are Unix times."""
    in_hour = (now - crc32(service.metadata.uid.encode())) % HOUR
    if in_hour < HOURLY_SECONDS or not service.metadata.resource_version:  # without one, a person asks
        return None
    if now - changed < FRESH_SECONDS:
        # The namespace first: what its bucket held back isn't told yet, and must be when that has a token again.
        if not of_namespaces.take(service.metadata.namespace, now):
            return spread(service, RECHECK_SECONDS)
        if of_versions.take(version_of(service), now):
            return None
    return min(spread(service, RESYNC_SECONDS), int(HOUR - in_hour) + 1)


def is_held_back(service: Service, now: float, seen: Buckets, of_namespaces: Buckets) -> bool:
    """Return whether to ask later about a Service whose objects aren't there. `seen` are buckets of one token."""
    metadata = service.metadata
    is_first = seen.take(metadata.uid, now)
    is_another = seen.take(version_of(service), now)
    return is_another and not is_first and not of_namespaces.take(metadata.namespace, now)
