"""`check --live`: the Service that is tried, and what may be known of it. The pure part."""

from collections.abc import Iterable, Iterator
from typing import Any

from ingress_manager.commands.reading.manifests import Item, Origin
from ingress_manager.commands.view.ingresses import overlap
from ingress_manager.commands.view.look import ObjectView, as_object
from ingress_manager.core.kubernetes import Object

SERVICE = "check"

EDITS = {
    "Ingress": "/spec/rules/0/http/paths/0/path",
    "HTTPRoute": "/spec/rules/0/matches/0/path/value",
}
"""What of an object is edited, as a JSON pointer (RFC 6901): its first path."""


def service(namespace: str, host: str = "") -> Object:
    """Return a Service that asks to be exposed. No Pod is behind it."""
    annotations = {"ingress/http": "true", **({"ingress/host": host} if host else {})}
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": SERVICE, "namespace": namespace, "annotations": annotations},
        "spec": {"selector": {"ingress-manager/check": namespace}, "ports": [{"name": "http", "port": 80}]},
    }


def edit(made: Object) -> list[dict[str, Any]]:
    """Return a JSON patch (RFC 6902) that makes another object of one."""
    return [{"op": "replace", "path": EDITS[made["kind"]], "value": "/edited-by-ingress-manager-check"}]


def hosts_of(objects: Iterable[Object]) -> set[str]:
    """Return the hosts of Ingresses and HTTPRoutes; "" stands for every host."""
    return {host for each in objects for host in _hosts(Item(each, Origin("", "")))}


def in_the_way(objects: Iterable[Object], namespace: str, existing: Iterable[Item]) -> Iterator[str]:
    """Yield which Ingresses and HTTPRoutes may answer the hosts of what would be made, and might not do so meanwhile.

    A host that holds the name of the namespace, which is new, is nobody's.
    """
    hosts = {host for host in hosts_of(objects) if namespace not in host}
    for item in existing:
        if any(overlap(host, stated) for host in hosts for stated in _hosts(item)):
            yield str(item)


def _hosts(item: Item) -> Iterator[str]:
    """Yield the hosts of an object; every host for one that can't be read."""
    found = as_object(item)
    yield from found.typed.hosts() if isinstance(found, ObjectView) else [""]


def told(status: int, unknown: int) -> tuple[bool, str]:
    """Return whether a `status` tells that a host is served, and the sentence; an `unknown` host has the other one."""
    if status == unknown:
        return False, (
            f"it answers {status}, as it does for a host that nobody has asked for: some controllers do so while no "
            "Pod is behind a Service, so that it can't be told whether it serves the host"
        )
    return True, f"it answers {status}, and {unknown} for a host that nobody has asked for: it has a rule for the host"
