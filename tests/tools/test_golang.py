"""tools.golang: what it says of the programs that it builds. That they run is what tests with them show."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from devcluster import build
from tools import golang


def test_it_builds_what_devcluster_can_build_with_a_go_mod_of_its_own() -> None:
    assert golang.TOOLS.keys() == build.TOOLS.keys()
    assert {name: golang.version(name)[0] for name in golang.TOOLS} == dict.fromkeys(build.TOOLS, "v")


def test_without_go_it_says_so_and_tests_say_what_they_leave_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(build, "BUILD", tmp_path)
    ended = CliRunner().invoke(golang.main, ["--if-possible"])
    assert ended.exit_code == 0
    assert ended.stderr.count("or later is needed to build") == len(golang.TOOLS)
    assert golang.lacking("helm") == "NOT CHECKED WITH HELM: the chart. `python -m tools.golang` builds it."
