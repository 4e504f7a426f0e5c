"""What the gateway costs: requests through it against the same requests to the backend, and with many Ingresses more.

wrk sends them; the backend is an nginx that answers from memory. Many connections at once show how much can be done,
and one alone shows how long a request takes while no other waits.

Two Traefiks serve the backend: one has no other Ingress, and the other has many more. Traefik compares a request with
one route after the other, those with long rules first. So the backend has two hosts: the route of one is the first, and
that of the other the last. All measurements take turns: on a machine that is now faster and now slower, only what was
measured side by side can be compared.
"""

import contextlib
import json
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from bench.figures import Figure, Section, at_least, at_most, exactly
from bench.load import create, create_namespace, how_many
from devcluster.api import SERVICES, Object, wait_for
from devcluster.build import Progress, build
from devcluster.cluster import DevCluster
from devcluster.errors import CommandFailed
from devcluster.gateway import LOOPBACK, Gateway, answers
from devcluster.processes import Process
from tools import debian

SCRIPT = Path(__file__).with_name("wrk.lua")
NAMESPACE, MORE = "throughput", "throughput-more"
"""Where the backend's Service is, and where those of all the other Ingresses."""

FEW = "127.0.0.2"
"""The address of the Traefik that reads the Ingresses of the first namespace alone."""

FIRST = "a-name-that-is-longer-than-that-of-any-other-host.example.com"
LAST = "a.example.com"
PORT = 8090
BODY = 1024
"""Bytes in the body of an answer."""

CONNECTIONS = 32
"""How many are busy at once to see how much can be done."""

ROUNDS = 5
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
class Way:
    """What was measured on one way to the backend."""

    busy: list[Measured] = field(default_factory=list)
    """With many connections."""
    alone: list[Measured] = field(default_factory=list)
    """With one."""
    cpu: list[float] = field(default_factory=list)
    """Milliseconds of Traefik's CPU for each request, with many connections."""

    @property
    def rate(self) -> float:
        """Answers a second: the median of the rounds."""
        return median(one.rate for one in self.busy)

    @property
    def milliseconds(self) -> float:
        """How long a request takes alone."""
        return median(one.median for one in self.alone)

    @property
    def p99(self) -> float:
        """How long the slowest one of a hundred takes alone."""
        return median(one.p99 for one in self.alone)

    @property
    def cpu_of_each(self) -> float:
        """Milliseconds of Traefik's CPU for each request."""
        return median(self.cpu)

    @property
    def failed(self) -> int:
        """How many requests failed."""
        return sum(one.failed for one in self.busy + self.alone)


@dataclass(frozen=True)
class Ways:
    """What was measured side by side."""

    directly: Way = field(default_factory=Way)
    few: Way = field(default_factory=Way)
    """Through a gateway without other Ingresses."""
    first: Way = field(default_factory=Way)
    """Through one with many, by the route that Traefik compares first."""
    last: Way = field(default_factory=Way)
    """By the route that it compares last."""


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
        for namespace in (NAMESPACE, MORE):
            create_namespace(cluster, namespace)
        service = cluster.api.create(SERVICES, service_of(NAMESPACE, "a", f"{FIRST}, {LAST}"))
        backend_address = f"{service['spec']['clusterIP']}:{PORT}"
        exits.enter_context(backend(cluster, nginx, backend_address))
        few = gateway.beside(FEW, read_one_namespace)
        few.start()
        create_more(cluster, gateway, more, progress)
        few.wait_ready(lambda: answers(gateway.http_port, "/", address=FEW, host=LAST))

        def measure(way: Way, address: str, host: str, traefik: Process) -> None:
            before = traefik.cpu_seconds()
            busy = run_wrk(wrk, address, host, CONNECTIONS, seconds)
            way.cpu.append(1000 * (traefik.cpu_seconds() - before) / (busy.rate * seconds))
            way.busy.append(busy)
            way.alone.append(run_wrk(wrk, address, host, 1, seconds))

        ways = Ways()
        for number in range(1, rounds + 1):
            progress(f"requests to the backend and through the gateway: round {number} of {rounds}")
            measure(ways.directly, backend_address, LAST, few)
            measure(ways.few, f"{FEW}:{gateway.http_port}", LAST, few)
            measure(ways.first, f"{LOOPBACK}:{gateway.http_port}", FIRST, gateway.traefiks[0])
            measure(ways.last, f"{LOOPBACK}:{gateway.http_port}", LAST, gateway.traefiks[0])
    title = f"Requests through the gateway, over {CONNECTIONS} connections, and over one to see how long each takes"
    return Section(title, throughput_figures(ways, more))


def throughput_figures(ways: Ways, more: int) -> list[Figure]:
    """Return what was measured, directly and through the gateway, with few Ingresses and with so many more."""
    failed = sum(way.failed for way in (ways.directly, ways.few, ways.first, ways.last))
    return [
        Figure("requests a second to the backend directly", f"{ways.directly.rate:,.0f}"),
        Figure("through the gateway", f"{ways.few.rate:,.0f}"),
        Figure("a request to the backend directly: median, 99th percentile", times(ways.directly)),
        Figure("through the gateway", times(ways.few)),
        Figure("CPU of Traefik for each", f"{ways.few.cpu_of_each:.3f} ms"),
        *change_figures(f"{more:,} Ingresses more, the first route", ways.few, ways.first),
        *change_figures(f"{more:,} Ingresses more, the last route", ways.few, ways.last),
        exactly("requests that failed", f"{failed}", "0"),
    ]


def times(way: Way) -> str:
    """Return how long requests take."""
    return f"{way.milliseconds:.2f} ms, {way.p99:.2f} ms"


def change_figures(name: str, few: Way, many: Way) -> list[Figure]:
    """Return what more Ingresses change for a route."""
    return [
        at_least(f"{name}: throughput / without them", many.rate / few.rate, 0.9, "{:.2f}"),
        at_most("a request: median time / without them", many.milliseconds / few.milliseconds, 1.1, "{:.2f}"),
        Figure("a request: median, 99th percentile", times(many)),
        Figure("CPU of Traefik for each", f"{many.cpu_of_each:.3f} ms"),
    ]


def read_one_namespace(static: dict[str, Any]) -> None:
    """Let a Traefik read the Ingresses of the backend's namespace alone."""
    static["providers"]["kubernetesIngress"]["namespaces"] = [NAMESPACE]


def service_of(namespace: str, name: str, hosts: str) -> Object:
    """Return a Service that asks for an Ingress of these hosts."""
    annotations = {"ingress/http": "true", "ingress/host": hosts}
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
    create(cluster, SERVICES, (service_of(MORE, name, f"{name}.{LAST}") for name in names))
    wait_for(lambda: how_many(cluster, MORE) == more, PATIENCE, what="their Ingresses", interval=0.2)
    for name in names:
        # Nothing listens there, which Traefik tells with 502. Until it has the route, it is the 404 page.
        wait_for(lambda name=name: gateway.ask(f"{name}.{LAST}").status == 502, PATIENCE, what=f"the route of {name}")  # type: ignore[misc]
    wait_for(lambda: is_idle(cluster, gateway), PATIENCE, what="a quiet cluster")


def is_idle(cluster: DevCluster, gateway: Gateway) -> bool:
    """Return whether neither the engine nor Traefik has done much for a second."""
    processes = (cluster.engine, gateway.traefiks[0])
    before = sum(process.cpu_seconds() for process in processes)
    time.sleep(1)
    return sum(process.cpu_seconds() for process in processes) - before < IDLE_CPU


def run_wrk(wrk: debian.Program, address: str, host: str, connections: int, seconds: int) -> Measured:
    """Return what wrk measures in so many seconds, asking HOST:PORT. Raises CommandFailed."""
    options = (f"--connections={connections}", "--threads=1", f"--duration={seconds}s", "--timeout=10s")
    ended = wrk.run(*options, f"--script={SCRIPT}", f"--header=Host: {host}", f"http://{address}/")
    found = [line.removeprefix("JSON ") for line in ended.stdout.splitlines() if line.startswith("JSON ")]
    if ended.returncode or not found:
        raise CommandFailed(f"wrk {address}: {(ended.stderr or ended.stdout).strip()}")
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
    {debian.NGINX_FOLDERS}
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
