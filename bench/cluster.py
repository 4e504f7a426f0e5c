"""What is measured on a real API server: catching up, and what an event of a stranger's Ingress costs."""

import time
from collections.abc import Iterator

from bench.catch_up import CatchUp, catch_up, catch_up_figures, plain_creates, read_answers, seconds_until_idle
from bench.figures import Figure, Section, at_most
from bench.load import Size, create_services
from devcluster.api import INGRESSES
from devcluster.build import Progress, build
from devcluster.cluster import DevCluster

MEMORY = 70
"""MiB that the hook may take."""

EVENTS = 500
"""CPU time is counted in hundredths of a second: with fewer events, 0.3 ms for each could not be told from nothing."""


def cluster_sections(engine: str, services: int, progress: Progress) -> Iterator[Section]:
    """Yield the figures of three clusters, the largest of so many Services; each cluster is new."""
    build(["loadgen"], progress)
    fewer = services * 3 // 10
    yield small(engine, Size(fewer, min(100, fewer)), 0.42, " (aim 0.50)", progress)
    yield small(engine, Size(fewer, 1), 0.30, "", progress)
    yield large(engine, Size(services, min(100, services)), progress)


def small(engine: str, size: Size, ratio: float, aim: str, progress: Progress) -> Section:
    """Return the figures of a catch-up alone."""
    with DevCluster(engine, progress=progress) as cluster:
        caught = catch_up_existing(cluster, size, progress)
        plain_rate = plain_creates(cluster, progress)
        return Section(f"{size}, driven by {cluster.engine_name}", catch_up_figures(caught, plain_rate, ratio, aim))


def large(engine: str, size: Size, progress: Progress) -> Section:
    """Return the figures of a catch-up, and of what comes after it."""
    with DevCluster(engine, progress=progress) as cluster:
        caught = catch_up_existing(cluster, size, progress)
        figures = [
            at_most(
                "the engine is idle after the last Ingress",
                seconds_until_idle(cluster, caught, progress),
                10,
                "{:.0f} s",
            ),
            *stranger_figures(cluster, progress),
            at_most("memory of the hook after all this", cluster.hook.pss_bytes() / 2**20, MEMORY, "{:.0f} MiB"),
            Figure("memory of the engine", f"{cluster.engine.pss_bytes() / 2**20:.0f} MiB"),
        ]
        plain_rate = plain_creates(cluster, progress)
        return Section(f"{size}, driven by {cluster.engine_name}", catch_up_figures(caught, plain_rate, 0.36) + figures)


def catch_up_existing(cluster: DevCluster, size: Size, progress: Progress) -> CatchUp:
    """Create the Services while the engine is stopped, then let it catch up."""
    cluster.engine.stop()
    progress(f"creating {size}")
    create_services(cluster, size)
    return catch_up(cluster, size, progress)


def stranger_figures(cluster: DevCluster, progress: Progress) -> list[Figure]:
    """Return what each change of an Ingress that isn't ours costs the engine. It has to be idle before."""
    progress(f"changing a stranger's Ingress {EVENTS} times")
    stranger = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
        "metadata": {"name": "stranger", "namespace": "default"},
        "spec": {"defaultBackend": {"service": {"name": "stranger", "port": {"number": 80}}}},
    }
    cluster.api.create(INGRESSES, stranger)
    time.sleep(1)
    before, calls = cluster.engine.cpu_seconds(), read_answers(cluster)
    for number in range(EVENTS):
        cluster.api.patch(INGRESSES, "stranger", {"metadata": {"labels": {"number": str(number)}}}, "default")
    time.sleep(2)
    used, calls_after = cluster.engine.cpu_seconds() - before, read_answers(cluster)
    cluster.api.delete(INGRESSES, "stranger", "default")
    return [
        at_most("CPU of the engine for an event of a stranger's Ingress", 1000 * used / EVENTS, 1, "{:.2f} ms"),
        at_most("sync calls for each", (calls_after - calls) / EVENTS, 0, "{:.2f}"),
    ]
