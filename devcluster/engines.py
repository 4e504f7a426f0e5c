"""The engine: what drives the hook, Metacontroller or the stand-in for it."""

import re
import sys
from pathlib import Path
from typing import Any

from devcluster.errors import MissingProgram
from devcluster.programs import find_metacontroller

CHOICES = ("auto", "metacontroller", "standin")
"""`auto` is Metacontroller when there is one on PATH."""

NAME = "metacontroller"
"""The name of Metacontroller's namespace, Deployment and ServiceAccount, as which the engine logs in."""

USER = f"system:serviceaccount:{NAME}:{NAME}"
"""The user that the API server takes the engine for."""


def find_engine(choice: str) -> Path | None:
    """Return Metacontroller, or None for the stand-in, by one of CHOICES; raises MissingProgram."""
    program = None if choice == "standin" else find_metacontroller()
    if choice == "metacontroller" and not program:
        raise MissingProgram(
            "There is no `metacontroller` on PATH; the engine `standin` can be used in its place.\n"
            "It is at https://github.com/metacontroller/metacontroller; no package registry has it."
        )
    return program


def command(metacontroller: Path | None, container: dict[str, Any], kubeconfig: Path) -> list[str]:
    """Return the command that runs the engine in the repository's folder, with the arguments of its container."""
    if not metacontroller:
        return [sys.executable, "-m", "devcluster.standin", "--kubeconfig", str(kubeconfig)]
    # Nothing here checks its health or reads its metrics. Of two values of an option, the last counts.
    no_ports = [f"--{port}-address=0" for port in ("metrics", "health-probe-bind", "pprof")]
    return [str(metacontroller), *container["args"], *no_ports, f"--kubeconfig={kubeconfig}"]


def name(metacontroller: Path | None, log: str = "") -> str:
    """Return the engine's name for a person. Metacontroller states its version nowhere but in its log."""
    if not metacontroller:
        return "the stand-in for Metacontroller"
    match = re.search(r'"version":\s*"(v?\d[^"]*)"', log)
    version = f" v{match[1].removeprefix('v')}" if match else ""
    return f"Metacontroller{version} ({metacontroller})"
