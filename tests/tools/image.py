"""The image, built once and run hardened as the manifests say, by docker or podman."""

import contextlib
import json
import os
import re
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from devcluster import build
from devcluster.build import REPOSITORY
from devcluster.errors import MissingProgram
from devcluster.manifests import find
from tools import image

NAME = "localhost/ingress-manager:tested"
BASE = re.findall(r"^ARG BASE=(\S+)$", (REPOSITORY / "Dockerfile").read_text(encoding="utf-8"), re.MULTILINE)[0]
SETTINGS = "/etc/ingress-manager/settings.yaml"
MEBIBYTE = 1024 * 1024


@cache
def runner() -> str:
    """Return the program that runs the image; skip the test where there is none."""
    try:
        return image.find(image.RUNNERS)
    except MissingProgram as missing:
        pytest.skip(f"THE IMAGE WAS NEITHER BUILT NOR RUN. {missing}")


def base() -> str:
    """Return the base that the image is built on; skip the test where this machine doesn't have it."""
    name = os.environ.get("BASE") or BASE
    if docker("image", "inspect", name, check=False).returncode:
        pytest.skip(
            f"THE IMAGE WAS NEITHER BUILT NOR RUN: {runner()} has no base image {name}. "
            f"`{runner()} pull {name}` gets it; docs/install.md says how to make one."
        )
    return name


@cache
def built() -> str:
    """Build the image as docs/install.md says, and return its name; skip the test where that can't be done."""
    name = base()
    build.BUILD.mkdir(exist_ok=True)
    with build.lock(build.BUILD / "image.lock", print):
        command = ["make", "image", f"IMAGE={NAME}", f"BASE={name}", f"BUILDER={runner()}"]
        ended = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=900, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return NAME


def docker(*arguments: str, stdin: str = "", check: bool = True) -> "subprocess.CompletedProcess[str]":
    """Return what docker or podman did."""
    command = [runner(), *arguments]
    ended = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 0 or not check, f"{command}: {ended.stdout}{ended.stderr}"
    return ended


def inspected(name: str) -> dict[str, Any]:
    """Return what is known about an image."""
    [found] = json.loads(docker("image", "inspect", name).stdout)
    return dict(found)


def hardened(folder: str, deployment: str) -> list[str]:
    """Return the options that run a container as its Deployment says."""
    pod = find(folder, "Deployment", deployment)["spec"]["template"]["spec"]
    [container] = pod["containers"]
    assert pod["securityContext"] == {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    memory = container["resources"]["limits"]["memory"].removesuffix("i").lower()
    options = ["--read-only", "--security-opt=no-new-privileges", "--cap-drop=ALL", f"--memory={memory}"]
    if runner() == "podman":
        # podman would make more folders writable than the kubelet does, which gives a container /dev/shm alone.
        options += ["--read-only-tmpfs=false", "--tmpfs=/dev/shm"]
    return options


def with_settings(file: Path) -> list[str]:
    """Return the options that mount a settings file, as the hook's Deployment does."""
    return [f"--volume={file}:{SETTINGS}:ro", f"--env=INGRESS_MANAGER_SETTINGS={SETTINGS}"]


INHERITED = ("HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "CONTAINERS_CONF", "DOCKER_HOST")
"""The variables with which docker and podman find their images: the cluster's processes have a HOME of their own."""


def serving(name: str, image: str, port: int, settings: Path) -> list[str]:
    """Return the command that runs a hook in a container as the manifests say, on a port of this machine's loopback."""
    found = [f"{variable}={os.environ[variable]}" for variable in INHERITED if variable in os.environ]
    options = [*hardened("manifests", "ingress-manager"), *with_settings(settings)]
    run = [runner(), "run", "--rm", f"--name={name}", "--network=host", *options, image]
    return ["env", *found, *run, f"--bind=127.0.0.1:{port}"]


ASK = """
import http.client, json, sys, time
answers, until = [], time.monotonic() + 60
for method, port, path, body in json.load(sys.stdin):
    while True:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        try:
            connection.request(method, path, body)
            answer = connection.getresponse()
            break
        except ConnectionRefusedError:
            if time.monotonic() > until:
                raise
            time.sleep(0.01)
    answers.append([answer.status, answer.read().decode(), time.time()])
json.dump(answers, sys.stdout)
"""
"""What asks inside a container, which nothing can reach from outside. It waits until somebody listens."""


@dataclass
class Answer:
    """What was answered, and when, in seconds since the epoch."""

    status: int
    text: str
    at: float


@dataclass
class Container:
    """A container that runs, and has no network but its own loopback."""

    name: str
    started: float
    """When its start was asked for, in seconds since the epoch."""

    def ask(self, *requests: tuple[str, int, str, str | None]) -> list[Answer]:
        """Return the answers to some requests, each with its method, port, path and body, made inside of it."""
        said = self.execute("-c", ASK, stdin=json.dumps(requests))
        return [Answer(*answer) for answer in json.loads(said)]

    def execute(self, *arguments: str, stdin: str = "") -> str:
        """Return what Python prints inside of it."""
        return docker("exec", "--interactive", self.name, "python", *arguments, stdin=stdin).stdout

    @property
    def pid(self) -> int:
        """The id of its first process, as this machine sees it."""
        return int(docker("inspect", "--format={{.State.Pid}}", self.name).stdout)

    def stop(self) -> tuple[int, float]:
        """Send it SIGTERM; return its exit status, and after how many seconds it had ended."""
        begun = time.monotonic()
        docker("kill", "--signal=TERM", self.name)
        status = int(docker("wait", self.name).stdout)
        return status, time.monotonic() - begun


@contextlib.contextmanager
def running(name: str, options: Sequence[str], *command: str) -> Iterator[Container]:
    """Run the image with these options of docker and podman; the container is removed at the end."""
    begun = time.time()
    docker("run", "--detach", f"--name={name}", "--network=none", *options, built(), *command)
    try:
        yield Container(name, begun)
    finally:
        docker("rm", "--force", "--volumes", name, check=False)
