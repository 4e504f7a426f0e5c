"""The tutorial and other pages: each of their commands is run on a cluster of `make cluster`, and prints what is shown.

`python -m tests.e2e.test_pages` writes it.
"""

import contextlib
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, cast

import click
import pytest

from devcluster import gateway
from devcluster.build import REPOSITORY
from devcluster.console import Command, end_on_signals, progress
from devcluster.errors import DevClusterError
from devcluster.programs import find_metacontroller
from tests.e2e.conftest import require
from tests.e2e.people import commands_of
from tools import markdown
from tools.markdown import Typed, played

PAGES = {
    REPOSITORY / "docs/tutorial.md": None,
    REPOSITORY / "docs/admission.md": None,
    REPOSITORY / "docs/troubleshooting.md": REPOSITORY / "docs/commands/examples/troubles.yaml",
}
"""The pages, and the objects that are there when the commands of one are run."""

CONSOLE = "console cluster"
"""The kind of the blocks whose commands are run on a cluster."""

READS = re.compile(r"kubectl (get|describe|events)|curl|ingress-manager (audit|status)")
"""Commands that only look. What they see may take a moment to be there, and they can be repeated."""

PATIENCE = 20.0
"""Seconds in which a command that looks has to see what is on the page."""

SETTLED = 3.0
"""Seconds after which it is written to the page what a command sees."""

VARIES = (
    # The API server tells of the address of a Service that it hasn't yet noted, and not each time.
    (re.compile(r"^.* ClusterIPNotAllocated .*\n", re.MULTILINE), ""),
    (re.compile(r"127\.\d+\.\d+\.\d+"), "ADDRESS"),
    (re.compile(r"(?<=ADDRESS:)\d+"), "PORT"),
    (re.compile(r"\b(?:\d+(?:h|m|s|ms))+(?: \(x\d+ over (?:\d+(?:h|m|s))+\))?(?!\w)"), "TIME"),
    (re.compile(r"(?<=ingress-manager-settings-)\w+"), "HASH"),
    (re.compile(r" {2,}"), "  "),
    (re.compile(r" +$", re.MULTILINE), ""),
)
"""What is different each time, and what it is compared as."""


def masked(text: str) -> str:
    """Return the text without what is different each time."""
    for pattern, placeholder in VARIES:
        text = pattern.sub(placeholder, text)
    return text


class Shell:
    """A bash in which commands are run one after the other, as somebody types them."""

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._bash = subprocess.Popen(
            ["bash", "--norc"],  # noqa: S607
            cwd=REPOSITORY,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self._keyboard, self._screen = cast(IO[str], self._bash.stdin), cast(IO[str], self._bash.stdout)

    def __enter__(self) -> "Shell":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        # What runs in the background ends, too.
        os.killpg(self._bash.pid, signal.SIGKILL)
        self._bash.communicate()

    def run(self, command: str) -> str:
        """Return what a command prints, on both streams. Raises DevClusterError when the shell has ended."""
        end = "--end of the output--"
        self._keyboard.write(f"{command}\nprintf '%s\\n' '{end}'\n")
        self._keyboard.flush()
        printed = ""
        while not printed.endswith(f"{end}\n"):
            line = self._screen.readline()
            if not line:
                raise DevClusterError(f"the shell has ended at: {command}")
            printed += line
        return printed.removesuffix(f"{end}\n")

    def see(self, each: Typed) -> str:
        """Return what a command prints: if it only looks, once that is what the page shows, or patience ends."""
        until = time.monotonic() + self._patience
        printed = self.run(each.command)
        while READS.match(each.command) and masked(printed) != masked(each.shown) and time.monotonic() < until:
            time.sleep(0.2)
            printed = self.run(each.command)
        return printed


@contextlib.contextmanager
def cluster_shell(engine: str, patience: float = PATIENCE) -> Iterator[Shell]:
    """Yield a shell in which is typed what `make cluster` tells to; end the cluster afterwards."""
    cluster = subprocess.Popen(
        ["make", "cluster", f"ENGINE={engine}"],  # noqa: S607
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        screen, welcome = cast(IO[str], cluster.stdout), ""
        while "Ctrl-C ends it." not in welcome:
            line = screen.readline()
            if not line:
                raise DevClusterError(f"`make cluster` has ended, and printed: {welcome}")
            welcome += line
        with Shell(patience) as shell:
            for export in re.findall(r"^ +(export .*)$", welcome, re.MULTILINE):
                shell.run(export)
            yield shell
    finally:
        # `make` passes a signal on to nobody, so the whole group gets it.
        # SIGINT would be ignored where a shell has started the tests in the background.
        os.killpg(cluster.pid, signal.SIGTERM)
        cluster.communicate(timeout=60)


def play(path: Path, shell: Shell) -> str:
    """Return a page with what its commands print in the shell."""
    objects = PAGES[path]
    if objects:
        shell.run(f"kubectl apply --filename {objects}")
    page = played(path.read_text(encoding="utf-8"), CONSOLE, shell.see)
    if objects:
        shell.run(f"kubectl delete --filename {objects}")
    return page


@pytest.fixture(scope="module")
def shell() -> Iterator[Shell]:
    """Yield a shell beside a cluster that `make cluster` has started."""
    require()
    if reason := gateway.lacking():
        pytest.skip(reason)
    if find_metacontroller() is None:
        pytest.skip("The pages show what Metacontroller says, and there is no `metacontroller` on PATH.")
    with cluster_shell("metacontroller") as started:
        yield started


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_every_command_prints_what_the_page_shows(shell: Shell, path: Path) -> None:
    page = path.read_text(encoding="utf-8")
    assert markdown.typed(page, CONSOLE)
    assert masked(play(path, shell)) == masked(page), "`python -m tests.e2e.test_pages` writes it"


def test_every_command_that_is_shown_without_its_output_works(shell: Shell) -> None:
    shell.run(f"cd {REPOSITORY / 'docs/commands/examples'} && kubectl apply --filename troubles.yaml")
    shell.run("kubectl wait --for=create ingress/wiki --namespace team-a")
    try:
        for name in ("operating.md", "refusals.md", "tenants.md"):
            commands = commands_of(f"docs/{name}")
            assert commands
            for command in commands:
                printed = shell.run(f"{command}; echo exit status $?")
                # `audit` ends with 1 when something is found, and `adopt` when an Ingress can't be adopted.
                may_find = " audit " in command or " adopt " in command
                ends = ("exit status 0\n", "exit status 1\n") if may_find else "exit status 0\n"
                assert printed.endswith(ends), printed
    finally:
        shell.run(f"kubectl delete --filename troubles.yaml; cd {REPOSITORY}")


@click.command(cls=Command, context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Write into docs/tutorial.md and docs/troubleshooting.md what their commands print on a cluster of `make cluster`.

    What is as it was, but for addresses and times, is left as it is.
    """
    with progress() as report, cluster_shell("metacontroller", SETTLED) as shell:
        for path in PAGES:
            report(f"running the commands of {path.relative_to(REPOSITORY)}")
            after = play(path, shell)
            if masked(after) != masked(path.read_text(encoding="utf-8")):
                path.write_text(after, encoding="utf-8")


if __name__ == "__main__":
    end_on_signals()
    main(prog_name="python -m tests.e2e.test_pages")
