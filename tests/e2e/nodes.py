"""What a cluster with nodes does for its Deployments, where no pod can run."""

import contextlib
import threading

from devcluster.api import Api, ApiError, Object, path_of
from tests.e2e.objects import DEPLOYMENTS


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
            for deployment in self._api.list(DEPLOYMENTS):
                metadata = deployment["metadata"]
                if deployment.get("status", {}).get("observedGeneration") != metadata["generation"]:
                    with contextlib.suppress(ApiError):  # it has just been deleted
                        if self.start_pods(deployment):
                            self._report(deployment)

    def start_pods(self, _deployment: Object) -> bool:
        """Return whether the pods of a Deployment run."""
        return True

    def _report(self, deployment: Object) -> None:
        metadata, replicas = deployment["metadata"], deployment["spec"]["replicas"]
        counts = dict.fromkeys(("replicas", "updatedReplicas", "readyReplicas", "availableReplicas"), replicas)
        conditions = [
            {"type": "Available", "status": "True", "reason": "MinimumReplicasAvailable"},
            {"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"},
        ]
        status = {"observedGeneration": metadata["generation"], "conditions": conditions} | counts
        path = path_of(DEPLOYMENTS, metadata["namespace"], metadata["name"])
        self._api.request("PATCH", f"{path}/status", body={"status": status})

    def __enter__(self) -> "Nodes":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self.join()
