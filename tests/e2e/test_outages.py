"""Outages: each part is down while Services change. Afterwards, every Ingress follows, and visitors notice nothing."""

import contextlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from devcluster.api import INGRESSES, SERVICES, ApiError, Object, wait_for
from devcluster.backend import Backend
from devcluster.cluster import DevCluster
from devcluster.story import HOST, PORT, Stage, served_by
from tests.e2e.conftest import fresh_stage, require_gateway
from tests.e2e.objects import ON, by_hand, published

PATIENCE = 60.0
"""Seconds to wait for any result. A lease expires after 15 s; the API server gives up on etcd after 34 s."""

VISITED, VISITED_HOST = "visited", "visited.example.com"


def spec(stage: Stage, name: str, host: str, port: int) -> Object:
    made = by_hand(stage.namespace, name, host, name, port, ingressClassName=stage.ingress_class)
    return dict(made["spec"])


def edit(stage: Stage, name: str) -> Object:
    return stage.api.patch(INGRESSES, name, {"spec": spec(stage, name, "elsewhere.example.com", 80)}, stage.namespace)


PORT_81 = {"spec": {"ports": [{"name": "http", "port": 81}]}}
EVENTS: dict[str, tuple[Callable[[Stage, str], object], int | None]] = {
    "create": (lambda stage, name: stage.create_service(name, ON), 80),
    "change": (lambda stage, name: stage.api.patch(SERVICES, name, PORT_81, stage.namespace), 81),
    "opt-out": (lambda stage, name: stage.annotate(name, None), None),
    "delete": (lambda stage, name: stage.api.delete(SERVICES, name, stage.namespace), None),
    "drift": (edit, 80),
}
"""Changes to a Service or its Ingress, and the Ingress's final port, or None if it is removed."""


@pytest.fixture(scope="module")
def site(engine: str) -> Iterator[tuple[DevCluster, Stage]]:
    """Yield a cluster for this module alone, and a namespace with a Service that visitors use."""
    require_gateway()
    with DevCluster(engine, gateway=True) as cluster, fresh_stage(cluster) as stage:
        stage.exits.enter_context(Backend(stage.create_service(VISITED, ON | {"ingress/host": VISITED_HOST}, PORT)))
        stage.until("a Service that is served", lambda: is_served(stage))
        yield cluster, stage


def is_served(stage: Stage) -> bool:
    assert stage.gateway
    return served_by(stage, VISITED, stage.gateway.ask(VISITED_HOST))


@pytest.mark.parametrize(
    ("part", "hangs"),
    [(part, False) for part in ("hook", "engine", "API server", "etcd", "controller manager")]
    + [(part, True) for part in ("hook", "engine")],
)
def test_after_an_outage_ingresses_follow_services(site: tuple[DevCluster, Stage], part: str, hangs: bool) -> None:
    cluster, stage = site
    visited, down = stage.ingress(VISITED), cluster.parts[part]
    names = {event: f"{part.lower().replace(' ', '-')}-{'hangs' if hangs else 'killed'}-{event}" for event in EVENTS}
    uids = {name: published(stage, name)["metadata"]["uid"] for event, name in names.items() if event != "create"}

    def is_done(event: str) -> bool:
        try:
            EVENTS[event][0](stage, names[event])
        except (ApiError, OSError) as error:
            return getattr(error, "status", 0) == 409  # the earlier attempt succeeded after all
        return True

    def play(event: str) -> None:
        # Clients repeat writes that fail during the outage.
        wait_for(lambda: is_done(event), PATIENCE, what=f"the API server's answer to: {event}")

    with ThreadPoolExecutor(len(EVENTS)) as pool:
        with down.paused() if hangs else contextlib.nullcontext():
            if not hangs:
                down.kill()
            played = [pool.submit(play, event) for event in EVENTS]
            assert is_served(stage)
            if part == "hook":
                stage.until_event(names["change"], "sync hook failed")
        start(cluster, part)
        for each in played:
            each.result(PATIENCE)
    for event, (_, port) in EVENTS.items():
        name = names[event]
        wanted = port and spec(stage, name, HOST, port)
        wait_for(lambda: (stage.ingress(name) or {}).get("spec") == wanted, PATIENCE, what=f"{event} of {name}")  # noqa: B023
    kept = {name: found["metadata"]["uid"] for name in uids if (found := stage.ingress(name))}
    assert kept.items() <= uids.items(), "none was made anew"
    assert is_served(stage)
    assert stage.ingress(VISITED) == visited


def start(cluster: DevCluster, part: str) -> None:
    """Start the part that was killed, and the processes that ended because of it."""
    plane = cluster.control_plane
    cluster.parts[part].start()
    plane.apiserver.wait_ready(plane.api.ready)
    if part == "API server":
        # Because of its garbage collector, see docs/operating.md.
        plane.controller_manager.kill()
        plane.controller_manager.start()
    # Metacontroller exits if it can't renew its lease for 10 s; on a node, the kubelet restarts it.
    cluster.engine.start()
