"""Short runs of the benchmarks that need a cluster: each has its figures, and nothing is lost."""

import itertools

from bench.abuse import abuse_section
from bench.figures import Figure
from bench.gateway import gateway_figures
from bench.load import Size
from bench.scale import scale_sections
from devcluster.cluster import DevCluster
from devcluster.worst import worst_services
from tests.e2e.conftest import require


def silent(_line: str) -> None:
    """Report nothing."""


def not_reached(figures: list[Figure]) -> list[str]:
    """Return which figures that count what was lost aren't 0. The others depend on how busy this machine is."""
    lost = [figure for figure in figures if figure.to_reach.startswith("0")]
    assert lost
    return [figure.name for figure in lost if not figure.reached]


def test_in_a_short_soak_no_change_is_lost() -> None:
    require("standin")
    sections = [section.figures for section in scale_sections("auto", Size(60, 6), 20, 3, silent)]
    assert [len(figures) for figures in sections] == [2, 7, 9]
    assert not_reached(sections[-1]) == []


def test_in_a_short_abuse_no_event_is_missing() -> None:
    require("standin")
    figures = abuse_section("auto", 3, "", itertools.islice(worst_services(), 20), silent).figures
    assert len(figures) == 10
    assert not_reached(figures) == []


def test_the_benchmark_of_the_gateway_measures_ingresses_and_httproutes(serving: DevCluster) -> None:
    assert len(list(gateway_figures(serving, silent, samples=1))) == 8
