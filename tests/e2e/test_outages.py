"""The table of outages: each part is taken down, and what outages.yaml says of each event meanwhile is checked."""

import contextlib
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from devcluster import gateway
from devcluster.api import INGRESSES, NAMESPACES, SERVICES, ApiError, Object, wait_for
from devcluster.backend import Backend
from devcluster.build import REPOSITORY
from devcluster.cluster import DevCluster
from devcluster.processes import Process
from devcluster.story import HOST, PORT, Stage, served_by
from tests.e2e.audit import READS, done
from tests.e2e.objects import create
from tests.e2e.traffic import IN_A_ROW, ON

TABLE = yaml.safe_load(Path(__file__).with_name("outages.yaml").read_text(encoding="utf-8"))
LEADER = "Metacontroller's leader"


class Effect(StrEnum):
    """What becomes of an event while a part is down."""

    AS_EVER = "as ever"
    WAITS = "waits"
    WAITS_WITH_EVENT = "waits, with an Event"
    FAILS = "fails"
    IS_KEPT_WAITING = "is kept waiting"


PATIENCE = 30.0
"""Seconds to wait for anything. A lease ends after 15 s; the API server gives up waiting for etcd after 34 s."""

VISITED = "visited"
VISITED_HOST = "visited.example.com"


class Route(NamedTuple):
    """The only route of an Ingress to its Service."""

    host: str
    port: int


OLD, NEW, EDITED = Route(HOST, 80), Route(HOST, 81), Route("elsewhere.example.com", 80)


def edit(stage: Stage, name: str) -> None:
    stage.api.patch(INGRESSES, name, {"spec": spec(stage, name, EDITED)}, stage.namespace)


class Event(NamedTuple):
    """What is done to a Service or to its Ingress; and the Ingress before that has an effect, and after.

    It is none of Kubernetes' Events.
    """

    play: Callable[[Stage, str], object]
    before: Route | None
    after: Route | None


PORT_81 = {"spec": {"ports": [{"name": "http", "port": 81}]}}
EVENTS = {
    "create": Event(lambda stage, name: stage.create_service(name, ON), None, OLD),
    "change": Event(lambda stage, name: stage.api.patch(SERVICES, name, PORT_81, stage.namespace), OLD, NEW),
    "opt out": Event(lambda stage, name: stage.annotate(name, None), OLD, None),
    "delete": Event(lambda stage, name: stage.api.delete(SERVICES, name, stage.namespace), OLD, None),
    "drift": Event(edit, EDITED, OLD),
}


def spec(stage: Stage, name: str, route: Route) -> Object:
    """Return the spec of an Ingress with that route."""
    backend = {"service": {"name": name, "port": {"number": route.port}}}
    path = {"path": "/", "pathType": "Prefix", "backend": backend}
    return {"ingressClassName": stage.ingress_class, "rules": [{"host": route.host, "http": {"paths": [path]}}]}


class Services:
    """A Service for each event. All have an Ingress at first, but the one that is still to be created."""

    def __init__(self, stage: Stage, prefix: str) -> None:
        self._stage = stage
        self.names = {event: f"{prefix}-{event.replace(' ', '-')}" for event in EVENTS}
        old = [name for event, name in self.names.items() if event != "create"]
        for name in old:
            stage.create_service(name, ON)
        ingresses = {name: stage.until_ingress(name, f"the Ingress {name}", lambda _: True) for name in old}
        self._uids = {name: ingress["metadata"]["uid"] for name, ingress in ingresses.items()}
        self.played: dict[str, Future[None]] = {}

    def play(self, pool: ThreadPoolExecutor) -> None:
        """Let all events happen at the same time. Return once each write is answered, or after a second."""
        self.played = {event: pool.submit(self._play, event) for event in EVENTS}
        # Milliseconds are enough, also where there is no connection.
        wait(self.played.values(), timeout=1)

    def _play(self, event: str) -> None:
        try:
            EVENTS[event].play(self._stage, self.names[event])
        except ApiError as error:
            # What the API server sends to etcd before it has seen that etcd has ended fails at once.
            if "code = Unavailable" not in str(error):
                raise
            EVENTS[event].play(self._stage, self.names[event])

    def has(self, event: str, route: Route | None) -> bool:
        """Return whether the Service's Ingress has that route and nothing else; None: whether there is no Ingress."""
        name = self.names[event]
        ingress = self._stage.ingress(name)
        return (ingress and ingress["spec"]) == (route and spec(self._stage, name, route))

    def until(self, event: str, route: Route | None) -> None:
        """Return once that is so."""
        wait_for(lambda: self.has(event, route), PATIENCE, what=f"{route} of Ingress {self.names[event]}")

    def replaced(self) -> list[str]:
        """Return the names of the Ingresses that are other objects than at first."""
        now = {name: self._stage.ingress(name) for name in self._uids}
        return [name for name, ingress in now.items() if ingress and ingress["metadata"]["uid"] != self._uids[name]]


@dataclass
class Site:
    """A cluster with two replicas of the hook and of the gateway, and with a Service that has visitors."""

    cluster: DevCluster
    stage: Stage
    second_hook: Process
    second_engine: Process
    """It runs only where LEADER is down."""
    visited: Object
    """The Ingress of the Service with visitors, which no outage may touch."""

    def processes(self, part: str) -> list[Process]:
        """Return what is down when the part is down."""
        assert self.cluster.gateway
        plane, traefiks = self.cluster.control_plane, self.cluster.gateway.traefiks
        return {
            "one of the hook's two replicas": [self.cluster.hook],
            "the hook, both replicas": [self.cluster.hook, self.second_hook],
            "Metacontroller, both replicas": [self.cluster.engine],
            LEADER: [self.cluster.engine],
            "the API server": [plane.apiserver],
            "etcd": [plane.etcd],
            "the controller manager": [plane.controller_manager],
            "one of the gateway's two replicas": traefiks[:1],
            "the gateway, both replicas": traefiks,
        }[part]

    def start(self, processes: list[Process]) -> None:
        """Start what does not run of these, and what ends with them."""
        plane = self.cluster.control_plane
        for process in processes:
            process.start()
        plane.apiserver.wait_ready(plane.api.ready)
        if plane.apiserver in processes:
            # For its garbage collector: docs/operating.md says why.
            plane.controller_manager.kill()
            plane.controller_manager.start()
        # Metacontroller ends when it can't renew its lease for 10 s, and then the kubelet starts it.
        self.cluster.engine.start()

    def start_second_engine(self) -> None:
        """Return once it waits for the lease."""
        self.second_engine.start()
        log = self.second_engine.log_path
        self.second_engine.wait_ready(lambda: "Attempting to acquire leader lease" in log.read_text())

    def visitors(self) -> str:
        """Return what visitors notice, in the table's words."""
        assert self.cluster.gateway
        try:
            answers = [self.cluster.gateway.ask(VISITED_HOST) for _ in range(IN_A_ROW)]
        except OSError:
            return "no connection"
        return "served" if all(served_by(self.stage, VISITED, answer) for answer in answers) else "not served"


@pytest.fixture(scope="module")
def outages(engine: str) -> Iterator[Site]:
    """Yield a cluster that no other tests use."""
    if reason := gateway.lacking():
        pytest.skip(reason)
    with DevCluster(engine, gateway=2) as cluster, contextlib.ExitStack() as exits:
        second_hook = cluster.processes.add("hook-2", cluster.hook.command, env=cluster.hook.env, cwd=REPOSITORY)
        second_hook.start()
        second_hook.wait_ready(lambda: "Booting worker" in second_hook.log_path.read_text())
        second_engine = cluster.processes.add("engine-2", cluster.engine.command, cwd=REPOSITORY)
        create(cluster.api, NAMESPACES, "outages")
        stage = Stage(cluster.api, "outages", cluster.gateway, cluster.ingress_class)
        exits.enter_context(Backend(stage.create_service(VISITED, ON | {"ingress/host": VISITED_HOST}, PORT)))
        visited = stage.until_ingress(VISITED, "the Ingress", lambda _: True)
        site = Site(cluster, stage, second_hook, second_engine, visited)
        stage.until("a Service that is served", lambda: site.visitors() == "served")
        yield site


@pytest.mark.parametrize(
    ("row", "way"), [pytest.param(row, way, id=f"{row['part']}, {way}") for row in TABLE for way in row["ways"]]
)
def test_while_a_part_is_down_what_the_table_says_is_what_happens(
    outages: Site, engine: str, row: dict[str, Any], way: str
) -> None:
    site, down = outages, outages.processes(row["part"])
    if row["part"] == LEADER:
        if engine != "metacontroller":
            pytest.skip("There is no `metacontroller` on PATH, and the stand-in for it elects no leader.")
        site.start_second_engine()
    prefix = f"row-{TABLE.index(row)}-{way}"
    earlier, meanwhile = Services(site.stage, f"{prefix}-earlier"), Services(site.stage, f"{prefix}-meanwhile")
    try:
        with ThreadPoolExecutor(len(EVENTS)) as pool:
            earlier.play(pool)  # just before the outage, so that much of it is on its way
            with outage(down, way):
                meanwhile.play(pool)
                # What happens as ever comes first: it gives the rest time to happen.
                for event in sorted(EVENTS, key=lambda event: bool(row[event] != Effect.AS_EVER)):
                    expect(site, down, meanwhile, event, Effect(row[event]))
                assert site.visitors() == row["visitors"]
            if row["part"] != LEADER:
                site.start(down)
            for event, (_, _, after) in EVENTS.items():
                earlier.until(event, after)
                meanwhile.until(event, in_the_end(event, Effect(row[event])))
            site.stage.until("a Service that is served", lambda: site.visitors() == "served")
        assert (", ".join(earlier.replaced() + meanwhile.replaced()) or "nothing") == row["lost"]
        assert site.stage.ingress(VISITED) == site.visited
        assert {event["verb"] for event in done(site.cluster, "services")} <= READS
    finally:
        site.second_engine.kill()
        site.start(down)


@contextlib.contextmanager
def outage(processes: list[Process], way: str) -> Iterator[None]:
    """Take processes down: killed ones stay so; those that hang go on at the end."""
    with contextlib.ExitStack() as exits:
        for process in processes:
            if way == "hangs":
                exits.enter_context(process.paused())
            else:
                process.kill()
        yield


def expect(site: Site, down: list[Process], services: Services, event: str, effect: Effect) -> None:
    """Fail unless an event has had this effect while processes are down."""
    write = services.played[event]
    if effect == Effect.IS_KEPT_WAITING:
        assert not write.done(), event
    elif effect == Effect.FAILS:
        assert write.done(), event
        assert isinstance(write.exception(), ApiError), event
    else:
        write.result(PATIENCE)
        # That nothing happens can't be waited for. But it is certain where whoever would do it is down, or has said in
        # an Event that it could not.
        doer = site.cluster.control_plane.controller_manager if event == "delete" else site.cluster.engine
        assert (doer in down) == (effect == Effect.WAITS), event
        if effect == Effect.WAITS_WITH_EVENT:
            site.stage.until_event(services.names[event], "sync hook failed")
        if effect == Effect.AS_EVER:
            services.until(event, EVENTS[event].after)
        else:
            assert services.has(event, EVENTS[event].before), event


def in_the_end(event: str, effect: Effect) -> Route | None:
    """Return what becomes of the Ingress when nothing is down any more. An event that fails has never happened."""
    if effect != Effect.FAILS:
        return EVENTS[event].after
    return None if event == "create" else OLD
