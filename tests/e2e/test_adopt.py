"""`adopt` and `release` on a real cluster, by somebody with no more rights than that takes: no Ingress is ever gone.

The Ingresses are those of tests/adopt that go by its common settings.
"""

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.client import HTTPException
from pathlib import Path
from typing import Any

import pytest
import yaml

from devcluster.api import INGRESSES, SERVICES, Object
from devcluster.backend import Backend
from devcluster.cluster import DevCluster
from devcluster.control_plane import ControlPlane
from devcluster.gateway import Gateway, lacking
from devcluster.overlay import CLASS
from devcluster.story import Stage, served_by
from hooks.commands.adopt import adopt
from tests.e2e.audit import writes
from tests.e2e.mover import Watch, mover
from tests.e2e.test_commands import run
from tests.manifests import REPOSITORY
from tools import cases

SETTINGS = cases.ADOPTIONS / "settings.yaml"
NOT_ON_A_CLUSTER = {"being-deleted-refused", "no-ingress-refused", "no-service-of-kubernetes-refused", "owned-refused"}
"""What an API server doesn't hold as it is written."""

CASES = [
    case
    for case in cases.cases_in(cases.ADOPTIONS)
    if not (case / "settings.yaml").exists() and case.name not in NOT_ON_A_CLUSTER
]
DECORATOR = "metacontroller.k8s.io/decorator-controller"
PORT = 8086


@pytest.fixture(scope="module")
def adopting(cluster: DevCluster) -> Iterator[DevCluster]:
    """Yield the cluster, whose hook has the settings of the cases."""
    before = yaml.safe_load(cluster.settings_file.read_text())
    cluster.restart_hook(yaml.safe_load(SETTINGS.read_text()))
    yield cluster
    cluster.restart_hook(before)


def create(stage: Stage, case: Path) -> Object:
    """Create the Services and the Ingress of a case in the test's namespace, and return the Ingress."""
    # The Ingress first: a Service may ask for one already.
    [ingress, *services] = [
        each | {"metadata": each["metadata"] | {"namespace": stage.namespace}}
        for path in (case / "ingress.yaml", case / "service.yaml")
        if path.exists()
        for each in yaml.safe_load_all(path.read_text(encoding="utf-8"))
    ]
    made = stage.api.create(INGRESSES, ingress)
    for service in services:
        stage.api.create(SERVICES, service)
    return made


def accepted(case: Path) -> list[str]:
    """Return the fields of a case's Ingress that may change."""
    return cases.adoptable(case)[3]


def planned(case: Path) -> Object:
    """Return the spec that the Ingress of a case is to have."""
    [adoption] = adopt(*cases.adoptable(case))
    assert adoption.spec is not None
    return adoption.spec


def state(ingress: Object) -> tuple[str, Object]:
    """Return what must not change: which object it is, and what it says."""
    return ingress["metadata"]["uid"], ingress["spec"]


def settle(stage: Stage) -> None:
    """Return once Metacontroller has synced all that was done, and the garbage collector has deleted what it had to."""
    for service in stage.api.list(SERVICES, stage.namespace):
        metadata = {"annotations": {"example.com/touched": service["metadata"]["resourceVersion"]}}
        stage.api.patch(SERVICES, service["metadata"]["name"], {"metadata": metadata}, stage.namespace)
    stage.create_service("canary", {"ingress/http": "true"})
    stage.until_ingress("canary", "the Ingress of a Service created later", lambda _: True)
    stage.api.delete(SERVICES, "canary", stage.namespace)
    stage.until("the garbage collector", lambda: stage.ingress("canary") is None)


def test_what_can_be_adopted_is_adopted_and_released_and_nothing_else_is_touched(
    adopting: DevCluster, stage: Stage, tmp_path: Path
) -> None:
    before = {case: create(stage, case) for case in CASES}
    good = [case for case in CASES if not (case / "refusal.txt").exists()]
    names = {case: before[case]["metadata"]["name"] for case in CASES}
    assert len(good) >= 20
    kubeconfig = mover(adopting.control_plane, stage.namespace, tmp_path)

    def command(name: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
        return run(adopting.control_plane, name, "-n", stage.namespace, "--apply", *arguments, kubeconfig=kubeconfig)

    settings = f"--settings={SETTINGS}"
    with Watch(stage.api, stage.namespace) as watch:
        exactly = command("adopt", settings, *(names[case] for case in CASES if not accepted(case)))
        fields = sorted({f"--accept-changes={change}" for case in good for change in accepted(case)})
        changed = command("adopt", settings, *fields, *(names[case] for case in good if accepted(case)))
    assert (exactly.returncode, changed.returncode) == (1, 0), exactly.stderr + changed.stderr
    assert [name for kind, name in watch.events if kind == "DELETED"] == []

    def check(is_ours: bool) -> None:
        for case, ingress in before.items():
            now = stage.ingress(names[case])
            assert now is not None
            if case not in good:
                assert now == ingress, "what is refused is untouched"
                continue
            assert state(now) == (ingress["metadata"]["uid"], planned(case) if accepted(case) else ingress["spec"])
            for key in set(ingress["spec"]) - {change.split(".")[1] for change in accepted(case)}:
                assert now["spec"][key] == ingress["spec"][key]
            assert ("ownerReferences" in now["metadata"], DECORATOR in now["metadata"]["annotations"]) == (
                (True, True) if is_ours else (False, False)
            ) if now["metadata"].get("annotations") else not is_ours
            assert now["metadata"].get("finalizers") == ingress["metadata"].get("finalizers")

    check(is_ours=True)
    with Watch(stage.api, stage.namespace) as watch:
        settle(stage)
    assert {name for _, name in watch.events} <= {"canary", "the-last-one"}, "nothing is written again"
    check(is_ours=True)
    again = command("adopt", settings, names[good[0]])
    assert (again.returncode, again.stdout) == (0, "")
    assert again.stderr.endswith(f"{stage.namespace}/{names[good[0]]}: is ingress-manager's already\n")

    with Watch(stage.api, stage.namespace) as watch:
        released = command("release", *(names[case] for case in good))
        settle(stage)
    assert released.returncode == 0, released.stderr
    assert [name for kind, name in watch.events if kind == "DELETED" and name != "canary"] == []
    check(is_ours=False)
    stays_whatever_becomes_of_the_service(stage, {case: names[case] for case in good}, check)
    stage.api.patch(INGRESSES, "labels-and-a-finalizer", {"metadata": {"finalizers": None}}, stage.namespace)


def stays_whatever_becomes_of_the_service(
    stage: Stage, names: dict[Path, str], check: Callable[[bool], None]
) -> None:
    """Change the annotations of the Services, then delete them; see that the Ingresses stay as they are."""
    for value in ("true", "nonsense", None):
        for name in names.values():
            stage.annotate(name, value)
        settle(stage)
        check(False)
    for name in names.values():
        stage.api.delete(SERVICES, name, stage.namespace)
    settle(stage)
    check(False)
