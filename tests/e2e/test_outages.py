"""Outages: each part is taken down while Services change. Then every Ingress follows, and visitors saw nothing."""

import contextlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import pytest

from devcluster import gateway
from devcluster.api import INGRESSES, NAMESPACES, SERVICES, ApiError, Object, wait_for
from devcluster.backend import Backend
from devcluster.cluster import DevCluster
from devcluster.processes import Process
from devcluster.story import HOST, PORT, Stage, served_by
from tests.e2e.audit import READS, done
from tests.e2e.objects import create

PATIENCE = 60.0
"""Seconds to wait for anything. A lease ends after 15 s; the API server gives up waiting for etcd after 34 s."""

ON = {"ingress/http": "true"}
VISITED, VISITED_HOST = "visited", "visited.example.com"
ELSEWHERE = "elsewhere.example.com"


class Event(NamedTuple):
    """What is done to a Service, or to its Ingress, and the port and host to which that leads in the end, if any."""

    play: Callable[[Stage, str], object]
    after: tuple[str, int] | None


def edit(stage: Stage, name: str) -> None:
    stage.api.patch(INGRESSES, name, {"spec": spec(stage, name, ELSEWHERE, 80)}, stage.namespace)


PORT_81 = {"spec": {"ports": [{"name": "http", "port": 81}]}}
EVENTS = {
    "create": Event(lambda stage, name: stage.create_service(name, ON), (HOST, 80)),
    "change": Event(lambda stage, name: stage.api.patch(SERVICES, name, PORT_81, stage.namespace), (HOST, 81)),
    "opt-out": Event(lambda stage, name: stage.annotate(name, None), None),
    "delete": Event(lambda stage, name: stage.api.delete(SERVICES, name, stage.namespace), None),
    "drift": Event(edit, (HOST, 80)),
}


def spec(stage: Stage, name: str, host: str, port: int) -> Object:
    """Return the spec of an Ingress with one route."""
    backend = {"service": {"name": name, "port": {"number": port}}}
    path = {"path": "/", "pathType": "Prefix", "backend": backend}
    return {"ingressClassName": stage.ingress_class, "rules": [{"host": host, "http": {"paths": [path]}}]}


class Site(NamedTuple):
    """A cluster with a Service that has visitors, and its Ingress, which no outage may touch."""

    cluster: DevCluster
    stage: Stage
    visited: Object

    def process(self, part: str) -> Process:
        plane = self.cluster.control_plane
        return {
            "hook": self.cluster.hook,
            "Metacontroller": self.cluster.engine,
            "API server": plane.apiserver,
            "etcd": plane.etcd,
            "controller manager": plane.controller_manager,
        }[part]

    def start(self, process: Process) -> None:
        """Start what was killed, and what has ended with it."""
        plane = self.cluster.control_plane
        process.start()
        plane.apiserver.wait_ready(plane.api.ready)
        if process is plane.apiserver:
            # For its garbage collector: docs/operating.md says why.
            plane.controller_manager.kill()
            plane.controller_manager.start()
        # Metacontroller ends when it can't renew its lease for 10 s, and then the kubelet starts it.
        self.cluster.engine.start()

    def is_served(self) -> bool:
        assert self.cluster.gateway
        return served_by(self.stage, VISITED, self.cluster.gateway.ask(VISITED_HOST))


@pytest.fixture(scope="module")
def site(engine: str) -> Iterator[Site]:
    """Yield a cluster that no other tests use."""
    if reason := gateway.lacking():
        pytest.skip(reason)
    with DevCluster(engine, gateway=1) as cluster, contextlib.ExitStack() as exits:
        create(cluster.api, NAMESPACES, "outages")
        stage = Stage(cluster.api, "outages", cluster.gateway, cluster.ingress_class)
        exits.enter_context(Backend(stage.create_service(VISITED, ON | {"ingress/host": VISITED_HOST}, PORT)))
        found = Site(cluster, stage, stage.until_ingress(VISITED, "the Ingress", lambda _: True))
        stage.until("a Service that is served", found.is_served)
        yield found


@pytest.mark.parametrize(
    ("part", "hangs"),
    [
        *(("hook", hangs) for hangs in (False, True)),
        *(("Metacontroller", hangs) for hangs in (False, True)),
        *((part, False) for part in ("API server", "etcd", "controller manager")),
    ],
)
def test_after_an_outage_every_ingress_follows_its_service_and_visitors_have_seen_nothing(
    site: Site, part: str, hangs: bool
) -> None:
    stage, down = site.stage, site.process(part)
    names = {event: f"{part.lower().replace(' ', '-')}-{'hangs' if hangs else 'killed'}-{event}" for event in EVENTS}
    uids = {}
    for name in (name for event, name in names.items() if event != "create"):
        stage.create_service(name, ON)
        uids[name] = stage.until_ingress(name, "the Ingress", lambda _: True)["metadata"]["uid"]

    def play(event: str) -> None:
        # What fails meanwhile, whoever wants it repeats. It may have been done all the same.
        with contextlib.suppress(ApiError, OSError):
            EVENTS[event].play(stage, names[event])

    with ThreadPoolExecutor(len(EVENTS)) as pool:
        with down.paused() if hangs else contextlib.nullcontext():
            if not hangs:
                down.kill()
            played = [pool.submit(play, event) for event in EVENTS]
            assert site.is_served()
            if part == "hook":
                stage.until_event(names["change"], "sync hook failed")
        site.start(down)
        for each in played:
            each.result(PATIENCE)
    for event, (_, after) in EVENTS.items():
        name = names[event]
        if part in {"API server", "etcd"} and not is_done(stage, event, name):
            EVENTS[event].play(stage, name)
        wanted = after and spec(stage, name, *after)
        wait_for(lambda: (stage.ingress(name) or {}).get("spec") == wanted, PATIENCE, what=f"{after} of {name}")  # noqa: B023
    kept = {name: found["metadata"]["uid"] for name in uids if (found := stage.ingress(name))}
    assert kept.items() <= uids.items(), "none was made anew"
    assert site.is_served()
    assert stage.ingress(VISITED) == site.visited
    assert {event["verb"] for event in done(site.cluster, "services")} <= READS


def is_done(stage: Stage, event: str, name: str) -> bool:
    """Return whether a write that may have failed was done; an edit is undone soon, so it never has to be repeated."""
    service = stage.api.get(SERVICES, name, stage.namespace)
    if event in {"create", "delete"}:
        return (service is not None) == (event == "create")
    assert service is not None
    changed = service["spec"]["ports"][0]["port"] == 81
    return event == "drift" or (changed if event == "change" else not service["metadata"].get("annotations"))
