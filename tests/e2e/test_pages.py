"""The tutorial and other pages: each command runs on a cluster of `make cluster`, and prints the output that is shown.

With $WRITE, the page is updated with the actual output.
"""

import contextlib
import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from devcluster import gateway
from devcluster.backend import Backend
from devcluster.build import REPOSITORY
from devcluster.errors import DevClusterError
from tests.e2e.objects import ready_endpoint
from tests.e2e.people import commands_of
from tools import markdown

EXAMPLES = REPOSITORY / "docs/commands/examples"
PAGES = {"tutorial.md": None, "admission.md": None, "troubleshooting.md": EXAMPLES / "troubles.yaml"}
"""The pages, and the file of objects to create before a page's commands run."""

CONSOLE = "console cluster"

READS = re.compile(r"kubectl (get|describe|events)|curl|ingress-manager (audit|status)")
"""Read-only commands. They are repeated, because the expected state may take a moment."""

PATIENCE = 20.0

VARIES = (
    # The API server sometimes reports a Service's address as not yet allocated.
    (re.compile(r"^.* ClusterIPNotAllocated .*\n", re.MULTILINE), ""),
    (re.compile(r"127\.\d+\.\d+\.\d+"), "ADDRESS"),
    (re.compile(r"(?<=ADDRESS:)\d+"), "PORT"),
    (re.compile(r"\b(?:\d+(?:h|m|s|ms))+(?: \(x\d+ over (?:\d+(?:h|m|s))+\))?(?!\w)"), "TIME"),
    (re.compile(r"(?<=ingress-manager-settings-)\w+"), "HASH"),
    (re.compile(r" {2,}"), "  "),
    (re.compile(r" +$", re.MULTILINE), ""),
)
"""Patterns for varying output, and their replacements for the comparison."""


def masked(text: str) -> str:
    for pattern, placeholder in VARIES:
        text = pattern.sub(placeholder, text)
    return text


class Program:
    """A program whose output is read while it runs. When the context ends, its process group is terminated."""

    def __init__(self, *command: str) -> None:
        self._process = subprocess.Popen(
            command,
            cwd=REPOSITORY,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def __enter__(self) -> "Program":
        return self

    def __exit__(self, *_: object) -> None:
        # `make` doesn't forward signals, so the whole group gets one. SIGINT would be ignored if a shell started the
        # tests in the background.
        os.killpg(self._process.pid, signal.SIGTERM)
        self._process.communicate(timeout=60)

    def until(self, end: str) -> str:
        """Return the output up to this text. Raises DevClusterError if the program ends without it."""
        printed = ""
        for line in cast(Iterator[str], self._process.stdout):
            printed += line
            if end in line:
                return printed.partition(end)[0]
        raise DevClusterError(f"{self._process.args!r} has ended, and printed: {printed}")

    def run(self, command: str) -> str:
        """Return the output of a command typed into a shell."""
        end = "--end of the output--"
        print(f"{command}\nprintf '%s\\n' '{end}'", file=self._process.stdin, flush=True)
        return self.until(end)

    def see(self, each: markdown.Typed) -> str:
        """Return a command's output. A read-only one is repeated, up to PATIENCE, until the output is the page's."""
        until = time.monotonic() + PATIENCE
        printed = self.run(each.command)
        while READS.match(each.command) and masked(printed) != masked(each.shown) and time.monotonic() < until:
            time.sleep(0.2)
            printed = self.run(each.command)
        return printed


@pytest.fixture(scope="module")
def shell(metacontroller: None) -> Iterator[Program]:  # noqa: ARG001 - pages show its Events
    """Yield a shell with the environment that `make cluster` prints."""
    if reason := gateway.why_unavailable():
        pytest.skip(reason)
    with Program("make", "cluster", "ENGINE=metacontroller") as cluster:
        welcome = cluster.until("Ctrl-C stops the cluster.")
        with Program("bash", "--norc") as shell:
            for export in re.findall(r"^ +(export .*)$", welcome, re.MULTILINE):
                shell.run(export)
            yield shell


@contextlib.contextmanager
def applied(shell: Program, objects: Path | None) -> Iterator[None]:
    if objects:
        shell.run(f"kubectl apply --filename {objects}")
    try:
        yield
    finally:
        if objects:
            shell.run(f"kubectl delete --filename {objects}")


@pytest.mark.parametrize("name", PAGES)
def test_every_command_prints_what_the_page_shows(shell: Program, name: str) -> None:
    path = REPOSITORY / "docs" / name
    before = path.read_text(encoding="utf-8")
    assert f"```{CONSOLE}\n$ " in before
    with applied(shell, PAGES[name]):
        after = markdown.replayed(before, CONSOLE, shell.see)
    if masked(after) != masked(before) and os.environ.get("WRITE"):
        path.write_text(after, encoding="utf-8")
    assert masked(after) == masked(before), "with $WRITE, it is written"


def works(shell: Program, command: str) -> None:
    printed = shell.run(f"{command}; echo exit status $?")
    # `audit` exits with 1 if it has findings, and `adopt` if an Ingress can't be adopted.
    may_find = " audit " in command or " adopt " in command
    ends = ("exit status 0\n", "exit status 1\n") if may_find else "exit status 0\n"
    assert printed.endswith(ends), printed


@pytest.mark.parametrize("name", ["operating", "refusals", "tenants"])
def test_the_commands_of_a_page_work(shell: Program, name: str) -> None:
    commands = commands_of(f"docs/{name}.md")
    assert commands
    with applied(shell, EXAMPLES / "troubles.yaml"):
        shell.run("kubectl wait --for=create ingress/wiki --namespace team-a")
        for command in commands:
            works(shell, f"(cd {EXAMPLES}; {command})")


def test_the_pipeline_of_the_page_waits_until_the_sample_is_served(shell: Program) -> None:
    apply, *pipeline = commands_of("docs/commands/status.md")[:3]
    endpoints = ready_endpoint("sample", "hello", "http")
    try:
        works(shell, apply)
        service = json.loads(shell.run("kubectl get service hello --namespace sample --output json"))
        shell.run(f"(sleep 2; kubectl create --filename - <<< '{json.dumps(endpoints)}') &>/dev/null &")
        with Backend(service):
            for command in pipeline:
                works(shell, command)
    finally:
        shell.run(apply.replace("apply", "delete"))
