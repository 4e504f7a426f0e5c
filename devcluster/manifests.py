"""The manifests as kustomize builds them: what `kubectl apply -k` sends."""

from functools import cache
from pathlib import Path
from typing import Any

import yaml

from devcluster.build import REPOSITORY
from devcluster.processes import run
from devcluster.programs import find_kubectl

FOLDERS = ("manifests", "manifests/sample", "metacontroller", "gateway")
"""The folders that are applied."""


@cache
def rendered(folder: str) -> list[dict[str, Any]]:
    """Return the objects of a folder of the repository, as kustomize builds them.

    They are the same ones for every caller: not to be changed.
    """
    return built(REPOSITORY / folder)


def built(folder: Path) -> list[dict[str, Any]]:
    """Return the objects that kustomize builds from a folder."""
    return list(yaml.load_all(kustomize(folder), yaml.CSafeLoader))


def kustomize(folder: Path) -> str:
    """Return what kustomize builds from a folder. Raises CommandFailed."""
    return run(find_kubectl(), "kustomize", folder)


def find(folder: str, kind: str, name: str | None = None) -> dict[str, Any]:
    """Return the only object of a kind, and of a name if one is given, in a folder."""
    [found] = [item for item in rendered(folder) if item["kind"] == kind and name in (None, item["metadata"]["name"])]
    return found
