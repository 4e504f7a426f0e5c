"""Changes of many Services at a steady rate, and when each has reached its Ingress.

A change gives a Service another host, whose name holds the number of the change. It has arrived when the Ingress has
that host, or that of a later change of the same Service. The Services are changed at random, whether earlier changes
have arrived or not.
"""

import random
import re
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from devcluster.api import EVENTS, INGRESSES, NAMESPACES, SERVICES, Api, Object, path_of, wait_for
from devcluster.errors import NotReady

SERVICES_CHANGED = 200
RATE = 25
"""Changes a second."""

HOST = re.compile(r"(?P<service>s\d+)\.v(?P<number>\d+)\.churn\.example\.com")

LAST = "s0"
"""The Service whose Ingress ends the watch."""


class Arrivals(NamedTuple):
    """What became of the changes that were made meanwhile."""

    made: int
    delays: list[float]
    """Seconds from just before a change was made until it had arrived, of each that has."""

    events: list[str]
    """What Metacontroller told of Services meanwhile that could not be synced."""


class Churn:
    """Services of a namespace, which are there while in the context, and change within `during`."""

    def __init__(self, api: Api, namespace: str) -> None:
        self._api, self._namespace = api, namespace
        self._names = [f"s{number}" for number in range(SERVICES_CHANGED)]
        self._random = random.Random(1)  # noqa: S311 - no secret
        self._number = 0
        self._lock = threading.Lock()
        self._under_way: dict[str, list[tuple[int, float]]] = defaultdict(list)
        """The number of each change of a Service that hasn't arrived yet, and when it was made."""
        self._delays: list[float] = []
        self._closed = threading.Event()
        self._pool = ThreadPoolExecutor(2)

    def __enter__(self) -> "Churn":
        self._api.create(NAMESPACES, {"metadata": {"name": self._namespace}})
        version = self._api.request("GET", path_of(INGRESSES))["metadata"]["resourceVersion"]
        self._watch = self._pool.submit(self._follow, version)
        for name in self._names:
            self._api.create(SERVICES, self._service(name))
        wait_for(self._all_have_ingresses, 60, what=f"{SERVICES_CHANGED} Ingresses")
        return self

    def __exit__(self, *_: object) -> None:
        self._closed.set()
        self._change(LAST)
        self._pool.shutdown()
        self._watch.result()
        self._api.delete(NAMESPACES, self._namespace)

    def during(self, act: Callable[[], None], *, before: float, after: float, patience: float) -> Arrivals:
        """Make changes from some seconds before `act` until some after it; return what became of them.

        It waits some seconds for those that are under way at the end.
        """
        self._delays, number, events = [], self._number, Counter(self._all_warnings())
        stopped = threading.Event()
        changing = self._pool.submit(self._change_until, stopped)
        try:
            time.sleep(before)
            act()
            time.sleep(after)
        finally:
            stopped.set()
            changing.result()
        try:
            wait_for(lambda: not any(self._under_way.values()), patience, what="the last change")
        except NotReady:
            self._under_way.clear()  # lost: the next figures are of other changes
        new = Counter(self._all_warnings()) - events
        return Arrivals(self._number - number, self._delays, [*new.elements()])

    def _service(self, name: str) -> Object:
        annotations = {"ingress/http": "true", "ingress/host": self._next_host(name)}
        metadata = {"name": name, "namespace": self._namespace, "annotations": annotations}
        return {"metadata": metadata, "spec": {"ports": [{"port": 80}]}}

    def _next_host(self, name: str) -> str:
        with self._lock:
            self._number += 1
            self._under_way[name].append((self._number, time.monotonic()))
            return f"{name}.v{self._number}.churn.example.com"

    def _change(self, name: str) -> None:
        patch = {"metadata": {"annotations": {"ingress/host": self._next_host(name)}}}
        self._api.patch(SERVICES, name, patch, self._namespace)

    def _change_until(self, stopped: threading.Event) -> None:
        due = time.monotonic()
        while not stopped.is_set():
            self._change(self._random.choice(self._names))
            due += 1 / RATE
            time.sleep(max(0.0, due - time.monotonic()))

    def _all_have_ingresses(self) -> bool:
        return len(self._api.list(INGRESSES, self._namespace)) == len(self._names)

    def _follow(self, version: str) -> None:
        """Note what arrives. The API server ends each watch after some minutes."""
        while True:
            for _, ingress in self._api.watch(INGRESSES, version):
                version = ingress["metadata"]["resourceVersion"]
                found = HOST.fullmatch(ingress.get("spec", {}).get("rules", [{}])[0].get("host", ""))
                if found is None:
                    continue
                self._arrived(found["service"], int(found["number"]))
                if self._closed.is_set() and found["service"] == LAST:
                    return

    def _arrived(self, name: str, number: int) -> None:
        now = time.monotonic()
        with self._lock:
            under_way = self._under_way[name]
            self._delays += [now - made for each, made in under_way if each <= number]
            self._under_way[name] = [(each, made) for each, made in under_way if each > number]

    def _all_warnings(self) -> list[str]:
        """Return them once no more come: Metacontroller writes one after the other."""
        last, now = None, self._warnings()
        while now != last:
            time.sleep(1)
            last, now = now, self._warnings()
        return now

    def _warnings(self) -> list[str]:
        """Return what Metacontroller has told of Services. Kubernetes has Warnings of its own: of ClusterIPs."""
        events = [each for each in self._api.list(EVENTS, self._namespace) if each["reason"] == "SyncError"]
        return [each["message"] for each in events for _ in range(each.get("count") or 1)]
