"""The GitHub workflows: actionlint finds nothing, every action is pinned, and no job may do more than it needs."""

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from devcluster.build import REPOSITORY
from devcluster.programs import find_own
from tools import golang
from tools.image import PUBLISHED

WORKFLOWS = sorted((REPOSITORY / ".github/workflows").glob("*.y*ml"))


def read(path: Path) -> dict[str, Any]:
    """Return a workflow."""
    found: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return found


def named(name: str) -> dict[str, Any]:
    """Return the workflow of that name."""
    [found] = [read(path) for path in WORKFLOWS if path.stem == name]
    return found


def commands(job: dict[str, Any]) -> str:
    """Return what a job runs."""
    return "\n".join(step.get("run", "") for step in job.get("steps", []))


def test_actionlint_finds_nothing() -> None:
    if reason := golang.lacking("actionlint"):
        pytest.skip(reason)
    program = find_own("actionlint", print).path
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
        assert "${{" not in commands(job), "an expression becomes part of the script; env doesn't"
        for step in job.get("steps", []):
            if step.get("uses", "").startswith("actions/checkout@"):
                assert step["with"]["persist-credentials"] is False


def test_a_pull_request_has_to_pass_what_ci_runs_elsewhere_too() -> None:
    workflow: dict[Any, Any] = named("ci")
    assert {"pull_request", "workflow_call"} <= workflow[True].keys(), "YAML 1.1 reads `on` as true"
    assert ".ci/run" in commands(workflow["jobs"]["test"]).splitlines()


def test_what_is_released_is_what_this_run_has_tested_and_the_manifests_name() -> None:
    jobs = named("release")["jobs"]
    assert jobs["test"]["uses"] == "./.github/workflows/ci.yaml"
    assert (jobs["image"]["needs"], jobs["files"]["needs"]) == ("test", "image")
    image = named("release")["env"]["IMAGE"]
    assert image.replace("${{ github.repository }}", "ingress-manager/ingress-manager") == PUBLISHED
    # Nothing that another run has made gets into a release.
    for step in [step for job in jobs.values() for step in job.get("steps", [])]:
        assert not step.get("uses", "").startswith("actions/cache")
        assert not step.get("with", {}).get("cache")


NOTES = """
## [Unreleased]

### Added

- Later.

## [1.1.0] - 2026-01-02

### Added

- Now.

## [1.1.0-old]

- Before.
"""


@pytest.mark.parametrize(("version", "status"), [("1.1.0", 0), ("1.2.0", 1)])
def test_the_notes_of_a_release_are_what_the_changelog_says_of_it(version: str, status: int, tmp_path: Path) -> None:
    """Without any, nothing is released."""
    [publish] = [
        step["run"] for step in named("release")["jobs"]["files"]["steps"] if "CHANGELOG.md" in step.get("run", "")
    ]
    (tmp_path / "CHANGELOG.md").write_text(NOTES)
    script = publish.partition("gh release")[0]
    environment = {**os.environ, "VERSION": version}
    done = subprocess.run(["bash", "-e", "-c", script], cwd=tmp_path, env=environment, check=False)  # noqa: S607
    assert done.returncode == status
    if not status:
        assert (tmp_path / "notes.md").read_text().split() == ["###", "Added", "-", "Now."]
