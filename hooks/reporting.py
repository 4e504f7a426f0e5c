"""Decides whether a change or report is made now or held back.

Metacontroller reports a refusal (422) in an Event, and retries. All failed Services share one retry queue, which
releases a burst of 100, then ten a second. A 429 makes no Event and stays out of that queue. To protect the queue, each
of these takes a token from one of its namespace's buckets. Without one, the answer becomes a 429 (but not in case 3):

1. An attempt to write or remove objects, which may fail. If it succeeds, the token is given back.
2. A report of a refusal, about once an hour. Unless the Service just changed or had objects removed, it takes another
   token, which all namespaces share: after a restart, the hook doesn't know what it reported.
3. A report that a requested object is still missing. Metacontroller reports nothing if the object's name is taken.

The hook remembers only tokens, which don't affect what objects should exist. Sources: client-go,
DefaultTypedControllerRateLimiter; Metacontroller, pkg/controller/decorator, processNextWorkItem.
"""

from typing import NamedTuple

import msgspec

from hooks.sync import INCOMPLETE, REFUSED, Answer, refusal
from ingress_manager.core.decide import RECHECK_SECONDS, REMOVAL, RESYNC_SECONDS, WRITE, spread
from ingress_manager.core.errors import Problems
from ingress_manager.core.kubernetes import ObjectMeta

FRESH_SECONDS = 60  # for which a Service counts as just changed
REPEAT_SECONDS = 3600 - RESYNC_SECONDS.stop  # after which the next sync reports a refusal again
LATER_SECONDS = range(10, 31)  # the Retry-After if there is no token
MOST_BUCKETS = 60_000  # take about 10 MB; beyond, the least recently used bucket is dropped
UNIDENTIFIED = ObjectMeta(name="", namespace="", uid="")  # of Services that can't be decoded, which share a bucket

FIRST_MIN, REPEAT_MIN = 1, 81
"""The tokens (of 100) that a namespace must have for a first or a repeated attempt. Repeats can't use the last 80."""


class Bucket(NamedTuple):
    """A token bucket. It gains a token every `seconds`, up to `size`, and gives none while it holds fewer than `least`.

    With size 1, it is also a timer that starts when the token is taken and ends after `seconds`.
    """

    name: str
    size: int = 1
    seconds: float = RESYNC_SECONDS.stop
    least: int = 1


class Buckets:
    def __init__(self) -> None:
        self._counts: dict[int, tuple[float, float]] = {}
        """Maps the hash of a bucket's name, which can be long, to the tokens left and the Unix time of that count."""

    def tokens_left(self, bucket: Bucket, now: float) -> float:
        left, counted_at = self._counts.get(hash(bucket.name), (bucket.size, now))
        return min(bucket.size, left + max(0.0, now - counted_at) / bucket.seconds)

    def take(self, now: float, *buckets: Bucket, tokens: int = 1) -> bool:
        """Take `tokens` from every bucket if each holds its minimum, `least`. Return whether they were taken."""
        counts = [(bucket, self.tokens_left(bucket, now)) for bucket in buckets]
        is_enough = all(left >= bucket.least for bucket, left in counts)
        for bucket, left in counts if is_enough else ():
            self._counts.pop(hash(bucket.name), None)
            self._counts[hash(bucket.name)] = left - tokens, now
            if len(self._counts) > MOST_BUCKETS:
                del self._counts[next(iter(self._counts))]
        return is_enough

    def throttle(self, answer: Answer, now: float) -> Answer:
        """Return `answer`, or a 422 instead if a report of its problems is due, or a 429 if too few tokens are left."""
        metadata = answer.service.metadata if answer.service else UNIDENTIFIED
        if answer.status == 400:
            return answer if self.take(now, report_bucket(metadata)) else hold_back(answer, LATER_SECONDS)
        if answer.status == 429 or not metadata.resource_version:
            return answer  # a pause, or a manual request: every stored Service has a version
        version = f"{metadata.uid} {metadata.resource_version}"
        self._return_tokens(answer, metadata, version, now)
        if answer.attempt:
            return self._attempt(answer, metadata, version, now)
        return self._report_if_due(answer, metadata, version, now) if answer.problems else answer

    def _return_tokens(self, answer: Answer, metadata: ObjectMeta, version: str, now: float) -> None:
        """Put the tokens of attempts that have succeeded back into the namespace's buckets."""
        is_done = answer.status == 200 and not answer.attempt
        for attempt, is_over in ((REMOVAL, answer.attempt != REMOVAL), (WRITE, is_done)):
            # Attempts for other versions may have been different.
            if is_over and self._counts.pop(hash(f"{attempt} {version}"), None) is not None:
                self.take(now, attempt_bucket(metadata, attempt, least=0), tokens=-1)
                if attempt == REMOVAL:
                    self.take(now, Bucket(f"after {REMOVAL} {version}"))

    def _attempt(self, answer: Answer, metadata: ObjectMeta, version: str, now: float) -> Answer:
        """Return a 429 if too few tokens are left, a 422 to report a missing object, or `answer`."""
        # Twice the longest resync, so that the next one isn't taken for a first attempt, even if it is late.
        first_try = Bucket(f"{answer.attempt} {version}", seconds=2 * RESYNC_SECONDS.stop)
        left = self.tokens_left(first_try, now)
        is_first, waited = left == first_try.size, left * first_try.seconds
        if not self.take(now, attempt_bucket(metadata, answer.attempt, FIRST_MIN if is_first else REPEAT_MIN)):
            return hold_back(answer, RECHECK_SECONDS if is_first else LATER_SECONDS)
        self.take(now, first_try)
        # Sooner attempts are Metacontroller's retries after an error, which it reports itself.
        is_missing = answer.outcome == INCOMPLETE and not is_first and waited >= RECHECK_SECONDS.start
        return self._report_if_due(answer, metadata, version, now) if is_missing else answer

    def _report_if_due(self, answer: Answer, metadata: ObjectMeta, version: str, now: float) -> Answer:
        """Return a 422 that reports the problems if tokens are left, else `answer` if it is an attempt, else a 429."""
        problems = answer.problems or Problems()
        reasons = sorted({problem.reason for problem in problems.kept})
        reported = Bucket(f"reported {version} {reasons}", seconds=REPEAT_SECONDS)
        buckets, removal = [reported, report_bucket(metadata)], Bucket(f"after {REMOVAL} {version}")
        if metadata.age(now) > FRESH_SECONDS and self.tokens_left(removal, now) >= 1:
            buckets.append(Bucket("reports", size=10, seconds=0.2))  # half of what the retry queue releases
        if self.take(now, *buckets):
            return refusal(422, problems, answer.service)
        if answer.attempt:
            return answer
        return hold_back(answer, LATER_SECONDS if self.tokens_left(reported, now) >= 1 else RESYNC_SECONDS)


def attempt_bucket(metadata: ObjectMeta, attempt: str, least: int) -> Bucket:
    return Bucket(f"{attempt} {metadata.namespace}", size=100, seconds=0.5, least=least)


def report_bucket(metadata: ObjectMeta) -> Bucket:
    return Bucket(f"reports {metadata.namespace}", size=30, seconds=0.5)


def hold_back(answer: Answer, seconds: range) -> Answer:
    """Return a 429 with a Retry-After in the range `seconds`. Metacontroller then retries without an Event."""
    retry_after = spread(answer.service, seconds) if answer.service else seconds.start
    why = b"held back: too many attempts in this namespace have failed or are unfinished\n"
    body = why if answer.status == 200 else answer.body
    return msgspec.structs.replace(answer, status=429, body=body, outcome=REFUSED, retry_after=retry_after)
