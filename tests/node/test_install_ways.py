"""Each way to install, from nothing: used as the pages say, and then removed. Every Pod has to meet `restricted`."""

from collections.abc import Iterator

import pytest

from devcluster.api import NAMESPACES
from devcluster.node.node import Node
from tests.e2e.objects import PODS
from tests.e2e.test_install import everything, until_only
from tests.node.site import SHOP, WAYS, Site
from tools import golang

HOST = "shop.example.com"


@pytest.fixture(scope="module")
def site(node: Node, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Yield a checkout beside a node with the gateway and a tenant's shop, which are removed at the end."""
    if reason := golang.lacking("helm"):
        pytest.skip(reason)
    before = everything(node.control_plane)
    site = Site(node, tmp_path_factory.mktemp("site"))
    site.run("kubectl apply -k my-gateway/")
    node.kubectl("apply", f"--filename={SHOP}")
    for namespace in ("ingress-manager-gateway", "team-a"):
        node.kubectl("rollout", "status", "deployment", f"--namespace={namespace}", "--timeout=2m")
    yield site
    node.kubectl("delete", f"--filename={SHOP}")
    site.run("kubectl delete -k my-gateway/")
    until_only(node.control_plane, before)


@pytest.mark.parametrize("way", WAYS)
def test_a_service_is_served_as_soon_as_it_is_annotated_and_nothing_is_left_of_an_installation(
    site: Site, way: str
) -> None:
    node, plane = site.node, site.node.control_plane
    before = everything(plane)
    WAYS[way].install(site)
    assert "404: There is no page here" in site.until_answered(HOST, 404).text

    site.run(f"kubectl annotate service shop --namespace team-a ingress/http=true ingress/host={HOST}")
    assert "ingress-manager/" in site.until_answered(HOST, 200).text
    assert "404: There is no page here" in site.visit("another.example.com").text
    checked = site.run("ingress-manager check").stdout
    assert "\nAll is well: " in checked, checked

    pods = [pod for pod in node.api.list(PODS) if pod["metadata"]["namespace"] != "kube-system"]
    namespaces = {pod["metadata"]["namespace"] for pod in pods}
    assert namespaces == {"ingress-manager", "ingress-manager-gateway", "metacontroller", "team-a"}
    for name in namespaces:
        labels = (node.api.get(NAMESPACES, name) or {})["metadata"]["labels"]
        assert labels["pod-security.kubernetes.io/enforce"] == "restricted"

    WAYS[way].remove(site)
    site.until_answered(HOST, 404)
    node.kubectl("annotate", "service", "shop", "--namespace=team-a", "ingress/http-", "ingress/host-")
    until_only(plane, before)
