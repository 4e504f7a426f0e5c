"""The base of the image where no registry has it. That one can be made is what `make image-test` shows there."""

import re
import subprocess
from pathlib import Path

import pytest

from devcluster.build import REPOSITORY
from tools import base


def silent(_: str) -> None:
    pass


@pytest.fixture
def docker(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return what succeeds with docker, to which more can be added; loading does, and makes an image that is there."""
    succeeds = ["load"]

    def run(*arguments: str, **_: object) -> "subprocess.CompletedProcess[str]":
        command = " ".join(arguments)
        return subprocess.CompletedProcess(arguments, 0 if command.startswith(tuple(succeeds)) else 1, "", "")

    monkeypatch.setattr(base, "docker", run)
    monkeypatch.setattr(base, "made", lambda name, _: Path(f"made of {name}"))
    return succeeds


MADE = "localhost/ingress-manager-base:3.13.15-slim-trixie"


@pytest.mark.parametrize(
    ("succeeds", "used"),
    [
        ("image inspect python:3.13.15-slim-trixie", "python:3.13.15-slim-trixie"),
        (f"image inspect {MADE}", MADE),
        ("pull python:3.13.15-slim-trixie", "python:3.13.15-slim-trixie"),
        ("nothing more", MADE),
    ],
)
def test_a_base_is_made_only_where_there_is_none_and_no_registry_gives_one(
    docker: list[str], monkeypatch: pytest.MonkeyPatch, succeeds: str, used: str
) -> None:
    monkeypatch.setattr(base, "stated", lambda: "python:3.13.15-slim-trixie")
    docker.append(succeeds)
    assert base.usable(silent) == used


def test_a_base_is_made_with_the_python_and_the_debian_of_the_dockerfiles() -> None:
    assert base.parts("python:3.13.15-slim-trixie") == ("3.13", "trixie")
    python, _ = base.parts(base.stated())
    lock = re.search(r"--python-version (\S+)", (REPOSITORY / "Makefile").read_text(encoding="utf-8"))
    assert lock is not None
    assert lock[1] == python, "what requirements.txt pins is for this Python"


def test_a_base_that_names_no_debian_is_said_to_be_missing() -> None:
    with pytest.raises(base.NoBaseError, match=r"has the base image registry\.example\.com/python:3\.13, "):
        base.parts("registry.example.com/python:3.13")
