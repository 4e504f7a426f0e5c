"""Changes of Services, one at a time: a watch sees when the Ingress follows. Each gives its Service another host."""

import itertools
import threading
import time

from devcluster.api import INGRESSES, SERVICES, Api, ApiError, path_of, wait_for

Place = tuple[str, str]
"""A namespace and a name."""


class Changes:
    """Makes changes, and sees when each arrives. Use it as a context manager."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._numbers = itertools.count(1)
        self._seen: dict[Place, tuple[str, float]] = {}
        """The newest host of each Ingress, and when the watch showed it."""
        self._ended = threading.Event()

    def __enter__(self) -> "Changes":
        version = self._api.request("GET", path_of(INGRESSES))["metadata"]["resourceVersion"]
        # A daemon: it sees that it is to end when the next Ingress changes, or when the API server ends.
        threading.Thread(target=self._follow, args=(version,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()

    def arrived(self, place: Place) -> float:
        """Change a Service, and return the seconds from the API server's answer to its Ingress. Raises NotReady."""
        namespace, name = place
        host = f"c{next(self._numbers)}.example.com"
        self._api.patch(SERVICES, name, {"metadata": {"annotations": {"ingress/host": host}}}, namespace)
        answered = time.monotonic()
        wait_for(lambda: self._seen.get(place, ("",))[0] == host, 60, what=f"the Ingress of {place}", interval=0.002)
        return max(0.0, self._seen[place][1] - answered)  # the watch can be faster than the answer

    def _follow(self, version: str) -> None:
        try:
            for _, ingress in self._api.watch(INGRESSES, version):
                metadata = ingress["metadata"]
                host = ingress["spec"]["rules"][0].get("host", "")
                self._seen[metadata["namespace"], metadata["name"]] = host, time.monotonic()
                if self._ended.is_set():
                    return
        except ApiError:
            if not self._ended.is_set():
                raise
