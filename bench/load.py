"""The load: Services over namespaces, and the Ingresses that are made for them."""

import json
import math
import time
from collections.abc import Iterable
from dataclasses import dataclass

from devcluster.api import INGRESSES, NAMESPACES, SERVICES, Object, Resource, path_of
from devcluster.build import Progress, folder
from devcluster.cluster import DevCluster
from devcluster.running import run

WORKERS = 20
"""Requests under way at once for plain creates: as many as Metacontroller has workers."""

SYSTEM_FIELDS = ("uid", "resourceVersion", "generation", "creationTimestamp", "managedFields")


@dataclass(frozen=True)
class Size:
    """So many Services, spread evenly over so many namespaces."""

    services: int
    namespaces: int

    def __str__(self) -> str:
        where = "in one namespace" if self.namespaces == 1 else f"over {self.namespaces} namespaces"
        return f"{self.services:,} Services {where}"

    def place(self, number: int) -> tuple[str, str]:
        """Return the namespace and the name of a Service."""
        return f"n{number % self.namespaces}", f"s{number}"


def create_services(cluster: DevCluster, size: Size) -> None:
    """Create the namespaces and the annotated Services."""
    for number in range(size.namespaces):
        create_namespace(cluster, f"n{number}")
    create(cluster, SERVICES, (service(*size.place(number)) for number in range(size.services)))


def create_namespace(cluster: DevCluster, name: str) -> None:
    """Create a namespace."""
    cluster.api.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})


def service(namespace: str, name: str) -> Object:
    """Return a Service that asks for an Ingress. It is headless, so that it takes no address from a small range."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": namespace, "annotations": {"ingress/http": "true"}},
        "spec": {"clusterIP": "None", "selector": {"app": name}, "ports": [{"name": "http", "port": 80}]},
    }


def create(cluster: DevCluster, resource: Resource, objects: Iterable[Object]) -> float:
    """Create the objects as fast as the API server takes them; return the seconds. Raises CommandFailed."""
    lines = "".join(f"{path_of(resource, obj['metadata']['namespace'])} {json.dumps(obj)}\n" for obj in objects)
    command = (folder("loadgen") / "loadgen", f"--kubeconfig={cluster.kubeconfig}", f"--workers={WORKERS}")
    return float(run(*command, input=lines).split()[-2])


def how_many(cluster: DevCluster) -> int:
    """Return the number of Ingresses; the API server counts, and only sends one."""
    answer = cluster.api.request("GET", path_of(INGRESSES), params={"limit": "1"})
    return len(answer["items"]) + int(answer["metadata"].get("remainingItemCount", 0))


def bare(ingress: Object) -> Object:
    """Return an Ingress as it was sent to the API server."""
    metadata = {key: value for key, value in ingress["metadata"].items() if key not in SYSTEM_FIELDS}
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
        "metadata": metadata,
        "spec": ingress["spec"],
    }


def slowly(progress: Progress) -> Progress:
    """Return a function that reports at most one line in two seconds."""
    last = -math.inf

    def report(line: str) -> None:
        nonlocal last
        if time.monotonic() - last >= 2:
            progress(line)
            last = time.monotonic()

    return report
