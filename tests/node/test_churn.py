"""Under churn: no change is lost, whatever happens; what is planned is noticed by nobody."""

from collections.abc import Callable, Iterator

import pytest
import yaml

from devcluster.node.node import Node
from tests.node.happenings import FIGURES, HAPPENINGS, Happening, Site

BROKEN_OFF = "context canceled"
"""Metacontroller's word for a write that was under way when it was told to end. The next leader makes the change."""


@pytest.fixture(scope="module")
def site(own_node: Node) -> Iterator[Site]:
    """Yield an installation on a node of its own: some of this leaves it without a kubelet for a while."""
    with Site(own_node) as site:
        yield site


@pytest.mark.parametrize("happening", HAPPENINGS, ids=lambda happening: happening.what)
def test_no_change_is_lost_by(site: Site, happening: Happening, record_property: Callable[[str, object], None]) -> None:
    seen = site.play(happening.play)
    record_property("figures", str(seen))
    assert seen.arrived == seen.changes
    assert seen.worst <= happening.slowest * 1000
    if happening.planned:
        assert not [each for each in seen.told if not each.endswith(BROKEN_OFF)]
        assert seen.lost == 0


def test_the_page_has_figures_of_all_that_happens() -> None:
    assert list(yaml.safe_load(FIGURES.read_text())) == [happening.what for happening in HAPPENINGS]
