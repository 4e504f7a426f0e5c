"""Commands, as a person runs them who has this kubectl and `ingress-manager` on the PATH."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

from devcluster.build import REPOSITORY
from devcluster.control_plane import ControlPlane
from tools import markdown

Ended = subprocess.CompletedProcess[str]


def environment_of(plane: ControlPlane, kubeconfig: Path | None = None) -> dict[str, str]:
    """Return the environment in which they are found, and log in as the kubeconfig says: by default, as admin."""
    path = os.pathsep.join((str(Path(sys.executable).parent), str(plane.programs.kubectl.parent)))
    return os.environ | {"PATH": f"{path}:{os.environ['PATH']}", "KUBECONFIG": str(kubeconfig or plane.kubeconfig)}


def run(plane: ControlPlane, *arguments: str | Path, kubeconfig: Path | None = None) -> Ended:
    """Return what `kubectl ingress-manager` does, in the repository."""
    command = shlex.join(["kubectl", "ingress-manager", *map(str, arguments)])
    return sh(plane, command, kubeconfig=kubeconfig, check=False)


def sh(
    plane: ControlPlane,
    script: str,
    *,
    kubeconfig: Path | None = None,
    folder: Path = REPOSITORY,
    environment: dict[str, str] | None = None,
    check: bool = True,
) -> Ended:
    """Return what a script does, up to the first command that fails; that fails the test unless `check` is false."""
    ended = subprocess.run(
        ["sh", "-e", "-c", script],  # noqa: S607
        cwd=folder,
        env=environment_of(plane, kubeconfig) | (environment or {}),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert not check or ended.returncode == 0, f"{script}\n{ended.stdout}{ended.stderr}"
    return without_progress(ended)


def without_progress(ended: Ended) -> Ended:
    """Return what a command does without its lines about what takes long: that depends on how busy the machine is."""
    ended.stderr = "".join(line for line in ended.stderr.splitlines(keepends=True) if not line.startswith("… "))
    return ended


def fences(page: str) -> list[markdown.Fence]:
    """Return the blocks of code of a page, by its path in the repository."""
    return markdown.fences((REPOSITORY / page).read_text(encoding="utf-8"))


def commands_of(page: str) -> list[str]:
    """Return the commands that a page shows."""
    return [line for fence in fences(page) if fence.info == "sh" for line in fence.text.splitlines()]
