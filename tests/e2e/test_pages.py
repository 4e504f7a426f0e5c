"""The tutorial and the page on troubleshooting: each of their commands is run, and prints what the page shows."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from devcluster import gateway
from devcluster.build import REPOSITORY
from devcluster.programs import find_metacontroller
from tests.e2e import pages
from tests.e2e.conftest import require
from tests.e2e.shell import commands_of
from tools import markdown


@pytest.fixture(scope="module")
def shell() -> Iterator[pages.Shell]:
    """Yield a shell beside a cluster that `make cluster` has started."""
    require("standin")
    if reason := gateway.lacking():
        pytest.skip(reason)
    if find_metacontroller() is None:
        pytest.skip("The pages show what Metacontroller says, and there is no `metacontroller` on PATH.")
    with pages.cluster_shell("metacontroller") as started:
        yield started


@pytest.mark.parametrize("path", pages.PAGES, ids=lambda path: path.name)
def test_every_command_prints_what_the_page_shows(shell: pages.Shell, path: Path) -> None:
    page = path.read_text(encoding="utf-8")
    assert markdown.typed(page, pages.CONSOLE)
    assert pages.masked(pages.play(path, shell)) == pages.masked(page), "`python -m tests.e2e.pages` writes it"


def test_every_command_that_is_shown_without_its_output_works(shell: pages.Shell) -> None:
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
