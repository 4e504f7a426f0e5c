"""The objects of the manifests as kustomize builds them, and how to find one: `kubectl apply -k` sends them."""

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from devcluster.build import REPOSITORY
from devcluster.overlay import kustomize
from tools import markdown

Object = dict[str, Any]

Build = Callable[..., list[Object]]
"""Builds a kustomization: the fixture `build`."""


FOLDERS = ("manifests", "manifests/sample", "metacontroller", "gateway")
"""The folders that are applied."""


@cache
def rendered(folder: str) -> list[Object]:
    """Return the objects of a folder of the repository. They are the same ones for every caller: not to be changed."""
    return built(REPOSITORY / folder)


def built(folder: Path) -> list[Object]:
    """Return the objects that kustomize builds from a folder."""
    return list(yaml.load_all(kustomize(folder), yaml.CSafeLoader))


def find(folder: str, kind: str, name: str | None = None) -> Object:
    """Return the only object of a kind, and of a name if one is given, in a folder."""
    [found] = [item for item in rendered(folder) if item["kind"] == kind and name in (None, item["metadata"]["name"])]
    return found


def one(objects: list[Object], kind: str, name: str | None = None) -> Object:
    """Return the only object of a kind, and of a name, without the hash at its end, if one is given."""
    [found] = [item for item in objects if item["kind"] == kind and (name is None or name == name_of(item))]
    return found


def name_of(item: Object) -> str:
    """Return the name of an object, without the hash that kustomize puts at the end of a ConfigMap's."""
    name: str = item["metadata"]["name"]
    return re.sub(r"-[a-z0-9]{10}$", "", name) if item["kind"] == "ConfigMap" else name


def template(folder: str, name: str | None = None) -> Object:
    """Return the pod template of a folder's only Deployment, or of the one with that name."""
    result: Object = find(folder, "Deployment", name)["spec"]["template"]
    return result


def container(folder: str, name: str | None = None) -> Object:
    """Return the only container of that template."""
    [result] = template(folder, name)["spec"]["containers"]
    return dict(result)


def ports(folder: str, name: str | None = None) -> dict[str, int]:
    """Return the ports of that container by name."""
    return {port["name"]: port["containerPort"] for port in container(folder, name)["ports"]}


def kustomizations(page: str) -> list[Object]:
    """Return the kustomizations that a page shows."""
    fences = markdown.fences((REPOSITORY / page).read_text(encoding="utf-8"))
    shown = [item for fence in fences if fence.info == "yaml" for item in yaml.safe_load_all(fence.text)]
    return [item for item in shown if str(item.get("apiVersion")).startswith("kustomize.config.k8s.io/")]
