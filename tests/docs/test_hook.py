"""docs/hook.md: the hook answers each of its requests as tests/fixtures says."""

import json
from datetime import datetime
from pathlib import Path

import pytest

from devcluster.build import REPOSITORY
from hooks.app import create_app

FIXTURES = REPOSITORY / "tests/fixtures"
ANSWERS = sorted(FIXTURES.glob("*.answer.*"))
SECONDS = datetime.fromisoformat("2026-11-21T10:55:53Z").timestamp()
"""A second after the Service was made."""


@pytest.mark.parametrize("expected", ANSWERS, ids=lambda path: path.name)
def test_the_hook_answers_a_request_as_the_file_beside_it_says(expected: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.time", lambda: SECONDS)
    monkeypatch.delenv("INGRESS_MANAGER_SETTINGS", raising=False)
    request = FIXTURES / f"{expected.name.partition('.')[0]}.json"
    response = create_app().test_client().post("/sync", data=request.read_bytes())
    if expected.suffix == ".json":
        assert (response.status_code, response.json) == (200, json.loads(expected.read_text(encoding="utf-8")))
    else:
        assert (response.status_code, response.text) == (422, expected.read_text(encoding="utf-8"))


def test_the_page_names_every_request_and_answer() -> None:
    page = (REPOSITORY / "docs/hook.md").read_text(encoding="utf-8")
    assert len(ANSWERS) == 4
    assert [path.name for path in FIXTURES.iterdir() if f"(../tests/fixtures/{path.name})" not in page] == []
