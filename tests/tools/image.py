"""The image, built once for all tests that run it."""

import json
import os
import re
import subprocess
from functools import cache
from typing import Any

import pytest

from devcluster import build
from devcluster.build import REPOSITORY
from devcluster.errors import MissingProgram
from tools.containers import docker, runner

NAME = "localhost/ingress-manager:tested"
BASE = re.findall(r"^ARG BASE=(\S+)$", (REPOSITORY / "Dockerfile").read_text(encoding="utf-8"), re.MULTILINE)[0]


def base() -> str:
    """Return the base that the image is built on; skip the test where this machine can't use it."""
    name = os.environ.get("BASE") or BASE
    try:
        there = docker("image", "inspect", name, check=False).returncode == 0
    except MissingProgram as missing:
        pytest.skip(f"THE IMAGE WAS NEITHER BUILT NOR RUN. {missing}")
    if not there:
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


def inspected(name: str) -> dict[str, Any]:
    """Return what is known about an image."""
    [found] = json.loads(docker("image", "inspect", name).stdout)
    return dict(found)
