"""How hypothesis runs here, and which tests run."""

import os
import sys
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, is_hypothesis_test, settings

from devcluster.engines import CHOICES

COVERING = {Path(__file__).with_name(name) for name in ("core", "hooks", "not_found")}
"""The tests that cover all of the core and of what the image runs."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--thorough", action="store_true", help="Try more: make test-all.")
    parser.addoption("--engine", choices=CHOICES, default="auto", help="What drives the hook in end-to-end tests.")
    parser.addoption("--clusters", type=int, default=100, help="With --thorough: how many random clusters are moved.")
    parser.addoption("--seed", type=int, default=0, help="The seed of the first of these clusters.")


def pytest_configure(config: pytest.Config) -> None:
    thorough = config.getoption("--thorough")
    if not thorough:
        asked = config.option.markexpr
        config.option.markexpr = f"not thorough and ({asked})" if asked else "not thorough"
    # No deadline and no complaint about slow input: test machines are noisy, and the benchmark measures speed.
    # Chance has no part in the verdict of `make test`: it tries the same examples each time.
    # To find the simplest example of a failure can take minutes for each test.
    phases = [phase for phase in Phase if thorough or phase is not Phase.shrink]
    settings.register_profile(
        "here",
        max_examples=150 if thorough else 10,
        derandomize=not thorough,
        phases=phases,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    )
    settings.load_profile("here")
    # `make` would tell one that a test starts that it is within another, and what it prints would differ.
    for name in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS"):
        os.environ.pop(name, None)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Measure coverage only where it counts.

    Measuring takes three times as long. What is covered must not depend on chance, or on what this machine has.
    """
    for item in items:
        if item.get_closest_marker("e2e") and config.getoption("--thorough"):
            item.add_marker(pytest.mark.flaky(reruns=1))
        measured = config.getoption("--thorough") or not COVERING.isdisjoint(item.path.parents)
        if not measured or item.get_closest_marker("e2e") or is_hypothesis_test(getattr(item, "obj", None)):
            item.add_marker(pytest.mark.no_cover)


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Let nothing be measured where nothing is to be: in xdist's processes, pytest-cov leaves a second tracer there."""
    tracer = sys.gettrace()
    if not tracer or not item.get_closest_marker("no_cover"):
        return (yield)
    sys.settrace(None)
    try:
        return (yield)
    finally:
        sys.settrace(tracer)
