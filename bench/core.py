"""The core alone: what an answer costs, and what the worst inputs cost.

Two things that are compared are timed in turns, many times, and the median of their ratios is what counts: a machine
may slow down for seconds at a time.
"""

import json
import time
import tracemalloc
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import median
from typing import Any

from bench.figures import Figure, Section, at_most
from devcluster.build import REPOSITORY, Progress
from devcluster.worst import largest_settings, worst_requests_for_profiles
from hooks.sync import answer
from ingress_manager.core.policy import Policy
from ingress_manager.core.settings import parse

POLICY = Policy()
NOW = datetime.now(UTC)
ROUTES = (1, 10, 100)
TURNS = 41

WORST_CPU = 50
"""Milliseconds that an answer to any request may take."""

WORST_MEMORY = 16
"""Megabytes that an answer to any request may take, beyond the request itself."""

LISTED = 5
"""How many of the worst inputs are shown. Any other that misses a limit is shown too."""


@dataclass(frozen=True)
class Cost:
    """What the answer to one request takes."""

    name: str
    milliseconds: float
    megabytes: float


def core_section(progress: Progress, worst: Iterable[tuple[str, bytes]], turns: int = TURNS) -> Section:
    """Return the figures of the core; `worst` are the names and bodies of the worst requests."""
    progress("timing the core")
    plain_cost, plain_ratio = against_json(sync_request(), turns)
    growth = routes_growth(turns)
    routes = ", ".join(f"{count}: {cost * 1e6:,.0f} µs" for count, cost in zip(ROUTES, growth, strict=True))
    figures = [
        Figure("answers a second, plain Service", f"{1 / plain_cost:,.0f}"),
        at_most("its time / that of json.loads + json.dumps", plain_ratio, 0.8, "{:.2f}"),
        Figure("time of an answer with so many routes", routes),
        at_most("100 routes / 10 routes, of time", growth[2] / growth[1], 10, "{:.1f}"),
    ]
    costs = [cost(*request, POLICY, progress) for request in worst]
    return Section("The core alone", figures + settings_figures(costs, progress, turns) + worst_figures(costs))


def settings_figures(costs: list[Cost], progress: Progress, turns: int) -> list[Figure]:
    """Return the figures of the largest settings, and add to `costs` what the worst requests cost where they hold."""
    progress("reading the largest settings")
    text = largest_settings()
    policy = parse(text)
    read = median(seconds(lambda: parse(text), 1) for _ in range(5))
    plain, under_largest = answering(sync_request()), answering(sync_request(), policy)
    ratio = median(seconds(under_largest, 500) / seconds(plain, 500) for _ in range(turns))
    costs += [cost(*request, policy, progress) for request in worst_requests_for_profiles()]
    return [
        at_most("reading 1,000 profiles and 10,000 namespaces", read, 1, "{:.2f} s"),
        at_most("an answer under them / under the default settings, of time", ratio, 1.2, "{:.2f}"),
    ]


def sync_request(annotations: dict[str, str] | None = None) -> bytes:
    """Return the body of a sync request as Metacontroller sent it once, with more annotations."""
    recorded = json.loads((REPOSITORY / "tests/fixtures/sync.json").read_text())
    recorded["object"]["metadata"]["annotations"] |= annotations or {}
    return json.dumps(recorded, separators=(",", ":")).encode()


def with_routes(count: int) -> bytes:
    """Return a sync request with so many routes."""
    return sync_request({"ingress/routes": "".join(f"- path: /{number}\n" for number in range(count))})


def seconds(work: Callable[[], Any], runs: int) -> float:
    """Return the CPU time of one run."""
    started = time.process_time()
    for _ in range(runs):
        work()
    return (time.process_time() - started) / runs


def answering(body: bytes, policy: Policy = POLICY) -> Callable[[], Any]:
    """Return the work of answering, after one answer to see that it is an Ingress."""
    first = answer(body, policy, NOW)
    if first.status != 200:
        raise ValueError(f"the benchmark's request is refused: {first.body.decode()}")
    return lambda: answer(body, policy, NOW)


def against_json(body: bytes, turns: int) -> tuple[float, float]:
    """Return the seconds of an answer, and the ratio to json.loads and json.dumps of the same two bodies."""
    ours = answering(body)
    response = json.loads(answer(body, POLICY, NOW).body)

    def bare_json() -> None:
        json.loads(body)
        json.dumps(response)

    taken = [(seconds(ours, 500), seconds(bare_json, 500)) for _ in range(turns)]
    return median(own for own, _ in taken), median(own / bare for own, bare in taken)


def routes_growth(turns: int) -> list[float]:
    """Return the seconds of an answer for each number of ROUTES, timed in turns."""
    works = [answering(with_routes(count)) for count in ROUTES]
    taken = [[seconds(work, 5) for work in works] for _ in range(turns)]
    return [median(column) for column in zip(*taken, strict=True)]


def cost(name: str, body: bytes, policy: Policy, progress: Progress) -> Cost:
    """Return what the answer to one of the worst requests takes: the median of five, and the peak of memory."""
    progress(f"the worst inputs: {name}")
    milliseconds = 1000 * median(seconds(lambda: answer(body, policy, NOW), 1) for _ in range(5))
    # A pass of its own, because tracemalloc slows everything down.
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        answer(body, policy, NOW)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return Cost(name, milliseconds, (peak - before) / 1e6)


def worst_figures(costs: list[Cost]) -> list[Figure]:
    """Return the worst costs of CPU and of memory, and every other that misses its limit."""
    limits = (("CPU", "milliseconds", WORST_CPU, "{:.1f} ms"), ("memory", "megabytes", WORST_MEMORY, "{:.1f} MB"))
    figures = [Figure("inputs chosen to be the worst", f"{len(costs)}")]
    for what, field, limit, shown in limits:
        taken = sorted(((getattr(each, field), each.name) for each in costs), reverse=True)
        for place, (value, name) in enumerate(taken):
            if place < LISTED or value > limit:
                figures.append(at_most(f"{what}: {name}", value, limit, shown))
    return figures
