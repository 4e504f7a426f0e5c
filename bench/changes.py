"""Changes of Services: they are made one at a time or at a steady rate, and a watch sees when their Ingresses follow.

Each change gives its Service another host, with a number. An Ingress that has a later number shows an earlier change as
well: of two changes that follow each other fast, Metacontroller writes the last one alone.
"""

import itertools
import math
import re
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from statistics import median
from types import TracebackType

from bench.load import Size
from devcluster.api import INGRESSES, SERVICES, Api, ApiError, Object, Resource, path_of, wait_for

WRITERS = 20
"""Changes that can be sent at once. Each Service has one writer, so that its changes are made in their order."""

PATIENCE = 420.0
"""Seconds to wait for an Ingress. Metacontroller resyncs each Service within 360 s, which would bring a lost change."""

HOST = re.compile(r"c(\d+)\.example\.com")

Place = tuple[str, str]
"""A namespace and a name."""


@dataclass(eq=False)
class Change:
    """One change. Times are of time.monotonic, and None until it has happened."""

    number: int
    due: float
    """When it was to be sent."""
    answered: float | None = None
    """When the API server answered that it is made."""
    seen: float | None = None
    """When the watch showed an Ingress with it."""

    @property
    def latency(self) -> float:
        """Seconds from the API server's answer to the Ingress; infinite when it never arrived."""
        if self.answered is None or self.seen is None:
            return math.inf
        return max(0.0, self.seen - self.answered)  # the watch can be faster than the answer

    @property
    def wait(self) -> float:
        """Seconds since the change was to be sent, so with the time in which the API server was away."""
        return math.inf if self.seen is None else self.seen - self.due


class Watch:
    """Calls `see` for each object of a resource that is there at the start, and for each that is changed or new."""

    def __init__(self, api: Api, resource: Resource, see: Callable[[Object], None]) -> None:
        self._api, self._resource, self._see = api, resource, see
        self._ended = threading.Event()
        self._listed = threading.Event()

    def __enter__(self) -> "Watch":
        # A daemon: it sees that it is to end when the next object changes, or when the API server ends.
        threading.Thread(target=self._follow, daemon=True).start()
        wait_for(self._listed.is_set, 60, what=f"the list of {self._resource.plural}")
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()

    def _follow(self) -> None:
        version = ""
        while not self._ended.is_set():
            try:
                version = version or self._list()
                for type_, obj in self._api.watch(self._resource, version):
                    version = obj["metadata"]["resourceVersion"]
                    if type_ in ("ADDED", "MODIFIED"):
                        self._see(obj)
                    if self._ended.is_set():
                        return
            except ApiError:
                # The API server is away, or no longer knows this version.
                version = ""
                self._ended.wait(0.1)

    def _list(self) -> str:
        listed = self._api.request("GET", path_of(self._resource))
        for obj in listed["items"]:
            self._see(obj)
        self._listed.set()
        version: str = listed["metadata"]["resourceVersion"]
        return version


class Changes:
    """Makes changes, and notes when each arrives. Use it as a context manager."""

    def __init__(self, api: Api, see: Callable[[Object], None] = lambda _: None) -> None:
        """`see` is called for each Ingress as well."""
        self.made: list[Change] = []
        """All changes, in the order in which they were sent."""
        self._api, self._also = api, see
        self._numbers = itertools.count(1)
        self._awaited: defaultdict[Place, deque[Change]] = defaultdict(deque)
        self._watch = Watch(api, INGRESSES, self._see)

    def __enter__(self) -> "Changes":
        self._watch.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._watch.__exit__()

    def make(self, place: Place, due: float | None = None) -> Change:
        """Change a Service, which no other thread may do meanwhile; return when the API server has answered.

        As long as it can't be reached, it is tried again. Raises ApiError after PATIENCE.
        """
        began = time.monotonic()
        change = Change(next(self._numbers), began if due is None else due)
        self.made.append(change)
        self._awaited[place].append(change)
        namespace, name = place
        patch = {"metadata": {"annotations": {"ingress/host": f"c{change.number}.example.com"}}}
        while True:
            try:
                self._api.patch(SERVICES, name, patch, namespace)
                break
            except ApiError:
                if time.monotonic() - began > PATIENCE:
                    raise
                time.sleep(0.1)
        change.answered = time.monotonic()
        return change

    def arrived(self, place: Place) -> Change:
        """Change a Service, and return when its Ingress follows. Raises NotReady."""
        change = self.make(place)
        wait_for(lambda: change.seen, 60, what=f"the Ingress of {place}", interval=0.002)
        return change

    def due_between(self, begin: float, end: float) -> list[Change]:
        """Return the changes that were to be sent in this time."""
        return [change for change in list(self.made) if begin <= change.due < end]

    def _see(self, ingress: Object) -> None:
        self._also(ingress)
        metadata = ingress["metadata"]
        awaited = self._awaited.get((metadata["namespace"], metadata["name"]))
        found = HOST.fullmatch(ingress["spec"]["rules"][0].get("host", ""))
        now = time.monotonic()
        while awaited and found and awaited[0].number <= int(found[1]):
            awaited.popleft().seen = now


class Load:
    """So many changes a second, of one Service after the other, whether earlier ones have arrived or not.

    Use it as a context manager; leaving it ends the load, and raises what a writer has raised.
    """

    def __init__(self, changes: Changes, size: Size, rate: float) -> None:
        self._changes, self._size, self._rate = changes, size, rate
        self._ended = threading.Event()
        self._pool = ThreadPoolExecutor(WRITERS)
        self._writers: list[Future[None]] = []

    def __enter__(self) -> "Load":
        began = time.monotonic()
        self._writers = [self._pool.submit(self._write, writer, began) for writer in range(WRITERS)]
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: BaseException | TracebackType | None) -> None:
        self._ended.set()
        self._pool.shutdown()
        if kind is None:
            for writer in self._writers:
                writer.result()

    def _write(self, writer: int, began: float) -> None:
        own = itertools.cycle(range(writer, self._size.services, WRITERS))
        for number, service in zip(itertools.count(writer, WRITERS), own, strict=False):
            due = began + number / self._rate
            if self._ended.wait(max(0.0, due - time.monotonic())):
                return
            self._changes.make(self._size.place(service), due)


def missing(changes: Iterable[Change], patience: float = PATIENCE) -> int:
    """Wait for changes to arrive, as long as patience lasts; return how many have not."""
    end, awaited = time.monotonic() + patience, list(changes)
    while (awaited := [change for change in awaited if change.seen is None]) and time.monotonic() < end:
        time.sleep(0.1)
    return len(awaited)


def summary(seconds: list[float]) -> str:
    """Return the median, the 99th percentile and the slowest."""
    ordered = sorted(seconds)
    p99 = ordered[math.ceil(0.99 * len(ordered)) - 1]
    return ", ".join(f"{1000 * each:,.0f} ms" for each in (median(ordered), p99, ordered[-1]))
