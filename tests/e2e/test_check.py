"""`check` on a real API server: a sound installation is all well."""

import contextlib
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from devcluster import gateway_api, manifests
from devcluster.admission import Admission
from devcluster.api import Object, Resource, path_of
from devcluster.build import REPOSITORY
from devcluster.cluster import CRD_FILE, install_crds
from devcluster.control_plane import ControlPlane
from devcluster.overlay import ADMISSION, CONTROLLER, Rendered, patches_of, write_secret
from devcluster.processes import Processes
from devcluster.programs import find_programs
from tests.e2e.conftest import require
from tests.e2e.objects import DEPLOYMENTS, GATEWAYS
from tests.e2e.shell import run

SETTINGS = {
    "defaults": {
        "class": "ingress-manager",
        "outputs": ["ingress", "httproute"],
        "gateway": {"name": "ingress-manager", "namespace": "ingress-manager-gateway", "https": None},
    }
}
COUNTS = ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas")
RUNNING = (("metacontroller", "metacontroller"), (CONTROLLER, CONTROLLER), (CONTROLLER, ADMISSION))
"""The Deployments, by namespace and name."""

BASES = ("metacontroller/install", "metacontroller/httproute", "gateway")


class Sound:
    """A sound installation."""

    def __init__(self, plane: ControlPlane, folder: Path, admission: Admission) -> None:
        self.plane = plane
        webhook = admission.webhook()
        up = "../" * len(folder.resolve().parts[1:]) + str(REPOSITORY)[1:]
        settings = yaml.safe_dump(SETTINGS)
        (folder / "settings.yaml").write_text(settings)
        (folder / "kustomization.yaml").write_text(
            yaml.safe_dump(
                {
                    "resources": [f"{up}/{base}" for base in BASES] + ["hook"],
                    "components": [f"{up}/gateway/gateway-api"],
                }
            )
        )
        (folder / "hook").mkdir()
        (folder / "hook/settings.yaml").write_text(settings)
        (folder / "hook/kustomization.yaml").write_text(
            yaml.safe_dump(
                {
                    "namespace": "ingress-manager",
                    "resources": [f"../{up}/manifests", write_secret(folder / "hook", webhook)],
                    "components": [f"../{up}/manifests/admission"],
                    "patches": patches_of(webhook),
                    "configMapGenerator": [
                        {"name": "ingress-manager-settings", "behavior": "replace", "files": ["settings.yaml"]}
                    ],
                }
            )
        )
        self._gateway_api = gateway_api.crds(print)
        self.objects = manifests.kustomize(folder)
        self.parsed: list[Object] = list(yaml.safe_load_all(self.objects))

    def install(self) -> None:
        """Install everything, with the statuses that a cluster with nodes writes."""
        install_crds(self.plane.api, self._gateway_api)
        self.plane.kubectl("apply", "--server-side", f"--filename={CRD_FILE}")
        self.plane.kubectl("wait", "--for=condition=Established", "--all", "crd")
        self.plane.kubectl("apply", "--server-side", "--filename=-", input=self.objects)
        self.pods()
        for namespace, name in RUNNING:
            deployment = self.plane.api.get(DEPLOYMENTS, name, namespace) or {}
            counts = dict.fromkeys(COUNTS, deployment["spec"]["replicas"])
            generation = deployment["metadata"]["generation"]
            self.status(DEPLOYMENTS, namespace, name, {"observedGeneration": generation, **counts, "conditions": []})
        good = {"status": "True", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}
        conditions = [{"type": kind, "reason": kind, **good} for kind in ("Accepted", "Programmed")]
        self.status(GATEWAYS, "ingress-manager-gateway", "ingress-manager", {"conditions": conditions})

    def status(self, resource: Resource, namespace: str, name: str, status: Object) -> None:
        """Write the status of an object."""
        path = f"{path_of(resource, namespace, name)}/status"
        self.plane.api.request("PATCH", path, body={"status": status})

    def pods(self) -> None:
        """Make a Pod of the hook's, as its Deployment's template has them."""
        [deployment] = [
            each
            for each in self.parsed
            if each["kind"] == "Deployment" and each["metadata"]["name"] == "ingress-manager"
        ]
        template = deployment["spec"]["template"]
        pod = {"apiVersion": "v1", "kind": "Pod", "spec": template["spec"]}
        metadata = {**template["metadata"], "name": "ingress-manager-1", "namespace": "ingress-manager"}
        self.plane.kubectl("create", "--filename=-", input=json.dumps({**pod, "metadata": metadata}))


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sound]:
    """Yield an API server on which all is installed."""
    require("standin")
    with Processes() as processes, contextlib.closing(ControlPlane(find_programs(print), processes)) as plane:
        plane.start()
        plane.wait_ready()
        with contextlib.closing(Admission(processes)) as admission:
            installed = Sound(plane, tmp_path_factory.mktemp("sound"), admission)
            installed.install()
            plane.start_controllers()
            admission.start(plane.api, Rendered(installed.objects), None)
            admission.wait_ready(plane.api)
            yield installed


def test_a_sound_installation_is_all_well(sound: Sound) -> None:
    ended = run(sound.plane, "check")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert {line[0] for line in ended.stdout.splitlines() if line[1:2] == " "} == {"✓"}
    page = (REPOSITORY / "docs/commands/examples/check.txt").read_text(encoding="utf-8")
    # Who makes a certificate chooses when it ends.
    shown = re.sub(r"(?<= ends at )\S+(?=Z,)", "2027-02-21T09:12:44", ended.stdout)
    assert f"$ ingress-manager check\n{shown}" == page
