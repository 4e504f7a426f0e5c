"""The version has one place, ingress_manager/__init__.py, and `make version` writes it to the others."""

import re
from itertools import chain
from pathlib import Path

import pytest
from click.testing import CliRunner

from devcluster.build import REPOSITORY
from devcluster.errors import DevClusterError
from tools import version

SHIPPED = ("ingress_manager", "manifests", "metacontroller", "gateway", "monitoring", "charts")
"""The folders whose files are installed."""


def lines_with(text: str, number: str) -> list[int]:
    """Return the numbers of the lines that hold a version."""
    pattern = rf"(?<![\d.v]){re.escape(number)}(?![\d.]*\d)"
    return [count for count, line in enumerate(text.splitlines()) if re.search(pattern, line)]


def test_every_place_states_the_version_of_the_package() -> None:
    for path, patterns in version.files():
        text = path.read_text(encoding="utf-8")
        for pattern in patterns:
            assert re.findall(pattern, text, re.MULTILINE) == [version.stated()], f"{path}: {pattern}"


def test_no_place_is_left_out(tmp_path: Path) -> None:
    """A version that nothing else has gets everywhere where the present one is."""
    texts = {}
    for folder in SHIPPED:
        for path in chain((REPOSITORY / folder).rglob("*.y*ml"), (REPOSITORY / folder).glob("*.py")):
            name = path.relative_to(REPOSITORY)
            texts[name] = path.read_text(encoding="utf-8")
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(texts[name], encoding="utf-8")
    version.write("97.98.99", tmp_path)
    for name, text in texts.items():
        found = lines_with((tmp_path / name).read_text(encoding="utf-8"), "97.98.99")
        assert found == lines_with(text, version.stated()), f"tools/version.py doesn't know all places of {name}"
    assert version.stated(tmp_path) == "97.98.99"


def test_nothing_is_written_where_a_place_is_not_as_expected(tmp_path: Path) -> None:
    (tmp_path / "manifests").mkdir()
    (tmp_path / "ingress_manager").mkdir()
    (tmp_path / version.STATED).write_text('__version__ = "1.0.0"\n')
    (tmp_path / "manifests/deployment.yaml").write_text("image: somewhere.example.com/else:1.0.0\n")
    with pytest.raises(DevClusterError, match=r"manifests/deployment\.yaml has 0 lines like .*, not one"):
        version.write("1.1.0", tmp_path)
    assert version.stated(tmp_path) == "1.0.0"


@pytest.mark.parametrize("wrong", ["v1.0.0", "1.0", "01.0.0", "1.0.0-rc.1", ""])
def test_what_is_no_version_is_refused(wrong: str) -> None:
    ended = CliRunner().invoke(version.main, [wrong])
    assert ended.exit_code == 2
    assert "one looks like 0.2.0" in ended.output
