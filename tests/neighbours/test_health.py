"""How healthy Argo CD and Flux call what is made and what is installed, by the rules in their own code."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from devcluster import build, manifests
from devcluster.sync_requests import Object
from tools import golang

pytestmark = pytest.mark.thorough

CASES: list[Object] = yaml.safe_load(Path(__file__).with_name("health.yaml").read_text(encoding="utf-8"))


def judged(objects: list[Object]) -> list[tuple[str | None, str]]:
    """Return what Argo CD and Flux say of each object; None: Argo CD has no rule, and doesn't wait for it."""
    if reason := golang.lacking("health"):
        pytest.skip(reason)
    ended = subprocess.run(
        [build.get("health", print)], input=yaml.safe_dump_all(objects), capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    lines: list[Any] = [json.loads(line) for line in ended.stdout.splitlines()]
    return [(line["argocd"] and line["argocd"]["status"], line["flux"]) for line in lines]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["why"])
def test_argo_cd_and_flux_call_it_what_the_table_says(case: Object) -> None:
    metadata = {"name": "shop", "namespace": "team-a", "generation": 1}
    assert judged([{"metadata": metadata} | case["object"]]) == [(case["argocd"], case["flux"])]


@pytest.mark.parametrize("folder", ["manifests", "metacontroller"])
def test_of_what_is_installed_only_deployments_and_their_budgets_are_waited_for(folder: str) -> None:
    objects = manifests.rendered(folder)
    waited = {
        each["kind"]
        for each, (argocd, flux) in zip(objects, judged(objects), strict=True)
        if argocd not in {None, "Healthy"} or flux != "Current"
    }
    assert waited == {"Deployment", "PodDisruptionBudget"}
