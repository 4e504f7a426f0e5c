"""Every folder of tests/cases is a Service and what becomes of it; a new case needs no code.

service.yaml    the Service; its first line is a comment that says why the case exists
settings.yaml   the administrator's settings, if they aren't the defaults
ingress.yaml    the Ingress it gets, whole; `null`: none
refusal.txt     or else the status and the reason why nothing is changed
"""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from hooks.core import sync
from hooks.policy import Policy
from hooks.settings import load
from tests.metacontroller import body, sync_request

CASES = sorted(path for path in (Path(__file__).parent / "cases").iterdir())
FILES = {"service.yaml", "settings.yaml", "ingress.yaml", "refusal.txt"}


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.name)
def test_the_service_becomes_what_the_case_says(case: Path) -> None:
    settings = case / "settings.yaml"
    request = sync_request(read(case / "service.yaml"))

    answer = sync(body(request), load(settings) if settings.exists() else Policy())

    refusal = case / "refusal.txt"
    if refusal.exists():
        assert f"{answer.status} {answer.body.decode()}" == refusal.read_text(encoding="utf-8")
    else:
        wanted = read(case / "ingress.yaml")
        assert (answer.status, json.loads(answer.body)["attachments"]) == (200, [wanted] if wanted else [])


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.name)
def test_a_case_is_complete_and_says_why_it_exists(case: Path) -> None:
    files = {path.name for path in case.iterdir()}
    assert "service.yaml" in files
    assert len(files & {"ingress.yaml", "refusal.txt"}) == 1, "either an Ingress or a refusal"
    assert files <= FILES
    assert (case / "service.yaml").read_text(encoding="utf-8").startswith("# ")
