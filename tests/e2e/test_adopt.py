"""`adopt` and `release` on a real cluster, by somebody with no more rights than that takes: no Ingress is ever gone.

The Ingresses are some of tests/commands/adopt.
"""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from devcluster.api import INGRESSES, SERVICES, Object
from devcluster.backend import Backend
from devcluster.cluster import DevCluster
from devcluster.gateway import lacking
from devcluster.overlay import CLASS
from devcluster.story import Stage, served_by
from ingress_manager.commands.adopt.adoption import adopt
from ingress_manager.core.kubernetes import DECORATOR
from tests import adoptions
from tests.e2e.audit import deleted, written
from tests.e2e.objects import backend, by_hand
from tests.e2e.people import Ended, environment_of, mover, run
from tests.e2e.traffic import asking

SETTINGS = adoptions.SETTINGS
CASES = adoptions.cases()
EXACTLY = ("a-record-of-earlier", "annotated-already", "labels-and-a-finalizer", "port-by-name")
CHANGED, REFUSED = "class-by-annotation-accepted", "edited-in-place-refused"
"""The cases that are played on a cluster. tests/commands compares the plans of all of them."""

PORT = 8086


@pytest.fixture
def adopting(cluster: DevCluster) -> Iterator[DevCluster]:
    """Yield the cluster, whose hook has the settings of the cases."""
    before = yaml.safe_load(cluster.settings_file.read_text())
    cluster.restart_hook(yaml.safe_load(SETTINGS.read_text()))
    yield cluster
    cluster.restart_hook(before)


def is_ours(ingress: Object) -> bool:
    """Return whether an Ingress is ingress-manager's; if not, nothing of that may be left."""
    metadata = ingress["metadata"]
    marks = [
        "ownerReferences" in metadata,
        DECORATOR in metadata.get("annotations", {}),
        metadata.get("labels", {}).get("app.kubernetes.io/managed-by") == "ingress-manager",
    ]
    assert len(set(marks)) == 1, metadata
    return all(marks)


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
    before: dict[str, Object] = {}
    for name in (*EXACTLY, CHANGED, REFUSED):
        *services, ingress = adoptions.objects(CASES[name])
        for each in (*services, ingress):
            each["metadata"]["namespace"] = stage.namespace
        # The Ingress first: a Service may ask for one already.
        before[name] = stage.api.create(INGRESSES, ingress)
        for service in services:
            stage.api.create(SERVICES, service)
    good = (*EXACTLY, CHANGED)
    kubeconfig = mover(adopting.control_plane, stage.namespace, tmp_path)

    def command(name: str, *arguments: str) -> Ended:
        return run(adopting.control_plane, name, "-n", stage.namespace, *arguments, kubeconfig=kubeconfig)

    def check(*, ours: bool) -> None:
        for name in good:
            now = stage.ingress(name)
            assert now is not None
            [plan] = adopt(*adoptions.adoptable(CASES[name]))
            assert (now["metadata"]["uid"], now["spec"]) == (
                before[name]["metadata"]["uid"],
                plan.parts[0].ingress["spec"],
            )
            assert is_ours(now) is ours
            assert now["metadata"].get("finalizers") == before[name]["metadata"].get("finalizers")
        assert stage.ingress(REFUSED) == before[REFUSED], "what is refused is left alone"

    with written(adopting, stage.namespace) as writes:
        options = (f"--settings={SETTINGS}", "--apply")
        exactly = command("adopt", *options, *EXACTLY, REFUSED)
        changed = command("adopt", *options, "--accept-changes=spec.ingressClassName", CHANGED)
    assert (exactly.returncode, changed.returncode) == (1, 0), exactly.stderr + changed.stderr
    assert deleted(writes) == set()
    check(ours=True)
    with written(adopting, stage.namespace) as writes:
        settle(stage)
    assert {name for _, name in writes} == {"canary"}, "nothing is written again"

    with written(adopting, stage.namespace) as writes:
        released = command("release", "--apply", *good)
        settle(stage)
    assert released.returncode == 0, released.stderr
    assert deleted(writes) == {"canary"}
    check(ours=False)
    for service in stage.api.list(SERVICES, stage.namespace):
        annotations = service["metadata"].get("annotations", {})
        assert [key for key in annotations if key.startswith(("ingress/", "ingress-manager/"))] == []
    stage.api.patch(INGRESSES, "labels-and-a-finalizer", {"metadata": {"finalizers": None}}, stage.namespace)


def test_nothing_is_given_away_before_metacontroller_has_seen_the_service(cluster: DevCluster, stage: Stage) -> None:
    """Metacontroller sees Services and Ingresses by two watches. It would delete the Ingress of an older Service."""
    stage.create_service("shop", {})
    host = f"shop.{stage.namespace}.example.com"
    before = stage.api.create(INGRESSES, by_hand(stage.namespace, "shop", host, "shop", ingressClassName="nginx"))

    def annotated() -> bool:
        return bool((stage.api.get(SERVICES, "shop", stage.namespace) or {})["metadata"].get("annotations"))

    arguments = ("adopt", f"{stage.namespace}/shop", f"--settings={cluster.settings_file}")
    with cluster.engine.paused():
        adopting = subprocess.Popen(
            [str(cluster.control_plane.programs.kubectl), "ingress-manager", *arguments, "--apply"],
            env=environment_of(cluster.control_plane),
            stdout=subprocess.PIPE,
            text=True,
        )
        stage.until("the annotation", annotated)
        with pytest.raises(subprocess.TimeoutExpired):
            adopting.wait(3)
        assert stage.ingress("shop") == before
    out, _ = adopting.communicate(timeout=100)
    assert adopting.returncode == 0
    assert out.splitlines()[-1] == f"{stage.namespace}/shop is ingress-manager's: {stage.namespace}/shop."
    now = stage.ingress("shop")
    assert now is not None
    assert (now["metadata"]["uid"], now["spec"]) == (before["metadata"]["uid"], before["spec"])


def test_no_request_fails_while_ingresses_of_two_services_are_split_replaced_and_released(
    cluster: DevCluster, stage: Stage, tmp_path: Path
) -> None:
    """`shop` has the name of a Service, and keeps what leads to that; `www` goes, as each Service asks already."""
    if reason := lacking():
        pytest.skip(reason)
    gateway = stage.gateway
    assert gateway
    kubeconfig = mover(cluster.control_plane, stage.namespace, tmp_path)
    places: dict[tuple[str, str], str] = {}
    for name in ("shop", "www"):
        host = f"{name}.{stage.namespace}.example.com"
        ingress = by_hand(stage.namespace, name, host, "shop", PORT, ingressClassName=CLASS)
        path = {"path": "/cart", "pathType": "Prefix", "backend": backend("cart", PORT)}
        ingress["spec"]["rules"][0]["http"]["paths"].append(path)
        stage.api.create(INGRESSES, ingress)
        places |= {(host, "/"): "shop", (host, "/cart"): "cart"}
    before = stage.ingress("shop")
    assert before

    def ask() -> list[str]:
        answers = ((place, gateway.ask(*place)) for place in places)
        return [f"{place}: {answer}" for place, answer in answers if not served_by(stage, places[place], answer)]

    def adopted(name: str) -> None:
        arguments = ("adopt", f"{stage.namespace}/{name}", "--settings", str(cluster.settings_file), "--apply")
        ended = run(cluster.control_plane, *arguments, kubeconfig=kubeconfig)
        assert ended.returncode == 0, ended.stderr

    with Backend(stage.create_service("shop", {}, PORT)), Backend(stage.create_service("cart", {}, PORT)):
        stage.until("an answer of each", lambda: not ask())
        with asking(ask) as answers:
            adopted("shop")
            adopted("www")
            settle(stage)
            ours = {each["metadata"]["name"]: each for each in stage.api.list(INGRESSES, stage.namespace)}
            assert all(map(is_ours, ours.values()))
            assert {*ours} == {"shop", "cart", "shop.www", "cart.www"}
            released = run(cluster.control_plane, "release", "shop", "cart", "--apply", "-n", stage.namespace)
            assert released.returncode == 0, released.stderr
            settle(stage)
    assert [answer for answer in answers if answer != []] == []
    assert len(answers) > 100
    assert ours["shop"]["metadata"]["uid"] == before["metadata"]["uid"]
    now = stage.api.list(INGRESSES, stage.namespace)
    assert {each["metadata"]["name"]: each["metadata"]["uid"] for each in now} == {
        name: each["metadata"]["uid"] for name, each in ours.items()
    }
    assert not any(map(is_ours, now))
