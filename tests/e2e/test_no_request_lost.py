"""While one of the gateway's two Traefiks ends and starts again, no visitor's request is lost.

Visitors send 300 requests a second, at least 3,000 of them meanwhile. Each has to be answered within ten seconds, with
200 and by the very Service that its host names.

A server may close a kept connection just when a request is on its way. RFC 9112 (9.3.1) lets a client send that request
again if its method is idempotent, and clients do. Such requests are counted apart, and none is accepted over HTTP/1.1:
it would have been lost if it had been a POST. Over HTTP/2 the server says which requests it has not begun, so that a
client can send any of them again (RFC 9113, 8.7): these are lost to nobody.

The visitors use two Traefiks of their own. They are configured as those of the cluster, but each has an address of its
own, as a pod has. New connections go to each address in turn, and no longer to one that ends, as kube-proxy does it for
a Service. With those of the cluster, which share an address, that can't be played: when one of them closes its
listener, Linux resets the connections that wait there, and while one starts, it gets connections before it is ready.
"""

import itertools
import time
from collections.abc import Callable, Iterator
from functools import partial

import pytest
import yaml

from devcluster.api import wait_for
from devcluster.backend import Backend
from devcluster.build import REPOSITORY
from devcluster.cluster import DevCluster
from devcluster.gateway import answers
from devcluster.processes import Process
from devcluster.story import Stage
from tests.e2e.conftest import fresh_stage
from tests.e2e.steady_load import SteadyLoad
from tests.e2e.traffic import ON

HOST, PORT = "lossless.example.com", 8090
RATE, REQUESTS = 300, 3000
ADDRESSES = ("127.0.0.2", "127.0.0.3")

PATIENCE = 120.0
"""Seconds to wait for anything."""

LEAVING = 2
"""Seconds for which new connections still come to a Traefik that ends: until the last node knows of it."""


class Shop:
    """A Service that is visited, and the Traefiks that serve it, by their addresses."""

    def __init__(self, cluster: DevCluster, stage: Stage) -> None:
        assert cluster.gateway
        self.stage, self.gateway = stage, cluster.gateway
        self.traefiks = {address: cluster.gateway.beside(address) for address in ADDRESSES}

    def open(self) -> None:
        """Start all; return when the Service is served."""
        for process in self.gateway.traefiks:
            # They would follow each change, too.
            self.stage.exits.enter_context(process.paused())
        service = self.stage.create_service("shop", {**ON, "ingress/host": HOST}, PORT)
        self.stage.exits.enter_context(Backend(service))
        for address, traefik in self.traefiks.items():
            self.stage.exits.callback(traefik.kill)
            traefik.start()
            traefik.wait_ready(partial(answers, self.gateway.http_port, "/", address=address, host=HOST))

    def until_ready(self, address: str, traefik: Process) -> None:
        """Return once a started Traefik is ready for the kubelet.

        Traefik answers /ping before it has read the Ingresses. So the kubelet gives it time.
        """
        deployment = yaml.safe_load((REPOSITORY / "gateway/deployment.yaml").read_text())
        [container] = deployment["spec"]["template"]["spec"]["containers"]
        time.sleep(container["readinessProbe"]["initialDelaySeconds"])
        traefik.wait_ready(lambda: answers(self.gateway.internal_ports[0], "/ping", address=address))

    def expect_no_loss(self, disturb: Callable[[SteadyLoad], None]) -> str:
        """Let visitors come while something is disturbed again and again; return what became of their requests.

        Fails, naming each request that failed, unless none did.
        """
        texts = {HOST: f'"service": "{self.stage.namespace}/shop"'}
        http_port, https_port = self.gateway.http_port, self.gateway.https_port
        with SteadyLoad(texts, ADDRESSES, http_port=http_port, https_port=https_port, rate=RATE) as load:
            end = time.monotonic() + REQUESTS / RATE
            time.sleep(0.5)
            disturb(load)
            while time.monotonic() < end:
                disturb(load)
            time.sleep(0.5)
            report = load.report()
        assert report.failed == [], report
        assert [again for again in report.sent_again if again.kind != "http2"] == [], report
        assert report.succeeded == report.total >= REQUESTS
        # The access logs tell that both have served.
        assert all('"RequestHost":' in traefik.log_path.read_text() for traefik in self.traefiks.values())
        return str(report)


@pytest.fixture(scope="module")
def shop(serving: DevCluster) -> Iterator[Shop]:
    """Yield a Service that is served by two Traefiks."""
    with fresh_stage(serving, "lossless") as stage:
        shop = Shop(serving, stage)
        shop.open()
        yield shop


def test_while_one_of_two_traefiks_ends_and_starts_again(
    shop: Shop, record_property: Callable[[str, object], None]
) -> None:
    turns = itertools.cycle(shop.traefiks.items())

    def disturb(load: SteadyLoad) -> None:
        address, leaving = next(turns)
        leaving.terminate()
        time.sleep(LEAVING)
        assert leaving.running, "it has to serve on until every node knows that it is leaving"
        load.connect_to(each for each in ADDRESSES if each != address)
        wait_for(lambda: not leaving.running, PATIENCE, what="the end of a Traefik")
        leaving.start()
        shop.until_ready(address, leaving)
        load.connect_to(ADDRESSES)

    record_property("requests", shop.expect_no_loss(disturb))
