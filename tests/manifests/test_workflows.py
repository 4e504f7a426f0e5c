"""The GitHub workflows: actionlint finds nothing, every action is pinned, and no job may do more than it needs."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from devcluster.build import REPOSITORY, get
from tools import golang

WORKFLOWS = sorted((REPOSITORY / ".github/workflows").glob("*.y*ml"))


def read(path: Path) -> dict[str, Any]:
    """Return a workflow."""
    found: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return found


def test_actionlint_finds_nothing() -> None:
    if reason := golang.lacking("actionlint"):
        pytest.skip(reason)
    program = get("actionlint", print)
    done = subprocess.run([program, *WORKFLOWS], capture_output=True, text=True, check=False, cwd=REPOSITORY)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_action_is_pinned_by_one_commit_and_says_its_version() -> None:
    """A tag can be moved to another commit."""
    lines = {line for path in WORKFLOWS for line in re.findall(r"uses: (.*)", path.read_text(encoding="utf-8"))}
    assert len({line.partition("@")[0] for line in lines}) == len(lines)
    for line in lines:
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+|\./\.github/workflows/[a-z]+\.yaml", line)


def test_each_job_may_do_what_it_needs_and_no_more() -> None:
    granted: dict[tuple[str, str], dict[str, str]] = {}
    for path in WORKFLOWS:
        workflow = read(path)
        assert workflow["permissions"] == {}
        granted |= {(path.stem, name): job["permissions"] for name, job in workflow["jobs"].items()}
    sign = {"id-token": "write", "attestations": "write"}
    assert granted == {
        ("ci", "test"): {"contents": "read"},
        ("nightly", "test-all"): {"contents": "read"},
        ("nightly", "newest"): {"contents": "read"},
        ("release", "test"): {"contents": "read"},
        ("release", "image"): {"contents": "read", "packages": "write"} | sign,
        ("release", "files"): {"contents": "write"} | sign,
    }


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_no_job_leaves_its_token_in_the_checkout_or_puts_an_expression_into_a_command(path: Path) -> None:
    for job in read(path)["jobs"].values():
        for step in job.get("steps", []):
            assert "${{" not in step.get("run", ""), "an expression becomes part of the script; env doesn't"
            if step.get("uses", "").startswith("actions/checkout@"):
                assert step["with"]["persist-credentials"] is False
