"""How soon a change reaches visitors: through the gateway, by an Ingress and by an HTTPRoute."""

import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager

from bench.figures import Figure, Section, at_most
from bench.load import create_namespace, slowly
from devcluster import overlay
from devcluster.api import HTTPROUTES, INGRESSES, SERVICES, wait_for
from devcluster.backend import Backend
from devcluster.build import Progress
from devcluster.cluster import DevCluster
from devcluster.gateway import NAME

OUTPUTS = {"ingress": INGRESSES, "httproute": HTTPROUTES}
"""What is made for a Service, by the namespace that it is in."""

SETTINGS = {
    "defaults": {"class": overlay.CLASS, "gateway": {"name": overlay.CLASS, "namespace": NAME}},
    "namespaces": {"httproute": {"defaults": {"outputs": ["httproute"]}}},
}

SERVICE = "measured"
HOST = "measured.example.com"

IN_A_ROW = 12
"""A connection is taken by either Traefik. If so many answers are alike, both have taken up the change."""

BETWEEN = 0.002
"""Seconds between two visitors: without a pause they would take a processor from Traefik."""

PAUSE = 0.2
"""Seconds before each measurement: of two changes, Traefik takes up the second later than the first."""


def gateway_section(engine: str, progress: Progress) -> Section:
    """Return the figures of a new cluster with two Traefiks."""
    with DevCluster(engine, settings=SETTINGS, gateway=2, httproute=True, progress=progress) as cluster:
        for namespace in OUTPUTS:
            create_namespace(cluster, namespace)
        figures = list(gateway_figures(cluster, progress))
        return Section(f"The gateway with two Traefiks, driven by {cluster.engine_name}", figures)


def gateway_figures(cluster: DevCluster, progress: Progress, samples: int = 50) -> Iterator[Figure]:
    """Yield the figures of so many measurements each. The namespaces of OUTPUTS have to be there."""
    report = slowly(progress)
    for namespace, made in OUTPUTS.items():
        with annotated_service(cluster, namespace):
            first, restored = [], []
            for number in range(samples):
                report(f"measuring how soon visitors see an {made.kind}: {number} of {samples}")
                first.append(1000 * seconds_until_served(cluster, namespace))
                restored.append(1000 * seconds_without(cluster, namespace))
        name = f"{made.kind}: from the annotation to the first 200"
        yield at_most(f"{name}, median of {samples}", statistics.median(first), 100, "{:.0f} ms")
        yield Figure("worst", f"{max(first):.0f} ms")
        name = f"{made.kind} deleted: visitors see the 404 page for"
        yield Figure(f"{name}, median of {samples}", f"{statistics.median(restored):.0f} ms")
        yield Figure("worst", f"{max(restored):.0f} ms")


@contextmanager
def annotated_service(cluster: DevCluster, namespace: str) -> Iterator[None]:
    """Have a Service, with a backend, that says all but `ingress/http: "true"`."""
    metadata = {"name": SERVICE, "namespace": namespace, "annotations": {"ingress/host": HOST}}
    spec = {"selector": {"app": SERVICE}, "ports": [{"name": "http", "port": 80}]}
    service = {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec}
    with Backend(cluster.api.create(SERVICES, service)):
        yield
    cluster.api.delete(SERVICES, SERVICE, namespace)


def annotate(cluster: DevCluster, namespace: str, value: str | None) -> None:
    """Set `ingress/http` on the Service; None removes it."""
    cluster.api.patch(SERVICES, SERVICE, {"metadata": {"annotations": {"ingress/http": value}}}, namespace)


def seconds_until_served(cluster: DevCluster, namespace: str) -> float:
    """Return how long after the annotation the first visitor is answered with 200."""
    annotate(cluster, namespace, None)
    wait_for(lambda: all(not is_served(cluster) for _ in range(IN_A_ROW)), what="the 404 page")
    time.sleep(PAUSE)
    began = time.perf_counter()
    annotate(cluster, namespace, "true")
    wait_for(lambda: is_served(cluster), what="the first 200", interval=BETWEEN)
    return time.perf_counter() - began


def seconds_without(cluster: DevCluster, namespace: str) -> float:
    """Delete what was made for the Service; return the time from the first visitor who misses it to the last."""
    wait_for(lambda: all(is_served(cluster) for _ in range(IN_A_ROW)), what="200 from both Traefiks")
    time.sleep(PAUSE)
    cluster.api.delete(OUTPUTS[namespace], SERVICE, namespace)
    missed: list[float] = []
    quiet_since = time.perf_counter()
    # Nothing may be missed at all: Traefik takes several changes for one.
    while time.perf_counter() - quiet_since < PAUSE:
        asked = time.perf_counter()
        if not is_served(cluster):
            quiet_since = time.perf_counter()
            missed += [asked, quiet_since]
        time.sleep(BETWEEN)
    return missed[-1] - missed[0] if missed else 0.0


def is_served(cluster: DevCluster) -> bool:
    """Return whether a visitor is answered with 200."""
    assert cluster.gateway is not None  # noqa: S101 - the clusters here have one
    return cluster.gateway.ask(HOST).status == 200
