"""Services with routes, in one of the namespaces `ingress` and `httproute` of the cluster `serving`."""

import contextlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping

from devcluster.api import HTTPROUTES, INGRESSES, SERVICES, Api, Object, wait_for
from devcluster.cluster import DevCluster
from devcluster.gateway import Gateway
from tests.e2e import objects
from tests.e2e.recorder import Recorder

PORTS = [{"name": "http", "port": 80}, {"name": "admin", "port": 9090}]
NOBODYS = "nobodys.example.net"
"""A host that no Service names: the 404 page answers for it, unless a Service answers for every host."""

ENOUGH = 30
"""Requests in a row, each on a connection of its own: that one of two Traefiks gets none is as good as impossible."""


def with_own_hosts(text: str, labels: str) -> str:
    """Return the text with hosts of a test's own: labels in front of each `example.com`, whose capitals stay."""
    return re.sub(r"(?i)example\.com", rf"{labels}.\g<0>", text)


@contextlib.contextmanager
def exposed(
    cluster: DevCluster, namespace: str, services: Mapping[str, Iterable[Mapping[str, str]]]
) -> Iterator[Recorder]:
    """Create Services with their routes, each as `ingress/routes` has it, and yield what answers for them.

    A Service without a route isn't exposed. Inside, every Traefik serves all of them; they are deleted at the end.
    """
    assert cluster.gateway is not None
    made = [create(cluster.api, namespace, name, list(routes)) for name, routes in services.items()]
    names = [name for name, routes in services.items() if routes]
    wait_for(lambda: owners(cluster.api, namespace).issuperset(names), 30, what="all Services being exposed")
    # The API server tells of changes in their order: who serves this one has learned of the others.
    canary = f"canary.{namespace}.example.com"
    made.append(create(cluster.api, namespace, "canary", [{"host": canary}]))
    try:
        with Recorder(made) as recorder:
            until_served(cluster.gateway, canary)
            until_nobodys(cluster.gateway)
            recorder.taken()
            yield recorder
    finally:
        for service in made:
            cluster.api.delete(SERVICES, service["metadata"]["name"], namespace)
        wait_for(lambda: owners(cluster.api, namespace).isdisjoint(names), 30, what="nothing being left of them")


def create(api: Api, namespace: str, name: str, routes: list[Mapping[str, str]]) -> Object:
    """Create a Service and return it."""
    annotations = {"ingress/http": "true", "ingress/routes": json.dumps(routes)} if routes else {}
    spec = {"selector": {"app": name}, "ports": PORTS}
    return objects.create(api, SERVICES, name, namespace, {"annotations": annotations}, spec=spec)


def owners(api: Api, namespace: str) -> set[str]:
    """Return the names of all Services that something has been made for."""
    made = [*api.list(INGRESSES, namespace), *api.list(HTTPROUTES, namespace)]
    return {owner["name"] for each in made for owner in each["metadata"].get("ownerReferences", [])}


def until_served(gateway: Gateway, host: str) -> None:
    """Return once every Traefik serves the host."""
    wait_for(
        lambda: not any(gateway.ask(host).is_the_404_page for _ in range(ENOUGH)),
        30,
        what=f"{host} being served by every Traefik",
    )


def until_nobodys(gateway: Gateway) -> None:
    """Return once no Traefik sends the requests for other hosts to a Service."""
    wait_for(
        lambda: all(gateway.ask(NOBODYS).is_the_404_page for _ in range(ENOUGH)),
        30,
        what="the 404 page of every Traefik for a host that nobody names",
    )
