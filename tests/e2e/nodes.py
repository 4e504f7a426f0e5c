"""What a cluster with nodes does for its Deployments, where no pod can run."""

import contextlib
import threading

from devcluster.api import Api, ApiError
from devcluster.deployments import changed, report


class Nodes(threading.Thread):
    """Says of each Deployment that its pods are available: `kubectl rollout status` would wait for ever.

    Use it as a context manager.
    """

    def __init__(self, api: Api) -> None:
        super().__init__(daemon=True)
        self._api = api
        self._ended = threading.Event()

    def run(self) -> None:
        """Look again and again, until the end."""
        while not self._ended.wait(0.1):
            for deployment in changed(self._api):
                with contextlib.suppress(ApiError):  # it has just been deleted
                    report(self._api, deployment)

    def __enter__(self) -> "Nodes":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self.join()
