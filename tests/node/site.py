"""A checkout of this repository as an administrator has it, and ways to install from there on a node, and to remove.

The commands are those of the pages, as they are written.
"""

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import requests
import yaml

from devcluster.api import new_session, wait_for
from devcluster.build import REPOSITORY, get
from devcluster.cluster import CRD_FILE
from devcluster.node.node import Node
from tests.docs.test_docs import blocks
from tests.e2e.shell import Ended, environment_of, fences, sh
from tools import image
from tools.node_images import HOOK

CLASS = "ingress-manager"
SHOP = Path(__file__).with_name("shop.yaml")
"""A tenant's namespace and, in it, a Service with a Pod."""

HTTP_PORT = 30080
"""Where the gateway listens, by node-port/."""

NOT_COPIED = (".*", "*.egg-info", "__pycache__")
"""What a checkout doesn't hold, but for git's own."""


class Site:
    """A copy of a checkout whose settings name the gateway's class, and kustomizations beside it, as the pages say."""

    def __init__(self, node: Node, folder: Path, source: Path = REPOSITORY) -> None:
        self.node = node
        self.folder = folder / "checkout"
        shutil.copytree(source, self.folder, ignore=shutil.ignore_patterns(*NOT_COPIED))
        (self.folder / ".venv").symlink_to(REPOSITORY / ".venv")
        settings = self.folder / "manifests/settings.yaml"
        stated = settings.read_text(encoding="utf-8")
        settings.write_text(stated.replace("\n  class: nginx\n", f"\n  class: {CLASS}\n"), encoding="utf-8")
        self.kustomize("my-hook", ["../manifests"])
        self.kustomize("my-gateway", ["../gateway"], ["../tests/node/node-port"])
        name, tag, _ = image.split(HOOK)
        values = {"image": {"repository": name, "tag": tag}, "settings": {"defaults": {"class": CLASS}}}
        (self.folder / "my-values.yaml").write_text(yaml.safe_dump(values))

    def kustomize(self, name: str, resources: list[str], components: list[str] | None = None) -> None:
        """Write a kustomization of one's own, with the image."""
        content = {
            "apiVersion": "kustomize.config.k8s.io/v1beta1",
            "kind": "Kustomization",
            "resources": resources,
            "components": components or [],
            "images": [image.replacement(HOOK)],
        }
        (self.folder / name).mkdir()
        (self.folder / name / "kustomization.yaml").write_text(yaml.safe_dump(content))

    def run(self, script: str, *, check: bool = True) -> Ended:
        """Return what commands do, up to the first that fails, where Metacontroller's CRDs have been downloaded."""
        local = re.sub(r"https://\S*/metacontroller-crds-v1\.yaml", str(CRD_FILE), script)
        plane = self.node.control_plane
        path = f"{get('helm', print).parent}:{environment_of(plane)['PATH']}"
        environment = {"PATH": path, "HOME": str(self.folder.parent)}
        return sh(plane, local, folder=self.folder, environment=environment, check=check)

    def visit(self, host: str, path: str = "/") -> requests.Response:
        """Return the gateway's answer to a visitor, who comes by the node's port."""
        with new_session("visitor") as session:
            url = f"http://{self.node.address}:{HTTP_PORT}{path}"
            return session.get(url, headers={"Host": host, "Connection": "close"}, timeout=10)

    def until_answered(self, host: str, status: int, path: str = "/") -> requests.Response:
        """Return the gateway's answer once it has this status."""
        answers: list[requests.Response] = []

        def answered() -> bool:
            answers.append(self.visit(host, path))
            return answers[-1].status_code == status

        wait_for(answered, 30, what=f"the status {status} for {host}")
        return answers[-1]


class Way(NamedTuple):
    """A way to install, and how to remove what was installed so, with its Ingresses."""

    install: Callable[[Site], None]
    remove: Callable[[Site], None]


def make_install(site: Site) -> None:
    """Install as docs/install.md says."""
    assert "\nAll is well: " in site.run(f"make install IMAGE={HOOK} METACONTROLLER_CRDS={CRD_FILE} 2>&1").stdout


def make_uninstall(site: Site) -> None:
    """Remove as docs/uninstall.md says."""
    assert "It is removed." in site.run("make uninstall INGRESSES=remove YES=1 2>&1").stdout


def helm_install(site: Site) -> None:
    """Install as docs/helm.md says, and ask the hook by `helm test`."""
    metacontroller, install, *_ = blocks("helm.md", "sh")
    site.run(metacontroller)
    site.run(install)
    assert "Succeeded" in site.run("helm test ingress-manager --namespace ingress-manager").stdout


def helm_uninstall(site: Site) -> None:
    """Remove as docs/helm.md says, Metacontroller too."""
    *_, uninstall, metacontroller = blocks("helm.md", "sh")
    site.run(uninstall)
    site.run(metacontroller)


def apply(site: Site) -> None:
    """Install by `kubectl apply -k` alone, as metacontroller/README.md says, the hook first."""
    site.run("kubectl apply -k my-hook/")
    site.run("kubectl rollout status deployment ingress-manager --namespace ingress-manager --timeout=2m")
    site.run(next(fence.text for fence in fences("metacontroller/README.md") if fence.info == "sh"))


def delete(site: Site) -> None:
    """Remove as docs/commands/uninstall.md says, with `--remove`."""
    site.run("ingress-manager uninstall --remove --apply")


WAYS = {
    "make": Way(make_install, make_uninstall),
    "helm": Way(helm_install, helm_uninstall),
    "kubectl": Way(apply, delete),
}
