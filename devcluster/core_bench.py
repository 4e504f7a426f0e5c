"""The benchmark of the hook alone: what an answer costs in the pure core, and which part of an HTTP request that is.

Two things that are compared are timed in turns, many times, and the median of their ratios is what counts: these
machines are noisy, and slow down for seconds at a time.
"""

import contextlib
import http.client
import json
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import yaml
from hooks.core import sync

from devcluster.build import REPOSITORY, Progress
from devcluster.cluster import hook_command
from devcluster.figures import Figure, at_most
from devcluster.ports import ReservedPort
from devcluster.processes import Processes
from hooks.policy import Policy

POLICY = Policy()
ROUTES = (1, 10, 100)
TURNS = 41
REQUESTS = 3000


def request(annotations: dict[str, str] | None = None, spec: dict[str, Any] | None = None) -> bytes:
    """Return the body of a sync request as Metacontroller sent it once, with other annotations and another spec."""
    recorded = json.loads((REPOSITORY / "tests/fixtures/sync.json").read_text())
    recorded["object"]["metadata"]["annotations"] |= annotations or {}
    recorded["object"]["spec"] |= spec or {}
    return json.dumps(recorded, separators=(",", ":")).encode()


def with_every_annotation() -> bytes:
    """Return the sync request of the case that states every annotation but routes, with two routes added."""
    service = yaml.safe_load((REPOSITORY / "tests/cases/every-annotation/service.yaml").read_text())
    routes = {"ingress/routes": "- {}\n- path: /metrics\n  pathType: Prefix\n"}
    return request(service["metadata"]["annotations"] | routes, service["spec"])


def with_routes(count: int) -> bytes:
    """Return a sync request with so many routes."""
    return request({"ingress/routes": "".join(f"- path: /{number}\n" for number in range(count))})


def seconds(work: Callable[[], Any], runs: int) -> float:
    """Return the processor time of one run."""
    started = time.process_time()
    for _ in range(runs):
        work()
    return (time.process_time() - started) / runs


def answer(body: bytes) -> Callable[[], Any]:
    """Return the work of answering, after one answer to see that it is an Ingress."""
    first = sync(body, POLICY)
    if first.status != 200:
        raise ValueError(f"the benchmark's request is refused: {first.body.decode()}")
    return lambda: sync(body, POLICY)


def against_json(body: bytes) -> tuple[float, float]:
    """Return the seconds of an answer, and the ratio to json.loads and json.dumps of the same two bodies."""
    answering = answer(body)
    response = json.loads(sync(body, POLICY).body)

    def bare_json() -> None:
        json.loads(body)
        json.dumps(response)

    taken = [(seconds(answering, 500), seconds(bare_json, 500)) for _ in range(TURNS)]
    return median(ours for ours, _ in taken), median(ours / theirs for ours, theirs in taken)


def routes_growth() -> list[float]:
    """Return the seconds of an answer for each number of ROUTES, timed in turns."""
    works = [answer(with_routes(count)) for count in ROUTES]
    taken = [[seconds(work, 5) for work in works] for _ in range(TURNS)]
    return [median(column) for column in zip(*taken, strict=True)]


def http_share(body: bytes) -> tuple[float, float]:
    """Return the processor seconds that the served hook takes for one request, and the core's share of them."""
    with Processes() as processes, contextlib.closing(ReservedPort()) as port:
        hook = processes.add("hook", hook_command(port.number), cwd=REPOSITORY)
        hook.start()
        hook.wait_ready(lambda: '"started"' in hook.log_path.read_text())
        connection = http.client.HTTPConnection("127.0.0.1", port.number)
        with contextlib.closing(connection):

            def ask() -> None:
                connection.request("POST", "/sync", body, {"Content-Type": "application/json"})
                with connection.getresponse() as response:
                    response.read()

            shares, costs = [], []
            for _ in range(5):
                before = hook.cpu_seconds()
                for _ in range(REQUESTS // 5):
                    ask()
                costs.append((hook.cpu_seconds() - before) / (REQUESTS // 5))
                shares.append(seconds(answer(body), 500) / costs[-1])
        return median(costs), median(shares)


def core_figures(progress: Progress) -> list[Figure]:
    """Return the figures of the hook alone."""
    progress("timing the core")
    plain, full = request(), with_every_annotation()
    plain_cost, plain_ratio = against_json(plain)
    full_cost, full_ratio = against_json(full)
    growth = routes_growth()
    http_cost, share = http_share(plain)
    routes = ", ".join(f"{count}: {cost * 1e6:,.0f} µs" for count, cost in zip(ROUTES, growth, strict=True))
    return [
        Figure("answers a second, plain Service", f"{1 / plain_cost:,.0f}"),
        at_most("its time / that of json.loads + json.dumps", plain_ratio, 1.5, "{:.2f}"),
        Figure("answers a second, every annotation", f"{1 / full_cost:,.0f}"),
        Figure("its time / that of json.loads + json.dumps", f"{full_ratio:.2f}"),
        Figure("an answer with so many routes", routes),
        at_most("100 routes / 10 routes, of time", growth[2] / growth[1], 10, "{:.1f}"),
        Figure("processor time of one HTTP request", f"{http_cost * 1e6:,.0f} µs"),
        Figure("share of the core in it", f"{100 * share:.0f} %"),
    ]
