"""The tools that kept an Ingress, once it is adopted by the plan's own words: none fails, and it is never gone.

Argo CD and Flux aren't tried.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from devcluster import build
from devcluster.api import SERVICES, Object
from devcluster.cluster import DevCluster
from devcluster.story import Stage
from ingress_manager.core.observed import DECORATOR
from tests.e2e.objects import by_hand, new
from tests.e2e.shell import Ended, run, sh
from tests.e2e.test_adopt import is_ours, settle
from tests.e2e.watching import Watch
from tools import golang

PORT = 8087
KEPT = "it must be the same object, and say the same"
TEMPLATE = """\
{{ range .Values.objects }}
---
{{ toJson . }}
{{ end }}
"""


class Owner:
    """Somebody who has a Service and an Ingress `shop` in a source, changes it, and has a tool take that up."""

    def __init__(self, cluster: DevCluster, stage: Stage, folder: Path) -> None:
        self.cluster, self.stage, self.folder = cluster, stage, folder
        self.annotations: dict[str, str] = {}
        self.has_ingress = True
        host = f"shop.{stage.namespace}.example.com"
        self.ingress = by_hand(stage.namespace, "shop", host, "shop", PORT, ingressClassName=stage.ingress_class)

    @property
    def objects(self) -> list[Object]:
        """Return what the source holds."""
        metadata = {"annotations": self.annotations} if self.annotations else {}
        spec = {"selector": {"app": "shop"}, "ports": [{"port": PORT}]}
        service = new(SERVICES, "shop", self.stage.namespace, metadata, spec=spec)
        return [service, *([self.ingress] if self.has_ingress else [])]

    def sh(self, script: str) -> Ended:
        """Run a script, which must not fail."""
        homes = {f"HELM_{each}_HOME": str(self.folder / each) for each in ("CACHE", "CONFIG", "DATA")}
        return sh(self.cluster.control_plane, script, folder=self.folder, environment=homes)

    def command(self, name: str, *options: str) -> Ended:
        """Return what `adopt` or `release` of the Ingress does."""
        return run(self.cluster.control_plane, name, f"{self.stage.namespace}/shop", *options)

    def adopt(self, *options: str) -> Ended:
        """Return what `adopt` does, with the settings of the hook."""
        return self.command("adopt", f"--settings={self.cluster.settings_file}", *options)

    def now(self) -> Object:
        """Return the Ingress once Metacontroller has seen all that was done."""
        settle(self.stage)
        found = self.stage.ingress("shop")
        assert found is not None
        return found

    def paths(self) -> list[str]:
        """Return the paths of the Ingress."""
        return [path["path"] for path in self.now()["spec"]["rules"][0]["http"]["paths"]]


class HelmOwner(Owner):
    """Somebody who has them in a chart."""

    def __init__(self, program: str, *arguments: Any) -> None:
        super().__init__(*arguments)
        chart = self.folder / "chart"
        (chart / "templates").mkdir(parents=True)
        (chart / "Chart.yaml").write_text("{apiVersion: v2, name: shop, version: 1.0.0}")
        (chart / "templates/all.yaml").write_text(TEMPLATE)
        self.program = build.get(program, print)

    def helm(self, *words: str) -> None:
        """Run Helm, which must not fail."""
        self.sh(f"{self.program} {' '.join(words)} --namespace {self.stage.namespace}")

    def upgrade(self) -> None:
        """Install the chart as it is now, or upgrade the release to it."""
        (self.folder / "values.yaml").write_text(json.dumps({"objects": self.objects}))
        self.helm("upgrade --install shop chart --values values.yaml")


@pytest.fixture(params=["helm", "helm3"])
def owner(request: pytest.FixtureRequest, cluster: DevCluster, stage: Stage, tmp_path: Path) -> HelmOwner:
    """Return somebody who has a release of their chart."""
    if reason := golang.lacking(request.param):
        pytest.skip(reason)
    owner = HelmOwner(request.param, cluster, stage, tmp_path)
    owner.upgrade()
    return owner


def told(refused: Ended) -> tuple[str, dict[str, str]]:
    """Return what a person is told to do before: the commands, and the annotations for the Service in the source."""
    printed = (line for line in refused.stdout.splitlines(keepends=True) if line.startswith("#   "))
    script = "".join(line.removeprefix("#   ") for line in printed)
    lines = [line.removeprefix("#   ") for line in script.splitlines() if line.startswith("#   ")]
    return script, yaml.safe_load("\n".join(lines))


def no_ingress_goes(stage: Stage, act: Callable[[], None]) -> None:
    """Do something. No Ingress of the namespace may be deleted meanwhile, but for the canary that `settle` makes."""
    with Watch(stage.api, stage.namespace) as watch:
        act()
    assert watch.deleted() <= {"canary"}


def test_an_ingress_of_a_helm_release_is_adopted_and_helm_goes_on(owner: HelmOwner, stage: Stage) -> None:
    before = stage.ingress("shop")
    assert before is not None

    def check(*, ours: bool) -> None:
        now = owner.now()
        assert (now["metadata"]["uid"], now["spec"]) == (before["metadata"]["uid"], before["spec"]), KEPT
        assert (DECORATOR in now["metadata"]["annotations"]) is ours

    def move() -> None:
        refused = owner.adopt("--apply")
        assert refused.returncode == 1, "the chart has it still"
        commands, owner.annotations = told(refused)
        owner.sh(commands)
        owner.has_ingress = False
        owner.upgrade()
        check(ours=False)
        adopted = owner.adopt("--apply")
        assert adopted.returncode == 0, adopted.stderr
        owner.upgrade()
        check(ours=True)
        asked, owner.annotations = owner.annotations, owner.annotations | {"ingress/path": "/new"}
        owner.upgrade()
        assert owner.paths() == ["/new"]
        owner.helm("rollback shop")
        check(ours=True)
        owner.annotations = asked
        # Back to the first revision, which has the Ingress and no annotations.
        assert owner.command("release", "--apply").returncode == 0
        owner.helm("rollback shop 1")
        check(ours=False)

    no_ingress_goes(stage, move)


def test_a_chart_that_cannot_hold_the_annotations_is_upgraded_and_uninstalled(owner: HelmOwner, stage: Stage) -> None:
    def move() -> None:
        commands, _ = told(owner.adopt())
        owner.sh(commands)
        owner.has_ingress = False
        owner.upgrade()
        adopted = owner.adopt("--apply")
        assert adopted.returncode == 0, adopted.stderr
        assert "the chart must no longer have this Ingress" in adopted.stderr
        owner.ingress = owner.ingress | {"metadata": {"name": "other"}}
        owner.upgrade()
        assert is_ours(owner.now())
        owner.helm("rollback shop")
        assert is_ours(owner.now())

    no_ingress_goes(stage, move)
    owner.helm("uninstall shop")
    stage.until("the end of the Ingress, with its Service", lambda: stage.ingress("shop") is None)


@pytest.mark.parametrize("how", ["", "--server-side"], ids=["client-side", "server-side"])
def test_kubectl_apply_goes_on_with_what_was_adopted(
    how: str, cluster: DevCluster, stage: Stage, tmp_path: Path
) -> None:
    owner = Owner(cluster, stage, tmp_path)
    asked = {"ingress/http": "true", "ingress/host": f"shop.{stage.namespace}.example.com"}

    def apply() -> None:
        (tmp_path / "all.yaml").write_text(yaml.safe_dump_all(owner.objects))
        owner.sh(f"kubectl apply {how} --filename all.yaml")

    def move() -> None:
        apply()
        before = owner.now()
        planned = owner.adopt()
        assert "kubectl apply: the manifests must no longer have this Ingress" in planned.stderr
        # On the server, another value would later be a conflict with whoever has written the annotation.
        first = "put its annotations into the manifests before this" in planned.stderr
        assert first is bool(how)
        if first:
            owner.annotations = asked
            apply()
        adopted = owner.adopt("--apply")
        assert adopted.returncode == 0, adopted.stderr
        apply()
        now = owner.now()
        assert (now["metadata"]["uid"], now["spec"]) == (before["metadata"]["uid"], before["spec"]), KEPT
        assert is_ours(now)
        owner.annotations, owner.has_ingress = asked | {"ingress/path": "/new"}, False
        apply()
        assert owner.paths() == ["/new"]
        owner.annotations = asked
        apply()
        assert owner.paths() == ["/"]

    no_ingress_goes(stage, move)
