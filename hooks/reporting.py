"""Whether a problem is reported now or held back. The hook remembers only these buckets, and no decision uses them.

Metacontroller makes an Event of a refusal (422), and retries. The failed attempts of all Services wait in one queue,
which ten leave each second after a burst of a hundred. A 429 makes no Event, and waits outside that queue. So each
answer after which Metacontroller fails, or may fail, takes a token of its namespace's bucket, or is held back by a 429:

- An attempt to write or remove something, which a quota or somebody's admission may deny. If it succeeds, the token is
  given back. Attempts that go on failing leave most tokens to reports, and these leave some to new Services. Removals
  have a bucket of their own: nothing that fails delays them.
- A report of a refusal: once, and again after an hour, because the API server forgets an Event that isn't repeated. In
  between, the refusal is held back for some minutes, after which changed settings reach the Service like any other.
  After its start, the hook knows of no report. So unless the Service has just been changed, a report takes a token of
  one bucket for all namespaces, too, which leaves some to Services whose objects were just removed.
- A report that an object is missing some seconds after it was requested: Metacontroller doesn't report a taken name.

Source: client-go, DefaultTypedControllerRateLimiter; Metacontroller, pkg/controller/decorator, processNextWorkItem.
"""

from typing import NamedTuple

import msgspec

from hooks.sync import ASKED, REFUSED, Answer, refusal
from ingress_manager.core.decide import RECHECK_SECONDS, REMOVAL, RESYNC_SECONDS, WRITE, spread
from ingress_manager.core.errors import Problems
from ingress_manager.core.kubernetes import ObjectMeta

FRESH_SECONDS, REPEAT_SECONDS = 60, 3600 - RESYNC_SECONDS.stop
"""How long a change is new; and after how long the next sync reports a refusal again."""

LATER_SECONDS = range(10, 31)
"""After how long Metacontroller should ask again if a bucket gives no token."""

NOBODY = ObjectMeta(name="", namespace="", uid="")
"""Whose Service couldn't be read: all these share a bucket."""

MOST_BUCKETS = 60_000
"""They take some 10 MB. The least recently used one is forgotten."""


class Bucket(NamedTuple):
    """A bucket gets a token every `seconds`, up to `size`. It gives one if there are at least so many."""

    name: str
    size: int = 1
    seconds: float = RESYNC_SECONDS.stop
    least: int = 1


def failures_of(metadata: ObjectMeta, attempt: str, least: int = 71) -> Bucket:
    """Return the bucket that pays for a namespace. Reports take the first 30 tokens of it, first attempts all."""
    return Bucket(f"failures {metadata.namespace} {attempt == REMOVAL}", 100, 0.5, least)


class Buckets:
    """Token buckets: how many tokens each had, and when."""

    def __init__(self) -> None:
        self._left: dict[int, tuple[float, float]] = {}
        """By the hash of their names, which anybody who reaches the port can make long."""

    def left(self, bucket: Bucket, now: float) -> float:
        """Return how many tokens there are."""
        left, at = self._left.get(hash(bucket.name), (bucket.size, now))
        return min(bucket.size, left + max(0.0, now - at) / bucket.seconds)

    def take(self, now: float, *buckets: Bucket, tokens: int = 1) -> bool:
        """Take so many tokens of each bucket, and return whether all give them; otherwise, none is taken."""
        left = [(bucket, self.left(bucket, now)) for bucket in buckets]
        is_enough = all(there >= bucket.least for bucket, there in left)
        for bucket, there in left if is_enough else ():
            self._left.pop(hash(bucket.name), None)
            self._left[hash(bucket.name)] = there - tokens, now
            if len(self._left) > MOST_BUCKETS:
                del self._left[next(iter(self._left))]
        return is_enough

    def report(self, answer: Answer, now: float) -> Answer:
        """Return the answer, or hold it back. Every answer of the hook passes here."""
        metadata = answer.service.metadata if answer.service else NOBODY
        if answer.status not in {200, 422, 429}:
            return answer if self.take(now, failures_of(metadata, "")) else held_back(answer, LATER_SECONDS)
        if answer.status == 429 or not metadata.resource_version:
            return answer  # a pause; or a person sent the request: a stored Service has a version
        over = [WRITE] * (answer.status == 200 and not answer.attempt) + [REMOVAL] * (answer.attempt != REMOVAL)
        for attempt in over:  # whether it is this version's, because another one may have asked for something else
            if self._left.pop(hash(f"{attempt} {metadata.uid} {metadata.resource_version}"), None):
                self.take(now, failures_of(metadata, attempt, least=0), tokens=-1)
        if answer.attempt:
            return self._try(answer, metadata, now)
        return self._refuse(answer, metadata, now) if answer.problems else answer

    def _try(self, answer: Answer, metadata: ObjectMeta, now: float) -> Answer:
        """Return an answer after which Metacontroller writes or removes something, or hold it back."""
        first = Bucket(f"{answer.attempt} {metadata.uid}")
        of_first, others = (failures_of(metadata, answer.attempt, least) for least in (1, 81))
        if not (self.take(now, first, of_first) or self.take(now, others)):
            return held_back(answer, RECHECK_SECONDS if self.left(first, now) >= 1 else LATER_SECONDS)
        tried = Bucket(f"{answer.attempt} {metadata.uid} {metadata.resource_version}")
        seconds = self.left(tried, now) * tried.seconds
        self.take(now, tried)
        is_missing = answer.word == ASKED and RECHECK_SECONDS.start <= seconds < tried.seconds
        return self._refuse(answer, metadata, now) if is_missing else answer

    def _refuse(self, answer: Answer, metadata: ObjectMeta, now: float) -> Answer:
        """Return the refusal with the answer's problems if it is reported now."""
        problems = answer.problems or Problems()
        reasons = sorted({problem.reason for problem in problems.kept})
        reported = Bucket(f"reported {metadata.uid} {metadata.resource_version} {reasons}", 1, REPEAT_SECONDS)
        tokens = [reported] if answer.attempt else [reported, failures_of(metadata, "")]
        if now - metadata.changed > FRESH_SECONDS:
            was_removed = self.left(Bucket(f"{REMOVAL} {metadata.uid}"), now) < 1
            tokens.append(Bucket("reports", 20, 0.2, 1 if was_removed else 11))
        if self.take(now, *tokens):
            return refusal(422, problems, answer.service)
        if answer.attempt:
            return answer
        return held_back(answer, LATER_SECONDS if self.left(reported, now) >= 1 else RESYNC_SECONDS)


def held_back(answer: Answer, seconds: range) -> Answer:
    """Return the answer by which Metacontroller asks again after some of the seconds, and makes no Event."""
    later = spread(answer.service, seconds) if answer.service else seconds.start
    body = b"held back: too many attempts of this namespace failed\n" if answer.status == 200 else answer.body
    return msgspec.structs.replace(answer, status=429, body=body, word=REFUSED, later=later)
