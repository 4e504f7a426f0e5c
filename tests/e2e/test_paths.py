"""Every row of tests/paths.yaml, through Traefik: for Services that are exposed by Ingresses and by HTTPRoutes."""

import contextlib
import http.client
import socket
from collections.abc import Iterator
from dataclasses import dataclass

import msgspec
import pytest

from devcluster.cluster import DevCluster
from devcluster.gateway import LOOPBACK
from tests.e2e.exposed import exposed, with_own_hosts
from tests.e2e.recorder import Arrived, Recorder, Unreadable
from tools import routing

TABLE = routing.load()


@dataclass
class Played:
    """Where the requests are played."""

    output: routing.Output
    port: int
    recorder: Recorder

    def own(self, group: routing.Group, text: str) -> str:
        """Return a text in which the hosts are the group's own: all groups are there at once."""
        return with_own_hosts(text, f"{labels(group)}.{self.output}")


def labels(group: routing.Group) -> str:
    """Return what tells the hosts and Services of a group from those of the others."""
    return f"g{TABLE.groups.index(group)}"


@pytest.fixture(scope="module", params=tuple(routing.OUTPUTS))
def played(serving: DevCluster, request: pytest.FixtureRequest) -> Iterator[Played]:
    """Yield all groups of the table, exposed in one way."""
    assert serving.gateway is not None
    output: routing.Output = request.param
    services = {
        f"{name}-{labels(group)}": [
            msgspec.to_builtins(route) | {"host": with_own_hosts(route.host, f"{labels(group)}.{output}")}
            for route in routes
        ]
        for group in TABLE.groups
        for name, routes in group.services.items()
    }
    with exposed(serving, output, services) as recorder:
        yield Played(output, serving.gateway.http_port, recorder)


@pytest.mark.parametrize("group", TABLE.groups, ids=lambda group: group.about)
def test_hosts_and_paths_lead_where_the_table_says(played: Played, group: routing.Group) -> None:
    said, seen = [], []
    for request in group.requests:
        host = played.own(group, request.host)
        target = played.own(group, request.target)
        sent = f"{request.method} {shortened(target)} Host: {host}"
        who = request.seen(played.output)
        gets = None if isinstance(who, int) or who == routing.PAGE else request.gets or target
        answered, got = ask(played, group, request.method, target, host)
        seen.append((sent, answered, got and shortened(got)))
        said.append((sent, answered if isinstance(who, list) and answered in who else who, gets and shortened(gets)))
    assert seen == said


def ask(played: Played, group: routing.Group, method: str, target: str, host: str) -> tuple[str | int, str | None]:
    """Return who answers a request, and the target that the Service got; None if it was none."""
    head = f"{method} {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
    with contextlib.closing(socket.create_connection((LOOPBACK, played.port), timeout=10)) as connection:
        connection.sendall(head.encode())
        with http.client.HTTPResponse(connection, method=method) as answer:
            answer.begin()
            answered_by, policy = answer.getheader("Answered-By"), answer.getheader("Content-Security-Policy")
            status = answer.status
    arrived = [only(each) for each in played.recorder.taken()]
    if answered_by is None:
        assert arrived == []
        return (routing.PAGE if status == 404 and policy is not None else status), None
    [got] = arrived
    name, _, port = answered_by.partition(":")
    name = name.removesuffix(f"-{labels(group)}")
    return (name if port == "80" else f"{name}:{port}"), got.target


def only(seen: Arrived | Unreadable) -> Arrived:
    """Return a request; raises Unreadable."""
    if isinstance(seen, Unreadable):
        raise seen
    return seen


def shortened(target: str) -> str:
    """Return a target of at most 100 characters: a longer one could not be read in a failure."""
    return target if len(target) <= 100 else f"{target[:20]}… {len(target)}"
