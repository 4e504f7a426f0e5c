"""Fixtures for most tests of commands."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.commands.commands import Cluster


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    """A cluster that has no answers until a test sets them."""
    return Cluster(monkeypatch)


@pytest.fixture
def settings(tmp_path: Path) -> Callable[[str], Path]:

    def written(text: str) -> Path:
        path = tmp_path / "settings.yaml"
        path.write_text(text)
        return path

    return written
