"""A watch of the Ingresses of a namespace."""

import threading
from types import TracebackType

from devcluster.api import INGRESSES, Api, path_of
from tests.e2e.objects import by_hand


class Watch:
    """Collects what a watch tells of the Ingresses of a namespace. Use it as a context manager.

    At its end it has seen all that was done before.
    """

    def __init__(self, api: Api, namespace: str) -> None:
        self._api, self._namespace = api, namespace
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._version = api.request("GET", path_of(INGRESSES, namespace))["metadata"]["resourceVersion"]
        self.events: list[tuple[str, str]] = []
        """The type of each event, and the name of the Ingress."""

    def deleted(self) -> set[str]:
        """Return the names of the Ingresses that were deleted."""
        return {name for kind, name in self.events if kind == "DELETED"}

    def __enter__(self) -> "Watch":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._api.create(INGRESSES, by_hand(self._namespace, "the-last-one", "last.example.com", "last"))
        self._api.delete(INGRESSES, "the-last-one", self._namespace)
        self._thread.join(30)
        assert not self._thread.is_alive(), "the watch has ended"

    def _run(self) -> None:
        for kind, found in self._api.watch(INGRESSES, self._version):
            if kind == "BOOKMARK":
                continue
            metadata = found["metadata"]
            if metadata["name"] == "the-last-one":
                if kind == "DELETED":
                    return
            elif metadata.get("namespace") == self._namespace:
                self.events.append((kind, metadata["name"]))
