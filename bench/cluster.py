"""Measures how fast the engine creates Ingresses for existing Services, relative to direct creates in the same run."""

import json
import time
from collections.abc import Iterable

from bench import Figure, Section, at_most
from devcluster.api import INGRESSES, NAMESPACES, SERVICES, Object, Resource, path_of, wait_for
from devcluster.build import Progress, build, folder
from devcluster.cluster import DevCluster
from devcluster.processes import run

NUMBER, WORKERS, LONGEST_WAIT = 100, 20, 900.0
"""Numbers of namespaces and of concurrent creates (as many as Metacontroller has workers), and a timeout in seconds."""

MOST = 2.4
"""How many times faster plain creates may be than catch-up. The ratio is about 2 even if the hook's answer is constant,
because Metacontroller does more per Service than one create. The bound allows for variance between runs."""

SYSTEM_FIELDS = ("uid", "resourceVersion", "generation", "creationTimestamp", "managedFields")


def cluster_section(engine: str, count: int, progress: Progress) -> Section:
    """Return the figures for a cluster with `count` Services in a hundred namespaces."""
    build(["loadgen"], progress)
    with DevCluster(engine, progress=progress) as cluster:
        progress(f"creating {count:,} Services")
        cluster.engine.stop()
        for number in range(NUMBER):
            cluster.api.create(NAMESPACES, {"metadata": {"name": f"n{number}"}})
        create(cluster, SERVICES, (service(f"n{number % NUMBER}", f"s{number}") for number in range(count)))
        figures = catch_up(cluster, count, progress)
        return f"{count:,} Services over {NUMBER} namespaces, driven by {cluster.engine_name}", figures


def catch_up(cluster: DevCluster, count: int, progress: Progress) -> list[Figure]:
    """Measure creates per second, by the engine and then directly. Return both rates and their ratio."""
    progress("catching up")
    cluster.engine.start()
    # Measured from the first Ingress on, because starting and leader election say nothing about the speed.
    present = wait_for(lambda: how_many(cluster), LONGEST_WAIT, what="the first Ingress", interval=0.02)
    began = time.monotonic()
    wait_for(lambda: how_many(cluster) >= count, LONGEST_WAIT, what=f"{count} Ingresses", interval=0.05)
    rate = (count - present) / (time.monotonic() - began)
    plain = plain_creates(cluster, progress)
    return [
        ("Ingresses a second while catching up", f"{rate:,.0f}", ""),
        ("plain creates a second, of the same Ingresses", f"{plain:,.0f}", ""),
        at_most("rate of plain creates / rate of catch-up (aim 2.0)", plain / rate, MOST),
    ]


def plain_creates(cluster: DevCluster, progress: Progress) -> float:
    """Stop the engine, delete all Ingresses and recreate them directly; return the number of creates per second."""
    cluster.engine.stop()
    ingresses = cluster.api.list(INGRESSES)
    for number in range(NUMBER):
        cluster.api.request("DELETE", path_of(INGRESSES, f"n{number}"))
    wait_for(lambda: how_many(cluster) == 0, LONGEST_WAIT, what="the end of all Ingresses", interval=0.1)
    progress(f"creating {len(ingresses):,} Ingresses plainly")
    return len(ingresses) / create(cluster, INGRESSES, map(as_sent, ingresses))


def service(namespace: str, name: str) -> Object:
    """Return a Service that requests an Ingress. It is headless, so there can be more Services than cluster IPs."""
    annotations = {"ingress/http": "true", "ingress/host": f"{name}.example.com"}
    metadata = {"name": name, "namespace": namespace, "annotations": annotations}
    spec = {"clusterIP": "None", "selector": {"app": name}, "ports": [{"name": "http", "port": 80}]}
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec}


def as_sent(ingress: Object) -> Object:
    """Return an Ingress as a client sends it, without the fields that the API server sets."""
    metadata = {key: value for key, value in ingress["metadata"].items() if key not in SYSTEM_FIELDS}
    return {"apiVersion": INGRESSES.api_version, "kind": "Ingress", "metadata": metadata, "spec": ingress["spec"]}


def create(cluster: DevCluster, resource: Resource, objects: Iterable[Object]) -> float:
    """Create the objects as fast as the API server accepts them; return the seconds taken. Raises CommandFailed."""
    lines = "".join(f"{path_of(resource, obj['metadata']['namespace'])} {json.dumps(obj)}\n" for obj in objects)
    command = (folder("loadgen") / "loadgen", f"--kubeconfig={cluster.kubeconfig}", f"--workers={WORKERS}")
    return float(run(*command, input=lines).split()[-2])


def how_many(cluster: DevCluster) -> int:
    """Return the number of Ingresses. Fetch only one, because the API server also reports how many remain."""
    answer = cluster.api.request("GET", path_of(INGRESSES), params={"limit": "1"})
    return len(answer["items"]) + int(answer["metadata"].get("remainingItemCount", 0))
