"""What the engine, or anybody, has asked the API server for, from the audit log."""

import contextlib
import itertools
from collections.abc import Iterator
from typing import Any

from devcluster import engines
from devcluster.cluster import DevCluster
from devcluster.story import Stage

READS = {"get", "list", "watch"}


def done(cluster: DevCluster, resource: str, user: str = engines.USER) -> Iterator[dict[str, Any]]:
    """Yield the audit events of what the engine, or somebody else, did or tried to do to one kind of object."""
    for event in cluster.audit_events():
        # A request that is about no object, such as for the list of APIs, has no objectRef.
        if event["user"]["username"] == user and event.get("objectRef", {}).get("resource") == resource:
            yield event


def write_requests(cluster: DevCluster, stage: Stage, resource: str) -> list[tuple[str, str, int]]:
    """Return (verb, name, HTTP status) of each request of the engine to write in the test's namespace."""
    return [
        # A create that was cut off before its body was read, because the engine was killed, has no name.
        (event["verb"], event["objectRef"].get("name", ""), event["responseStatus"]["code"])
        for event in done(cluster, resource)
        if event["verb"] not in READS and event["objectRef"].get("namespace") == stage.namespace
    ]


def writes(cluster: DevCluster, stage: Stage, resource: str) -> list[tuple[str, str]]:
    """Return (verb, name) of the engine's writes in the test's namespace that the API server carried out."""
    return [(verb, name) for verb, name, status in write_requests(cluster, stage, resource) if status < 400]


@contextlib.contextmanager
def written(cluster: DevCluster, namespace: str) -> Iterator[list[tuple[str, str]]]:
    """Yield what holds, in the end, (verb, name) of all that anybody has done to a namespace's Ingresses meanwhile.

    Their status doesn't count.
    """
    before = sum(1 for _ in cluster.audit_events())
    found: list[tuple[str, str]] = []
    yield found
    for event in itertools.islice(cluster.audit_events(), before, None):
        about = event.get("objectRef", {})
        place = (about.get("resource"), about.get("namespace"), about.get("subresource"))
        carried_out = event["verb"] not in READS and event["responseStatus"]["code"] < 400
        if carried_out and place == ("ingresses", namespace, None):
            found.append((event["verb"], about.get("name", "")))


def deleted(writes: list[tuple[str, str]]) -> set[str]:
    """Return the names of what was deleted."""
    return {name for verb, name in writes if verb.startswith("delete")}
