"""Whether a problem is reported now or held back. The hook remembers only these buckets, and no decision uses them.

Metacontroller makes an Event of a refusal (422), and retries. The failed attempts of all Services wait in one queue,
which ten leave each second after a burst of a hundred. A 429 makes no Event, and waits outside that queue. So:

- A mistake is reported once in the minute after its Service was changed, if its namespace's bucket has a token; and in
  a few seconds of each hour, spread over all Services, because the API server forgets an Event that isn't repeated. In
  between, it is held back for some minutes, after which changed settings reach the Service like any other.
- A missing object is reported on every sync of that minute, and in the same seconds of each hour; otherwise it is
  requested again, because Metacontroller reports no taken name. A quota may deny that write, which is a failed attempt,
  too: so each request but one in some minutes takes a token of the same bucket.

Source: client-go, DefaultTypedControllerRateLimiter; Metacontroller, pkg/controller/decorator, processNextWorkItem.
"""

from hooks.sync import ASKED, HOUR, THERE, Answer, refusal, until_hourly
from ingress_manager.core.decide import RECHECK_SECONDS, RESYNC_SECONDS, spread

FRESH_SECONDS, HOURLY_SECONDS = 60, 3
LATER_SECONDS = range(10, 31)
"""After how long Metacontroller should ask again if the namespace's bucket is empty."""

MOST_BUCKETS = 60_000
"""They take some 10 MB. The least recently used one is forgotten."""


class Buckets:
    """Token buckets: how many tokens each had, and when."""

    def __init__(self) -> None:
        self._left: dict[int, tuple[float, float]] = {}
        """By the hash of their names, which anybody who reaches the port can make long."""

    def take(self, name: str, now: float, size: int, seconds: float) -> bool:
        """Take a token, and return whether there was one. A bucket gets one every `seconds`, up to `size`."""
        left, at = self._left.pop(hash(name), (size, now))
        left = min(size, left + max(0.0, now - at) / seconds)
        self._left[hash(name)] = (left - 1 if left >= 1 else left, now)
        if len(self._left) > MOST_BUCKETS:
            del self._left[next(iter(self._left))]
        return left >= 1

    def report(self, answer: Answer, now: float) -> Answer:
        """Return the answer, or hold back its problem."""
        service, problems, is_asked = answer.service, answer.problems, answer.word == ASKED
        if service is None or not service.metadata.resource_version:
            return answer  # a person sent the request: a stored Service has a version
        uid, version = service.metadata.uid, service.metadata.resource_version
        if answer.word == THERE:
            self._left.pop(hash(f"asked {uid}"), None)
        if problems is None or not (is_asked or answer.status == 422):
            return answer
        until = until_hourly(service, now)
        is_hourly = until > HOUR - HOURLY_SECONDS
        is_due = is_hourly or now - service.metadata.changed < FRESH_SECONDS
        # Once: a failed attempt is soon retried. And not at once: a missing object may just be being made.
        is_new = is_due and self.take(f"told {uid} {'' if is_asked else version}", now, 1, RECHECK_SECONDS.start)
        is_first = is_asked and self.take(f"asked {uid}", now, 1, RESYNC_SECONDS.stop)
        if is_asked or is_new:
            if not (is_hourly or is_first or self.take(f"namespace {service.metadata.namespace}", now, 20, 0.5)):
                return refusal(429, problems, service, spread(service, LATER_SECONDS))
            if is_new and not is_first:
                return refusal(422, problems, service)
        if is_asked:
            return answer
        return refusal(429, problems, service, min(spread(service, RESYNC_SECONDS), int(until) + 1))
