"""The hook as it is served, without a cluster: the cost of a request."""

import contextlib
import selectors
import socket
import time
from collections.abc import Sequence
from statistics import median

from bench.core import sync_request
from bench.figures import Figure, Section, at_most
from devcluster.build import REPOSITORY, Progress
from devcluster.cluster import hook_command
from devcluster.ports import ReservedPort
from devcluster.processes import Processes

CONNECTIONS = 20
"""As many as Metacontroller has workers."""

ROUNDS = 5
TIMEOUT = 5.0
"""Seconds after which an answer is given up, as Metacontroller does."""

OK = b"HTTP/1.1 200 "


def hook_section(progress: Progress, count: int = 4000) -> Section:
    """Return what a request costs over kept connections: the median of several rounds of so many requests."""
    body = sync_request()
    head = ("POST /sync HTTP/1.1", "Host: hook", "Content-Type: application/json", f"Content-Length: {len(body)}")
    request = "\r\n".join([*head, "", ""]).encode() + body
    with contextlib.ExitStack() as exits:
        processes, port = exits.enter_context(Processes()), exits.enter_context(contextlib.closing(ReservedPort()))
        hook = processes.add("hook", hook_command(port.number), cwd=REPOSITORY)
        hook.start()
        hook.wait_ready(lambda: '"started"' in hook.log_path.read_text())
        address = ("127.0.0.1", port.number)
        connections = [exits.enter_context(socket.create_connection(address, TIMEOUT)) for _ in range(CONNECTIONS)]
        keep_busy(connections, request, count // 4)  # the first answers import modules and fill caches
        seconds, cpu = [], []
        for number in range(1, ROUNDS + 1):
            progress(f"requests over {CONNECTIONS} connections: round {number} of {ROUNDS}")
            before = hook.cpu_seconds()
            seconds.append(keep_busy(connections, request, count) / count)
            cpu.append((hook.cpu_seconds() - before) / count)
    figures = [
        Figure(f"requests a second over {CONNECTIONS} kept connections", f"{1 / median(seconds):,.0f}"),
        at_most("CPU of the hook for each", 1000 * median(cpu), 0.40, "{:.2f} ms"),
    ]
    return Section("The hook as it is served", figures)


def keep_busy(connections: Sequence[socket.socket], request: bytes, count: int) -> float:
    """Send `count` requests over the connections, one at a time on each; return the seconds until all are answered.

    Raises TimeoutError, and ValueError unless each answer is 200, in one piece.
    """
    started, left = time.perf_counter(), count
    with selectors.DefaultSelector() as selector:
        for connection in connections[:count]:
            selector.register(connection, selectors.EVENT_READ, connection)
            connection.sendall(request)
            left -= 1
        while selector.get_map():
            ready = selector.select(TIMEOUT)
            if not ready:
                raise TimeoutError(f"no answer within {TIMEOUT:g} s")
            for key, _ in ready:
                # The worker writes the head and the body of an answer at once.
                if not (answer := key.data.recv(65536)).startswith(OK) or not answer.endswith(b"}"):
                    raise ValueError(f"the hook answered {answer.decode()}")
                if left:
                    key.data.sendall(request)
                    left -= 1
                else:
                    selector.unregister(key.data)
    return time.perf_counter() - started
