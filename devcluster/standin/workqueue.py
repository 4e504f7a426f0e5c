"""The work queue: keys that wait for a worker. No key is at two workers at once; a failure makes it wait longer.

The rules are those of client-go's util/workqueue with its default rate limiter for controllers.
"""

import threading
import time
from collections import deque

from devcluster.standin.objects import Key

FIRST_DELAY = 0.005
LONGEST_DELAY = 1000.0

RATE, BURST = 10, 100
"""Retries of all keys: so many a second, after so many at once."""


class WorkQueue:
    """Keys to be worked on. Every method may be called from any thread."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._ready: deque[Key] = deque()
        self._dirty: set[Key] = set()  # to be worked on: those ready, and those added again while being worked on
        self._processing: set[Key] = set()
        self._due: dict[Key, float] = {}  # the earliest time at which a key is to be added
        self._failures: dict[Key, int] = {}
        self._owed_until = 0.0  # when all retries that have been asked for have had their turn

    def add(self, key: Key) -> None:
        """Have the key worked on, once, and once more if it is being worked on right now."""
        with self._changed:
            if key not in self._dirty:
                self._dirty.add(key)
                if key not in self._processing:
                    self._ready.append(key)
                    self._changed.notify()

    def add_after(self, key: Key, seconds: float) -> None:
        """Add the key when the time has passed. Of several times for one key the earliest counts."""
        with self._changed:
            self._due[key] = min(time.monotonic() + seconds, self._due.get(key, float("inf")))
            self._changed.notify()

    def add_rate_limited(self, key: Key) -> None:
        """Add the key after a delay that doubles with each call until `forget`."""
        with self._changed:
            failures = self._failures[key] = self._failures.get(key, 0) + 1
            delay = min(FIRST_DELAY * 2.0 ** min(failures - 1, 64), LONGEST_DELAY)
            now = time.monotonic()
            self._owed_until = max(self._owed_until, now - BURST / RATE) + 1 / RATE
            self.add_after(key, max(delay, self._owed_until - now))

    def forget(self, key: Key) -> None:
        """Start over with the shortest delay when the key fails next time."""
        with self._changed:
            self._failures.pop(key, None)

    def get(self) -> Key:
        """Return the next key, to be given to `done` afterwards."""
        with self._changed:
            while True:
                self._add_due()
                if self._ready:
                    key = self._ready.popleft()
                    self._dirty.remove(key)
                    self._processing.add(key)
                    return key
                self._changed.wait(min(self._due.values()) - time.monotonic() if self._due else None)

    def done(self, key: Key) -> None:
        """Say that the key is no longer being worked on."""
        with self._changed:
            self._processing.remove(key)
            if key in self._dirty:
                self._ready.append(key)
                self._changed.notify()

    def _add_due(self) -> None:
        now = time.monotonic()
        for key in [key for key, due in self._due.items() if due <= now]:
            del self._due[key]
            self.add(key)
