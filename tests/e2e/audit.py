"""What somebody, or anybody, has asked the API server for, from the audit log."""

import contextlib
from collections.abc import Iterator

from devcluster.cluster import DevCluster

READS = {"get", "list", "watch"}


def tried(cluster: DevCluster, user: str) -> set[tuple[str, str, str]]:
    """Return what a user has asked the API server for: verb, kind and subresource. None of it was forbidden."""
    asked = {}
    for event in cluster.control_plane.audit_events():
        if event["user"]["username"] == user:
            about = event.get("objectRef", {})
            what = (event["verb"], about.get("resource", event["requestURI"]), about.get("subresource", ""))
            asked[what] = event["annotations"]["authorization.k8s.io/decision"]
    assert [what for what, decision in asked.items() if decision == "forbid"] == []
    return set(asked)


def write_requests(cluster: DevCluster, namespace: str, resource: str = "ingresses") -> list[tuple[str, str, int]]:
    """Return (verb, name, HTTP status) of each request to write one kind of object in a namespace, but its status."""
    found = []
    for event in cluster.control_plane.audit_events():
        about = event.get("objectRef", {})
        place = (about.get("resource"), about.get("namespace"), about.get("subresource"))
        if event["verb"] not in READS and place == (resource, namespace, None):
            # A create that was cut off before its body was read has no name.
            found.append((event["verb"], about.get("name", ""), event["responseStatus"]["code"]))
    return found


def writes(cluster: DevCluster, namespace: str, resource: str = "ingresses") -> list[tuple[str, str]]:
    return [(verb, name) for verb, name, status in write_requests(cluster, namespace, resource) if status < 400]


@contextlib.contextmanager
def written(cluster: DevCluster, namespace: str) -> Iterator[list[tuple[str, str]]]:
    """Yield what holds, in the end, the writes of a namespace's Ingresses that were carried out meanwhile."""
    before = len(writes(cluster, namespace))
    found: list[tuple[str, str]] = []
    yield found
    found += writes(cluster, namespace)[before:]


def deleted(writes: list[tuple[str, str]]) -> set[str]:
    return {name for verb, name in writes if verb.startswith("delete")}
