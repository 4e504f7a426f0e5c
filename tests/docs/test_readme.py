"""The README: what it shows of a Service, and of the hook, is true."""

import json
from typing import Any

import yaml

from devcluster.build import REPOSITORY
from tests import golden
from tools import markdown

README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
[EXAMPLE] = (case for case in golden.cases_in(golden.CASES) if case.name == "host-and-tls")


def blocks(language: str, page: str = README) -> list[str]:
    """Return the code blocks of a page, by default the README, in one language."""
    return [fence.text for fence in markdown.fences(page) if fence.info == language]


def without_uid(service: Any) -> Any:
    """Return the Service as a person would write it."""
    return {**service, "metadata": {key: value for key, value in service["metadata"].items() if key != "uid"}}


def test_the_example_is_a_case_that_is_tested() -> None:
    service, ingress = (yaml.safe_load(block) for block in blocks("yaml") if "kind:" in block)
    assert service == without_uid(EXAMPLE.service)
    assert [ingress] == EXAMPLE.becomes


def test_the_answer_of_the_hook_is_that_of_the_fixture() -> None:
    [shown] = map(json.loads, blocks("json"))
    answer = json.loads((REPOSITORY / "tests/fixtures/new.answer.json").read_text(encoding="utf-8"))
    assert shown["attachments"] == answer["attachments"]
