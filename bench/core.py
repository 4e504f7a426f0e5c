"""The core alone: what an answer costs, and what the worst inputs cost.

Two things that are compared are timed in turns, many times, and the median of their ratios is what counts: a machine
may slow down for seconds at a time.
"""

import json
import time
import tracemalloc
from collections.abc import Callable
from datetime import UTC, datetime
from statistics import median
from typing import Any

from bench.figures import Figure, Section, at_most
from bench.worst import lines, worst_requests
from devcluster.build import REPOSITORY, Progress
from hooks.sync import answer
from ingress_manager.core.policy import Policy

POLICY = Policy()
NOW = datetime.now(UTC)
TURNS = 41
WORST_CPU, WORST_MEMORY = 50, 16
"""Milliseconds, and megabytes beyond the request itself, that an answer to any request may take."""


def core_section(progress: Progress) -> Section:
    """Return the figures of the core."""
    progress("timing the core")
    plain, bare = answering(sync_request()), bare_json(sync_request())
    taken = [(seconds(plain, 500), seconds(bare, 500)) for _ in range(TURNS)]
    some, many = (answering(sync_request({"ingress/routes": lines(count, "path: /{}")})) for count in (10, 100))
    growth = median(seconds(many, 5) / seconds(some, 5) for _ in range(TURNS))
    figures = [
        Figure("answers a second, plain Service", f"{1 / median(own for own, _ in taken):,.0f}"),
        at_most("its time / that of json.loads + json.dumps", median(own / json for own, json in taken), 2, "{:.2f}"),
        at_most("100 routes / 10 routes, of time", growth, 10, "{:.1f}"),
    ]
    for name, body in worst_requests():
        progress(f"the worst inputs: {name}")
        milliseconds = 1000 * median(seconds(lambda body=body: answer(body, POLICY, NOW), 1) for _ in range(5))  # type: ignore[misc]
        figures.append(at_most(f"{name}: CPU", milliseconds, WORST_CPU, "{:.1f} ms"))
        figures.append(at_most(f"{name}: memory", megabytes(body), WORST_MEMORY, "{:.1f} MB"))
    return Section("The core alone", figures)


def sync_request(annotations: dict[str, str] | None = None) -> bytes:
    """Return the body of a sync request as Metacontroller sent it once, with more annotations."""
    recorded = json.loads((REPOSITORY / "tests/fixtures/new.json").read_text())
    recorded["object"]["metadata"]["annotations"] |= annotations or {}
    return json.dumps(recorded, separators=(",", ":")).encode()


def seconds(work: Callable[[], Any], runs: int) -> float:
    """Return the CPU time of one run."""
    started = time.process_time()
    for _ in range(runs):
        work()
    return (time.process_time() - started) / runs


def answering(body: bytes) -> Callable[[], Any]:
    """Return the work of answering, after one answer to see that it is an Ingress."""
    first = answer(body, POLICY, NOW)
    if first.status != 200:
        raise ValueError(f"the benchmark's request is refused: {first.body.decode()}")
    return lambda: answer(body, POLICY, NOW)


def bare_json(body: bytes) -> Callable[[], Any]:
    """Return the work of reading a request, and of writing its answer, by the standard library."""
    response = json.loads(answer(body, POLICY, NOW).body)
    return lambda: (json.loads(body), json.dumps(response))


def megabytes(body: bytes, policy: Policy = POLICY) -> float:
    """Return the memory that an answer takes at most at once."""
    tracemalloc.start()
    try:
        answer(body, policy, NOW)
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()
