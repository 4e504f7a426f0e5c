"""How long a change waits for its Ingress, while nothing else happens and while other Services are resynced.

A Service that has its Ingress is resynced 240 to 360 s after its last sync, by the hook's `resyncAfterSeconds`. After
a catch-up that takes seconds, the resyncs of all Services therefore fall into the same two minutes, evenly spread: at
10,000 Services 83 a second. Changes are measured during these two minutes, because users have resyncs at this rate and
by this mechanism. So the benchmark has to wait for them.
"""

import time
from dataclasses import dataclass
from statistics import median

from bench.catch_up import CatchUp
from bench.changes import Changes
from bench.figures import Figure, at_most
from bench.load import Size, sleep_until, slowly
from bench.metrics import read_answers
from devcluster.build import Progress
from devcluster.cluster import DevCluster
from ingress_manager.core.decide import RECHECK_SECONDS, RESYNC_SECONDS

WINDOW = 60.0
"""Seconds: half of the time over which the resyncs are spread."""

SYNCS_OF_A_CHANGE = 2
"""One that changes the Ingress, and one that sees it changed."""

PAUSE = 0.05
"""Seconds between one change and the next."""


@dataclass(frozen=True)
class Waits:
    """How long changes waited, in milliseconds, and how many other syncs there were meanwhile."""

    milliseconds: list[float]
    resyncs: int


def quiet_figures(cluster: DevCluster, size: Size, progress: Progress) -> list[Figure]:
    """Return how long a change waits while nothing else happens."""
    waits = changes(cluster, size, 10, progress).milliseconds
    return [Figure("a change waits, while nothing else happens: median, worst", in_short(waits))]


def resync_figures(cluster: DevCluster, size: Size, caught: CatchUp, progress: Progress) -> list[Figure]:
    """Return how long a change waits during the resyncs that follow a catch-up."""
    # Each Service was synced RECHECK_SECONDS after its Ingress was made, and its resync counts from then.
    sleep_until(caught.ended + max(RECHECK_SECONDS) + RESYNC_SECONDS[0], "the resyncs", progress)
    waits = changes(cluster, size, WINDOW, progress)
    name = f"a change waits, during {WINDOW:g} s of the resyncs that the hook asks for"
    return [
        Figure("resyncs during that time", f"{waits.resyncs:,}, {waits.resyncs / WINDOW:.0f} a second"),
        Figure(f"{name}: median, worst of {len(waits.milliseconds)}", in_short(waits.milliseconds)),
        at_most("the worst of them", max(waits.milliseconds), 250, "{:.0f} ms"),
    ]


def changes(cluster: DevCluster, size: Size, seconds: float, progress: Progress) -> Waits:
    """Change one Service after the other for so many seconds; return how long each waited for its Ingress."""
    report = slowly(progress)
    waits: list[float] = []
    calls, end = read_answers(cluster), time.monotonic() + seconds
    with Changes(cluster.api) as made:
        while (left := end - time.monotonic()) > 0:
            report(f"changing Services: {left:.0f} s")
            waits.append(1000 * made.arrived(size.place(len(waits) % size.services)))
            time.sleep(PAUSE)
    answered = read_answers(cluster) - calls
    return Waits(waits, max(0, answered - SYNCS_OF_A_CHANGE * len(waits)))


def in_short(milliseconds: list[float]) -> str:
    """Return the median and the worst."""
    return f"{median(milliseconds):.0f} ms, {max(milliseconds):.0f} ms"
