"""A short search by the fuzzer of tests/core/fuzz.py; `make fuzz` is the long one."""

import importlib.util
import subprocess
import sys

import pytest

from devcluster.build import REPOSITORY


@pytest.mark.skipif(
    importlib.util.find_spec("atheris") is None,
    reason="NOT FUZZED: atheris has wheels for CPython 3.11 to 3.14 on Linux x86-64 alone; see setup.cfg",
)
def test_a_short_search_by_the_fuzzer_finds_nothing(pytestconfig: pytest.Config) -> None:
    executions = 5000 if pytestconfig.getoption("--thorough") else 3000
    command = [sys.executable, "-m", "tests.core.fuzz", "--executions", str(executions), "-seed=1"]
    ended = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert f"fuzz: {executions:,} executions, no finding" in ended.stdout
