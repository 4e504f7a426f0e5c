"""Containers of the image, run hardened as the manifests say, by docker or podman."""

import contextlib
import json
import os
import shlex
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from devcluster.errors import CommandFailed
from devcluster.manifests import find
from tools import image

SETTINGS = "/etc/ingress-manager/settings.yaml"


@cache
def runner() -> str:
    """Return the program that runs images here. Raises MissingProgram when there is none."""
    return image.find(image.RUNNERS)


def docker(
    *arguments: str, stdin: str = "", check: bool = True, timeout: float = 120
) -> "subprocess.CompletedProcess[str]":
    """Return what docker or podman did. Raises CommandFailed when it failed and `check` is set, and MissingProgram."""
    command = [runner(), *arguments]
    ended = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=timeout, check=False)
    if ended.returncode and check:
        raise CommandFailed(f"{shlex.join(command)}: {ended.stdout}{ended.stderr}")
    return ended


def hardened(folder: str, deployment: str) -> list[str]:
    """Return the options that run a container as its Deployment says."""
    pod = find(folder, "Deployment", deployment)["spec"]["template"]["spec"]
    [container] = pod["containers"]
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
def running(name: str, *arguments: str) -> Iterator[Container]:
    """Run a container without a network; the arguments are options, the image and its own. It is removed at the end."""
    begun = time.time()
    docker("run", "--detach", f"--name={name}", "--network=none", *arguments)
    try:
        yield Container(name, begun)
    finally:
        docker("rm", "--force", "--volumes", name, check=False)
