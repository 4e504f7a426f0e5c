"""docs/install.md and docs/uninstall.md: their commands are run as they are written, on a cluster without nodes."""

import contextlib
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from devcluster.api import Api, ApiError, Object, Resource, path_of, wait_for
from devcluster.build import REPOSITORY
from devcluster.cluster import CRD_FILE
from devcluster.control_plane import ControlPlane
from devcluster.errors import NotReady
from devcluster.processes import Processes
from devcluster.programs import find_programs
from tests.docs.test_docs import blocks
from tests.e2e.conftest import require

DEPLOYMENTS = Resource("apps/v1", "deployments", "Deployment")
SERVICE_ACCOUNTS = Resource("v1", "serviceaccounts", "ServiceAccount")

ELSEWHERE = {
    "make image": "tests/tools/test_image.py, with a base that is there",
    "make image-test": "is tests/tools/test_image.py",
    "docker push": "not run: there is no registry",
    "mmdebstrap": "not run: it fetches a hundred packages",
    "podman": "not run, for the same reason",
    "kind": "not run: as in kind's own documentation",
    "minikube": "not run: as in minikube's own documentation",
    "k3d": "not run: as in k3d's own documentation",
}
"""What the commands begin with that aren't run here, and why."""


def commands_of(page: str) -> list[str]:
    """Return the commands of a page that are run here."""
    text = re.sub(r" - <<'END'\n.*?^END$", "", "".join(blocks(page, "sh")), flags=re.MULTILINE | re.DOTALL)
    elsewhere = tuple(f"{start} " for start in ELSEWHERE)
    return [line for line in text.splitlines() if not f"{line} ".startswith(elsewhere)]


class Nodes(threading.Thread):
    """Says of each Deployment that its pods are available.

    The cluster has neither nodes nor the controller that would say it, so no pod runs, and `kubectl rollout status`
    would wait for ever. All else that `make install` does is real.
    """

    def __init__(self, api: Api) -> None:
        super().__init__(daemon=True)
        self._api = api
        self._end = threading.Event()

    def run(self) -> None:
        """Look again and again, until the end."""
        while not self._end.wait(0.1):
            for deployment in self._api.list(DEPLOYMENTS):
                if deployment.get("status", {}).get("observedGeneration") != deployment["metadata"]["generation"]:
                    with contextlib.suppress(ApiError):  # it has just been deleted
                        self._make_available(deployment)

    def _make_available(self, deployment: Object) -> None:
        metadata, replicas = deployment["metadata"], deployment["spec"]["replicas"]
        counts = dict.fromkeys(("replicas", "updatedReplicas", "readyReplicas", "availableReplicas"), replicas)
        path = path_of(DEPLOYMENTS, metadata["namespace"], metadata["name"])
        status = {"observedGeneration": metadata["generation"], **counts}
        self._api.request("PATCH", f"{path}/status", body={"status": status})

    def __enter__(self) -> "Nodes":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self.join()


@pytest.fixture(scope="module")
def plane() -> Iterator[ControlPlane]:
    """Yield an API server with nothing installed, whose namespaces can be deleted."""
    require("standin")
    with Processes() as processes:
        plane = ControlPlane(find_programs(print), processes)
        plane.start()
        plane.wait_ready()
        plane.start_controllers()
        with Nodes(plane.api):
            yield plane
        plane.close()


def run(plane: ControlPlane, command: str) -> str:
    """Run a command as somebody would who has this kubectl and a download of Metacontroller's CRDs."""
    if command.startswith("make install"):
        command = f"{command.partition(' METACONTROLLER_CRDS=')[0]} METACONTROLLER_CRDS={CRD_FILE}"
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    ended = subprocess.run(
        ["bash", "-c", command],  # noqa: S607
        cwd=REPOSITORY,
        env=os.environ | {"KUBECONFIG": str(plane.kubeconfig), "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=180,
        check=False,
    )
    assert ended.returncode == 0, f"{command}\n{ended.stdout}"
    return ended.stdout


def everything(plane: ControlPlane) -> set[tuple[str, ...]]:
    """Return all objects of the cluster: kind, namespace and name. Events and leases come and go by themselves."""
    resources = plane.kubectl("api-resources", "--verbs=list", "--output=name").split()
    listed = ",".join(name for name in resources if not name.startswith(("events", "leases.")))
    columns = "--output=custom-columns=KIND:.kind,NAMESPACE:.metadata.namespace,NAME:.metadata.name"
    lines = plane.kubectl("get", listed, "--all-namespaces", "--no-headers", columns).splitlines()
    return {tuple(line.split()) for line in lines}


def until_only(plane: ControlPlane, before: set[tuple[str, ...]]) -> None:
    """Return once the cluster holds what it held before; some objects go a moment after the command."""
    seen: list[set[tuple[str, ...]]] = []

    def check() -> bool:
        seen.append(everything(plane))
        return seen[-1] == before

    with contextlib.suppress(NotReady):
        wait_for(check, 20, what="what was there before", interval=0.5)
    assert seen[-1] == before


@pytest.mark.thorough
def test_what_the_pages_install_and_uninstall_leaves_nothing_behind(plane: ControlPlane) -> None:
    before = everything(plane)
    commands = commands_of("install.md")
    assert len(commands) == 11
    printed = [run(plane, command) for command in commands]
    installs = [text for text in printed if "Installing on the cluster" in text]
    assert len(installs) == 2
    for text in installs:
        assert text.index("deployment/ingress-manager") < text.index("=metacontroller/install")
        assert text.index("=metacontroller/install") < text.index("=metacontroller/controller")
    for namespace in ("ingress-manager", "metacontroller"):
        assert plane.api.get(DEPLOYMENTS, namespace, namespace) is not None
    [hook] = plane.api.list(DEPLOYMENTS, "ingress-manager")
    [container] = hook["spec"]["template"]["spec"]["containers"]
    assert f"IMAGE={container['image']}" in commands[0]

    account = plane.api.get(SERVICE_ACCOUNTS, "ingress-manager", "ingress-manager")
    assert account is not None
    assert account["imagePullSecrets"] == [{"name": "registry"}], "the second installation leaves it as it is"

    assert "It is removed." in run(plane, commands_of("uninstall.md")[0])
    until_only(plane, before)


@pytest.mark.thorough
def test_a_metacontroller_that_was_there_before_is_left_as_it_is(plane: ControlPlane) -> None:
    empty = everything(plane)
    keep, remove = commands_of("uninstall.md")
    assert "It is removed." in run(plane, keep), "where nothing is installed, or no longer"
    plane.kubectl("apply", "--filename", str(CRD_FILE))
    before = everything(plane)
    [install] = [command for command in commands_of("kind.md") if "CONTEXT=minikube" in command]
    context = plane.kubectl("config", "current-context").strip()
    printed = run(plane, install.replace("CONTEXT=minikube", f"CONTEXT={context}"))
    assert "The cluster has a Metacontroller already." in printed
    assert plane.api.list(DEPLOYMENTS, "metacontroller") == []
    assert ("DecoratorController", "<none>", "ingress-manager") in everything(plane)
    run(plane, remove)
    until_only(plane, before)
    plane.kubectl("delete", "--filename", str(CRD_FILE))
    until_only(plane, empty)
