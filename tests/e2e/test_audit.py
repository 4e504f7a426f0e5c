"""`ingress-manager audit` on a real cluster: each kind of finding appears, and goes when its command is run.

A command is run as a person would: by a shell, with the real kubectl. What is in capitals in it is filled in.
"""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import pytest
import yaml

from devcluster.api import HTTPROUTES, INGRESSES, NAMESPACES, SERVICES, Object, Resource, wait_for
from devcluster.cluster import DevCluster
from devcluster.errors import NotReady
from devcluster.story import PATIENCE, Stage
from ingress_manager.commands.audit.kinds import FindingKind
from ingress_manager.commands.audit.remedies import SYNC_ALL
from ingress_manager.commands.printing.words import shown
from ingress_manager.commands.view.answering import CauseKind
from tests.e2e.objects import by_hand, create
from tests.e2e.shell import run, sh

ON = {"ingress/http": "true"}
DECORATOR = "metacontroller.k8s.io/decorator-controller"
EDITS = "s/port: 80$/port: 8081/; s/host: twice/host: once/; s/htpp:/http:/"
"""What a person does in an editor, as a script for sed."""

LABEL = {"app.kubernetes.io/managed-by": "ingress-manager"}


class Scene:
    """A namespace, and what an audit finds in it."""

    def __init__(self, cluster: DevCluster, stage: Stage) -> None:
        self.cluster = cluster
        self.stage = stage
        self.api = stage.api
        self.namespace = stage.namespace
        self.exits = ExitStack()

    def audit(self, *options: str) -> list[dict[str, Any]]:
        """Return what is found of this namespace, under the settings that the hook has."""
        settings = f"--current-settings={self.cluster.settings_file}"
        ended = run(
            self.cluster.control_plane,
            "audit",
            settings,
            "--allow-empty",
            f"--ignore={','.join(CauseKind)}",
            "-o",
            "json",
            *(options or ("-n", self.namespace)),
        )
        found = json.loads(ended.stdout)
        findings = found["findings"]
        beyond_hints = any(each["severity"] != "hint" for each in findings)
        assert (ended.returncode, ended.stderr) == (beyond_hints, ""), ended.stderr
        return [each for each in findings if each["object"]["namespace"].startswith(self.namespace)]

    def until_found(self, kinds: Sequence[str], options: Sequence[str] = ()) -> list[dict[str, Any]]:
        """Return what is found once it is of these kinds. Raises NotReady, with what is found."""
        found: list[dict[str, Any]] = []

        def are_found() -> bool:
            found[:] = self.audit(*options)
            return sorted(each["kind"] for each in found) == list(kinds)

        try:
            wait_for(are_found, PATIENCE, interval=0.2)
        except NotReady as error:
            raise NotReady(f"waited for {list(kinds)}; found {found}") from error
        return found

    def mend(self, command: str, words: dict[str, str]) -> None:
        """Run a command of a finding, with these words in the place of others."""
        for word, instead in words.items():
            command = command.replace(word, instead)
        adopts = f"kubectl ingress-manager adopt --apply --settings={self.cluster.settings_file}"
        command = command.replace("ingress-manager adopt", adopts)
        sh(self.cluster.control_plane, command, environment={"KUBE_EDITOR": f"sed -i.bak '{EDITS}'"})
        if command == shown(SYNC_ALL):
            # There are no pods here: what the command would restart is started by hand.
            self.engine(runs=True)

    def engine(self, *, runs: bool) -> None:
        """Stop Metacontroller, or start it again; when the test ends, it runs."""
        self.exits.callback(self.cluster.engine.start)
        self.cluster.engine.stop()
        if runs:
            self.cluster.engine.start()

    def service(
        self, name: str, host: str = "", annotations: dict[str, str] | None = None, *, ingress: bool = True
    ) -> Object:
        """Create a Service that asks for a host of its own; return it when it has its Ingress."""
        stated = {**ON, "ingress/host": host or f"{name}.{self.namespace}.example.com", **(annotations or {})}
        made = self.stage.create_service(name, stated)
        if ingress:
            self.stage.until_ingress(name, f"the Ingress {name}", lambda found: "ownerReferences" in found["metadata"])
        return made

    def ingress(self, name: str, host: str = "old.example.com", **metadata: Any) -> Object:
        """Create an Ingress by hand."""
        of_class = self.stage.ingress_class
        made = by_hand(self.namespace, name, host, name, metadata=metadata, ingressClassName=of_class)
        return self.api.create(INGRESSES, made)

    def patch(self, resource: Resource, name: str, **metadata: Any) -> None:
        """Change the metadata of an object."""
        self.api.patch(resource, name, {"metadata": metadata}, self.namespace)

    def uid(self, name: str) -> str:
        """Return the uid of an Ingress."""
        found = self.stage.ingress(name) if name else None
        return str(found["metadata"]["uid"]) if found else ""


@dataclass(frozen=True)
class Finding:
    """A finding: how it comes about, and what is filled in in its command."""

    kind: FindingKind
    happens: Callable[[Scene], object]
    words: dict[str, str] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    beside: tuple[FindingKind, ...] = ()
    """Kinds that are found as well."""
    keeps: str = ""
    """The name of an Ingress that stays the same object."""


def refused(scene: Scene) -> None:
    scene.stage.create_service("shop", {**ON, "ingress/hots": "shop.example.org"})
    scene.stage.until_event("shop", "did you mean ingress/host?")


def name_taken(scene: Scene) -> None:
    scene.ingress("shop", f"shop.{scene.namespace}.example.com")
    scene.service("shop", ingress=False)
    scene.stage.until_event("shop", "is in the way")


def forbidden(scene: Scene) -> None:
    scene.service("shop")
    scene.engine(runs=False)
    scene.exits.callback(scene.cluster.restart_hook, yaml.safe_load(scene.cluster.settings_file.read_text()))
    scene.cluster.restart_hook({"limits": {"hosts": ["elsewhere.example.com"]}})


def missing(scene: Scene) -> None:
    scene.engine(runs=False)
    scene.service("shop", ingress=False)


def drifted(scene: Scene) -> None:
    scene.service("shop")
    scene.engine(runs=False)
    scene.api.patch(INGRESSES, "shop", {"spec": {"ingressClassName": "other"}}, scene.namespace)


def unwanted(scene: Scene) -> None:
    scene.service("shop")
    scene.engine(runs=False)
    scene.stage.annotate("shop", "false")


def detached_without_mark(scene: Scene) -> None:
    scene.service("shop")
    scene.patch(INGRESSES, "shop", annotations={DECORATOR: None})


def detached_without_owner(scene: Scene) -> None:
    scene.ingress("shop", labels=LABEL, annotations={DECORATOR: "ingress-manager"})
    scene.service("shop", ingress=False)


def detached_from_nothing(scene: Scene) -> None:
    scene.service("shop")
    scene.exits.enter_context(scene.cluster.control_plane.controller_manager.paused())
    scene.api.delete(SERVICES, "shop", scene.namespace)


def held(scene: Scene) -> None:
    scene.service("shop")
    scene.patch(SERVICES, "shop", finalizers=["example.com/hold"])
    scene.api.delete(SERVICES, "shop", scene.namespace)


def claimed_twice(scene: Scene) -> None:
    scene.service("a", "twice.example.com", {"ingress/path": "/x"})
    scene.service("b", "twice.example.com", {"ingress/path": "/x/"})  # b is after a, even if both are of one second


def upstream_collision(scene: Scene) -> None:
    other = Scene(scene.cluster, Stage(scene.api, f"{scene.namespace}-a"))
    scene.service("a-shop")  # before the namespace: the gateway's policy denies it later
    create(scene.api, NAMESPACES, other.namespace)
    scene.exits.callback(scene.api.delete, NAMESPACES, other.namespace)
    time.sleep(1.1)
    other.service("shop")


def not_copied(scene: Scene) -> None:
    scene.service("shop", "", {"nginx.ingress.kubernetes.io/rewrite-target": "/", "cert-manager.io/issuer": "mine"})


def placeholder(scene: Scene) -> None:
    scene.stage.create_service("shop", ON)
    scene.stage.until_ingress("shop", "the Ingress", lambda _: True)


def misspelt(scene: Scene) -> None:
    host = f"shop.{scene.namespace}.example.com"
    scene.stage.create_service("shop", {"ingress/htpp": "true", "ingress/host": host})


FINDINGS = [
    Finding(FindingKind.REFUSED, refused),
    Finding(FindingKind.NAME_TAKEN, name_taken, keeps="shop"),
    Finding(FindingKind.FORBIDDEN, forbidden, beside=(FindingKind.REFUSED,)),
    Finding(FindingKind.MISSING, missing),
    Finding(FindingKind.DRIFTED, drifted, keeps="shop"),
    Finding(FindingKind.UNWANTED, unwanted),
    Finding(FindingKind.DETACHED, detached_without_mark, keeps="shop"),
    Finding(FindingKind.DETACHED, detached_without_owner, keeps="shop"),
    Finding(FindingKind.DETACHED, detached_from_nothing),
    Finding(FindingKind.HELD, held),
    Finding(FindingKind.CLAIMED_TWICE, claimed_twice, {"HOST": "b.example.com"}),
    Finding(FindingKind.UPSTREAM_COLLISION, upstream_collision, options=("--all-namespaces",)),
    Finding(FindingKind.NOT_COPIED, not_copied),
    Finding(FindingKind.PLACEHOLDER_HOST, placeholder, {"HOST": "shop.example.org"}),
    Finding(FindingKind.NO_HTTP, misspelt),
]


@pytest.fixture
def scene(cluster: DevCluster, stage: Stage) -> Iterator[Scene]:
    """Yield a fresh namespace; afterwards, all runs as before."""
    made = Scene(cluster, stage)
    with made.exits:
        yield made


@pytest.mark.parametrize("finding", FINDINGS, ids=lambda finding: finding.happens.__name__)
def test_a_finding_appears_and_goes_when_its_command_is_run(scene: Scene, finding: Finding) -> None:
    finding.happens(scene)
    expected = sorted([finding.kind, *finding.beside])
    found = scene.until_found(expected, finding.options)
    [command] = [each["command"] for each in found if each["kind"] == finding.kind]
    uid = scene.uid(finding.keeps)
    scene.mend(command, finding.words)
    scene.until_found(sorted(finding.beside), finding.options)
    assert scene.uid(finding.keeps) == uid


# HTTPRoutes.


def test_httproutes_are_audited_as_ingresses_are(serving: DevCluster) -> None:
    scene = Scene(serving, Stage(serving.api, "httproute"))
    create(serving.api, HTTPROUTES, "audited", "httproute", spec={"hostnames": ["theirs.example.com"]})
    scene.service("audited", ingress=False)
    try:
        for kind in (FindingKind.NAME_TAKEN, FindingKind.DETACHED):
            [found] = scene.until_found([kind])
            scene.mend(found["command"], {})
            scene.until_found([])
            scene.api.patch(HTTPROUTES, "audited", {"metadata": {"annotations": {DECORATOR: None}}}, scene.namespace)
    finally:
        scene.api.delete(SERVICES, "audited", scene.namespace)
        scene.api.delete(HTTPROUTES, "audited", scene.namespace)
