"""`check`: each part of an installation, broken by itself, is named with what to do.

check/cluster.yaml has what a cluster has beside the manifests, check/cases.yaml what is otherwise in each case.
"""

import functools
import json
import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from devcluster.build import REPOSITORY
from devcluster.overlay import kustomize
from ingress_manager.commands.check import command
from ingress_manager.commands.check.engine import NEVER, asked_rights
from ingress_manager.commands.check.lines import State, table
from ingress_manager.commands.check.seen import Right, Seen
from ingress_manager.commands.check.table import check
from ingress_manager.commands.printing.objects import as_yaml
from ingress_manager.commands.reading.installations import Installation
from ingress_manager.commands.reading.kubectl import Kubectl, KubectlFailed
from ingress_manager.commands.reading.manifests import read
from ingress_manager.core.kubernetes import Object
from tests.commands.commands import listing, run

HERE = Path(__file__).with_name("check")
CASES = yaml.safe_load((HERE / "cases.yaml").read_text(encoding="utf-8"))
FOLDERS = ("manifests", "metacontroller/install", "metacontroller/listenerset")
GONE = object()


@functools.cache
def sound() -> str:
    """Return the objects of a sound installation, as JSON."""
    installed = [each for folder in FOLDERS for each in yaml.safe_load_all(kustomize(REPOSITORY / folder))]
    objects = [each for each in installed if each["kind"] != "ConfigMap"]
    for each in objects:
        if each["kind"] == "Deployment":
            counts = dict.fromkeys(("replicas", "updatedReplicas", "readyReplicas"), each["spec"]["replicas"])
            each["metadata"]["generation"] = 1
            each["status"] = {"observedGeneration": 1, **counts}
            for volume in each["spec"]["template"]["spec"].get("volumes", ()):
                volume["configMap"]["name"] = "ingress-manager-settings"
    objects += yaml.safe_load((HERE / "cluster.yaml").read_text(encoding="utf-8"))["items"]
    return json.dumps(objects)


def changed(objects: list[dict[str, Any]], place: str, value: Any = GONE) -> None:
    """Change a place, `KIND NAME PATH`; without a value, take it away: all of the object, without a path."""
    kind, name, *paths = place.split(" ")
    [found] = [each for each in objects if (each["kind"], each["metadata"]["name"]) == (kind, name)]
    if not paths:
        objects.remove(found)
        return
    holds: Any = found
    *above, last = [int(key) if key.isdecimal() else key for key in paths[0].split(".")]
    for key in above:
        holds = holds.setdefault(key, {}) if isinstance(holds, dict) else holds[key]
    if value is GONE:
        del holds[last]
    elif isinstance(holds, list) and last == len(holds):
        holds.append(value)
    else:
        holds[last] = value


def seen_of(case: dict[str, Any], more: Iterable[Object] = ()) -> Seen:
    """Return what is seen of the sound installation, and more objects, but for what is otherwise."""
    objects = [*json.loads(sound()), *more]
    for place in case.get("gone", ()):
        changed(objects, place)
    for place, value in case.get("set", {}).items():
        changed(objects, place, value)
    if "settings" in case:
        changed(objects, "ConfigMap ingress-manager-settings data", {"settings.yaml": as_yaml(case["settings"])})
    objects = [*(each for each in objects if each["kind"] not in case.get("unread", ())), *case.get("add", ())]
    seen = Seen(
        command.expected(),
        read(json.dumps(listing(*objects))).items,
        dict(case.get("unread", {})),
        kubernetes=case.get("kubernetes", "v1.36.3"),
        metrics=case.get("metrics", ""),
        now="2026-01-04T00:01:00+00:00",
        made=case.get("made", ""),
        wanted=Installation(*case["wanted"]) if "wanted" in case else None,
    )
    seen.rights = {right: right not in NEVER for right in asked_rights(seen)}
    seen.rights |= {Right(*right): allowed for *right, allowed in case.get("rights", ())}
    return seen


def said(case: dict[str, Any], seen: Seen | None = None) -> str:
    """Return what check says, but for what is well; of one part, that too."""
    part = case.get("part")
    lines = [
        line._replace(part="")
        for line in check(seen or seen_of(case))
        if (line.state is not State.OK if part is None else line.part == part)
    ]
    return "".join(table(lines))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_each_part_that_is_otherwise_is_named(case: dict[str, Any]) -> None:
    assert said(case) == case["says"]


# The shell.

KINDS = {resource: kind for kind, resource in command.KINDS.items()} | {
    "events": "Event",
    "networkpolicies.networking.k8s.io": "NetworkPolicy",
}


class Cluster:
    """Answers in the place of kubectl, from the sound installation."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.objects = json.loads(sound())
        self.forbidden: set[str] = set()
        self.calls: list[str] = []
        self.naps: list[float] = []
        self.made = ""
        monkeypatch.setattr(Kubectl, "run", lambda _, *arguments, stdin="": self.run(arguments, stdin))
        monkeypatch.setattr(command, "sleep", self.naps.append)
        monkeypatch.setattr(command, "monotonic", lambda: sum(self.naps))

    def run(self, arguments: tuple[str, ...], stdin: str) -> str:
        verb, *_, resources = arguments
        self.calls.append(f"{verb} {resources}")
        if self.forbidden & {verb, *arguments, *resources.split(","), f"{resources.partition('/')[0]}/"}:
            raise KubectlFailed("forbidden")
        if verb == "version":
            return '{"serverVersion": {"gitVersion": "v1.36.3"}}'
        if verb == "create":
            rights = [each["spec"]["resourceAttributes"] for each in json.loads(stdin)["items"]]
            return " ".join("false" if Right(**right) in NEVER else "true" for right in rights)
        if any("creationTimestamp" in each for each in arguments):
            return self.made
        if "--raw" in arguments:
            return 'ingress_manager_build_info{version="0.1.0"} 1.0\n'
        names = {each.rpartition("/")[2] for each in arguments[arguments.index("--") + 1 :]}
        wanted = {KINDS.get(each) for each in resources.split(",")}
        found = [each for each in self.objects if each["kind"] in wanted or each["metadata"]["name"] in names]
        return "" if not found and "--ignore-not-found" in arguments else json.dumps(listing(*found))


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    return Cluster(monkeypatch)


@pytest.mark.usefixtures("cluster")
def test_it_says_that_all_is_well() -> None:
    ended = run("check")
    assert (ended.status, ended.err) == (0, "")
    assert ended.out.startswith("Kubernetes\n✓ Kubernetes v1.36.3\n\nMetacontroller\n✓ Metacontroller v4.17.2\n")
    assert ended.out.endswith("\n\nAll is well: 19 checks.\n")


def test_a_command_names_the_cluster_that_is_meant(cluster: Cluster) -> None:
    changed(cluster.objects, "Deployment ingress-manager status.readyReplicas")
    ended = run("check", "--context", "prod")
    assert ended.status == 1
    assert "kubectl describe --namespace=ingress-manager --context=prod -- Deployment ingress-manager\n" in ended.out


@pytest.mark.parametrize(
    "resource", [*KINDS, "customresourcedefinitions/", "configmaps/", "create", "version", "--raw"]
)
def test_each_kind_that_may_not_be_read_is_unknown_and_no_other_finding(resource: str, cluster: Cluster) -> None:
    cluster.forbidden = {resource}
    ended = run("check")
    assert ended.status == (0 if resource == "--raw" else 2)
    assert not {"✗", "!"} & {line[0] for line in ended.out.splitlines() if line}


def test_an_outage_is_over_once_an_ingress_was_made(cluster: Cluster) -> None:
    now = datetime.now(UTC)
    failed = {
        "message": "sync hook failed: no answer",
        "lastTimestamp": f"{now - timedelta(minutes=5):%Y-%m-%dT%H:%M:%SZ}",
    }
    [event] = [each for each in cluster.objects if each["kind"] == "Event"]
    event.update(failed)
    assert run("check").status == 1
    cluster.made = f"2026-01-01T00:00:00Z {now - timedelta(minutes=1):%Y-%m-%dT%H:%M:%SZ}"
    assert run("check").status == 0


def test_it_knows_every_policy_that_can_be_installed() -> None:
    folders = ("gateway", "metacontroller")
    texts = [path.read_text(encoding="utf-8") for folder in folders for path in (REPOSITORY / folder).rglob("*.yaml")]
    named = re.compile(r"kind: ValidatingAdmissionPolicy\nmetadata:\n  name: (\S+)")
    written = {name for text in texts for name in named.findall(text)}
    known = {
        each["metadata"]["name"] for objects in command.expected().values() for each in objects if "metadata" in each
    }
    assert written
    assert written <= known


def test_it_waits_until_nothing_is_wrong(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = cluster.objects
    cluster.objects = [each for each in whole if each["kind"] != "DecoratorController"]

    def nap(seconds: float) -> None:
        cluster.naps.append(seconds)
        cluster.objects = whole if len(cluster.naps) == 3 else cluster.objects

    monkeypatch.setattr(command, "sleep", nap)
    ended = run("check", "--wait")
    assert (ended.status, cluster.naps) == (0, [2.0, 2.0, 2.0])
    why = "the DecoratorController ingress-manager isn't there, so that Metacontroller does nothing"
    assert ended.err == f"… waiting until nothing is wrong: {why}\n"


def test_it_waits_no_longer_than_it_is_told(cluster: Cluster) -> None:
    changed(cluster.objects, "DecoratorController ingress-manager")
    ended = run("check", "--wait", "--timeout", "5s")
    assert (ended.status, cluster.naps) == (1, [2.0, 2.0, 2.0])
    assert ended.out.endswith("\nSomething is wrong: 1 wrong, 16 ok.\n")
    assert run("check", "--wait", "--timeout", "1m").status == 1
    assert sum(cluster.naps) == 6 + 60
