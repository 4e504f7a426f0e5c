"""While one of the gateway's two Traefiks ends and starts again, no visitor's request is lost.

Visitors send 300 requests a second, at least 3,000 of them. Each has to be answered within ten seconds, with 200 and by
the very Service that its host names.

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
from devcluster.gateway import Gateway, answers
from devcluster.processes import Process
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


@pytest.fixture
def traefiks(serving: DevCluster) -> Iterator[dict[str, Process]]:
    """Yield two Traefiks that serve a Service `shop` on HOST, by their addresses."""
    assert serving.gateway
    with fresh_stage(serving, "lossless") as stage:
        for process in serving.gateway.traefiks:
            # They would follow each change, too.
            stage.exits.enter_context(process.paused())
        stage.exits.enter_context(Backend(stage.create_service("shop", {**ON, "ingress/host": HOST}, PORT)))
        made = {address: serving.gateway.beside(address) for address in ADDRESSES}
        for address, traefik in made.items():
            stage.exits.callback(traefik.kill)
            traefik.start()
            traefik.wait_ready(partial(answers, serving.gateway.http_port, "/", address=address, host=HOST))
        yield made


def until_ready(gateway: Gateway, address: str, traefik: Process) -> None:
    """Return once a started Traefik is ready for the kubelet.

    Traefik answers /ping before it has read the Ingresses. So the kubelet gives it time.
    """
    deployment = yaml.safe_load((REPOSITORY / "gateway/deployment.yaml").read_text())
    [container] = deployment["spec"]["template"]["spec"]["containers"]
    time.sleep(container["readinessProbe"]["initialDelaySeconds"])
    traefik.wait_ready(lambda: answers(gateway.internal_ports[0], "/ping", address=address))


def test_while_one_of_two_traefiks_ends_and_starts_again(
    serving: DevCluster, traefiks: dict[str, Process], record_property: Callable[[str, object], None]
) -> None:
    gateway, turns = serving.gateway, itertools.cycle(traefiks.items())
    assert gateway
    text, https_port = {HOST: '"service": "lossless/shop"'}, gateway.https_port
    with SteadyLoad(text, ADDRESSES, http_port=gateway.http_port, https_port=https_port, rate=RATE) as load:
        end = time.monotonic() + REQUESTS / RATE
        time.sleep(0.5)
        while time.monotonic() < end:
            address, leaving = next(turns)
            leaving.terminate()
            time.sleep(LEAVING)
            assert leaving.running, "it has to serve on until every node knows that it is leaving"
            load.connect_to(each for each in ADDRESSES if each != address)
            wait_for(lambda: not leaving.running, PATIENCE, what="the end of a Traefik")  # noqa: B023
            leaving.start()
            until_ready(gateway, address, leaving)
            load.connect_to(ADDRESSES)
        time.sleep(0.5)
        report = load.report()
    assert report.failed == [], report
    assert [again for again in report.sent_again if again.kind != "http2"] == [], report
    assert report.succeeded == report.total >= REQUESTS
    # The access logs tell that both have served.
    assert all('"RequestHost":' in traefik.log_path.read_text() for traefik in traefiks.values())
    record_property("requests", str(report))
