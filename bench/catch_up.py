"""How fast existing Services get their Ingresses, against plain creates of the same Ingresses in the same run."""

import time
from dataclasses import dataclass

import requests
from prometheus_client.parser import text_string_to_metric_families

from bench.figures import Figure, at_least, at_most
from bench.load import Size, bare, create, how_many, slowly
from devcluster.api import INGRESSES, path_of, wait_for
from devcluster.build import Progress
from devcluster.cluster import DevCluster
from devcluster.errors import DevClusterError

PATIENCE = 900.0
"""Seconds to wait for anything."""

ANSWERS = "ingress_manager_answers_total"
"""The hook's own count, which costs it nothing that a user's hook doesn't pay."""

IDLE_CPU = 0.15
"""Seconds of CPU in two seconds, below which the engine counts as idle."""


@dataclass(frozen=True)
class CatchUp:
    """What was seen from the first Ingress to the last."""

    services: int
    present: int
    """The Ingresses that were there at the first look."""

    began: float
    """The time of the first look, of time.monotonic."""

    ended: float
    """The time at which all were there."""

    cpu: dict[str, float]
    """Seconds of CPU in between, by the part that used them."""

    calls: int
    """The hook's answers in between."""

    @property
    def rate(self) -> float | None:
        """Return the Ingresses a second, or None when all were there at the first look."""
        made, seconds = self.services - self.present, self.ended - self.began
        return made / seconds if made > 0 and seconds > 0 else None


def catch_up(cluster: DevCluster, size: Size, progress: Progress) -> CatchUp:
    """Start the engine, which has been stopped, and return how it made an Ingress for each Service."""
    report = slowly(progress)

    def count() -> int:
        found = how_many(cluster)
        report(f"catching up: {found:,} of {size.services:,} Ingresses")
        return found

    cluster.engine.start()
    # Measured from the first Ingress on: the time that a start and an election take says nothing about the speed.
    present = wait_for(count, PATIENCE, what="the first Ingress", interval=0.02)
    began, cpu, calls = time.monotonic(), cpu_seconds(cluster), read_answers(cluster)
    wait_for(lambda: count() >= size.services, PATIENCE, what=f"{size.services} Ingresses", interval=0.05)
    ended, cpu_at_end, calls_at_end = time.monotonic(), cpu_seconds(cluster), read_answers(cluster)
    used = {part: cpu_at_end[part] - cpu[part] for part in cpu}
    return CatchUp(size.services, present, began, ended, used, calls_at_end - calls)


def seconds_until_idle(cluster: DevCluster, caught: CatchUp, progress: Progress) -> float:
    """Return how many seconds after the last Ingress the engine began to be idle."""
    report = slowly(progress)
    while time.monotonic() - caught.ended < PATIENCE:
        since, before = time.monotonic(), cluster.engine.cpu_seconds()
        time.sleep(2)
        if cluster.engine.cpu_seconds() - before < IDLE_CPU:
            return since - caught.ended
        report("waiting for the engine to be idle")
    return PATIENCE


def cpu_seconds(cluster: DevCluster) -> dict[str, float]:
    """Return the CPU seconds that each part has used so far."""
    return {name: process.cpu_seconds() for name, process in cluster.parts.items()}


def read_answers(cluster: DevCluster) -> int:
    """Return how many sync calls the hook has answered so far, by whatever code.

    Raises DevClusterError when the hook doesn't say: not even a count of zero.
    """
    return counted(requests.get(f"{cluster.hook_url}/metrics", timeout=10).text, ANSWERS)


def counted(metrics: str, name: str, **labels: str) -> int:
    """Return the sum of the samples of that name that have these labels; raises DevClusterError without any."""
    samples = (sample for family in text_string_to_metric_families(metrics) for sample in family.samples)
    counts = [each.value for each in samples if each.name == name and labels.items() <= each.labels.items()]
    if not counts:
        raise DevClusterError(f"the hook's metrics hold no {name}")
    return int(sum(counts))


def plain_creates(cluster: DevCluster, progress: Progress) -> float:
    """Stop the engine, delete all Ingresses and create them again plainly; return the creates a second."""
    report = slowly(progress)
    cluster.engine.stop()
    made = [bare(ingress) for ingress in cluster.api.list(INGRESSES)]
    for namespace in sorted({ingress["metadata"]["namespace"] for ingress in made}):
        report(f"deleting the Ingresses: namespace {namespace}")
        cluster.api.request("DELETE", path_of(INGRESSES, namespace))
    wait_for(lambda: how_many(cluster) == 0, PATIENCE, what="the end of all Ingresses", interval=0.1)
    progress(f"creating {len(made):,} Ingresses plainly")
    return len(made) / create(cluster, INGRESSES, made)


def catch_up_figures(caught: CatchUp, plain_rate: float, ratio: float, aim: str = "") -> list[Figure]:
    """Return the figures of a catch-up that is to reach `ratio` of the rate of plain creates."""
    name = f"rate of catch-up / rate of plain creates{aim}"
    if caught.rate is None:
        told = f"all {caught.services} were there at the first look"
        return [Figure(name, told, f"at least {ratio:.2f}", reached=False)]
    figures = [
        Figure("Ingresses a second while catching up", f"{caught.rate:,.0f}"),
        Figure("plain creates a second of the same Ingresses", f"{plain_rate:,.0f}"),
        at_least(name, caught.rate / plain_rate, ratio, "{:.2f}"),
        Figure("CPU seconds", ", ".join(f"{part} {seconds:.1f}" for part, seconds in caught.cpu.items())),
    ]
    if caught.calls:
        each = 1000 * caught.cpu["hook"] / caught.calls
        figures.append(at_most("CPU of the hook for each sync call (aim 0.30)", each, 0.45, "{:.2f} ms"))
    return figures
