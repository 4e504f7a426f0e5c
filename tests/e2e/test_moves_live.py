"""Random clusters are moved in and out on a real cluster, with visitors: no request is lost.

One for five of the clusters of tests/moving stand side by side, each in namespaces and under hosts of its own, behind
Traefik. All are moved in by one command, half of them is released, they are moved in again, and all is uninstalled,
while visitors ask for all that answered at the beginning, again and again: the same Service has to answer each, on the
same port.
"""

import asyncio
import http.client
import json
import subprocess
import threading
import time
from collections.abc import Callable, Collection, Iterator
from functools import partial
from itertools import count, islice
from pathlib import Path

import msgspec
import pytest
import yaml

from devcluster import gateway, overlay
from devcluster.api import INGRESSES, NAMESPACES, SERVICES, Api, ApiError, Object, wait_for
from devcluster.cluster import DevCluster
from devcluster.gateway import LOOPBACK
from ingress_manager.commands.plans import carrying_out
from ingress_manager.commands.reading.kubectl import Kubectl
from ingress_manager.core.decide import Desired, decide
from ingress_manager.core.kubernetes import NOTHING, Service
from ingress_manager.core.settings import FILE_VARIABLE, parse
from tests.commands import commands
from tests.e2e.objects import create, namespace
from tests.e2e.shell import environment_of
from tests.moving.a_cluster import OnACluster
from tests.moving.clusters import ALL_ALLOWED, Cluster, draw
from tests.moving.matcher import Probe, named, probes_of

VISITORS = 2
"""Threads that ask one question after the other."""

PAUSE = 0.005
"""Seconds between two questions: a machine of two cores has plans to carry out meanwhile."""

FIRST_PORT = 8400
"""Nobody but root can listen on the ports of the drawn Services, so each is raised by this."""


def live(seed: int) -> list[Object]:
    """Return the objects of a cluster, under hosts and in namespaces of its own, for the class that Traefik serves."""
    text = yaml.safe_dump_all(draw(seed).objects)
    for old, now in (
        ("example.", f"c{seed}.example."),
        ("team-", f"c{seed}-"),
        ("ingressClassName: nginx", f"ingressClassName: {overlay.CLASS}"),
        ("ingress.class: nginx", f"ingress.class: {overlay.CLASS}"),
    ):
        text = text.replace(old, now)
    return list(yaml.safe_load_all(text))


def can_stand(cluster: Cluster) -> bool:
    """Return whether a cluster can stand beside others, and it is certain what answers.

    What answers every host would answer those of others. Of two Ingresses that claim the same, Traefik takes one, and
    after any change perhaps the other one. It goes by the length of a rule, so a wildcard may answer an exact host.
    """
    policy = parse(yaml.safe_dump(ALL_ALLOWED))
    services = [{**each, "metadata": {"uid": "", **each["metadata"]}} for each in cluster.of("Service")]
    decided = [decide(msgspec.convert(each, Service), NOTHING, policy) for each in services]
    # What a Service asks for already is made when the cluster stands, before or after an Ingress of that name.
    made = [each for one in decided if isinstance(one, Desired) for each in one.objects if each["kind"] == "Ingress"]
    places: dict[str, set[object]] = {}
    for each in (*made, *cluster.of("Ingress")):
        label = f"{each['metadata']['namespace']}/{each['metadata']['name']}"
        places.setdefault(label, set()).update(place for place in named(each) if place[1])
    specs = [each["spec"] for each in (*made, *cluster.of("Ingress"))]
    claimed = [place for each in places.values() for place in each]
    has_hosts = all("defaultBackend" not in spec and all("host" in rule for rule in spec["rules"]) for spec in specs)
    has_wildcards = any(str(rule.get("host")).startswith("*") for spec in specs for rule in spec.get("rules") or ())
    return has_hosts and not has_wildcards and len(claimed) == len({*claimed})


class Answering(asyncio.Protocol):
    """A connection to a backend, on which each request gets the same answer."""

    def __init__(self, answer: bytes, open_ones: set[asyncio.Transport]) -> None:
        self._answer, self._open_ones = answer, open_ones
        self._transport: asyncio.Transport
        self._read = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._open_ones.add(transport)

    def data_received(self, data: bytes) -> None:
        *requests, self._read = (self._read + data).split(b"\r\n\r\n")
        self._transport.write(self._answer * len(requests))

    def connection_lost(self, _: Exception | None) -> None:
        self._open_ones.discard(self._transport)


class Backends:
    """A server on each port of many Services, which answers a request with the Service and the port."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self._servers: list[asyncio.Server] = []
        self._open_ones: set[asyncio.Transport] = set()

    def listen(self, service: Object) -> None:
        """Answer for a Service, where it has an address of its own."""
        address = service["spec"].get("clusterIP", "None")
        for port in service["spec"].get("ports", []) if address != "None" else []:
            metadata = service["metadata"]
            text = json.dumps([metadata["namespace"], metadata["name"], port["port"]]).encode()
            answer = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(text), text)
            make = partial(Answering, answer, self._open_ones)
            started = self._loop.create_server(make, address, port["port"])
            self._servers.append(asyncio.run_coroutine_threadsafe(started, self._loop).result(30))

    def close(self) -> None:
        """End."""

        async def end() -> None:
            for server in self._servers:
                server.close()
            for connection in list(self._open_ones):
                connection.close()
            await asyncio.sleep(0.1)

        asyncio.run_coroutine_threadsafe(end(), self._loop).result(30)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class Visitor:
    """Somebody who asks one question after the other, on a connection that is kept."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection(LOOPBACK, port, timeout=30)

    def ask(self, probe: Probe) -> str:
        """Return what answers, as text; "" for the 404 page, or an error of the gateway's own."""
        self._connection.request("GET", probe.path, headers={"Host": probe.host})
        answer = self._connection.getresponse()
        text = answer.read().decode()
        return text if answer.status == 200 else ""

    def close(self) -> None:
        """End."""
        self._connection.close()


class Visits:
    """Visitors that ask for all that answered at first, until the end; what was lost is noted."""

    def __init__(self, port: int, answers: dict[Probe, str]) -> None:
        self.asked, self.lost = 0, list[str]()
        self._port, self._answers = port, answers
        self._ended = threading.Event()
        self._threads = [threading.Thread(target=self._visit, args=[number]) for number in range(VISITORS)]

    def _visit(self, number: int) -> None:
        visitor = Visitor(self._port)
        while not self._ended.is_set():
            for probe, wanted in list(self._answers.items())[number::VISITORS]:
                try:
                    got = visitor.ask(probe)
                except (OSError, http.client.HTTPException) as error:
                    got = repr(error)
                    visitor.close()
                self.asked += 1
                time.sleep(PAUSE)
                if got != wanted:
                    self.lost.append(f"{time.strftime('%X')} http://{probe.host}{probe.path}: {wanted} became {got}")
        visitor.close()

    def __enter__(self) -> "Visits":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join()


@pytest.fixture
def own(engine: str) -> Iterator[DevCluster]:
    """Yield a cluster of the test's own, which it uninstalls."""
    if reason := gateway.lacking():
        pytest.skip(reason)
    settings = {"defaults": {"class": overlay.CLASS}, **ALL_ALLOWED}
    with DevCluster(engine, settings=settings, gateway=1) as cluster:
        yield cluster


def stand(api: Api, objects: list[Object], backends: Backends) -> None:
    """Create the objects of a cluster, in their order, and what answers for its Services."""
    for name in {each["metadata"]["namespace"] for each in objects}:
        namespace(api, name)
    for each in objects:
        if each["kind"] == "Service":
            for port in each["spec"]["ports"]:
                port["port"] += FIRST_PORT
            backends.listen(api.create(SERVICES, each))
        else:
            try:
                api.create(INGRESSES, raised(each))
            except ApiError as error:
                # Metacontroller was first: its Service asks already.
                if error.reason != "AlreadyExists":
                    raise


def raised(ingress: Object) -> Object:
    """Return an Ingress whose port numbers are raised as those of the Services."""
    text = json.dumps(ingress)
    for port in (80, 8080, 9090, 7777):
        text = text.replace(f'"number": {port}}}', f'"number": {port + FIRST_PORT}}}')
    changed: Object = json.loads(text)
    return changed


def test_no_request_is_lost_while_random_clusters_move_in_and_out(
    own: DevCluster,
    tmp_path: Path,
    record_property: Callable[[str, object], None],
    monkeypatch: pytest.MonkeyPatch,
    pytestconfig: pytest.Config,
) -> None:
    assert own.gateway
    clusters = pytestconfig.getoption("--clusters") // 5
    kubectl = OnACluster(own.api)
    monkeypatch.setattr(Kubectl, "run", lambda _, *words, stdin="": kubectl.run(*words, stdin=stdin))
    monkeypatch.setattr(carrying_out, "BETWEEN_LOOKS", 0.02)
    # Where nothing can be seen, a plan gives a controller ten seconds. Traefik, on this machine, needs a tenth of one.
    monkeypatch.setattr(carrying_out, "sleep", lambda seconds: time.sleep(min(seconds, 1)))
    monkeypatch.setenv(FILE_VARIABLE, str(own.settings_file))
    seeds = islice((seed for seed in count() if can_stand(draw(seed))), clusters)
    backends = Backends()
    try:
        objects = [live(seed) for seed in seeds]
        for each in objects:
            stand(own.api, each, backends)
        settle(own)
        probes = [probe for each in objects for probe in probes_of(each) if probe.controller == overlay.CLASS]
        visitor = Visitor(own.gateway.http_port)
        answers = {probe: answer for probe in dict.fromkeys(probes) if (answer := visitor.ask(probe))}
        visitor.close()
        assert len(answers) > clusters
        with Visits(own.gateway.http_port, answers) as visits:
            move(own, clusters, tmp_path, record_property)
        record_property("requests", f"{visits.asked} for {len(answers)} addresses of {clusters} clusters")
        assert not visits.lost, "\n".join(visits.lost[:50])
        assert visits.asked > 2 * len(answers)
    finally:
        backends.close()


def settle(own: DevCluster) -> None:
    """Return once a Service that is created now is served: then all before it are."""
    host = "last.example.net"
    namespace(own.api, "last")
    annotations = {"ingress/http": "true", "ingress/host": host}
    made = create(
        own.api, SERVICES, "last", "last", {"annotations": annotations}, spec={"ports": [{"port": FIRST_PORT}]}
    )
    assert made
    assert own.gateway
    visited = own.gateway
    wait_for(lambda: not visited.ask(host).is_the_404_page, 60, what="the last Service being served")
    own.api.delete(NAMESPACES, "last")


def move(own: DevCluster, clusters: int, folder: Path, record_property: Callable[[str, object], None]) -> None:
    """Move all in and out again and in, and uninstall."""
    began = time.monotonic()

    def ran(*arguments: str, statuses: Collection[int] = (0,)) -> str:
        ended = commands.run(*arguments)
        figure = f"{' '.join(arguments[:3])}: {time.monotonic() - began:.0f} s after the beginning"
        record_property("figures", figure)
        assert ended.status in statuses, f"{arguments}\n{ended.out[-3000:]}{ended.err[-3000:]}"
        return ended.out

    ran("adopt", "--all", "--all-namespaces", "--apply", statuses={0, 1})
    managed = {
        f"{each['metadata']['namespace']}/{owner['name']}"
        for each in own.api.list(INGRESSES)
        for owner in references(each)
    }
    assert len(managed) > clusters / 2
    ran("release", "--apply", "--", *sorted(managed)[::2])
    ran("adopt", "--all", "--all-namespaces", "--apply", statuses={0, 1})
    script = folder / "uninstall.sh"
    script.write_text(ran("uninstall-plan", "--keep"))
    environment = environment_of(own.control_plane)
    ended = subprocess.run(["sh", "-e", str(script)], env=environment, capture_output=True, text=True, check=False)  # noqa: S607
    record_property("figures", f"uninstalled {time.monotonic() - began:.0f} s after the beginning")
    assert ended.returncode == 0, ended.stderr
    assert not any(references(each) for each in own.api.list(INGRESSES))


def references(each: Object) -> list[Object]:
    """Return the owners of an object."""
    found: list[Object] = each["metadata"].get("ownerReferences", [])
    return found
