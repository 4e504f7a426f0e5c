"""The engine: Metacontroller, which drives the hook."""

import re
from pathlib import Path
from typing import Any

NAME = "metacontroller"
"""The name of Metacontroller's namespace, Deployment and ServiceAccount, as which the engine logs in."""

USER = f"system:serviceaccount:{NAME}:{NAME}"
"""The user that the API server takes the engine for."""


def command(metacontroller: Path, deployment: dict[str, Any], kubeconfig: Path) -> list[str]:
    """Return the command that runs the engine with the Deployment's arguments."""
    [container] = deployment["spec"]["template"]["spec"]["containers"]
    return [str(metacontroller), *adapted(container["args"]), f"--kubeconfig={kubeconfig}"]


def name(metacontroller: Path, log: str) -> str:
    """Return the engine's name for a person. Metacontroller states its version nowhere but in its log."""
    found = re.search(r'"version":\s*"(v?\d[^"]*)"', log)
    version = f" v{found[1].removeprefix('v')}" if found else ""
    return f"Metacontroller{version} ({metacontroller})"


def adapted(arguments: list[str]) -> list[str]:
    """Return the Deployment's arguments without its ports: nothing here checks its health or reads its metrics."""
    ports = ("metrics-address", "health-probe-bind-address", "pprof-address")
    kept = [argument for argument in arguments if argument.lstrip("-").partition("=")[0] not in ports]
    return kept + [f"--{port}=0" for port in ports]
