"""Configures hypothesis, and selects the tests to run."""

import os
import sys
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, is_hypothesis_test, settings

from devcluster.engines import CHOICES

COVERING = {Path(__file__).with_name(name) for name in ("core", "hooks", "not_found")}
"""The tests whose coverage is measured: of the core, and of the code in the image."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--thorough", action="store_true", help="Run more tests and examples, as make test-all does.")
    parser.addoption("--engine", choices=CHOICES, default="auto", help="What drives the hook in end-to-end tests.")
    parser.addoption("--clusters", type=int, default=100, help="With --thorough: the number of random clusters.")
    parser.addoption("--seed", type=int, default=0, help="The seed of the first of these clusters.")


def pytest_configure(config: pytest.Config) -> None:
    thorough = config.getoption("--thorough")
    if not thorough:
        asked = config.option.markexpr
        config.option.markexpr = f"not thorough and ({asked})" if asked else "not thorough"
    # No deadline and no complaint about slow input: test machines are noisy, and the benchmark measures speed.
    # `make test` tries the same examples each time, so its result doesn't depend on chance.
    # Finding the simplest example of a failure can take minutes for each test.
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
    # A `make` started by a test would know that it runs inside another, and its output would differ.
    for name in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS"):
        os.environ.pop(name, None)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Measure coverage only in tests that count.

    Measuring triples their duration. Coverage must not depend on chance, or on the programs on this machine.
    """
    for item in items:
        if item.get_closest_marker("e2e") and config.getoption("--thorough"):
            item.add_marker(pytest.mark.flaky(reruns=1))
        measured = config.getoption("--thorough") or not COVERING.isdisjoint(item.path.parents)
        if not measured or item.get_closest_marker("e2e") or is_hypothesis_test(getattr(item, "obj", None)):
            item.add_marker(pytest.mark.no_cover)


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Turn off tracing in tests marked `no_cover`: in xdist's processes, pytest-cov leaves a second tracer there."""
    tracer = sys.gettrace()
    if not tracer or not item.get_closest_marker("no_cover"):
        return (yield)
    sys.settrace(None)
    try:
        return (yield)
    finally:
        sys.settrace(tracer)
