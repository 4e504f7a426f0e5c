"""What `make install` says while Pods don't start, and when it gives up."""

import json
from pathlib import Path
from typing import Any

import pytest

from devcluster.errors import CommandFailed
from tools import install
from tools.rollout import HASH, REVISION, troubles


def named(kind: str, name: str, *, status: Any = None, generation: int = 1, **metadata: Any) -> dict[str, Any]:
    about = {"name": name, "namespace": "ingress-manager", "generation": generation, **metadata}
    return {"apiVersion": "v1", "kind": kind, "metadata": about, "status": status or {}}


def deployment(*conditions: Any, generation: int = 2) -> dict[str, Any]:
    status = {"observedGeneration": 2, "conditions": [{"type": "Available", "status": "False"}, *conditions]}
    return named("Deployment", "ingress-manager", status=status, generation=generation, annotations={REVISION: "2"})


def pod(template: str, **status: Any) -> dict[str, Any]:
    return named("Pod", f"hook-{template}", status=status, labels={HASH: template})


def waiting(reason: str, message: str = "") -> dict[str, Any]:
    return {
        "containerStatuses": [
            {"state": {"running": {}}},
            {"state": {"waiting": {"reason": reason, "message": message}}},
        ]
    }


SETS = [
    named("ReplicaSet", each, labels={HASH: each}, annotations={REVISION: n})
    for each, n in (("old", "1"), ("new", "2"))
]
UNSCHEDULABLE = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes"}
DENIED = {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": "exceeded quota"}


@pytest.mark.parametrize(
    ("items", "sentences"),
    [
        ([deployment(DENIED)], ["no Pod is made: exceeded quota"]),
        ([deployment(), *SETS, pod("new", conditions=[UNSCHEDULABLE])], ["Pod hook-new: Unschedulable: 0/3 nodes"]),
        ([deployment(), *SETS, pod("new", **waiting("ErrImagePull", "no"))], ["Pod hook-new: ErrImagePull: no"]),
        ([deployment(), *SETS, pod("old", **waiting("ErrImagePull", "no"))], []),
        ([deployment(DENIED, generation=3)], []),
        ([], []),
    ],
    ids=["denied", "unschedulable", "not pulled", "an earlier change", "not taken up yet", "not there"],
)
def test_what_the_newest_pods_wait_for_is_told(items: list[Any], sentences: list[str]) -> None:
    assert [trouble.sentence for trouble in troubles(items, "ingress-manager")] == sentences


def test_it_stops_early_when_nothing_can_come_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(install, "BETWEEN_LOOKS", 0.05)
    items = [deployment(), *SETS, pod("new", **waiting("InvalidImageName"))]
    (tmp_path / "objects").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    (tmp_path / "kubectl").write_text(f'#!/bin/sh\n[ "$1" = get ] && exec cat {tmp_path}/objects\nexec sleep 60\n')
    (tmp_path / "kubectl").chmod(0o755)
    with pytest.raises(CommandFailed) as stopped:
        install.Shell("").rollout("Wait.", "ingress-manager", "It isn't ready.")
    assert str(stopped.value) == (
        "Nothing can come of it: Pod hook-new: InvalidImageName\n"
        "IMAGE=… has to be the name of an image.\n\nIt isn't ready."
    )
    assert capsys.readouterr().out.endswith("\n  Pod hook-new: InvalidImageName\n")
