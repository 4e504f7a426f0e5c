"""The hook as it is served, without a cluster: the cost of a request, and an answer beside connections that hang."""

import contextlib
import time
from dataclasses import dataclass
from statistics import median

from bench.client import TIMEOUT, ask, connect, keep_busy, post
from bench.core import sync_request
from bench.figures import Figure, Section, at_most
from devcluster.build import REPOSITORY, Progress
from devcluster.cluster import hook_command
from devcluster.ports import ReservedPort
from devcluster.processes import Process, Processes
from hooks.gunicorn_conf import allow_open_files

CONNECTIONS = 20
"""As many as Metacontroller has workers."""

ROUNDS = 5


@dataclass(frozen=True)
class Served:
    """A hook that is served, and the request that it is sent."""

    process: Process
    port: int
    request: bytes


def hook_section(progress: Progress, requests: int = 4000, hanging: int = 500, asked: int = 200) -> Section:
    """Return the figures of the served hook: `requests` a round, then `asked` beside twice `hanging` connections."""
    with Processes() as processes, contextlib.closing(ReservedPort()) as port:
        process = processes.add("hook", hook_command(port.number), cwd=REPOSITORY)
        process.start()
        process.wait_ready(lambda: '"started"' in process.log_path.read_text())
        hook = Served(process, port.number, post("/sync", sync_request()))
        figures = busy(hook, requests, progress) + beside_hanging(hook, hanging, asked, progress)
    return Section("The hook as it is served", figures)


def busy(hook: Served, count: int, progress: Progress) -> list[Figure]:
    """Return what a request costs over kept connections: the median of several rounds."""
    with contextlib.ExitStack() as exits:
        connections = [exits.enter_context(connect(hook.port)) for _ in range(CONNECTIONS)]
        keep_busy(connections, hook.request, count // 4)  # the first answers import modules and fill caches
        seconds, cpu = [], []
        for number in range(1, ROUNDS + 1):
            progress(f"requests over {CONNECTIONS} connections: round {number} of {ROUNDS}")
            before = hook.process.cpu_seconds()
            seconds.append(keep_busy(connections, hook.request, count) / count)
            cpu.append((hook.process.cpu_seconds() - before) / count)
    return [
        Figure(f"requests a second over {CONNECTIONS} kept connections", f"{1 / median(seconds):,.0f}"),
        at_most("CPU of the hook for each", 1000 * median(cpu), 0.40, "{:.2f} ms"),
    ]


def beside_hanging(hook: Served, hanging: int, asked: int, progress: Progress) -> list[Figure]:
    """Return how long answers take while requests are half sent, and connections that were answered stay open."""
    allow_open_files(2 * hanging + 100)
    name = f"an answer beside {hanging} half-sent requests and {hanging} idle connections"
    with contextlib.ExitStack() as exits:
        progress(f"opening {2 * hanging} connections")
        try:
            for _ in range(hanging):
                ask(exits.enter_context(connect(hook.port)), hook.request)
            for _ in range(hanging):
                exits.enter_context(connect(hook.port)).sendall(hook.request[: len(hook.request) // 2])
            time.sleep(1)  # until the hook has taken up the last of them
            progress("asking beside them")
            waits = [milliseconds(hook) for _ in range(asked)]
        except TimeoutError:
            return [Figure(name, f"none within {TIMEOUT:g} s", "less than 100 ms", reached=False)]
        memory = hook.process.pss_bytes()
    return [
        Figure(f"{name}: median", f"{median(waits):.1f} ms"),
        Figure(f"worst of {asked}", f"{max(waits):.1f} ms", "less than 100 ms", max(waits) < 100),
        Figure("memory of the hook beside them", f"{memory / 2**20:.0f} MiB"),
    ]


def milliseconds(hook: Served) -> float:
    """Return how long an answer takes over a new connection."""
    started = time.perf_counter()
    with connect(hook.port) as connection:
        ask(connection, hook.request)
    return 1000 * (time.perf_counter() - started)
