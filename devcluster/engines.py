"""The engine: what drives the hook, Metacontroller or the stand-in for it."""

import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from devcluster.errors import MissingProgram
from devcluster.programs import find_metacontroller

CHOICES = ("auto", "metacontroller", "standin")
"""`auto` is Metacontroller when there is one on PATH."""


@dataclass(frozen=True)
class Engine:
    """Metacontroller or the stand-in, with the arguments and the ServiceAccount of the Deployment in the manifests."""

    deployment: dict[str, Any]
    metacontroller: Path | None
    """None for the stand-in."""

    @property
    def namespace(self) -> str:
        """The namespace it runs in."""
        namespace: str = self.deployment["metadata"]["namespace"]
        return namespace

    @property
    def service_account(self) -> str:
        """The name of the ServiceAccount it logs in as."""
        name: str = self.deployment["spec"]["template"]["spec"]["serviceAccountName"]
        return name

    @property
    def user(self) -> str:
        """The user that the API server takes it for."""
        return f"system:serviceaccount:{self.namespace}:{self.service_account}"

    def command(self, kubeconfig: Path) -> list[str]:
        """Return the command that runs it, in the repository's folder."""
        if not self.metacontroller:
            return [sys.executable, "-m", "devcluster.standin", "--kubeconfig", str(kubeconfig)]
        [container] = self.deployment["spec"]["template"]["spec"]["containers"]
        return [str(self.metacontroller), *adapted(container["args"]), f"--kubeconfig={kubeconfig}"]

    def name(self, log: str) -> str:
        """Return its name for a person. Metacontroller states its version nowhere but in its log."""
        if not self.metacontroller:
            return "the stand-in for Metacontroller"
        found = re.search(r'"version":\s*"(v?\d[^"]*)"', log)
        version = f" v{found[1].removeprefix('v')}" if found else ""
        return f"Metacontroller{version} ({self.metacontroller})"


def find_engine(choice: str, deployment: dict[str, Any]) -> Engine:
    """Return the engine for one of CHOICES; raises MissingProgram."""
    program = None if choice == "standin" else find_metacontroller()
    if choice == "metacontroller" and not program:
        raise MissingProgram(
            "There is no `metacontroller` on PATH; the engine `standin` can be used in its place.\n"
            "It is at https://github.com/metacontroller/metacontroller; no package registry has it."
        )
    return Engine(deployment, program)


def adapted(arguments: list[str]) -> list[str]:
    """Return the Deployment's arguments without its ports: nothing here checks its health or reads its metrics."""
    ports = ("metrics-address", "health-probe-bind-address", "pprof-address")
    kept = [argument for argument in arguments if argument.lstrip("-").partition("=")[0] not in ports]
    return kept + [f"--{port}=0" for port in ports]
