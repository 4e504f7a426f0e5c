"""`python -m tools.node`, as a person uses it: what it prints is typed as it stands."""

import re
import sys

import pytest

from devcluster.api import wait_for
from devcluster.node import namespaces
from tools import pages

PATIENCE = 30
MAY_COME_LATER = ("kubectl get ", "curl ")


def run(shell: pages.Shell, command: str) -> str:
    """Return what a command prints once it succeeds: at once, but for one that looks."""
    answers: list[str] = []

    def succeeds() -> bool:
        answers.append(shell.run(f"{command} </dev/null && echo it succeeds"))
        return answers[-1].endswith("it succeeds\n")

    if command.startswith(MAY_COME_LATER):
        wait_for(succeeds, PATIENCE, what=command)
    else:
        assert succeeds(), f"{command}\n{answers[-1]}"
    return answers[-1]


def test_a_second_terminal_needs_one_line_and_what_is_typed_there_has_its_effect() -> None:
    if reason := namespaces.lacking():
        pytest.skip(reason)
    with pages.shell_beside(sys.executable, "-m", "tools.node") as shell:
        install, *others = re.findall(r"^  ((?:make|kubectl|curl) .*)$", shell.welcome, re.MULTILINE)
        assert "\nIt is installed." in run(shell, install)
        printed = [run(shell, command) for command in others]
    assert "host: web.example.com\n" in printed[-2]
    assert "Directory listing for /" in printed[-1]
