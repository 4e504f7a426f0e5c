"""The benchmark: what it makes of what it measured, and a short run of the parts that need no cluster."""

import itertools
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from bench import __main__ as command
from bench.catch_up import CatchUp, catch_up_figures
from bench.commands import commands_section
from bench.core import Cost, core_section, worst_figures
from bench.figures import Figure, Section, at_least, at_most, exactly, markdown
from bench.hook import hook_section
from devcluster.errors import DevClusterError
from devcluster.worst import worst_requests

linux_only = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="CPU is read from /proc, which only Linux has."
)


def caught(present: int, *, seconds: float = 5, calls: int = 300) -> CatchUp:
    """Return a catch-up of 100 Services that took `seconds`, with `present` Ingresses at the first look."""
    return CatchUp(100, present, 10, 10 + seconds, {"engine": 0.2, "hook": 0.12}, calls)


def silent(_line: str) -> None:
    """Report nothing."""


@pytest.mark.parametrize(("present", "seconds"), [(100, 5), (100, 0), (101, 5), (99, 0)])
def test_there_is_no_rate_when_all_ingresses_exist_at_the_first_look(present: int, seconds: float) -> None:
    measured = caught(present, seconds=seconds)
    assert measured.rate is None
    [figure] = catch_up_figures(measured, 1000, 0.42)
    assert "at the first look" in figure.value
    assert figure.reached is False, "a rate that was not measured is not reached"


@pytest.mark.parametrize(
    ("figure", "reached"),
    [
        (at_most("", 2, 2, "{}"), True),
        (at_most("", 2.1, 2, "{}"), False),
        (at_least("", 2, 2, "{}"), True),
        (at_least("", 1.9, 2, "{}"), False),
        (exactly("", "none", "none"), True),
        (exactly("", "1.00 update services", "none"), False),
        (Figure("", "2"), None),
    ],
)
def test_a_figure_knows_whether_it_is_reached(figure: Figure, reached: bool | None) -> None:
    assert figure.reached is reached


def test_the_worst_inputs_are_shown_and_every_one_that_misses_a_limit() -> None:
    costs = [Cost(f"small {number}", 1 + number / 100, 1) for number in range(20)]
    slow = [Cost(f"slow {number}", 51 + number, 1) for number in range(7)]
    figures = worst_figures([*costs, *slow, Cost("large", 0.5, 17)])
    missed = [figure.name for figure in figures if figure.reached is False]
    assert missed == [f"CPU: slow {number}" for number in (6, 5, 4, 3, 2, 1, 0)] + ["memory: large"]
    assert len([figure for figure in figures if figure.name.startswith("memory:")]) == 5


def test_the_figures_can_be_printed_for_a_page() -> None:
    figures = [at_most("fast", 1, 2, "{} s"), at_most("slow", 3, 2, "{} s"), Figure("plain", "7")]
    assert (
        markdown(Section("Speed", figures))
        == """**Speed**

|       | measured | to reach      |
|-------|----------|---------------|
| fast  | 1 s      | at most 2 s ✔ |
| slow  | 3 s      | at most 2 s ✘ |
| plain | 7        |               |
"""
    )


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


def test_what_was_measured_is_shown_even_if_a_later_part_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> Section:
        raise DevClusterError("no hook")

    monkeypatch.setattr(command, "hook_section", fail)
    status, out, err = run(monkeypatch, 0.1, "core", "hook")
    assert (status, "The core alone" in out, "Error: no hook" in err) == (1, True, True)
