"""`ingress-manager status` on a real cluster: a pipeline waits until a Service is served."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from devcluster import gateway
from devcluster.api import SERVICES, Object, Resource
from devcluster.backend import Backend
from devcluster.cluster import DevCluster
from devcluster.story import Stage
from tests.e2e.objects import create
from tests.e2e.people import commands_of, sh

ADDRESS = "192.0.2.1"
SLICES = Resource("discovery.k8s.io/v1", "endpointslices", "EndpointSlice")


@pytest.fixture
def gateway_with_address(cluster: DevCluster) -> Iterator[gateway.Gateway]:
    """Yield the gateway, whose Service has an address as a load balancer would give it. Traefik tells each Ingress."""
    if reason := gateway.lacking():
        pytest.skip(reason)
    assert cluster.gateway
    gateway.give_addresses(cluster.api, ADDRESS)
    yield cluster.gateway
    gateway.give_addresses(cluster.api)


def let_a_pod_be_ready(stage: Stage, service: str) -> None:
    """Write what Kubernetes writes when a Pod of a Service is ready. No Pod runs on this cluster."""
    create(
        stage.api,
        SLICES,
        f"{service}-by-hand",
        stage.namespace,
        {"labels": {"kubernetes.io/service-name": service}},
        addressType="IPv4",
        endpoints=[{"addresses": ["192.0.2.2"], "conditions": {"ready": True}}],
        ports=[{"name": "http", "port": 8080, "protocol": "TCP"}],
    )


def test_the_pipeline_of_the_page_runs_as_it_stands(cluster: DevCluster, gateway_with_address: gateway.Gateway) -> None:
    [script] = [lines for lines in [commands_of("docs/commands/status.md")[:3]] if "--wait" in lines[1]]
    environment = {"INGRESS_MANAGER_SETTINGS": str(cluster.settings_file), "GATEWAY": gateway_with_address.url}
    sample = Stage(cluster.api, "sample", cluster.gateway, cluster.ingress_class)

    def hello() -> Object | None:
        return cluster.api.get(SERVICES, "hello", "sample")

    # What other tests have left goes when their namespaces do; until then, it would answer for the sample's host.
    sample.until("the host of the sample", lambda: gateway_with_address.ask("example.com").is_the_404_page)
    with ThreadPoolExecutor(1) as shell:
        ended = shell.submit(sh, cluster.control_plane, "\n".join(script), environment=environment)
        # Nothing runs Pods here: what they would do is done while the pipeline waits.
        try:
            with Backend(sample.until("the Service of the sample", hello)):
                let_a_pod_be_ready(sample, "hello")
                assert '"service": "sample/hello"' in ended.result().stdout
        finally:
            cluster.api.delete(SLICES, "hello-by-hand", "sample")
            cluster.kubectl("delete", "--ignore-not-found", "--kustomize", "manifests/sample/")
