"""Renders the committed manifests, patched to run on this machine without Pods, and reads values from the result."""

import os
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from devcluster.build import REPOSITORY
from devcluster.errors import DevClusterError
from devcluster.processes import run
from devcluster.programs import find_kubectl

CONTROLLER = "ingress-manager"
"""The name of the DecoratorController, and of the hook's namespace and Deployment."""

ADMISSION = "ingress-manager-admission"
"""The name of the admission hook's Deployment and Service. Its Secret has this name with the suffix -tls."""

GATEWAY_CLASS = "ingress-manager"
"""The name of the gateway's IngressClass, and of its Gateway."""


@dataclass(frozen=True)
class Rendered:
    """Manifests as YAML, from kustomize or from the API server."""

    text: str

    def find(self, kind: str, name: str) -> dict[str, Any]:
        """Return the object with this kind and name. Raises DevClusterError if there is none."""
        for document in yaml.safe_load_all(self.text):
            if document["kind"] == kind and document["metadata"]["name"] == name:
                obj: dict[str, Any] = document
                return obj
        raise DevClusterError(f"there is no {kind} named {name}")

    def container(self, deployment: str) -> dict[str, Any]:
        """Return a Deployment's only container. Raises DevClusterError if there is no such Deployment."""
        [container] = self.find("Deployment", deployment)["spec"]["template"]["spec"]["containers"]
        return dict(container)

    def command(self, deployment: str, *options: str) -> list[str]:
        """Return a Deployment's command for sys.executable. `options` come before the last argument (the app)."""
        program, *arguments, application = self.container(deployment)["command"]
        return [sys.executable, "-m", program, *arguments, *options, application]

    def mounted(self, deployment: str) -> dict[str, str]:
        """Return the files that a Deployment's container mounts from ConfigMaps, as a map from path to content."""
        volumes = self.find("Deployment", deployment)["spec"]["template"]["spec"]["volumes"]
        maps = {volume["name"]: volume["configMap"]["name"] for volume in volumes if "configMap" in volume}
        files: dict[str, str] = {}
        for mount in self.container(deployment)["volumeMounts"]:
            path, name = mount["mountPath"], maps.get(mount["name"])
            data = self.find("ConfigMap", name)["data"] if name else {}
            if "subPath" in mount:
                files[path] = data[mount["subPath"]]
            else:
                files |= {f"{path}/{key}": content for key, content in data.items()}
        return files

    def settings(self) -> str:
        """Return the content of the settings file that the hook's Deployment mounts."""
        [path] = [variable["value"] for variable in self.container(CONTROLLER)["env"] if "SETTINGS" in variable["name"]]
        return self.mounted(CONTROLLER)[path]


@dataclass(frozen=True)
class Overlay:
    """A kustomization. `resources` and `components` are folders, relative to the repository's root."""

    resources: list[str]
    components: list[str] = field(default_factory=list)
    images: list[dict[str, str]] = field(default_factory=list)
    patches: list[dict[str, Any]] = field(default_factory=list)

    def patch(self, kind: str, name: str, *operations: tuple[str, str, Any]) -> None:
        """Add a JSON patch (RFC 6902) for one object. Each operation is (op, path, value)."""
        patched = [{"op": op, "path": path, "value": value} for op, path, value in operations]
        self.patches.append({"target": {"kind": kind, "name": name}, "patch": yaml.safe_dump(patched)})

    def write(self, folder: Path) -> str:
        """Write kustomization.yaml to an existing folder, and return its text."""

        def paths(names: list[str]) -> list[str]:
            # kustomize rejects absolute paths. The folder is resolved, because /tmp is a link on macOS.
            return [os.path.relpath(REPOSITORY / name, folder.resolve()) for name in names]

        folders = {"resources": paths(self.resources), "components": paths(self.components)}
        content: dict[str, Any] = {**folders, "images": self.images, "patches": self.patches}
        text = yaml.safe_dump({key: value for key, value in content.items() if value}, sort_keys=False)
        (folder / "kustomization.yaml").write_text(text)
        return text

    def render(self) -> Rendered:
        """Return the manifests that kustomize renders. Raises CommandFailed."""
        with tempfile.TemporaryDirectory() as folder:
            self.write(Path(folder))
            return Rendered(kustomize(Path(folder)))


def kustomize(folder: Path) -> str:
    """Return the manifests that kustomize builds from a folder. Raises CommandFailed."""
    return run(find_kubectl(), "kustomize", folder)
