"""What is tried on a version: the story, end-to-end tests, and what else depends on it."""

import contextlib
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from unittest import mock

from devcluster.build import REPOSITORY, numbers
from devcluster.control_plane import ControlPlane
from devcluster.errors import CommandFailed
from devcluster.processes import Processes
from devcluster.programs import find_programs

ANYWHERE = (
    *("promises", "vocabulary", "story", "entrances", "tightened", "name_taken", "service_guard", "accepted"),
    *("admission", "httproute", "adopt", "uninstall"),
)
"""The end-to-end tests of what an API server or Metacontroller could do in another way: the promises, the admission
policies and the webhook, what is stored as it was sent, what the commands write. The others would see little that is
new: they send requests through Traefik, run the commands of a page, or measure."""

LATER = {"name-that-begins-with-a-digit": (1, 36)}
"""The cases of them that only Kubernetes from a version on can have: before, a Service's name begins with a letter."""

HTTPROUTES = ("httproute",)
"""Those that see the CRDs of the Gateway API as Services need them. What only newer CRDs have is for administrators."""

CHART = ("chart",)
ALONE = ("-k=another_name",)
"""Installs and removes the chart; HELM names the program. What waits for Pods is left out: Helm 3 asks for their
ReplicaSets, which no controller makes here."""


class Outcome(NamedTuple):
    """What came of something that has parts."""

    passed: int
    failed: list[str]

    def __str__(self) -> str:
        return f"{self.passed} of {self.passed + len(self.failed)}"


class Story(NamedTuple):
    """What came of the story, and on what it was played."""

    outcome: Outcome
    kubernetes: str
    metacontroller: str


def story(environment: Mapping[str, str], log: Path) -> Story:
    """Play the story as `make demo` does. Raises CommandFailed where it couldn't begin."""
    printed = run(("-m", "devcluster", "demo", "--engine=metacontroller"), environment, log)
    head = re.search(r"^On Kubernetes v(\S+), driven by Metacontroller v(\S+) ", printed, re.MULTILINE)
    steps = re.findall(r"^(✔|✘) +\d+\. +\S+ +(.*)$", printed, re.MULTILINE)
    if not head or not steps:
        raise CommandFailed(f"The story couldn't be played; {log} says why.")
    failed = [step for mark, step in steps if mark == "✘"]
    return Story(Outcome(len(steps) - len(failed), failed), *head.groups())


def tests(names: Sequence[str], environment: Mapping[str, str], log: Path, *options: str) -> Outcome:
    """Run the end-to-end tests of these names. Raises CommandFailed where none has run."""
    # As many processes as `make test` has would be too many for one more API server on a small machine.
    arguments = ("-m", "pytest", "--quiet", "--no-cov", "--thorough", "--numprocesses=2", "--dist=loadgroup", *options)
    printed = run((*arguments, *(f"tests/e2e/test_{name}.py" for name in names)), environment, log)
    passed = re.search(r"^(?:.* )?(\d+) passed\b.* in [\d.]+s", printed, re.MULTILINE)
    failed = sorted(set(re.findall(r"^(?:FAILED|ERROR) tests/e2e/([^\s@]+)", printed, re.MULTILINE)))
    if not passed and not failed:
        raise CommandFailed(f"No test has run; {log} says why.")
    return Outcome(int(passed[1]) if passed else 0, failed)


def without_later(version: str) -> list[str]:
    """Return the options that leave out the cases that a version of Kubernetes can't have."""
    names = [name for name, first in LATER.items() if numbers(version)[:2] < first]
    return [f"-k=not ({' or '.join(names)})"] if names else []


def run(arguments: Sequence[str], environment: Mapping[str, str], log: Path) -> str:
    """Return what Python prints with some arguments; it is in the log, too."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w") as file:
        subprocess.run(
            [sys.executable, *arguments],
            cwd=REPOSITORY,
            env=os.environ | environment,
            stdout=file,
            stderr=subprocess.STDOUT,
            check=False,
        )
    return log.read_text()


def refused_crds(
    folders: Mapping[str, Path], environment: Mapping[str, str], report: Callable[[str], None]
) -> dict[str, list[str]]:
    """Return which CRDs of each version the API server doesn't take, those versions left out of which it takes all.

    Raises CommandFailed where it says something else.
    """
    found: dict[str, list[str]] = {}
    with (
        mock.patch.dict(os.environ, environment),
        Processes() as processes,
        contextlib.closing(ControlPlane(find_programs(report), processes)) as plane,
    ):
        plane.start()
        plane.wait_ready()
        for version, folder in folders.items():
            try:
                plane.kubectl("apply", "--server-side", "--dry-run=server", f"--filename={folder}")
            except CommandFailed as failed:
                found[version] = re.findall(r'CustomResourceDefinition "(\w+)\.\S+" is invalid', str(failed))
                if not found[version]:
                    raise
    return found
