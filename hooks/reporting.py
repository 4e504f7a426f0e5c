"""Whether a problem is reported now or held back. The hook remembers only these buckets, and no decision uses them.

Metacontroller makes an Event of a refusal (422), and retries. The failed attempts of all Services wait in one queue,
which ten leave each second after a burst of a hundred. A 429 makes no Event, and waits outside that queue. So each
answer after which Metacontroller fails, or may fail, takes a token of its namespace, or is held back by a 429:

- An attempt to write or remove something, which a quota or an admission webhook may deny. If it succeeds, the token is
  given back. Repeated attempts leave most tokens to others.
- A report of a refusal: once, and again after an hour, because the API server forgets an Event that isn't repeated. In
  between, Metacontroller asks every few minutes, so that changed settings reach the Service. After its start, the hook
  knows of no report: unless the Service was just changed, or lost an object, a report also takes a token of one bucket
  for all namespaces.
- A report that an object is missing some seconds after it was requested: Metacontroller doesn't report a taken name.

Source: client-go, DefaultTypedControllerRateLimiter; Metacontroller, pkg/controller/decorator, processNextWorkItem.
"""

from typing import NamedTuple

import msgspec

from hooks.sync import INCOMPLETE, REFUSED, Answer, refusal
from ingress_manager.core.decide import RECHECK_SECONDS, REMOVAL, RESYNC_SECONDS, WRITE, spread
from ingress_manager.core.errors import Problems
from ingress_manager.core.kubernetes import ObjectMeta

FRESH_SECONDS, REPEAT_SECONDS = 60, 3600 - RESYNC_SECONDS.stop
"""How long a change is fresh; and after how long the next sync reports a refusal again."""

LATER_SECONDS = range(10, 31)
"""When Metacontroller should ask again if there is no token."""

NOBODY = ObjectMeta(name="", namespace="", uid="")
"""Unreadable Services share a bucket."""

MOST_BUCKETS = 60_000
"""They take some 10 MB. The least recently used one is forgotten."""


class Bucket(NamedTuple):
    """A bucket gets a token every `seconds`, up to `size`. It gives one if there are at least so many."""

    name: str
    size: int = 1
    seconds: float = RESYNC_SECONDS.stop
    least: int = 1


class Buckets:
    def __init__(self) -> None:
        self._left: dict[int, tuple[float, float]] = {}
        """Tokens and when, by the hash of a bucket's name: anyone who reaches the port can make names long."""

    def left(self, bucket: Bucket, now: float) -> float:
        left, at = self._left.get(hash(bucket.name), (bucket.size, now))
        return min(bucket.size, left + max(0.0, now - at) / bucket.seconds)

    def take(self, now: float, *buckets: Bucket, tokens: int = 1) -> bool:
        """Take tokens from every bucket, or from none. Return whether they were taken."""
        left = [(bucket, self.left(bucket, now)) for bucket in buckets]
        is_enough = all(there >= bucket.least for bucket, there in left)
        for bucket, there in left if is_enough else ():
            self._left.pop(hash(bucket.name), None)
            self._left[hash(bucket.name)] = there - tokens, now
            if len(self._left) > MOST_BUCKETS:
                del self._left[next(iter(self._left))]
        return is_enough

    def report(self, answer: Answer, now: float) -> Answer:
        """Return the answer, or hold it back. Every answer to Metacontroller passes here."""
        metadata = answer.service.metadata if answer.service else NOBODY
        if answer.status == 400:
            return answer if self.take(now, reports_of(metadata)) else hold_back(answer, LATER_SECONDS)
        if answer.status == 429 or not metadata.resource_version:
            return answer  # a pause; or a person's request: a stored Service has a version
        version = f"{metadata.uid} {metadata.resource_version}"
        is_done = answer.status == 200 and not answer.attempt
        for attempt, is_over in ((REMOVAL, answer.attempt != REMOVAL), (WRITE, is_done)):
            # It succeeded. For another version, something else may have been attempted.
            if is_over and self._left.pop(hash(f"{attempt} {version}"), None) is not None:
                self.take(now, attempts_of(metadata, attempt, least=0), tokens=-1)
                if attempt == REMOVAL:
                    self.take(now, Bucket(f"after {REMOVAL} {version}"))
        if not answer.attempt:
            return self._refuse(answer, metadata, version, now) if answer.problems else answer
        tried = Bucket(f"{answer.attempt} {version}")
        seconds = self.left(tried, now) * tried.seconds
        is_first = seconds == tried.seconds
        if not self.take(now, attempts_of(metadata, answer.attempt, 1 if is_first else 81)):
            return hold_back(answer, RECHECK_SECONDS if is_first else LATER_SECONDS)
        self.take(now, tried)
        is_missing = answer.outcome == INCOMPLETE and RECHECK_SECONDS.start <= seconds < tried.seconds
        return self._refuse(answer, metadata, version, now) if is_missing else answer

    def _refuse(self, answer: Answer, metadata: ObjectMeta, version: str, now: float) -> Answer:
        """Return the refusal if it is reported now."""
        problems = answer.problems or Problems()
        reasons = sorted({problem.reason for problem in problems.kept})
        tokens = [reported := Bucket(f"reported {version} {reasons}", 1, REPEAT_SECONDS), reports_of(metadata)]
        if now - metadata.changed > FRESH_SECONDS and self.left(Bucket(f"after {REMOVAL} {version}"), now) >= 1:
            tokens.append(Bucket("reports", 10, 0.2))
        if self.take(now, *tokens):
            return refusal(422, problems, answer.service)
        if answer.attempt:
            return answer
        return hold_back(answer, LATER_SECONDS if self.left(reported, now) >= 1 else RESYNC_SECONDS)


def attempts_of(metadata: ObjectMeta, attempt: str, least: int) -> Bucket:
    return Bucket(f"{attempt} {metadata.namespace}", 100, 0.5, least)


def reports_of(metadata: ObjectMeta) -> Bucket:
    return Bucket(f"reports {metadata.namespace}", 30, 0.5)


def hold_back(answer: Answer, seconds: range) -> Answer:
    """Return the answer with which Metacontroller asks again later, and makes no Event."""
    later = spread(answer.service, seconds) if answer.service else seconds.start
    body = b"held back: too many attempts of this namespace failed\n" if answer.status == 200 else answer.body
    return msgspec.structs.replace(answer, status=429, body=body, outcome=REFUSED, retry_after=later)
