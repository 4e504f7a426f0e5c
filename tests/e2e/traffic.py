"""Where real traffic is tested: a namespace whose Services reach visitors by an Ingress, or by an HTTPRoute."""

import contextlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any

from devcluster.api import HTTPROUTES, INGRESSES, SERVICES, Api, Object, Resource, T, wait_for
from devcluster.cluster import DevCluster
from devcluster.gateway import Answer, Gateway
from tests.e2e.objects import create

ON = {"ingress/http": "true"}
NOBODYS = "nobodys.example.net"
"""A host that no Service names: the 404 page answers for it, unless a Service answers for every host."""

IN_A_ROW = 12
"""A new connection is taken by either Traefik. If so many saw the same, both have taken up the change."""

PATIENCE = 60.0
"""Seconds to wait for a change to take effect. It takes a tenth of a second, or longer on a busy machine."""


@dataclass(frozen=True)
class Place:
    """A namespace of the cluster `serving`, and what its name says: `ingress` or `httproute`."""

    cluster: DevCluster
    namespace: str

    @property
    def api(self) -> Api:
        """Return the client that may do everything."""
        return self.cluster.api

    @property
    def gateway(self) -> Gateway:
        """Return the gateway, which the cluster always has."""
        assert self.cluster.gateway is not None
        return self.cluster.gateway

    @property
    def resource(self) -> Resource:
        """Return what is made for a Service here."""
        return {"ingress": INGRESSES, "httproute": HTTPROUTES}[self.namespace]

    def host(self, name: str) -> str:
        """Return a host that no other test uses, when the name is the test's own."""
        return f"{name}.{self.namespace}.example.com"

    @contextlib.contextmanager
    def service(
        self, name: str, annotations: Mapping[str, str] = ON, ports: tuple[Mapping[str, Any], ...] = ({"port": 80},)
    ) -> Iterator[Object]:
        """Yield a new Service, with the host of its name unless the annotations name another; delete it at the end.

        Give each test a name of its own: a Service that is made again at once waits for the end of the first's Ingress.
        """
        metadata = {"annotations": {"ingress/host": self.host(name)} | dict(annotations)}
        named = [{"name": f"port-{port['port']}", **port} for port in ports]
        spec = {"selector": {"app": name}, "ports": named}
        try:
            yield create(self.api, SERVICES, name, self.namespace, metadata, spec=spec)
        finally:
            self.api.delete(SERVICES, name, self.namespace)

    def annotate(self, name: str, annotations: Mapping[str, str | None]) -> None:
        """Set annotations of a Service; None removes one."""
        self.api.patch(SERVICES, name, {"metadata": {"annotations": dict(annotations)}}, self.namespace)

    def until(
        self, what: str, wanted: Callable[[Answer], bool], host: str, path: str = "/", *, tls: bool = False
    ) -> Answer:
        """Return the answer to a GET once both Traefiks give one that is wanted. Raises NotReady, with `what`."""

        def check() -> Answer | None:
            for _ in range(IN_A_ROW):
                answer = self.gateway.ask(host, path, tls=tls)
                if not wanted(answer):
                    return None
            return answer

        return wait_for(check, PATIENCE, what=f"{what} at {host}{path}")

    def until_served(self, host: str, path: str = "/", *, tls: bool = False) -> Answer:
        """Return the answer once both Traefiks answer with 200."""
        return self.until("a backend's answer", lambda answer: answer.status == 200, host, path, tls=tls)

    def until_404_page(self, host: str, path: str = "/", *, tls: bool = False) -> Answer:
        """Return the answer once both Traefiks answer with the 404 page."""
        return self.until("the 404 page", lambda answer: answer.is_the_404_page, host, path, tls=tls)


@contextlib.contextmanager
def asking(ask: Callable[[], T]) -> Iterator[list[T | Exception]]:
    """Yield the answers of somebody who asks again and again, each on a connection of its own, until the end."""
    answers: list[T | Exception] = []
    ended = threading.Event()

    def run() -> None:
        while not ended.is_set():
            try:
                answers.append(ask())
            except (OSError, HTTPException, ValueError) as error:
                answers.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield answers
    finally:
        ended.set()
        thread.join()


def backend(answer: Answer) -> tuple[str, int]:
    """Return the `namespace/name` and the port of the Service whose Backend gave this answer."""
    got = json.loads(answer.body)
    return got["service"], got["port"]
