"""From an earlier commit of the main branch to this one, and back: what stands stays, and is served all the time.

The earlier one is taken from this clone's history and installed as its own pages say, with an image of its own
Dockerfile. Then come the steps of docs/upgrade.md, or of docs/helm.md.
"""

import io
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import requests
import yaml

from devcluster import build
from devcluster.api import EVENTS, INGRESSES, NAMESPACES, Object, wait_for
from devcluster.build import REPOSITORY
from devcluster.cluster import CRD_FILE
from devcluster.node.node import Node
from tests.e2e.objects import (
    CLUSTER_BINDINGS,
    CLUSTER_ROLES,
    INGRESS_CLASSES,
    PODS,
    POLICIES,
    POLICY_BINDINGS,
)
from tests.e2e.steady_load import SteadyLoad
from tests.node.happenings import lost_in
from tools import golang
from tools.image import replacement
from tools.node_images import HOOK, hook_archive

HERE = Path(__file__).parent
SHOP = HERE / "standing.yaml"
SUBDOMAINS = ("www.shop", "shop", "path", "certificate", "a", "b", "copied", "mistaken")
HOSTS = ("example.com", *(f"{name}.example.com" for name in SUBDOMAINS))
TEXT = "Directory listing for /"
PORT = 30080
NAME = "ingress-manager"


COMMITS = ("1c51e59c89275b118b3d911bf0a63a0fea755a62",)
"""From which an upgrade is tried, the oldest first."""

SETTINGS = {"defaults": {"host": "example.com", "class": "ingress-manager"}}


class Place:
    """A checkout, and how to install what is in it on the node."""

    def __init__(self, node: Node, folder: Path, image: str, settings: dict[str, Any]) -> None:
        self.node, self.folder, self.image = node, folder, image
        (folder / "manifests" / "settings.yaml").write_text(yaml.safe_dump(settings))
        values = {"image": dict(zip(("repository", "tag"), image.rsplit(":", 1), strict=True)), "settings": settings}
        (folder / "my-values.yaml").write_text(yaml.safe_dump(values))
        for name, more in (("manifests", {}), ("gateway", {"components": ["../tests/node/node-port"]})):
            own = folder / f"my-{name}"
            own.mkdir()
            content = {"resources": [f"../{name}"], "images": [replacement(image)], **more}
            (own / "kustomization.yaml").write_text(yaml.safe_dump(content))

    def run(self, *command: str, check: bool = True) -> str:
        """Return what a command prints, as a person runs it in this folder."""
        path = (str(Path(sys.executable).parent), str(build.folder("helm")), os.environ["PATH"])
        environment = os.environ | {"KUBECONFIG": str(self.node.kubeconfig), "PATH": os.pathsep.join(path)}
        ended = subprocess.run(
            command, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=300, check=False
        )
        assert not check or ended.returncode == 0, f"{command}\n{ended.stdout}{ended.stderr}"
        return ended.stdout

    def apply(self, folder: str, deployment: str = "", namespace: str = NAME) -> None:
        """Apply a folder, and wait for a Deployment."""
        self.run("kubectl", "apply", "-k", folder)
        if deployment:
            self.run("kubectl", "rollout", "status", "deployment", deployment, "--namespace", namespace, "--timeout=2m")

    def apply_crds(self) -> None:
        """Apply those of Metacontroller."""
        self.run("kubectl", "apply", f"--filename={CRD_FILE}")
        self.run("kubectl", "wait", "--for=condition=established", f"--filename={CRD_FILE}")

    def apply_gateway(self) -> None:
        """Apply the gateway with the 404 page, and wait for both."""
        namespace = "ingress-manager-gateway"
        self.apply("my-gateway/", namespace, namespace)
        self.apply("my-gateway/", "not-found", namespace)

    def helm(self, *arguments: str) -> str:
        """Run Helm on the release."""
        return self.run("helm", *arguments, "--namespace", NAME)


def kustomize(place: Place, *, first: bool) -> None:
    """Install it, or upgrade to it, by `kubectl apply -k`."""
    if first:
        place.apply_crds()
    place.apply("my-manifests/", NAME)
    if not first:
        # The one hook answers the other's controller.
        annotate = ("kubectl", "annotate", "service", "off", "--namespace=shops", "--overwrite")
        place.run(*annotate, f"example.com/hook={place.image}")
        place.apply("metacontroller/controller/")
    place.apply("metacontroller/" if first else "metacontroller/install/", "metacontroller", "metacontroller")


def make(place: Place, *, first: bool) -> None:
    """Run `make install`. An earlier version's may need packages that are gone: what it applies, kubectl does."""
    if place.image == HOOK:
        place.run(sys.executable, "-m", "tools.install", "install", f"--crds={CRD_FILE}", "--yes", "--", place.image)
    else:
        kustomize(place, first=first)


def helm(place: Place, *, first: bool) -> None:
    """Install its chart, or upgrade to it."""
    chart = ("charts/ingress-manager", "--values=my-values.yaml")
    if not first:
        place.helm("upgrade", NAME, *chart, "--rollback-on-failure")
        return
    place.apply_crds()
    place.apply("metacontroller/install/", "metacontroller", "metacontroller")
    place.run("kubectl", "apply", "-f", "manifests/namespace.yaml")
    place.helm("install", NAME, *chart, "--set=controller.create=false", "--wait")
    place.helm("upgrade", NAME, *chart, "--wait")


WAYS: dict[str, Callable[..., None]] = {"kustomize": kustomize, "make": make, "helm": helm}


def checkout(commit: str, folder: Path) -> Path:
    """Return a folder with an earlier commit's files. A clone of few commits doesn't have them: the test is skipped."""
    command = ["git", "archive", commit]
    ended = subprocess.run(command, cwd=REPOSITORY, capture_output=True, check=False)
    if ended.returncode:
        pytest.skip("NO UPGRADE WAS TESTED: this clone has not the history of main; `git fetch --unshallow` gets it.")
    with tarfile.open(fileobj=io.BytesIO(ended.stdout)) as files:
        files.extractall(folder, filter="data")
    return folder


def places(node: Node, commit: str, folder: Path) -> tuple[Place, Place]:
    """Return an earlier commit and this version, each with its image on the node."""
    image = f"localhost/ingress-manager:{commit[:8]}"
    source, present = checkout(commit, folder / "old"), folder / "new"
    node.load(hook_archive(print, source, image))
    for name in ("charts", "devcluster", "gateway", "ingress_manager", "manifests", "metacontroller", "tools"):
        shutil.copytree(REPOSITORY / name, present / name)
    return Place(node, source, image, SETTINGS), Place(node, present, HOOK, SETTINGS)


def ingresses(node: Node) -> dict[str, Object]:
    """Return of each Ingress what no write leaves as it is. What its controller writes into the status isn't ours."""
    found = {}
    for each in node.api.list(INGRESSES, "shops"):
        metadata = each["metadata"]
        written = [entry for entry in metadata["managedFields"] if entry.get("subresource") != "status"]
        found[metadata["name"]] = {"uid": metadata["uid"], "generation": metadata["generation"], "written": written}
    return found


def warnings(node: Node) -> dict[str, str]:
    """Return the Services with a Warning, and what the last one says."""
    events = [event for event in node.api.list(EVENTS) if event["type"] == "Warning"]
    return {
        event["involvedObject"]["name"]: event["message"]
        for event in events
        if event["involvedObject"]["kind"] == "Service"
    }


def answers(node: Node, host: str) -> bool:
    """Return whether the gateway leads a visitor to the shop."""
    try:
        found = requests.get(f"http://{node.address}:{PORT}/", headers={"Host": host}, timeout=5)
    except requests.ConnectionError:
        return False
    return TEXT in found.text


def sync_all(place: Place, number: int) -> None:
    """Have the hook of this place, and no other one, asked about every Service, and wait until that is done.

    The last change of all arrives when the earlier ones have been looked at.
    """
    node = place.node

    def only_its_own() -> bool:
        pods = node.api.list(PODS, NAME)
        return {pod["spec"]["containers"][0]["image"] for pod in pods} == {place.image}

    wait_for(only_its_own, 60, what="the end of the other hook's Pods", interval=0.2)
    annotate = ("kubectl", "annotate", "service", "--namespace=shops", "--overwrite")
    place.run(*annotate, "--all", f"example.com/asked-again={number}")
    host = f"changed-{number}.example.com"
    place.run(*annotate, "changing", f"ingress/host={host}")

    def arrived() -> bool:
        found = node.api.get(INGRESSES, "changing", "shops")
        return found is not None and found["spec"]["rules"][0]["host"] == host

    wait_for(arrived, 90, what=f"the change number {number}", interval=0.1)


@pytest.fixture
def bare(node: Node) -> Iterator[Node]:
    """Yield the node with nothing installed, and take away whatever a test has installed."""
    before = {each["metadata"]["name"] for each in node.api.list(NAMESPACES)}
    yield node
    node.kubectl("delete", f"--filename={CRD_FILE}", "--ignore-not-found", "--timeout=1m")
    for kind in (POLICY_BINDINGS, POLICIES, CLUSTER_BINDINGS, CLUSTER_ROLES, INGRESS_CLASSES):
        for each in node.api.list(kind):
            name = each["metadata"]["name"]
            if name.startswith((NAME, "metacontroller")):
                node.api.delete(kind, name)
    made = {each["metadata"]["name"] for each in node.api.list(NAMESPACES)} - before
    for name in made:
        # Traefik would go on for 20 s, for visitors that are gone.
        node.kubectl("delete", "pods", "--all", f"--namespace={name}", "--force", "--grace-period=0", "--wait=false")
    if made:
        node.kubectl("delete", "namespace", *made, "--timeout=2m")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("commit", COMMITS, ids=lambda commit: commit[:8])
def test_an_upgrade_and_the_way_back_write_to_nothing_that_stands_and_lose_no_request(
    bare: Node, commit: str, way: str, tmp_path: Path
) -> None:
    node, move = bare, WAYS[way]
    if way == "helm" and (reason := golang.lacking("helm")):
        pytest.skip(reason)
    old, new = places(node, commit, tmp_path)
    old.apply_gateway()
    move(old, first=True)
    new.run("kubectl", "apply", f"--filename={SHOP}")
    for host in HOSTS:
        wait_for(partial(answers, node, host), 60, what=f"an answer for {host}", interval=0.2)
    new.run("kubectl", "annotate", "service", "mistaken", "--namespace=shops", "ingress/port=none")
    sync_all(old, 1)
    wait_for(lambda: "mistaken" in warnings(node), what="the refusal of a mistake")
    before = warnings(node).keys()

    # docs/upgrade.md, "Before".
    new.run("ingress-manager", "audit", "--all-namespaces", "--settings=manifests/settings.yaml")

    standing = ingresses(node)
    changing = standing.pop("changing")

    def held(act: Callable[[], None]) -> None:
        """Do something, and hold it to what stands, to the visitors, and to the Services' Events."""
        load = SteadyLoad(dict.fromkeys(HOSTS, TEXT), [node.address], http_port=PORT, rate=50, kinds=("kept", "new"))
        with load:
            act()
            after = ingresses(node)
            seen = load.report()
        assert after.pop("changing")["uid"] == changing["uid"]
        assert after == standing
        assert lost_in(seen) == []
        assert {name: said for name, said in warnings(node).items() if name not in before} == {}

    def up() -> None:
        move(new, first=False)
        new.apply_gateway()
        sync_all(new, 2)

    def down() -> None:
        if way == "helm":
            old.helm("rollback", NAME, "--wait")
        else:
            move(old, first=False)
        sync_all(old, 3)

    held(up)
    checked = new.run("ingress-manager", "check", check=False)
    assert "✗" not in checked, checked
    assert "kubectl delete " not in checked, "nothing is left over"

    held(down)
