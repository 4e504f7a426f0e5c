"""The benchmark: what it makes of what it measured, and a short run of the parts that need no cluster."""

import itertools
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from bench import __main__ as command
from bench.commands import commands_section
from bench.core import core_section
from bench.figures import Section, at_most
from bench.hook import hook_section
from devcluster.worst import worst_requests

linux_only = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="CPU is read from /proc, which only Linux has."
)


def silent(_line: str) -> None:
    """Report nothing."""


@pytest.mark.thorough
def test_a_short_run_of_the_core_gives_all_its_figures() -> None:
    section = core_section(silent, itertools.islice(worst_requests(), 3), turns=1)
    names = [figure.name for figure in section.figures]
    assert "its time / that of json.loads + json.dumps" in names
    assert "reading 1,000 profiles and 10,000 namespaces" in names
    assert len([name for name in names if name.startswith("CPU: ")]) == 5
    assert len([name for name in names if name.startswith("memory: ")]) == 5


@linux_only
@pytest.mark.thorough
def test_a_short_run_of_the_commands_gives_all_their_figures() -> None:
    section = commands_section(silent, services=20)
    assert [figure.name for figure in section.figures] == [
        "json.load of 20 Services and their Ingresses",
        *(
            f"{name}{figure}"
            for name in ("render", "audit", "status")
            for figure in (
                " of one Service",
                " of them, beyond json.load",
                ": its memory",
                ": 20 / 2 Services, of time without the start",
            )
        ),
    ]


@linux_only
@pytest.mark.thorough
def test_a_short_run_of_the_served_hook_gives_all_its_figures() -> None:
    section = hook_section(silent, requests=100, hanging=5, asked=3)
    assert [figure.name for figure in section.figures] == [
        "requests a second over 20 kept connections",
        "CPU of the hook for each",
        "an answer beside 5 half-sent requests and 5 idle connections: median",
        "worst of 3",
        "memory of the hook beside them",
    ]


def run(monkeypatch: pytest.MonkeyPatch, load: float, *arguments: str) -> tuple[int, str, str]:
    """Return exit status, stdout and stderr of a run whose core has missed a figure, on a machine with that load."""
    missed = Section("The core alone", [at_most("slow", 3, 2, "{} s")])
    monkeypatch.setattr(command, "core_section", lambda *_: missed)
    monkeypatch.setattr(os, "getloadavg", lambda: (load, 0.0, 0.0))
    result = CliRunner().invoke(command.main, arguments)
    return result.exit_code, result.stdout, result.stderr


def test_a_missed_figure_is_shown_and_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    status, out, err = run(monkeypatch, 0.1, "core")
    assert (status, "✘" in out) == (0, True)
    assert "Load before: 0.10, after: 0.10." in out
    assert "WARNING" not in err
