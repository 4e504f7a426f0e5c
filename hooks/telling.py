"""Whether what is wrong is told now. Of Services, the hook remembers buckets alone, and nothing depends on them.

Metacontroller makes an Event of a refusal (422), and tries again. The failed attempts of all Services wait in one
queue, which ten leave in a second, after a hundred at once. A 429 makes no Event, and waits outside of that queue. So:

- A mistake is told once in the minute after its Service was changed, as far as its namespace's bucket goes; and in a
  few seconds of each hour, spread over all Services: the API server forgets an Event that isn't repeated. In between,
  changed settings reach the Service after some minutes, as every other one.
- What isn't there although it was asked for is told at each look in that minute, and in the same seconds of each hour,
  and asked for in between: Metacontroller says nothing of a name that is taken. A quota may deny the write, which is a
  failed attempt, too: so the same bucket pays for asking, but once in some minutes.

Source: client-go, DefaultTypedControllerRateLimiter; Metacontroller, pkg/controller/decorator, processNextWorkItem.
"""

from hooks.sync import ASKED, HOUR, THERE, Answer, refusal, until_hourly
from ingress_manager.core.decide import RECHECK_SECONDS, RESYNC_SECONDS, spread

FRESH_SECONDS, HOURLY_SECONDS = 60, 3
LATER_SECONDS = range(10, 31)
"""After how long Metacontroller is to ask again where the bucket of the namespace is empty."""

MOST_BUCKETS = 60_000
"""In some 10 MB; the one that was used longest ago is forgotten."""


class Buckets:
    """What the hook remembers: how many tokens each bucket had left, and when."""

    def __init__(self) -> None:
        self._left: dict[int, tuple[float, float]] = {}
        """By the hash of their names, which whoever reaches the port may make long."""

    def take(self, name: str, now: float, size: int, seconds: float) -> bool:
        """Return whether there was a token, which is gone now. So many `seconds` bring one more, up to `size`."""
        left, at = self._left.pop(hash(name), (size, now))
        left = min(size, left + max(0.0, now - at) / seconds)
        self._left[hash(name)] = (left - 1 if left >= 1 else left, now)
        if len(self._left) > MOST_BUCKETS:
            del self._left[next(iter(self._left))]
        return left >= 1

    def told(self, answer: Answer, now: float) -> Answer:
        """Return the answer as it is given now: what is wrong is told, or held back."""
        service, why, is_asked = answer.service, answer.why, answer.word == ASKED
        if service is None or not service.metadata.resource_version:
            return answer  # a person asks: what is stored has a version
        uid, version = service.metadata.uid, service.metadata.resource_version
        if answer.word == THERE:
            self._left.pop(hash(f"asked {uid}"), None)
        if why is None or not (is_asked or answer.status == 422):
            return answer
        until = until_hourly(service, now)
        is_hourly = until > HOUR - HOURLY_SECONDS
        is_due = is_hourly or now - service.metadata.changed < FRESH_SECONDS
        # Once: each attempt that fails is soon followed by another one. And not at once: it may be made just now.
        is_new = is_due and self.take(f"told {uid} {'' if is_asked else version}", now, 1, RECHECK_SECONDS.start)
        is_first = is_asked and self.take(f"asked {uid}", now, 1, RESYNC_SECONDS.stop)
        if is_asked or is_new:
            if not (is_hourly or is_first or self.take(f"namespace {service.metadata.namespace}", now, 20, 0.5)):
                return refusal(429, why, service, spread(service, LATER_SECONDS))
            if is_new and not is_first:
                return refusal(422, why, service)
        if is_asked:
            return answer
        return refusal(429, why, service, min(spread(service, RESYNC_SECONDS), int(until) + 1))
