"""The engine, which calls the hook: Metacontroller or the stand-in for it."""

import re
import sys
from pathlib import Path
from typing import Any

from devcluster.errors import MissingProgram
from devcluster.programs import find_metacontroller

CHOICES = ("auto", "metacontroller", "standin")
"""`auto` is Metacontroller if it is on PATH, or else the stand-in."""

NAME = "metacontroller"
"""The name of Metacontroller's namespace, Deployment and ServiceAccount. The engine logs in as the ServiceAccount."""

USER = f"system:serviceaccount:{NAME}:{NAME}"
"""The user name by which the API server knows the engine."""


def find_engine(choice: str) -> Path | None:
    """Return Metacontroller's path, or None for the stand-in. Raises MissingProgram if the chosen engine is missing."""
    program = None if choice == "standin" else find_metacontroller()
    if choice == "metacontroller" and not program:
        raise MissingProgram(
            "`metacontroller` is not on PATH. Choose the engine `standin` instead, or install Metacontroller from\n"
            "https://github.com/metacontroller/metacontroller (no package registry has it)."
        )
    return program


def command(metacontroller: Path | None, container: dict[str, Any], kubeconfig: Path) -> list[str]:
    """Return a command to run in the repository: Metacontroller with the container's arguments, or the stand-in."""
    if not metacontroller:
        return [sys.executable, "-m", "devcluster.standin", "--kubeconfig", str(kubeconfig)]
    # Nothing here uses Metacontroller's health checks or metrics. If an option is repeated, its last value counts.
    no_ports = [f"--{port}-address=0" for port in ("metrics", "health-probe-bind", "pprof")]
    return [str(metacontroller), *container["args"], *no_ports, f"--kubeconfig={kubeconfig}"]


def name(metacontroller: Path | None, log: str = "") -> str:
    """Return the engine's name for display. If `log` contains Metacontroller's version, the name includes it."""
    if not metacontroller:
        return "the stand-in for Metacontroller"
    match = re.search(r'"version":\s*"(v?\d[^"]*)"', log)
    version = f" v{match[1].removeprefix('v')}" if match else ""
    return f"Metacontroller{version} ({metacontroller})"
