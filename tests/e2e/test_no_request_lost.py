"""While parts of ingress-manager and of the gateway end, start again and are changed, no visitor's request is lost.

Visitors send 300 requests a second; at least 5,000 of them during each disturbance, or as many as `--requests` says.
Each has to be answered within ten seconds, with 200 and by the very Service that its host names.

A server may close a kept connection just when a request is on its way. RFC 9112 (9.3.1) lets a client send that request
again if its method is idempotent, and clients do. Such requests are counted apart, and none is accepted over HTTP/1.1:
it would have been lost if it had been a POST. Over HTTP/2 the server says which requests it has not begun, so that a
client can send any of them again (RFC 9113, 8.7): these are lost to nobody.

The visitors use two Traefiks of their own. They are configured as those of the cluster, but each has an address of its
own, as a pod has. New connections go to each address in turn, and no longer to one that ends, as kube-proxy does it for
a Service. With those of the cluster, which share an address, that can't be played: when one of them closes its
listener, Linux resets the connections that wait there, and while one starts, it gets connections before it is ready.
"""

import contextlib
import itertools
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
import yaml

from devcluster.api import HTTPROUTES, INGRESSES, NAMESPACES, SERVICES, Object, Resource, wait_for
from devcluster.backend import Backend
from devcluster.build import REPOSITORY
from devcluster.cluster import DevCluster
from devcluster.gateway import answers
from devcluster.story import Stage
from tests.e2e.audit import writes
from tests.e2e.objects import create
from tests.e2e.steady_load import ALL_KINDS, Report, SteadyLoad

NAMESPACE = "lossless"
PORT = 8090
VISITED = 5
"""How many of the Services have a backend, and visitors."""

RATE = 300
ADDRESSES = ("127.0.0.2", "127.0.0.3")

PATIENCE = 120.0
"""Seconds to wait for anything."""

READ_TIMEOUT = "nginx.ingress.kubernetes.io/proxy-read-timeout"
"""An annotation that is copied to the Ingress."""


ALL_SERVICES = 100
LEAVING = 2
"""Seconds for which new connections still come to a Traefik that ends: until the last node knows of it."""


@pytest.fixture(scope="module")
def requests(pytestconfig: pytest.Config) -> int:
    """Return how many requests are sent during each disturbance, at least."""
    return int(pytestconfig.getoption("--requests"))


class Replica:
    """A Traefik with an address of its own, and else the configuration of one of the cluster."""

    def __init__(self, cluster: DevCluster, address: str) -> None:
        assert cluster.gateway
        self.address = address
        self.http_port, self.https_port = cluster.gateway.http_port, cluster.gateway.https_port
        self.probes_port = cluster.gateway.internal_ports[0]
        self.process = cluster.gateway.beside(address)

    def serves(self, host: str) -> bool:
        """Return whether a GET of a host is answered with 200."""
        return answers(self.http_port, "/", address=self.address, host=host)

    def answers_pings(self) -> bool:
        """Return whether the probes succeed."""
        return answers(self.probes_port, "/ping", address=self.address)

    def requests_served(self) -> int:
        """Return how many requests the access log tells of."""
        return self.process.log_path.read_text().count('"RequestHost":')


class Shops(Stage):
    """Services, some of which are visited, and the Traefiks that serve them."""

    def __init__(self, cluster: DevCluster, requests: int) -> None:
        super().__init__(cluster.api, NAMESPACE)
        self.cluster, self.requests = cluster, requests
        self.names = [f"s{number}" for number in range(ALL_SERVICES)]
        self.visited = self.names[:VISITED]
        self.replicas = [Replica(cluster, address) for address in ADDRESSES]
        self.note: Callable[[str, object], None]
        """Adds to what pytest records of a test."""
        self._numbers = itertools.count(100)

    def open(self) -> None:
        """Create the Services and start the Traefiks; return when all that is visited is served."""
        create(self.api, NAMESPACES, NAMESPACE)
        assert self.cluster.gateway
        for process in self.cluster.gateway.traefiks:
            # They would follow each change, too.
            self.exits.enter_context(process.paused())
        for replica in self.replicas:
            self.exits.callback(replica.process.kill)
            replica.process.start()
        for name in self.names:
            service = self.create_service(name, {"ingress/http": "true", "ingress/host": host_of(name)}, PORT)
            if name in self.visited:
                self.exits.enter_context(Backend(service))
        self.until("an Ingress for each Service", lambda: self.count(INGRESSES) == len(self.names))
        self.until_served(host_of)

    def close(self) -> None:
        """Delete the namespace, and end what was started."""
        super().close()
        self.api.delete(NAMESPACES, NAMESPACE)

    def count(self, resource: Resource) -> int:
        """Return how many objects of a kind there are."""
        return len(self.api.list(resource, NAMESPACE))

    def until_served(self, host: Callable[[str], str]) -> None:
        """Return once each Traefik serves the host of each Service that is visited."""
        for replica, name in itertools.product(self.replicas, self.visited):
            replica.process.wait_ready(lambda replica=replica, name=name: replica.serves(host(name)))  # type: ignore[misc]

    def annotate_all(self, names: Iterable[str], annotations: Callable[[str], dict[str, str]]) -> None:
        """Set annotations of Services."""
        for name in names:
            self.api.patch(SERVICES, name, {"metadata": {"annotations": annotations(name)}}, NAMESPACE)

    def until_followed(self, names: Iterable[str], followed: Callable[[Object], bool]) -> None:
        """Return once the Ingress of each Service is as wanted."""
        for name in names:
            self.until_ingress(name, f"a changed Ingress {name}", followed)

    def until_ready(self, replica: Replica) -> None:
        """Return once a started Traefik is ready for the kubelet.

        Traefik answers /ping before it has read the Ingresses. So the kubelet gives it time.
        """
        time.sleep(startup_delay())
        replica.process.wait_ready(replica.answers_pings)

    def outputs(self) -> set[str]:
        """Return what every Service has: Ingresses, and HTTPRoutes that the gateway has accepted; "…" for some only."""
        routes = self.api.list(HTTPROUTES, NAMESPACE)
        counts = {"ingress": self.count(INGRESSES), "httproute": len(routes)}
        complete = {kind for kind, count in counts.items() if count == len(self.names)}
        partial = {"…"} if any(count not in {0, len(self.names)} for count in counts.values()) else set()
        return complete | partial | (set() if all(map(is_accepted, routes)) else {"not accepted"})

    def change_timeouts(self, names: list[str]) -> None:
        """Set another timeout for Services that stay as they are else; return when their Ingresses have it."""
        timeout = str(next(self._numbers))
        self.annotate_all(names, lambda _: {READ_TIMEOUT: timeout})
        self.until_followed(names, lambda found: found["metadata"]["annotations"].get(READ_TIMEOUT) == timeout)

    def visit(self, disturb: Callable[[SteadyLoad], None], kinds: Iterable[str] = ALL_KINDS) -> Report:
        """Let visitors come while something is disturbed again and again; return what became of their requests."""
        texts = {host_of(name): f'"service": "{NAMESPACE}/{name}"' for name in self.visited}
        replica = self.replicas[0]
        load = SteadyLoad(
            texts,
            ADDRESSES,
            http_port=replica.http_port,
            https_port=replica.https_port,
            rate=RATE,
            kinds=kinds,
        )
        with load:
            end = time.monotonic() + self.requests / RATE
            time.sleep(0.5)
            disturb(load)
            while time.monotonic() < end:
                disturb(load)
            time.sleep(0.5)
            return load.report()

    def expect_no_loss(self, disturb: Callable[[SteadyLoad], None], kinds: Iterable[str] = ALL_KINDS) -> None:
        """Let visitors come while something is disturbed; fail, naming each request that failed, unless none did."""
        report = self.visit(disturb, kinds)
        self.note("requests", str(report))
        assert report.failed == [], report
        assert [again for again in report.sent_again if again.kind != "http2"] == [], report
        assert report.succeeded == report.total >= self.requests
        assert all(replica.requests_served() for replica in self.replicas)


def host_of(name: str) -> str:
    return f"{name}.lossless.example.com"


def is_accepted(route: Object) -> bool:
    """Return whether the gateway has accepted an HTTPRoute, and found where it leads."""
    parents = route.get("status", {}).get("parents", [])
    states = {(each["type"], each["status"]) for parent in parents for each in parent["conditions"]}
    return states >= {("Accepted", "True"), ("ResolvedRefs", "True")}


def startup_delay() -> float:
    """Return how many seconds the kubelet gives a started Traefik until it asks whether it is ready."""
    deployment = yaml.safe_load((REPOSITORY / "gateway/deployment.yaml").read_text())
    [container] = deployment["spec"]["template"]["spec"]["containers"]
    return float(container["readinessProbe"]["initialDelaySeconds"])


@pytest.fixture(scope="module")
def open_shops(serving: DevCluster, requests: int) -> Iterator[Shops]:
    """Yield Services that are served by two Traefiks."""
    with contextlib.closing(Shops(serving, requests)) as shops:
        shops.open()
        yield shops


@pytest.fixture
def shops(open_shops: Shops, record_property: Callable[[str, object], None]) -> Shops:
    """Return the Services, for one test."""
    open_shops.note = record_property
    return open_shops


def specs(shops: Shops) -> list[tuple[str, Any]]:
    """Return what no disturbance may change: each Ingress's uid, and its spec."""
    return [(ingress["metadata"]["uid"], ingress["spec"]) for ingress in shops.api.list(INGRESSES, NAMESPACE)]


def test_while_the_hook_is_killed_and_started_again(shops: Shops) -> None:
    def disturb(_load: SteadyLoad) -> None:
        shops.cluster.hook.kill()
        # The engine asks a hook that isn't there.
        shops.annotate_all(shops.visited, lambda _: {READ_TIMEOUT: str(time.monotonic_ns() % 1000)})
        shops.cluster.restart_hook()
        shops.change_timeouts(shops.names[-1:])

    before = specs(shops)
    shops.expect_no_loss(disturb)
    assert specs(shops) == before


def test_while_the_engine_is_killed_and_started_again(shops: Shops) -> None:
    def disturb(_load: SteadyLoad) -> None:
        shops.cluster.engine.kill()
        shops.cluster.engine.start()
        # It has synced every Service of the cluster before this one's change.
        shops.change_timeouts(shops.names[-1:])

    before = specs(shops)
    shops.expect_no_loss(disturb)
    assert specs(shops) == before


def test_while_every_ingress_is_changed_in_what_is_not_its_backend(shops: Shops) -> None:
    """An annotation of each is changed, which Traefik takes no notice of; then its hosts, which changes every route."""
    rounds = itertools.count()

    def disturb(_load: SteadyLoad) -> None:
        shops.change_timeouts(shops.names)
        number = next(rounds)

        def another(name: str) -> str:
            return f"also-{number}-{host_of(name)}"

        shops.annotate_all(shops.names, lambda name: {"ingress/host": f"{host_of(name)}, {another(name)}"})
        shops.until_followed(shops.names, lambda found: f"also-{number}-" in str(found["spec"]["rules"]))
        shops.until_served(another)

    shops.expect_no_loss(disturb)
    shops.annotate_all(shops.names, lambda name: {"ingress/host": host_of(name)})
    shops.until_followed(shops.names, lambda found: len(found["spec"]["rules"]) == 1)


def test_while_the_limits_are_tightened_to_what_stands(shops: Shops) -> None:
    """What is forbidden would go, and be made anew; what is allowed is changed in place."""
    cluster = shops.cluster
    settings = yaml.safe_load(cluster.settings_file.read_text())
    rounds = itertools.count()

    def disturb(_load: SteadyLoad) -> None:
        note = f"{next(rounds)}"
        hosts = [host_of(name) for name in shops.names]
        entry = {"defaults": {"annotations": {"example.com/note": note}}, "limits": {"hosts": hosts}}
        cluster.restart_hook(
            settings | {"namespaces": settings["namespaces"] | {NAMESPACE: entry}, "limits": {"pathTypes": ["Prefix"]}}
        )
        cluster.engine.kill()
        cluster.engine.start()
        shops.until_followed(
            shops.names, lambda found: found["metadata"]["annotations"].get("example.com/note") == note
        )

    before = specs(shops)
    try:
        shops.expect_no_loss(disturb)
    finally:
        cluster.restart_hook(settings)
        shops.change_timeouts(shops.names)
        shops.until_followed(shops.names, lambda found: "example.com/note" not in found["metadata"]["annotations"])
    assert specs(shops) == before


def test_while_one_of_two_traefiks_ends_and_starts_again(shops: Shops) -> None:
    turns = itertools.cycle(shops.replicas)

    def disturb(load: SteadyLoad) -> None:
        leaving = next(turns)
        leaving.process.terminate()
        time.sleep(LEAVING)
        assert leaving.process.running, "it has to serve on until every node knows that it is leaving"
        load.connect_to(address for address in ADDRESSES if address != leaving.address)
        wait_for(lambda: not leaving.process.running, PATIENCE, what="the end of a Traefik")
        leaving.process.start()
        shops.until_ready(leaving)
        load.connect_to(ADDRESSES)

    shops.expect_no_loss(disturb)


SWITCH = (("ingress", "httproute"), ("httproute",), ("ingress", "httproute"), ("ingress",))
"""The outputs, one after the other: from Ingresses to HTTPRoutes, and back."""


def test_during_a_switch_from_ingresses_to_httproutes_and_back(shops: Shops) -> None:
    """As an operator does it: the settings are changed, and the engine is restarted, which syncs every Service.

    Visitors speak HTTP alone, because the Gateway has no listener for HTTPS.
    """
    cluster = shops.cluster
    settings = yaml.safe_load(cluster.settings_file.read_text())

    def set_outputs(outputs: tuple[str, ...]) -> None:
        entries = settings["namespaces"] | {NAMESPACE: {"defaults": {"outputs": list(outputs)}}}
        cluster.restart_hook(settings | {"namespaces": entries})
        cluster.engine.kill()
        cluster.engine.start()
        wait_for(lambda: shops.outputs() == {*outputs}, PATIENCE, what=f"{outputs} for each Service", interval=0.2)

    rounds: list[int] = []

    def disturb(_load: SteadyLoad) -> None:
        for outputs in SWITCH:
            set_outputs(outputs)
        rounds.append(len(rounds))

    before = Counter(written(shops))
    try:
        shops.expect_no_loss(disturb, kinds=("kept", "new"))
    finally:
        cluster.restart_hook(settings)
    seen = Counter(written(shops)) - before
    verbs = [(kind, verb) for kind in ("ingresses", "httproutes") for verb in ("create", "delete")]
    # `set_outputs` has seen each object come and go. A write that is under way when the engine is killed may be carried
    # out, and be missing in the audit log.
    assert seen.keys() <= {(kind, verb, name) for kind, verb in verbs for name in shops.names}
    assert max(seen.values()) <= len(rounds)


def written(shops: Shops) -> list[tuple[str, str, str]]:
    """Return (kind, verb, name) of each write of the engine to Ingresses and HTTPRoutes."""
    kinds = ("ingresses", "httproutes")
    return [(kind, verb, name) for kind in kinds for verb, name in writes(shops.cluster, shops, kind)]
