"""What is measured on a real API server, in this order."""

from collections.abc import Iterator

from bench.catch_up import CatchUp, catch_up, catch_up_figures, plain_creates, seconds_until_idle
from bench.events import own_figures, stranger_figures
from bench.figures import Figure, Section, at_most
from bench.load import Size, create_services
from bench.resyncs import quiet_figures, resync_figures
from devcluster.build import Progress, build
from devcluster.cluster import DevCluster

MEMORY = 70
"""MiB that the hook may take."""


def cluster_sections(engine: str, services: int, *, resyncs: bool, progress: Progress) -> Iterator[Section]:
    """Yield the figures of three clusters, the largest of so many Services; each cluster is new."""
    build(["loadgen"], progress)
    fewer = services * 3 // 10
    yield small(engine, Size(fewer, min(100, fewer)), 0.42, " (aim 0.50)", progress)
    yield small(engine, Size(fewer, 1), 0.30, "", progress)
    yield large(engine, Size(services, min(100, services)), resyncs=resyncs, progress=progress)


def small(engine: str, size: Size, ratio: float, aim: str, progress: Progress) -> Section:
    """Return the figures of a catch-up alone."""
    with DevCluster(engine, progress=progress) as cluster:
        caught = catch_up_existing(cluster, size, progress)
        plain_rate = plain_creates(cluster, progress)
        return Section(f"{size}, driven by {cluster.engine_name}", catch_up_figures(caught, plain_rate, ratio, aim))


def large(engine: str, size: Size, *, resyncs: bool, progress: Progress) -> Section:
    """Return the figures of a catch-up, and of what comes after it."""
    with DevCluster(engine, progress=progress) as cluster:
        caught = catch_up_existing(cluster, size, progress)
        idle = seconds_until_idle(cluster, caught, progress)
        # There is time for these before the resyncs begin.
        figures = [
            at_most("the engine is idle after the last Ingress", idle, 10, "{:.0f} s"),
            *stranger_figures(cluster, progress),
            *own_figures(cluster, progress),
            *quiet_figures(cluster, size, progress),
        ]
        if resyncs:
            figures += resync_figures(cluster, size, caught, progress)
        figures += memory_figures(cluster)
        plain_rate = plain_creates(cluster, progress)
        return Section(f"{size}, driven by {cluster.engine_name}", catch_up_figures(caught, plain_rate, 0.36) + figures)


def catch_up_existing(cluster: DevCluster, size: Size, progress: Progress) -> CatchUp:
    """Create the Services while the engine is stopped, then let it catch up."""
    cluster.engine.stop()
    progress(f"creating {size}")
    create_services(cluster, size)
    return catch_up(cluster, size, progress)


def memory_figures(cluster: DevCluster) -> list[Figure]:
    """Return the memory of the hook and of the engine."""
    return [
        at_most("memory of the hook after all this", cluster.hook.pss_bytes() / 2**20, MEMORY, "{:.0f} MiB"),
        Figure("memory of the engine", f"{cluster.engine.pss_bytes() / 2**20:.0f} MiB"),
    ]
