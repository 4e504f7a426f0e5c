"""Many Services that are changed all the time, also while the settings change and while each part restarts.

One cluster has them all. The load goes on from its begin to the end of what is measured.
"""

import functools
import time
from collections.abc import Callable, Iterator
from typing import Any

import yaml

from bench.catch_up import seconds_until_idle
from bench.changes import Change, Changes, Load, Place, missing, summary
from bench.cluster import catch_up_existing
from bench.figures import Figure, Section, at_least, at_most, exactly
from bench.load import Size, slowly
from bench.metrics import cpu_seconds
from devcluster.api import Object, wait_for
from devcluster.build import Progress, build
from devcluster.cluster import DevCluster
from devcluster.processes import Process

MEGABYTE = 1e6

GROWTH = 5.0
"""Megabytes that the hook may grow by under the load, from when a tenth of its time has passed."""

SINGLE = 200
"""Changes while nothing else happens, each after the one before has arrived."""

PAUSE = 0.05
"""Seconds between them."""

IN_TIME = 1.0
"""Seconds. Changes that wait longer are held up by a restart."""

AGAIN = 120.0
"""Seconds after a restart in which changes have to be in time again; then the next part is restarted all the same."""

ROLLED_OUT = 600.0
"""Seconds to wait for the settings to reach every Ingress. Without changes they take 360."""

ANNOTATION = "example.com/soak"
"""What the settings of the roll-out add to every Ingress."""


def scale_sections(engine: str, size: Size, rate: float, seconds: float, progress: Progress) -> Iterator[Section]:
    """Yield the figures of one cluster with so many Services, of which `rate` are changed a second."""
    build(["loadgen"], progress)
    annotated: set[Place] = set()

    def see(ingress: Object) -> None:
        metadata = ingress["metadata"]
        if ANNOTATION in metadata.get("annotations", {}):
            annotated.add((metadata["namespace"], metadata["name"]))

    with DevCluster(engine, progress=progress) as cluster:
        seconds_until_idle(cluster, catch_up_existing(cluster, size, progress), progress)
        with Changes(cluster.api, see) as changes:
            idle = idle_figures(cluster, changes, size, progress)
            engine_name = cluster.engine_name.partition(" (")[0]  # without its path
            yield Section(f"{size}, driven by {engine_name}, while nothing else happens", idle)
            with Load(changes, size, rate):
                loaded = load_figures(cluster, changes, rate, seconds, progress)
                yield Section(f"{rate:g} changes a second, for {seconds:g} s", loaded)
                faults = [roll_out_figure(cluster, lambda: len(annotated), size, rate, progress)]
                for part, restart in restarts(cluster).items():
                    progress(f"killing {part}, and starting it again")
                    faults.append(restart_figure(cluster, changes, part, restart, max(2.0, seconds / 10)))
            progress("waiting for the last changes")
            faults += [
                Figure("changes in all", f"{len(changes.made):,}"),
                exactly("changes that never arrived", f"{missing(changes.made)}", "0"),
                Figure("memory at the end", in_megabytes(memory(cluster))),
            ]
            yield Section("Under the same load: a roll-out of settings, and each part killed and started again", faults)


def idle_figures(cluster: DevCluster, changes: Changes, size: Size, progress: Progress) -> list[Figure]:
    """Return how long single changes take, one after the other."""
    report = slowly(progress)
    count = min(SINGLE, size.services)
    for number in range(count):
        report(f"single changes: {number} of {count}")
        changes.arrived(size.place(number))
        time.sleep(PAUSE)
    return [
        Figure(
            f"a change: median, 99th percentile, slowest of {count}", summary([one.latency for one in changes.made])
        ),
        Figure("memory", in_megabytes(memory(cluster))),
    ]


def load_figures(
    cluster: DevCluster, changes: Changes, rate: float, seconds: float, progress: Progress
) -> list[Figure]:
    """Return what happens under the load, which has just begun."""
    report = slowly(progress, every=5)
    warm: dict[str, float] = {}
    began, cpu = time.monotonic(), cpu_seconds(cluster) | {"the benchmark": time.process_time()}
    while (passed := time.monotonic() - began) < seconds:
        report(f"{rate:g} changes a second: {seconds - passed:.0f} s")
        if not warm and passed >= seconds / 10:
            warm = memory(cluster)
        time.sleep(0.1)
    ended, used = time.monotonic(), cpu_seconds(cluster) | {"the benchmark": time.process_time()}
    at_end = memory(cluster)
    cores = {part: (used[part] - cpu[part]) / (ended - began) for part in cpu}
    made = changes.due_between(began, ended)
    missing(made, 60)
    return [
        at_least("changes a second", len(made) / (ended - began), 0.99 * rate, "{:.1f}"),
        Figure(f"a change: median, 99th percentile, slowest of {len(made):,}", summary([one.latency for one in made])),
        Figure("a change was sent too late by at most", f"{1000 * max(map(sent_late, made)):,.0f} ms"),
        Figure("processors in use", ", ".join(f"{part} {share:.2f}" for part, share in cores.items())),
        Figure("memory when a tenth of the time has passed", in_megabytes(warm)),
        Figure("memory at the end", in_megabytes(at_end)),
        at_most("growth of the hook in between", at_end["hook"] - warm["hook"], GROWTH, "{:.1f} MB"),
    ]


def sent_late(change: Change) -> float:
    """Return how many seconds after it was due the API server had answered a change."""
    return (change.answered or change.due) - change.due


def roll_out_figure(
    cluster: DevCluster, reached: Callable[[], int], size: Size, rate: float, progress: Progress
) -> Figure:
    """Return how long settings that change every Ingress take; `reached` counts those that have followed."""
    report = slowly(progress)
    settings: dict[str, Any] = yaml.safe_load(cluster.settings_file.read_text())
    began = time.monotonic()
    cluster.restart_hook(settings | {"defaults": settings["defaults"] | {"annotations": {ANNOTATION: "true"}}})

    def done() -> bool:
        report(f"new settings: {reached():,} of {size.services:,} Ingresses have them")
        return reached() >= size.services

    wait_for(done, ROLLED_OUT, what="the new settings in every Ingress", interval=0.1)
    each = f"each Service is changed every {size.services / rate:.0f} s"
    return Figure(f"new settings are in every Ingress after ({each})", f"{time.monotonic() - began:.0f} s")


def restarts(cluster: DevCluster) -> dict[str, Callable[[], None]]:
    """Return what kills each part and starts it again, and returns when it is ready."""
    plane = cluster.control_plane

    def restart(process: Process, ready: Callable[[], object] = lambda: True) -> None:
        process.kill()
        process.start()
        process.wait_ready(ready)

    return {
        "the hook": cluster.restart_hook,
        "the engine": functools.partial(restart, cluster.engine),
        "the controller manager": functools.partial(restart, plane.controller_manager),
        "the API server": functools.partial(restart, plane.apiserver, plane.api.ready),
        "etcd": functools.partial(restart, plane.etcd, plane.api.ready),
    }


def restart_figure(
    cluster: DevCluster, changes: Changes, part: str, restart: Callable[[], None], seconds: float
) -> Figure:
    """Return how long changes wait while a part restarts; it is watched for so many seconds at least."""
    killed = time.monotonic()
    restart()

    def held_up() -> list[Change]:
        """Return the changes that have waited too long for their Ingress, and those that still do."""
        due = changes.due_between(killed, time.monotonic() - IN_TIME)
        return [change for change in due if change.wait > IN_TIME]

    while (now := time.monotonic()) - killed < seconds or any(change.seen is None for change in held_up()):
        if now - killed > AGAIN:
            break
        for ended in (cluster.engine, cluster.control_plane.controller_manager):
            ended.start()  # as the kubelet would; it does nothing for one that runs
        time.sleep(0.2)
    slow = held_up()
    name = f"{part} killed: the slowest change; when changes arrive within {IN_TIME:g} s again"
    if any(change.seen is None for change in slow):
        return Figure(name, f"over {now - killed:.0f} s; not within this time", "within this time", reached=False)
    slowest = max(change.wait for change in changes.due_between(killed, now - IN_TIME))
    back = max((change.seen - killed for change in slow if change.seen), default=0.0)
    return Figure(name, f"{slowest:.1f} s; {f'after {back:.1f} s' if slow else 'they always do'}")


def memory(cluster: DevCluster) -> dict[str, float]:
    """Return the megabytes that each part takes."""
    return {name: process.pss_bytes() / MEGABYTE for name, process in cluster.parts.items()}


def in_megabytes(memory: dict[str, float]) -> str:
    """Return the memory of each part, as a person reads it."""
    return ", ".join(f"{part} {megabytes:,.0f}" for part, megabytes in memory.items()) + " MB"
