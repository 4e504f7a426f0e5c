"""The manifests' objects as kustomize builds them, like `kubectl apply -k`, and functions to find one."""

import os
import re
import tempfile
from functools import cache
from pathlib import Path

import yaml

from devcluster.api import Object
from devcluster.build import REPOSITORY
from devcluster.cluster import CRD_FILE
from devcluster.overlay import kustomize
from tools import markdown
from tools.install import METACONTROLLER_CRDS

FOLDERS = ("manifests", "manifests/sample", "metacontroller", "gateway")


@cache
def rendered(folder: str) -> list[Object]:
    """Return the objects of a folder in the repository. They are cached, so callers must not change them."""
    return built(REPOSITORY / folder)


def built(folder: Path) -> list[Object]:
    return list(yaml.load_all(kustomize(folder), yaml.CSafeLoader))


def build(kustomization: Object) -> list[Object]:
    """Return the objects of a kustomization, as if its folder were in the repository's root."""
    with tempfile.TemporaryDirectory() as name:
        own = Path(name).resolve()
        # Tests can't download Metacontroller's CRDs, so they use local ones for the same kinds.
        text = yaml.safe_dump(kustomization).replace(METACONTROLLER_CRDS, "crds.yaml")
        text = re.sub(r"\.\./(?:(?:\.\./)?ingress-manager/)?(?=[a-z])", f"{os.path.relpath(REPOSITORY, own)}/", text)
        (own / "kustomization.yaml").write_text(text, encoding="utf-8")
        (own / "crds.yaml").write_bytes(CRD_FILE.read_bytes())
        return built(own)


def find(folder: str, kind: str, name: str | None = None) -> Object:
    return one(rendered(folder), kind, name)


def one(objects: list[Object], kind: str, name: str | None = None) -> Object:
    """Return the only object of a kind, and of a name if one is given."""
    [found] = [item for item in objects if item["kind"] == kind and name in (None, item["metadata"]["name"])]
    return found


def template(folder: str, name: str | None = None) -> Object:
    """Return the Pod template of a folder's only Deployment, or of the one with this name."""
    result: Object = find(folder, "Deployment", name)["spec"]["template"]
    return result


def container(folder: str, name: str | None = None) -> Object:
    [result] = template(folder, name)["spec"]["containers"]
    return dict(result)


def ports(folder: str, name: str | None = None) -> dict[str, int]:
    return {port["name"]: port["containerPort"] for port in container(folder, name)["ports"]}


def kustomizations(page: str) -> list[Object]:
    fences = markdown.fences((REPOSITORY / page).read_text(encoding="utf-8"))
    shown = [item for fence in fences if fence.info == "yaml" for item in yaml.safe_load_all(fence.text)]
    return [item for item in shown if str(item.get("apiVersion")).startswith("kustomize.config.k8s.io/")]
