"""bump-my-version writes the version wherever it is stated, and nowhere else."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from devcluster.build import REPOSITORY
from ingress_manager import __version__

SHIPPED = ("ingress_manager", "manifests", "metacontroller", "gateway", "monitoring", "charts")
NEW = "97.98.99"


def lines_with(text: str, number: str) -> list[int]:
    """Return the numbers of the lines that hold a version."""
    pattern = rf"(?<![\d.v]){re.escape(number)}(?![\d.]*\d)"
    return [count for count, line in enumerate(text.splitlines()) if re.search(pattern, line)]


@pytest.mark.thorough
def test_no_place_is_left_out(tmp_path: Path) -> None:
    """A version that nothing else has gets everywhere where the present one is."""
    for name in (*SHIPPED, "CHANGELOG.md", "pyproject.toml"):
        copy = shutil.copytree if (REPOSITORY / name).is_dir() else shutil.copy
        copy(REPOSITORY / name, tmp_path / name)
    program = Path(sys.executable).with_name("bump-my-version")
    subprocess.run([program, "bump", "--new-version", NEW], cwd=tmp_path, check=True)
    changed = 0
    for path in (
        path for folder in SHIPPED for path in (tmp_path / folder).rglob("*") if path.suffix in {".py", ".yaml"}
    ):
        before = (REPOSITORY / path.relative_to(tmp_path)).read_text(encoding="utf-8")
        found = lines_with(path.read_text(encoding="utf-8"), NEW)
        assert found == lines_with(before, __version__), path
        changed += len(found)
    assert changed
    assert f"\n## [{NEW}] - 20" in (tmp_path / "CHANGELOG.md").read_text(encoding="utf-8")
