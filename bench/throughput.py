"""What the gateway costs: requests through it against the same requests to the backend, and with many Ingresses more.

wrk sends them; the backend is an nginx that answers from memory. Many connections at once show how much can be done,
and one alone shows how long a request takes while no other waits. Rounds to the backend and rounds through the gateway
take turns: on a machine that is now faster and now slower, only what was measured side by side can be compared.

Traefik compares a request with one route after the other, those with long rules first. The host that is visited has the
shortest rule of all, so its route is the last one: with more Ingresses, no other is slowed down more.
"""

import contextlib
import json
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import NamedTuple

from bench.figures import Figure, Section, at_least, at_most, exactly
from bench.load import create, create_namespace, how_many
from devcluster.api import SERVICES, Object, wait_for
from devcluster.build import Progress, build
from devcluster.cluster import DevCluster
from devcluster.errors import CommandFailed
from devcluster.gateway import Gateway
from tools import debian

SCRIPT = Path(__file__).with_name("wrk.lua")
NAMESPACE = "gateway"
HOST = "a.example.com"
PORT = 8090
BODY = 1024
"""Bytes in the body of an answer."""

CONNECTIONS = 32
"""How many are busy at once to see how much can be done."""

ROUNDS = 6
PATIENCE = 300.0
"""Seconds to wait for anything."""

IDLE_CPU = 0.1
"""Seconds of CPU in one second, below which the engine and Traefik count as idle."""


class Measured(NamedTuple):
    """What wrk has measured. Times are in milliseconds."""

    rate: float
    """Answers a second."""
    median: float
    p99: float
    failed: int


@dataclass(frozen=True)
class Round:
    """What was measured side by side: to the backend directly, and through the gateway."""

    busy_directly: Measured
    busy: Measured
    alone_directly: Measured
    alone: Measured
    cpu: float
    """Milliseconds of Traefik's CPU for each request while it is busy."""

    @property
    def throughput(self) -> float:
        """The rate through the gateway, as a part of that of the backend."""
        return self.busy.rate / self.busy_directly.rate

    @property
    def slowness(self) -> float:
        """How many times as long a request takes through the gateway."""
        return self.alone.median / self.alone_directly.median


def throughput_section(
    engine: str, progress: Progress, *, more: int = 1000, rounds: int = ROUNDS, seconds: int = 2
) -> Section:
    """Return what the gateway costs, and what `more` Ingresses change. Each measurement takes so many seconds.

    Raises MissingProgram where there is no wrk or nginx, and CommandFailed when one of them fails.
    """
    wrk, nginx = debian.get(debian.WRK, progress), debian.get(debian.NGINX, progress)
    build(["loadgen"], progress)
    with DevCluster(engine, gateway=1, progress=progress) as cluster, contextlib.ExitStack() as exits:
        gateway = cluster.gateway
        if gateway is None:
            raise CommandFailed("a cluster with a gateway has none")
        create_namespace(cluster, NAMESPACE)
        service = cluster.api.create(SERVICES, service_of(NAMESPACE, "a", HOST))
        address = f"{service['spec']['clusterIP']}:{PORT}"
        exits.enter_context(backend(cluster, nginx, address))
        wait_for(lambda: gateway.ask(HOST).status == 200, PATIENCE, what="the first answer")

        def measured(url: str, connections: int) -> Measured:
            return run_wrk(wrk, url, connections, seconds)

        def one_round() -> Round:
            directly = f"http://{address}/"
            busy_directly, before = measured(directly, CONNECTIONS), gateway.traefiks[0].cpu_seconds()
            busy = measured(f"{gateway.url}/", CONNECTIONS)
            cpu = 1000 * (gateway.traefiks[0].cpu_seconds() - before) / (busy.rate * seconds)
            return Round(busy_directly, busy, measured(directly, 1), measured(f"{gateway.url}/", 1), cpu)

        def several(what: str) -> list[Round]:
            one_round()  # connections are opened and caches filled
            found = []
            for number in range(1, rounds + 1):
                progress(f"requests to the backend and through the gateway, {what}: round {number} of {rounds}")
                found.append(one_round())
            return found

        few = several("one Ingress")
        create_more(cluster, gateway, more, progress)
        many = several(f"{more:,} Ingresses more")
    return Section(
        f"Requests through the gateway, {CONNECTIONS} connections or one", throughput_figures(few, many, more)
    )


def throughput_figures(few: list[Round], many: list[Round], more: int) -> list[Figure]:
    """Return what the rounds show: with one Ingress, and with so many more."""

    def middle(rounds: list[Round], value: Callable[[Round], float]) -> float:
        return median(value(one) for one in rounds)

    def rate(name: str, busy: Callable[[Round], Measured]) -> Figure:
        return Figure(name, f"{middle(few, lambda one: busy(one).rate):,.0f}")

    def times(name: str, rounds: list[Round], alone: Callable[[Round], Measured]) -> Figure:
        each = (middle(rounds, lambda one: alone(one).median), middle(rounds, lambda one: alone(one).p99))
        return Figure(f"{name}: median, 99th percentile", f"{each[0]:.2f} ms, {each[1]:.2f} ms")

    def change(value: Callable[[Round], float]) -> float:
        return middle(many, value) / middle(few, value)

    failed = sum(
        one.failed for each in few + many for one in (each.busy_directly, each.busy, each.alone_directly, each.alone)
    )
    cpus = [f"{middle(rounds, lambda one: one.cpu):.3f} ms" for rounds in (few, many)]
    with_more = f"with {more:,} Ingresses more"
    return [
        rate("requests a second to the backend directly", lambda one: one.busy_directly),
        rate("through the gateway", lambda one: one.busy),
        Figure("of those directly, as many as", f"{middle(few, lambda one: one.throughput):.2f}"),
        times("a request to the backend directly", few, lambda one: one.alone_directly),
        times("through the gateway", few, lambda one: one.alone),
        times(f"through the gateway, {with_more}", many, lambda one: one.alone),
        Figure("CPU of Traefik for each request", cpus[0]),
        Figure(f"CPU of Traefik for each request, {with_more}", cpus[1]),
        at_least(f"throughput {with_more} / without", change(lambda one: one.throughput), 0.9, "{:.2f}"),
        at_most(f"median time {with_more} / without", change(lambda one: one.slowness), 1.1, "{:.2f}"),
        exactly("requests that failed", f"{failed}", "0"),
    ]


def service_of(namespace: str, name: str, host: str) -> Object:
    """Return a Service that asks for an Ingress of a host."""
    annotations = {"ingress/http": "true", "ingress/host": host}
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": namespace, "annotations": annotations},
        "spec": {"selector": {"app": name}, "ports": [{"name": "http", "port": PORT}]},
    }


def create_more(cluster: DevCluster, gateway: Gateway, more: int, progress: Progress) -> None:
    """Create Services that ask for Ingresses; return when the gateway serves them, and all is quiet again."""
    progress(f"creating {more:,} Services")
    names = [f"b{number:05}" for number in range(more)]
    create(cluster, SERVICES, (service_of(NAMESPACE, name, f"{name}.{HOST}") for name in names))
    wait_for(lambda: how_many(cluster, NAMESPACE) == more + 1, PATIENCE, what="their Ingresses", interval=0.2)
    for name in names:
        # Nothing listens there, which Traefik tells with 502. Until it has the route, it is the 404 page.
        wait_for(lambda name=name: gateway.ask(f"{name}.{HOST}").status == 502, PATIENCE, what=f"the route of {name}")  # type: ignore[misc]
    wait_for(lambda: is_idle(cluster, gateway), PATIENCE, what="a quiet cluster")


def is_idle(cluster: DevCluster, gateway: Gateway) -> bool:
    """Return whether neither the engine nor Traefik has done much for a second."""
    processes = (cluster.engine, gateway.traefiks[0])
    before = sum(process.cpu_seconds() for process in processes)
    time.sleep(1)
    return sum(process.cpu_seconds() for process in processes) - before < IDLE_CPU


def run_wrk(wrk: debian.Program, url: str, connections: int, seconds: int) -> Measured:
    """Return what wrk measures in so many seconds. Raises CommandFailed."""
    options = (f"--connections={connections}", "--threads=1", f"--duration={seconds}s", "--timeout=10s")
    ended = wrk.run(*options, f"--script={SCRIPT}", f"--header=Host: {HOST}", url)
    found = [line.removeprefix("JSON ") for line in ended.stdout.splitlines() if line.startswith("JSON ")]
    if ended.returncode or not found:
        raise CommandFailed(f"wrk {url}: {(ended.stderr or ended.stdout).strip()}")
    told = json.loads(found[0])
    rate = 1e6 * told["requests"] / told["duration"]
    return Measured(rate, told["median"] / 1000, told["p99"] / 1000, told["failed"])


@contextlib.contextmanager
def backend(cluster: DevCluster, nginx: debian.Program, address: str) -> Iterator[None]:
    """Serve an address with nginx, from memory. Raises as Process does."""
    folder = cluster.folder / "backend"
    folder.mkdir()
    (folder / "nginx.conf").write_text(f"""
daemon off;
master_process off;
pid nginx.pid;
events {{}}
http {{
    access_log off;
    client_body_temp_path client-body;
    fastcgi_temp_path fastcgi;
    proxy_temp_path proxy;
    scgi_temp_path scgi;
    uwsgi_temp_path uwsgi;
    keepalive_requests 1000000000;
    server {{
        listen {address};
        location / {{
            default_type text/plain;
            return 200 "{"x" * BODY}";
        }}
    }}
}}
""")
    command = [str(nginx.path), "-e", "stderr", "-p", str(folder), "-c", "nginx.conf"]
    process = cluster.processes.add("backend", command, env=nginx.environment())
    process.start()
    try:
        process.wait_ready(lambda: listens(address))
        yield
    finally:
        process.stop()


def listens(address: str) -> bool:
    """Return whether a connection to HOST:PORT can be made."""
    host, _, port = address.partition(":")
    with contextlib.suppress(ConnectionRefusedError), socket.create_connection((host, int(port)), timeout=5):
        return True
    return False
