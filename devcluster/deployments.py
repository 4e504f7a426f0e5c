"""What the controllers and the nodes of a cluster do for Deployments, here, where no Pod can run.

A process runs for a Deployment as long as it is there. It starts anew when the Deployment's Pod template changes, as by
`kubectl rollout restart`, and then finds what the ConfigMaps hold now. Where a template can't be followed, because its
settings are wrong for example, what has run before runs on, and the Deployment's status says why.

One process stands for all replicas. It is this repository's program, whatever image is named.
"""

import contextlib
import os
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests
import urllib3
import yaml

from devcluster.api import Api, ApiError, Object, Resource, path_of
from devcluster.errors import DevClusterError
from devcluster.overlay import Rendered
from devcluster.processes import Process
from hooks.settings_file import load
from ingress_manager.core.errors import SettingsError
from ingress_manager.core.settings import parse

CONFIG_MAPS = Resource("v1", "configmaps", "ConfigMap")
DEPLOYMENTS = Resource("apps/v1", "deployments", "Deployment")

PAUSE = 5
"""Seconds between two starts of what ends by itself: a kubelet pauses, too."""


@dataclass(eq=False)
class Workload:
    """A Deployment, and what runs for it."""

    namespace: str
    name: str
    processes: Sequence[Process]
    take: Callable[[Rendered], None]
    """Lets the next start be as the Deployment and its namespace's ConfigMaps say; or raises DevClusterError before
    anything is changed."""
    ready: Callable[[], bool]
    """Whether what runs does its work, as `take` has it."""
    reload: Callable[[], None] | None = None
    """Lets what runs go by what `take` has changed, while it works on; None: it has to be started anew."""
    end: Callable[[Process], None] = Process.stop
    """Ends one of the processes."""
    template: Object | None = None
    """The Pod template that is followed now."""
    started: float = 0
    """When it was started last."""

    def deployment(self, api: Api) -> Object | None:
        """Return the Deployment as it is, or None. Raises ApiError."""
        return api.get(DEPLOYMENTS, self.name, self.namespace)

    def look(self, api: Api) -> None:
        """Do what the Deployment asks for now, and write its status. Raises ApiError."""
        deployment = self.deployment(api)
        if deployment is None or not deployment["spec"]["replicas"]:
            self.stop()
            if deployment:
                report(api, deployment, ready=False)
            return
        problem = ""
        try:
            if deployment["spec"]["template"] != self.template:
                self.take(objects_of(api, deployment))
                self.restart()
                self.template = deployment["spec"]["template"]
            elif not self.running and time.monotonic() > self.started + PAUSE:
                self.restart()
        except DevClusterError as error:
            problem = str(error)
        except (LookupError, TypeError, ValueError, yaml.YAMLError) as error:
            # Somebody has written what the manifests never hold, such as a second container.
            problem = f"the development cluster can't follow this: {error!r}"
        report(api, deployment, ready=self.running and self.ready(), problem=problem)

    @property
    def running(self) -> bool:
        """Whether all its processes run."""
        return all(process.running for process in self.processes)

    def restart(self) -> None:
        """Let what runs go by what `take` has changed. Raises ProcessDied."""
        if self.reload and self.running:
            self.reload()
            return
        self.started = time.monotonic()
        for process in self.processes:
            self.end(process)
            process.start()

    def stop(self) -> None:
        """End what runs."""
        self.template = None
        for process in self.processes:
            if process.running:
                self.end(process)


def look(api: Api, workloads: Sequence[Workload]) -> None:
    """Do for each Deployment what it asks for now: to be called again and again."""
    for workload in workloads:
        with contextlib.suppress(ApiError):  # its Deployment has just been deleted, for example
            workload.look(api)


def objects_of(api: Api, deployment: Object) -> Rendered:
    """Return a Deployment and the ConfigMaps of its namespace as they are now. Raises ApiError."""
    maps = api.list(CONFIG_MAPS, deployment["metadata"]["namespace"])
    return Rendered(yaml.safe_dump_all([deployment, *({**each, "kind": "ConfigMap"} for each in maps)]))


def report(api: Api, deployment: Object, *, ready: bool, problem: str = "") -> None:
    """Write a Deployment's status, unless it says that already. Raises ApiError.

    With a problem, its newest Pod template isn't followed, and what has run before is ready or not.
    """
    metadata, wanted = deployment["metadata"], deployment["spec"]["replicas"]
    there = wanted if ready else 0
    available = ready or not wanted
    # By the first of these reasons `kubectl rollout status` knows that it would wait in vain.
    progress = "ProgressDeadlineExceeded" if problem else "NewReplicaSetAvailable" if ready else "ReplicaSetUpdated"
    conditions = [
        condition("Available", available, "MinimumReplicasAvailable" if available else "MinimumReplicasUnavailable"),
        condition("Progressing", not problem, progress, problem),
    ]
    counts = {
        "observedGeneration": metadata["generation"],
        "replicas": wanted,
        "updatedReplicas": 0 if problem else wanted,
        "readyReplicas": there,
        "availableReplicas": there,
        "unavailableReplicas": wanted - there,
    }
    before = deployment.get("status", {})
    told = [{key: each.get(key, "") for key in conditions[0]} for each in before.get("conditions", ())]
    if told != conditions or any(before.get(key, 0) != count for key, count in counts.items()):
        path = path_of(DEPLOYMENTS, metadata["namespace"], metadata["name"])
        api.request("PATCH", f"{path}/status", body={"status": counts | {"conditions": conditions}})


def condition(kind: str, holds: object, reason: str, message: str = "") -> Object:
    """Return a condition of a Deployment, without its times, which nobody asks for."""
    return {"type": kind, "status": str(bool(holds)), "reason": reason, "message": message}


class BySettings:
    """The process, its file, and its metrics, which tell the hash of the file that it goes by."""

    def __init__(self, process: Process, file: Path, metrics: Callable[[], str]) -> None:
        self.process, self.file, self._metrics = process, file, metrics

    def take(self, rendered: Rendered, deployment: str) -> None:
        """Let it start, from now on, with the settings that its Deployment mounts; raises DevClusterError."""
        settings = rendered.settings(deployment)
        try:
            parse(settings)
        except SettingsError as error:
            raise DevClusterError(str(error)) from error
        self.file.write_text(settings)

    def reload(self) -> None:
        """Let it go by its file while it answers: gunicorn starts a worker before the old one ends."""
        os.kill(self.process.pid, signal.SIGHUP)

    def serves(self) -> bool:
        """Return whether it goes by its file as that is now."""
        try:
            return load(self.file).sha256 in self._metrics()
        except (urllib3.exceptions.HTTPError, requests.RequestException):
            return False

    def restart(self, settings: dict[str, Any] | None, wait_ready: Callable[[], None]) -> None:
        """Restart it at once, with other settings if they are given. Raises as `wait_ready`."""
        self.process.kill()
        if settings is not None:
            self.file.write_text(yaml.safe_dump(settings))
        self.process.start()
        wait_ready()
