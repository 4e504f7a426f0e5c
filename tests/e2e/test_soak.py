"""A short run of `make soak`: it has all its figures, and nothing is lost."""

import itertools
import re

import pytest

from bench.abuse import abuse_section
from bench.figures import Figure
from bench.load import Size
from bench.scale import scale_sections
from devcluster.worst import worst_services
from tests.e2e.conftest import require


def silent(_line: str) -> None:
    """Report nothing."""


def names(figures: list[Figure]) -> list[str]:
    """Return the names of figures, without how many changes there were."""
    return [re.sub(r"of [\d,]+$", "of them", figure.name) for figure in figures]


def exact(figures: list[Figure]) -> list[tuple[str, bool | None]]:
    """Return which figures that count something are reached. The others depend on how busy this machine is."""
    return [(figure.name, figure.reached) for figure in figures if figure.to_reach.startswith("0")]


@pytest.mark.thorough
def test_a_short_soak_gives_all_its_figures_and_no_change_is_lost() -> None:
    require("standin")
    idle, loaded, faults = (section.figures for section in scale_sections("auto", Size(60, 6), 20, 3, silent))
    assert names(idle) == ["a change: median, 99th percentile, slowest of them", "memory"]
    assert names(loaded) == [
        "changes a second",
        "a change: median, 99th percentile, slowest of them",
        "a change was sent too late by at most",
        "processors in use",
        "memory when a tenth of the time has passed",
        "memory at the end",
        "growth of the hook in between",
    ]
    assert names(faults) == [
        "new settings are in every Ingress after (each Service is changed every 3 s)",
        *(
            f"{part} killed: the slowest change; when changes arrive within 1 s again"
            for part in ("the hook", "the engine", "the controller manager", "the API server", "etcd")
        ),
        "changes in all",
        "changes that never arrived",
        "memory at the end",
    ]
    assert exact(faults) == [("changes that never arrived", True)]


@pytest.mark.thorough
def test_a_short_abuse_gives_all_its_figures_and_no_event_is_missing() -> None:
    require("standin")
    worst = itertools.islice(worst_services(), 20)
    figures = abuse_section("auto", 3, "", worst, silent).figures
    assert names(figures) == [
        "worst Services: stored, denied by the API server",
        "those that the hook refuses, and that have no Event",
        "an answer: median, 99th percentile, slowest of them",
        "the slowest of them",
        "requests without an answer, or answered with an error of the hook",
        "a change of the others: median, 99th percentile, slowest of them",
        "changes that never arrived",
        "an Event of their mistakes: median, 99th percentile, slowest of them",
        "mistakes without an Event",
        "memory of the hook, at most",
    ]
    assert [name for name, reached in exact(figures) if not reached] == []
    assert len(exact(figures)) == 4
