"""docs/helm.md: its commands take over, upgrade, roll back and uninstall, on an API server.

No node runs the pods here: tests/node installs the chart where they run.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from devcluster import build
from devcluster.build import REPOSITORY
from devcluster.cluster import CRD_FILE
from devcluster.control_plane import ControlPlane
from devcluster.deployments import CONFIG_MAPS, DEPLOYMENTS
from tests.docs.test_docs import blocks
from tests.e2e.conftest import bare_plane
from tests.e2e.nodes import Nodes
from tests.e2e.shell import environment_of, sh
from tests.e2e.test_install import everything, until_only
from tests.helm import lacking

NAME = "ingress-manager"


@pytest.fixture
def plane() -> Iterator[ControlPlane]:
    """Yield an API server with nothing installed, whose namespaces can be deleted."""
    if reason := lacking():
        pytest.skip(reason)
    with bare_plane() as plane:
        plane.start_controllers()
        with Nodes(plane.api):
            yield plane


def test_the_commands_of_the_page_can_be_run_in_their_order_and_leave_nothing_behind(
    plane: ControlPlane, tmp_path: Path
) -> None:
    metacontroller, _, take_over, upgrade, roll_back, uninstall, without_metacontroller = blocks("helm.md", "sh")
    for name in ("charts", "manifests", "metacontroller"):
        (tmp_path / name).symlink_to(REPOSITORY / name)
    path = f"{build.folder('helm')}:{environment_of(plane)['PATH']}"

    def run(block: str, ingress_class: str = "traefik") -> str:
        """Run the commands of a block; return the class in the settings that the hook's Deployment mounts then."""
        values = yaml.safe_load(blocks("helm.md", "yaml")[0])
        values["settings"] = {"defaults": {"class": ingress_class}}
        (tmp_path / "my-values.yaml").write_text(yaml.safe_dump(values))
        # Metacontroller's own CRDs are on the Internet; CRD_FILE holds CRDs of the same kinds.
        local = re.sub(r"https://\S*/metacontroller-crds-v1\.yaml", str(CRD_FILE), block)
        sh(plane, local, folder=tmp_path, environment={"PATH": path, "HOME": str(tmp_path)})
        deployment = plane.api.get(DEPLOYMENTS, NAME, NAME)
        if deployment is None:
            return ""
        [volume] = deployment["spec"]["template"]["spec"]["volumes"]
        mounted = plane.api.get(CONFIG_MAPS, volume["configMap"]["name"], NAME)
        assert mounted is not None
        return str(yaml.safe_load(mounted["data"]["settings.yaml"])["defaults"]["class"])

    before = everything(plane)
    assert run(metacontroller) == ""
    only_metacontroller = everything(plane)
    by_kustomize = "kubectl apply -k manifests/\nkubectl apply -k metacontroller/controller/"
    assert [run(by_kustomize), run(take_over)] == ["nginx", "traefik"]
    assert [run(upgrade, "haproxy"), run(roll_back)] == ["haproxy", "traefik"]
    assert run(uninstall) == ""
    until_only(plane, only_metacontroller)
    run(without_metacontroller)
    until_only(plane, before)
