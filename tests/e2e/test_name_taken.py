"""When the name of an Ingress is taken: what the Service's owner sees, and what becomes of it."""

import re

import pytest

from devcluster.api import INGRESSES, SERVICES, wait_for
from devcluster.build import REPOSITORY
from devcluster.cluster import DevCluster
from devcluster.story import Stage
from tests.e2e.audit import until_create_met_an_existing_ingress
from tests.e2e.objects import by_hand

pytestmark = pytest.mark.gate


def test_the_event_says_what_the_readme_of_metacontroller_says_and_the_service_has_the_name_once_it_is_free(
    stage: Stage,
) -> None:
    readme = (REPOSITORY / "metacontroller/README.md").read_text(encoding="utf-8")
    quoted = " ".join(line.removeprefix("> ") for line in re.findall(r"^> .*$", readme, re.MULTILINE))
    stranger = stage.api.create(INGRESSES, by_hand(stage.namespace, "blog", "elsewhere.example.com", "blog"))
    stage.create_service("blog", {"ingress/http": "true"})
    stage.until_event("blog", quoted.replace("team-a/", f"{stage.namespace}/"))
    assert stage.ingress("blog") == stranger
    stage.api.delete(INGRESSES, "blog", stage.namespace)
    stage.until_ingress("blog", "the Service's own", lambda found: "ownerReferences" in found["metadata"])


def test_a_service_made_again_while_the_garbage_collector_lags_has_its_ingress_soon_after(
    cluster: DevCluster, stage: Stage
) -> None:
    stage.create_service("shop", {"ingress/http": "true"})
    old = stage.until_ingress("shop", "the Ingress", lambda _: True)
    with cluster.control_plane.controller_manager.paused():
        stage.api.delete(SERVICES, "shop", stage.namespace)
        stage.create_service("shop", {"ingress/http": "true"})
        until_create_met_an_existing_ingress(cluster, stage, "shop")
        assert stage.ingress("shop") == old
    service = stage.api.get(SERVICES, "shop", stage.namespace)
    assert service is not None

    def owners() -> list[str]:
        found = stage.ingress("shop") or {"metadata": {"ownerReferences": []}}
        return [reference["uid"] for reference in found["metadata"]["ownerReferences"]]

    wait_for(lambda: owners() == [service["metadata"]["uid"]], 10, what="the Ingress of the new Service")
