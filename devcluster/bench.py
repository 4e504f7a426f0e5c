"""The benchmark on a real API server: how fast existing Services catch up, and what each of them costs.

Speed is a ratio taken in one run, catch-up against plain creates of the same Ingresses, since these machines are noisy.
"""

import json
import subprocess
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from devcluster.api import INGRESSES, NAMESPACES, SERVICES, Object, Resource, path_of, wait_for
from devcluster.build import Progress, build
from devcluster.cluster import DevCluster
from devcluster.errors import CommandFailed
from devcluster.figures import Figure, at_least, at_most
from devcluster.processes import Process
from devcluster.programs import require_built

PATIENCE = 600.0
WORKERS = 20
"""Requests under way at once for the plain creates: as many as Metacontroller has workers."""

LABELLED = 100
"""Services that are given a label, which changes nothing for their Ingresses."""

CALLS, WRITES, ONE_WRITE = "calls", "writes", "1.00 create ingresses"
SYSTEM_FIELDS = ("uid", "resourceVersion", "generation", "creationTimestamp", "managedFields")


@dataclass(frozen=True)
class CatchUp:
    """What was measured while existing Services got their Ingresses."""

    seconds: float
    plain_seconds: float
    cpu: dict[str, float]
    hook_memory: int


def cluster_figures(engine: str, services: int, counts: Iterable[int], progress: Progress) -> tuple[str, list[Figure]]:
    """Return what drove the hook, and the figures."""
    build(["loadgen"], progress)
    with DevCluster(engine, progress=progress) as cluster:
        name = cluster.engine_name
        measured = catch_up(cluster, services, progress)
    figures = [
        Figure(f"catch-up of {services:,} Services", f"{measured.seconds:.1f} s"),
        Figure("plain creates of the same Ingresses", f"{measured.plain_seconds:.1f} s"),
        at_least("rate of catch-up / rate of plain creates", measured.plain_seconds / measured.seconds, 0.5, "{:.2f}"),
        *(Figure(f"processor time of {part}", f"{seconds:.1f} s") for part, seconds in measured.cpu.items()),
        at_most("share of the hook in it", 100 * measured.cpu["the hook"] / sum(measured.cpu.values()), 10, "{:.0f} %"),
        at_most("memory of the hook after it", measured.hook_memory / 2**20, 60, "{:.0f} MiB"),
    ]
    with DevCluster(engine, progress=progress) as cluster:
        figures += cost_figures(cluster, counts, progress)
    return name, figures


def catch_up(cluster: DevCluster, count: int, progress: Progress) -> CatchUp:
    """Return how long `count` existing Services wait for their Ingresses, and how long the Ingresses alone take."""
    namespace = "bench"
    cluster.engine.stop()
    create_services(cluster, namespace, count)
    plane = cluster.control_plane
    parts = {
        "etcd": plane.etcd,
        "the API server": plane.apiserver,
        "the engine": cluster.engine,
        "the hook": cluster.hook,
    }

    progress(f"catching up with {count:,} Services")
    cluster.engine.start()
    # From the first Ingress: how long a process takes to start, and to be elected, says nothing of how fast it works.
    wait_for(lambda: how_many(cluster, namespace) > 0, PATIENCE, what="the first Ingress", interval=0.02)
    started, before = time.perf_counter(), cpu(parts)
    present = how_many(cluster, namespace)
    until(cluster, namespace, count)
    seconds, after = time.perf_counter() - started, cpu(parts)
    memory = cluster.hook.pss_bytes()

    progress("creating the same Ingresses plainly")
    cluster.engine.stop()
    made = [bare(ingress) for ingress in cluster.api.list(INGRESSES, namespace)]
    cluster.api.request("DELETE", path_of(INGRESSES, namespace))
    until(cluster, namespace, 0)
    plain = create(cluster, INGRESSES, namespace, made)
    return CatchUp(
        seconds * count / (count - present),
        plain,
        {part: after[part] - before[part] for part in parts},
        memory,
    )


def cost_figures(cluster: DevCluster, counts: Iterable[int], progress: Progress) -> list[Figure]:
    """Return the hook calls and API writes for each Service, at several numbers of Services."""
    # A line for each request, which costs the hook time: so this is no run to be timed.
    cluster.hook.stop()
    cluster.hook.command += ["--access-logfile", "-", "--access-logformat", "CALL %(U)s"]
    cluster.restart_hook()
    figures = []
    for count in counts:
        progress(f"counting what {count:,} Services cost")
        namespace = f"count-{count}"
        cluster.engine.stop()
        create_services(cluster, namespace, count)
        before = cost(cluster, namespace)
        cluster.engine.start()
        until(cluster, namespace, count)
        each = cost(cluster, namespace) - before
        figures.append(Figure(f"{count:,} Services: hook calls for each", per(count, each, CALLS)))
        figures.append(exactly(f"{count:,} Services: writes for each", per(count, each, WRITES), ONE_WRITE))

        before = cost(cluster, namespace)
        names = [service["metadata"]["name"] for service in cluster.api.list(SERVICES, namespace)]
        for name in names[:LABELLED]:
            cluster.api.patch(SERVICES, name, {"metadata": {"labels": {"touched": "yes"}}}, namespace)
        each = cost(cluster, namespace) - before
        figures.append(Figure(f"{count:,} Services: hook calls for a new label", per(LABELLED, each, CALLS)))
        figures.append(exactly(f"{count:,} Services: writes for a new label", per(LABELLED, each, WRITES), "none"))
        for name in names:
            cluster.api.delete(SERVICES, name, namespace)
        until(cluster, namespace, 0)
    return figures


def until(cluster: DevCluster, namespace: str, count: int) -> None:
    """Return when there are so many Ingresses."""
    wait_for(lambda: how_many(cluster, namespace) == count, PATIENCE, what=f"{count} Ingresses in {namespace}")


def cost(cluster: DevCluster, namespace: str) -> Counter[str]:
    """Return how often what was called and written so far, once the hook has not been called for a second."""
    seen, since = hook_calls(cluster), time.monotonic()
    while time.monotonic() - since < 1:
        time.sleep(0.1)
        if (now := hook_calls(cluster)) != seen:
            seen, since = now, time.monotonic()
    return seen + engine_writes(cluster, namespace)


def exactly(name: str, value: str, wanted: str) -> Figure:
    """Return a figure that is to be one value."""
    return Figure(name, value, wanted, value == wanted)


def per(count: int, costs: Counter[str], wanted: str) -> str:
    """Return the costs of one kind for each of so many."""
    of_kind = sorted((what, number) for what, number in costs.items() if what.startswith("/") == (wanted == CALLS))
    return ", ".join(f"{number / count:.2f} {what}" for what, number in of_kind) or "none"


def create_services(cluster: DevCluster, namespace: str, count: int) -> None:
    """Create so many annotated Services in a namespace of their own."""
    cluster.api.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
    services = (
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": f"s{number}", "namespace": namespace, "annotations": {"ingress/http": "true"}},
            "spec": {"clusterIP": "None", "selector": {"app": f"s{number}"}, "ports": [{"name": "http", "port": 80}]},
        }
        for number in range(count)
    )
    create(cluster, SERVICES, namespace, services)


def create(cluster: DevCluster, resource: Resource, namespace: str, objects: Iterable[Object]) -> float:
    """Create the objects as fast as the API server takes them; return the seconds. Raises CommandFailed."""
    path = path_of(resource, namespace)
    lines = "".join(f"{path} {json.dumps(obj)}\n" for obj in objects)
    command = [str(require_built("loadgen").path), f"--kubeconfig={cluster.kubeconfig}", f"--workers={WORKERS}"]
    ended = subprocess.run(command, input=lines, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise CommandFailed(f"the load generator: {ended.stderr.strip()}")
    return float(ended.stdout.split()[-2])


def how_many(cluster: DevCluster, namespace: str) -> int:
    """Return the number of Ingresses; the API server counts, and only sends one."""
    answer = cluster.api.request("GET", path_of(INGRESSES, namespace), params={"limit": "1"})
    return len(answer["items"]) + int(answer["metadata"].get("remainingItemCount", 0))


def bare(ingress: Object) -> Object:
    """Return an Ingress as it was sent to the API server."""
    metadata: dict[str, Any] = {k: v for k, v in ingress["metadata"].items() if k not in SYSTEM_FIELDS}
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
        "metadata": metadata,
        "spec": ingress["spec"],
    }


def cpu(parts: dict[str, Process]) -> dict[str, float]:
    """Return the processor seconds that each part has used."""
    return {part: process.cpu_seconds() for part, process in parts.items()}


def hook_calls(cluster: DevCluster) -> Counter[str]:
    """Return how often each route of the hook has been called by the engine."""
    lines = cluster.hook.log_path.read_text().splitlines()
    return Counter(line.removeprefix("CALL ") for line in lines if line in {"CALL /sync", "CALL /customize"})


def engine_writes(cluster: DevCluster, namespace: str) -> Counter[str]:
    """Return how often the engine has written to the namespace's Services and Ingresses."""
    return Counter(
        f"{event['verb']} {event['objectRef']['resource']}"
        for event in cluster.audit_events()
        if event["user"]["username"] == cluster.engine_user
        and event["verb"] not in {"get", "list", "watch"}
        and event["objectRef"].get("namespace") == namespace
    )
