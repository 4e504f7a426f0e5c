"""The README and CONTRIBUTING.md: the example is a real case, and each command is run by a test."""

import re
import subprocess
from typing import Any

import yaml

from devcluster.build import REPOSITORY
from tools import golden, markdown

README, CONTRIBUTING = ((REPOSITORY / name).read_text(encoding="utf-8") for name in ("README.md", "CONTRIBUTING.md"))
[EXAMPLE] = (case for case in golden.cases_in(golden.CASES) if case.name == "host-and-tls")

END_TO_END = "tests/e2e/test_readme.py"
RUN_BY = {
    "make demo": END_TO_END,
    "make cluster": "tests/e2e/test_make_cluster.py",
    ".venv/bin/python -m tools.node": "tests/node/test_make_node.py",
    "make test": ".ci/run",
    "make lint": ".ci/run",
    "make image IMAGE=registry.example.com/ingress-manager:0.1.0": "tools/buildah.py",
    "make install IMAGE=registry.example.com/ingress-manager:0.1.0": "tests/e2e/test_install.py",
    "kubectl apply -k gateway/": END_TO_END,
    "kubectl apply -k manifests/sample/": END_TO_END,
    "make run": "tests/docs/test_run.py",
    "curl --data @tests/fixtures/sync.json http://127.0.0.1:8080/sync": "tests/docs/test_run.py",
}
"""Each command of the two, and where it is run."""


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


def test_every_command_is_run_by_a_test() -> None:
    commands = [line for page in (README, CONTRIBUTING) for block in blocks("sh", page) for line in block.splitlines()]
    assert commands
    assert set(commands) == set(RUN_BY)
    for command, where in RUN_BY.items():
        assert (REPOSITORY / where).exists()
        if where.startswith("."):
            lines = (REPOSITORY / where).read_text(encoding="utf-8").splitlines()
            assert command in {line.removeprefix("      - run: ") for line in lines}


def test_make_help_names_every_command_that_they_do() -> None:
    help_text = subprocess.run(["make", "help"], cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout  # noqa: S607
    for target in set(re.findall(r"(?:^|`)make ([a-z-]+)", README + CONTRIBUTING, re.MULTILINE)):
        assert re.search(rf"^  make {target} ", help_text, re.MULTILINE), target
