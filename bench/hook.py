"""The hook as it is served, without a cluster: what a request costs it."""

import http.client
from concurrent.futures import ThreadPoolExecutor
from statistics import median

from bench.core import sync_request
from bench.figures import Section, at_most
from devcluster.build import REPOSITORY, Progress
from devcluster.cluster import hook_command
from devcluster.processes import Processes

CONNECTIONS = 20
"""As many as Metacontroller has workers."""

ROUNDS, EACH = 6, 200
"""Requests over each connection in a round."""


def hook_section(progress: Progress) -> Section:
    """Return what a request costs over kept connections: the median of several rounds."""
    body, cpu = sync_request(), list[float]()
    with Processes() as processes, ThreadPoolExecutor(CONNECTIONS) as clients:
        port = processes.port()
        hook = processes.add("hook", hook_command(port), cwd=REPOSITORY)
        hook.start()
        hook.wait_ready(lambda: '"started"' in hook.log_path.read_text())
        kept = [http.client.HTTPConnection("127.0.0.1", port, timeout=5) for _ in range(CONNECTIONS)]

        def keep_busy(connection: http.client.HTTPConnection) -> None:
            for _ in range(EACH):
                connection.request("POST", "/sync", body, {"Content-Type": "application/json"})
                if (answered := connection.getresponse()).status != 200:
                    raise ValueError(f"the hook answered {answered.status}")
                answered.read()

        for number in range(ROUNDS):
            progress(f"requests over {CONNECTIONS} connections: round {number + 1} of {ROUNDS}")
            before = hook.cpu_seconds()
            list(clients.map(keep_busy, kept))
            cpu.append((hook.cpu_seconds() - before) / (CONNECTIONS * EACH))
    # The first answers import modules and fill caches.
    figure = at_most(
        f"CPU for a request over {CONNECTIONS} kept connections", 1000 * median(cpu[1:]), 0.40, "{:.2f} ms"
    )
    return "The hook as it is served", [figure]
