"""The overlay: the committed manifests, patched for a machine without Pods, and what is read from the result."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from devcluster.build import REPOSITORY
from devcluster.errors import DevClusterError

BASES = ("manifests", "metacontroller")
"""The folders that are applied: the hook's, and Metacontroller's with the DecoratorController."""

CONTROLLER = "ingress-manager"
"""The name of the DecoratorController."""


@dataclass(frozen=True)
class Rendered:
    """What kustomize made of the overlay."""

    text: str

    def find(self, kind: str, name: str) -> dict[str, Any]:
        """Return the object of that kind and name; raises DevClusterError when the manifests hold none."""
        for document in yaml.safe_load_all(self.text):
            if document["kind"] == kind and document["metadata"]["name"] == name:
                found: dict[str, Any] = document
                return found
        raise DevClusterError(f"the manifests hold no {kind} named {name}")

    def settings(self) -> str:
        """Return the settings file that the hook's Deployment mounts, found as the pod would find it.

        Raises DevClusterError when the Deployment does not lead to one.
        """
        pod = self.find("Deployment", "ingress-manager")["spec"]["template"]["spec"]
        try:
            [container] = pod["containers"]
            [path] = [Path(env["value"]) for env in container["env"] if env["name"] == "INGRESS_MANAGER_SETTINGS"]
            [mount] = [mount for mount in container["volumeMounts"] if mount["mountPath"] == str(path.parent)]
            [volume] = [volume for volume in pod["volumes"] if volume["name"] == mount["name"]]
            content: str = self.find("ConfigMap", volume["configMap"]["name"])["data"][path.name]
        except (KeyError, ValueError) as error:
            raise DevClusterError(f"the hook's Deployment leads to no settings file: {error!r}") from error
        return content


def render(folder: Path, hook_url: str, resync: int | None, kubectl: Callable[..., str]) -> Rendered:
    """Write the overlay into a new folder and return what kustomize makes of it.

    Raises CommandFailed when the manifests are not as the patches expect them.
    """
    folder.mkdir()
    # kustomize takes no absolute path for a base.
    bases = [os.path.relpath(REPOSITORY / base, folder) for base in BASES]
    patch = {
        "target": {"kind": "DecoratorController", "name": CONTROLLER},
        "patch": yaml.safe_dump(operations(hook_url, resync)),
    }
    kustomization = {"resources": bases, "patches": [patch]}
    (folder / "kustomization.yaml").write_text(yaml.safe_dump(kustomization))
    return Rendered(kubectl("kustomize", str(folder)))


def operations(hook_url: str, resync: int | None) -> list[dict[str, Any]]:
    """Return the JSON patch (RFC 6902) of the DecoratorController.

    It names the hook by its URL, since no Service has a Pod here, and it may set how often all Services are synced.
    """
    webhook = "/spec/hooks/sync/webhook"
    result: list[dict[str, Any]] = [
        {"op": "remove", "path": f"{webhook}/service"},
        {"op": "remove", "path": f"{webhook}/path"},
        {"op": "add", "path": f"{webhook}/url", "value": f"{hook_url}/sync"},
    ]
    if resync is not None:
        result.append({"op": "add", "path": "/spec/resyncPeriodSeconds", "value": resync})
    return result
