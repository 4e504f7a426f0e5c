"""docs/httproute.md: its commands are run as they are written, and Metacontroller says what the page quotes."""

import re
from pathlib import Path

import yaml

from devcluster import gateway_api
from devcluster.api import EVENTS, HTTPROUTES, Resource
from devcluster.build import REPOSITORY
from devcluster.cluster import CRD_FILE, DevCluster
from devcluster.control_plane import ControlPlane
from devcluster.manifests import find
from devcluster.story import Stage
from tests.docs.test_docs import blocks
from tests.e2e.objects import GATEWAY_CLASSES, create, namespace
from tests.e2e.shell import commands_of, sh

DECORATORCONTROLLERS = Resource(
    "metacontroller.k8s.io/v1alpha1", "decoratorcontrollers", "DecoratorController", namespaced=False
)


def test_the_commands_of_the_page_do_what_it_says(empty_cluster: ControlPlane, tmp_path: Path) -> None:
    crds = tmp_path / "crds.yaml"
    crds.write_text(yaml.safe_dump_all(gateway_api.crds(print)))
    empty_cluster.kubectl("apply", "--filename", str(CRD_FILE))
    empty_cluster.kubectl("apply", "--kustomize", str(REPOSITORY / "metacontroller"))
    objects = list(map(yaml.safe_load, blocks("httproute.md", "yaml")))
    for made in objects:
        if made.get("kind") in {"HTTPRoute", "Gateway"}:
            namespace(empty_cluster.api, made["metadata"]["namespace"])
            empty_cluster.kubectl("apply", "--filename", "-", input=yaml.safe_dump(made))
    create(empty_cluster.api, GATEWAY_CLASSES, "example", spec={"controllerName": "example.com/gateway"})
    commands = commands_of("docs/httproute.md")
    assert len(commands) == 7
    for command in commands:
        # The CRDs are on the Internet; these are the same ones, of the same version.
        sh(empty_cluster, re.sub(r"https://\S*/standard-install\.yaml", str(crds), command))
    controller = empty_cluster.api.get(DECORATORCONTROLLERS, "ingress-manager")
    assert controller is not None
    assert [each["resource"] for each in controller["spec"]["attachments"]] == ["ingresses", "httproutes"]
    empty_cluster.api.delete(GATEWAY_CLASSES, "example")
    for made in objects:
        if made.get("kind") in {"HTTPRoute", "Gateway"}:
            empty_cluster.kubectl("delete", "--ignore-not-found", "--filename", "-", input=yaml.safe_dump(made))


def test_without_the_crds_the_controller_does_not_start_and_its_event_is_that_of_the_page(
    cluster: DevCluster, stage: Stage
) -> None:
    assert cluster.api.discover(HTTPROUTES.api_version, HTTPROUTES.plural) is None, "no CRDs of the Gateway API"
    # Beside the one that runs, so that the other tests of this cluster go on.
    controller = find("metacontroller/httproute", "DecoratorController") | {"metadata": {"name": stage.namespace}}
    cluster.api.create(DECORATORCONTROLLERS, controller)

    def said() -> list[str]:
        return [
            f"{event['message']}\n"
            for event in cluster.api.list(EVENTS, "default")
            if (event["involvedObject"].get("name"), event["reason"]) == (stage.namespace, "CreateError")
        ]

    stage.until("the Event of the controller that can't start", said)
    cluster.api.delete(DECORATORCONTROLLERS, stage.namespace)
    [shown] = [block for block in blocks("httproute.md", "") if block.startswith("Cannot create")]
    if cluster.engine_name.startswith("Metacontroller"):
        assert said()[0] == shown
