"""The benchmark: what it makes of what it measured, and a short run of the parts that need no cluster."""

import itertools
import os

import pytest
from click.testing import CliRunner

from bench import __main__ as command
from bench.commands import commands_section
from bench.core import core_section
from bench.figures import Section, at_most
from bench.hook import hook_section
from devcluster.worst import worst_requests


def silent(_line: str) -> None:
    """Report nothing."""


@pytest.mark.thorough
def test_a_short_run_gives_all_figures() -> None:
    sections = [
        core_section(silent, itertools.islice(worst_requests(), 1), turns=1),
        commands_section(silent, services=20),
        hook_section(silent, count=100),
    ]
    assert [len(section.figures) >= least for section, least in zip(sections, (15, 10, 2), strict=True)] == 3 * [True]


def test_a_missed_figure_is_shown_and_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    missed = Section("The core alone", [at_most("slow", 3, 2, "{} s")])
    monkeypatch.setattr(command, "core_section", lambda *_: missed)
    monkeypatch.setattr(os, "getloadavg", lambda: (0.1, 0.0, 0.0))
    result = CliRunner().invoke(command.main, ["core"])
    assert (result.exit_code, "✘" in result.stdout) == (0, True)
    assert "Load before: 0.10, after: 0.10." in result.stdout
    assert "WARNING" not in result.stderr
