"""The README: its example is a real case, its links lead somewhere, and each of its commands is run by a test."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

REPOSITORY = Path(__file__).parent.parent
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
EXAMPLE = REPOSITORY / "tests/cases/host-and-tls"

END_TO_END = "tests/e2e/test_readme.py"
RUN_BY = {
    "make demo": END_TO_END,
    "make test": ".ci/run",
    "make lint": ".ci/run",
    "kubectl apply -f https://raw.githubusercontent.com/metacontroller/metacontroller/v4.17.2/"
    "manifests/production/metacontroller-crds-v1.yaml": END_TO_END,
    "kubectl wait --for condition=established crd/decoratorcontrollers.metacontroller.k8s.io": END_TO_END,
    "kubectl apply -k metacontroller/": END_TO_END,
    "kubectl apply -k manifests/": END_TO_END,
    "kubectl apply -k gateway/": END_TO_END,
    "kubectl apply -k manifests/sample/": END_TO_END,
    "make run": "tests/test_run.py",
    "curl --data @tests/fixtures/sync.json http://127.0.0.1:8080/sync": "tests/test_run.py",
}
"""Each command of the README, and where it is run."""


def blocks(language: str) -> list[str]:
    """Return the README's code blocks in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def without_uid(service: Any) -> Any:
    """Return the Service as a person would write it."""
    return {**service, "metadata": {key: value for key, value in service["metadata"].items() if key != "uid"}}


def test_the_example_is_a_case_that_is_tested() -> None:
    service, ingress = map(yaml.safe_load, blocks("yaml")[:2])
    assert service == without_uid(yaml.safe_load((EXAMPLE / "service.yaml").read_text()))
    assert ingress == yaml.safe_load((EXAMPLE / "ingress.yaml").read_text())


def test_every_command_is_run_by_a_test() -> None:
    commands = [line for block in blocks("sh") for line in block.splitlines()]
    assert commands
    assert set(commands) == set(RUN_BY)
    for command, where in RUN_BY.items():
        assert (REPOSITORY / where).exists()
        if where == ".ci/run":
            # `make test-all` runs `make test`.
            assert {command, f"{command}-all"} & set((REPOSITORY / where).read_text().splitlines())


PAGES = [
    REPOSITORY / "README.md",
    REPOSITORY / "gateway/README.md",
    REPOSITORY / "metacontroller/README.md",
    *sorted(REPOSITORY.glob("docs/**/*.md")),
]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_every_link_leads_to_a_file(page: Path) -> None:
    links = re.findall(r"\]\(([^)]+)\)", page.read_text(encoding="utf-8"))
    files = [link.partition("#")[0] for link in links if "://" not in link]
    assert [file for file in files if file and not page.parent.joinpath(file).exists()] == []


def test_make_help_names_every_command_that_the_readme_does() -> None:
    help_text = subprocess.run(["make", "help"], cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout  # noqa: S607
    for target in set(re.findall(r"(?:^|`)make ([a-z-]+)", README, re.MULTILINE)):
        assert re.search(rf"^  make {target} ", help_text, re.MULTILINE), target
