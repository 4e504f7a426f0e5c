"""`ingress-manager audit` on a real cluster: each kind of finding appears, and goes when its command is run.

A command is run as a person would: by a shell, with the real kubectl. What is in capitals in it is filled in.
"""

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from devcluster import credentials
from devcluster.api import (
    HTTPROUTES,
    INGRESSES,
    NAMESPACES,
    SERVICE_ACCOUNTS,
    SERVICES,
    Api,
    Object,
    Resource,
    wait_for,
)
from devcluster.cluster import DevCluster
from devcluster.control_plane import ControlPlane
from devcluster.programs import find_metacontroller
from devcluster.story import Stage
from hooks.commands.kinds import Kind
from hooks.commands.remedies import SYNC_ALL
from hooks.standing import LAST_APPLIED
from tests.e2e.test_commands import run

ON = {"ingress/http": "true"}
DECORATOR = "metacontroller.k8s.io/decorator-controller"
LABEL = {"app.kubernetes.io/managed-by": "ingress-manager"}


@pytest.fixture(scope="module", autouse=True)
def one_engine_is_enough(request: pytest.FixtureRequest, pytestconfig: pytest.Config) -> None:
    """Skip what was played on the real Metacontroller on the stand-in for it."""
    engine = getattr(request, "param", None)
    assert engine is None
    assert pytestconfig


class Scene:
    """A namespace, and what an audit finds in it."""

    def __init__(self, cluster: DevCluster, stage: Stage, folder: Path) -> None:
        self.cluster = cluster
        self.stage = stage
        self.api = stage.api
        self.namespace = stage.namespace
        self.folder = folder
        self.exits = ExitStack()

    def audit(self, *options: str) -> list[dict[str, Any]]:
        """Return what is found of this namespace, under the settings that the hook has."""
        settings = f"--current-settings={self.cluster.settings_file}"
        ended = run(self.cluster.control_plane, "audit", settings, "-o", "json", *(options or ("-n", self.namespace)))
        found = json.loads(ended.stdout)
        assert (ended.returncode, ended.stderr) == (1 if found["findings"] else 0, ""), ended.stderr
        findings = found["findings"]
        return [each for each in findings if each["object"]["namespace"].startswith(self.namespace)]

    def kinds(self, *options: str) -> list[str]:
        """Return the kinds of what is found, of which a host that is a placeholder is none."""
        return [found["kind"] for found in self.audit(*options)]

    def mend(self, command: str, words: dict[str, str]) -> None:
        """Run a command of a finding, with these words in the place of others."""
        for word, instead in words.items():
            command = command.replace(word, instead)
        plane = self.cluster.control_plane
        path = os.pathsep.join((str(plane.programs.kubectl.path.parent), os.environ["PATH"]))
        editor = {"KUBE_EDITOR": "sed -i 's/port: 80$/port: 8081/; s/host: twice/host: once/'"}
        environment = {**os.environ, "PATH": path, "KUBECONFIG": str(plane.kubeconfig), **editor}
        ended = subprocess.run(
            ["sh", "-c", command], env=environment, capture_output=True, text=True, check=False, timeout=60
        )
        assert ended.returncode == 0, f"{command}: {ended.stderr}"
        if command == SYNC_ALL:
            # There are no pods here: what the command would restart is started by hand.
            self.engine(runs=True)

    def engine(self, *, runs: bool) -> None:
        """Stop Metacontroller, or start it again."""
        self.cluster.engine.stop()
        if runs:
            self.cluster.engine.start()

    def service(self, name: str, host: str = "", *, ingress: bool = True, **annotations: str) -> Object:
        """Create a Service that asks for a host of its own; return it when it has its Ingress."""
        stated = {**ON, "ingress/host": host or f"{name}.{self.namespace}.example.com", **annotations}
        made = self.stage.create_service(name, stated)
        if ingress:
            self.stage.until_ingress(name, f"the Ingress {name}", lambda found: "ownerReferences" in found["metadata"])
        return made

    def ingress(self, name: str, host: str = "old.example.com", **metadata: Any) -> Object:
        """Create an Ingress by hand."""
        backend = {"service": {"name": name, "port": {"number": 80}}}
        rules = [{"host": host, "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": backend}]}}]
        made = {
            "apiVersion": INGRESSES.api_version,
            "kind": "Ingress",
            "metadata": {"name": name, "namespace": self.namespace, **metadata},
            "spec": {"ingressClassName": self.stage.ingress_class, "rules": rules},
        }
        return self.api.create(INGRESSES, made)

    def patch(self, resource: Resource, name: str, **metadata: Any) -> None:
        """Change the metadata of an object."""
        self.api.patch(resource, name, {"metadata": metadata}, self.namespace)

    def uid(self, name: str) -> str:
        """Return the uid of an Ingress."""
        return str((self.stage.ingress(name) or {"metadata": {"uid": "none"}})["metadata"]["uid"])


@dataclass(frozen=True)
class Finding:
    """A finding: how it comes about, and what is filled in in its command."""

    kind: Kind
    reason: str
    happens: Callable[[Scene], object]
    words: dict[str, str] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    beside: tuple[Kind, ...] = ()
    """Kinds that are found as well."""
    keeps: str = ""
    """The name of an Ingress that stays the same object."""


def refused_annotation(scene: Scene) -> None:
    scene.stage.create_service("shop", {**ON, "ingress/hots": "shop.example.org"})
    scene.stage.until_event("shop", "did you mean ingress/host?")


def refused_value(scene: Scene) -> None:
    scene.service("shop", "Shop.example.com", ingress=False)


def refused_copied(scene: Scene) -> None:
    scene.service("shop", ingress=False, **{"ingress/tls": "false", "ingress/tls-secret": "shop-tls"})


def refused_port(scene: Scene) -> None:
    ports = [{"name": "dns", "port": 80, "protocol": "UDP"}]
    metadata = {"name": "shop", "namespace": scene.namespace, "annotations": {**ON, "ingress/host": "a.example.org"}}
    spec = {"type": "ExternalName", "externalName": "shop.example.net", "ports": ports}
    scene.api.create(SERVICES, {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec})


def name_taken(scene: Scene) -> None:
    scene.ingress("shop")
    scene.service("shop", ingress=False)
    scene.stage.until_event("shop", "is in the way")


def forbidden(scene: Scene) -> None:
    scene.service("shop")
    scene.engine(runs=False)
    scene.exits.callback(scene.engine, runs=True)
    scene.exits.callback(scene.cluster.restart_hook, yaml.safe_load(scene.cluster.settings_file.read_text()))
    scene.cluster.restart_hook({"namespaces": {"*": {"hosts": ["elsewhere.example.com"]}}})


def forbidden_and_held(scene: Scene) -> None:
    scene.service("shop")
    scene.patch(SERVICES, "shop", finalizers=["example.com/hold"])
    scene.api.delete(SERVICES, "shop", scene.namespace)
    scene.exits.callback(scene.patch, SERVICES, "shop", finalizers=None)
    scene.exits.callback(scene.cluster.restart_hook, yaml.safe_load(scene.cluster.settings_file.read_text()))
    scene.cluster.restart_hook({"namespaces": {"*": {"hosts": ["elsewhere.example.com"]}}})


def missing(scene: Scene) -> None:
    scene.engine(runs=False)
    scene.service("shop", ingress=False)


def drifted(scene: Scene) -> None:
    scene.service("shop")
    scene.engine(runs=False)
    scene.api.patch(INGRESSES, "shop", {"spec": {"ingressClassName": "other"}}, scene.namespace)


def drifted_label(scene: Scene) -> None:
    scene.service("shop")
    scene.engine(runs=False)
    scene.patch(INGRESSES, "shop", labels=None, annotations={"ingress/added-by-settings": "x"})


def drifted_record(scene: Scene) -> None:
    scene.service("shop")
    scene.patch(INGRESSES, "shop", annotations={LAST_APPLIED: "{"}, labels=None)


def unwanted(scene: Scene) -> None:
    scene.service("shop")
    scene.engine(runs=False)
    scene.exits.callback(scene.engine, runs=True)
    scene.stage.annotate("shop", "false")


def detached_as_rendered(scene: Scene) -> None:
    scene.ingress("shop", labels=LABEL)
    scene.service("shop", ingress=False)


def detached_without_mark(scene: Scene) -> None:
    scene.service("shop")
    scene.patch(INGRESSES, "shop", annotations={DECORATOR: None})


def detached_without_owner(scene: Scene) -> None:
    scene.ingress("shop", labels=LABEL, annotations={DECORATOR: "ingress-manager"})
    scene.service("shop", ingress=False)


def detached_from_nothing(scene: Scene) -> None:
    scene.service("shop")
    manager = scene.exits.enter_context(scene.cluster.control_plane.controller_manager.paused())
    assert manager is None
    scene.api.delete(SERVICES, "shop", scene.namespace)


def detached_and_not_asked_for(scene: Scene) -> None:
    scene.stage.create_service("shop", {})
    scene.ingress("shop", labels=LABEL)


def held_service(scene: Scene) -> None:
    scene.service("shop")
    scene.patch(SERVICES, "shop", finalizers=["example.com/hold"])
    scene.api.delete(SERVICES, "shop", scene.namespace)


def held_ingress(scene: Scene) -> None:
    scene.service("shop")
    scene.patch(INGRESSES, "shop", finalizers=["example.com/hold"])
    scene.api.delete(INGRESSES, "shop", scene.namespace)


def held_in_the_way(scene: Scene) -> None:
    scene.ingress("shop", finalizers=["example.com/hold"])
    scene.api.delete(INGRESSES, "shop", scene.namespace)
    scene.service("shop", ingress=False)


def claimed_twice(scene: Scene) -> None:
    scene.service("a", "twice.example.com", **{"ingress/path": "/x"})
    scene.service("b", "twice.example.com", **{"ingress/path": "/x/"})


def claimed_across_namespaces(scene: Scene) -> None:
    other = Scene(scene.cluster, Stage(scene.api, f"{scene.namespace}-other"), scene.folder)
    with_namespace(scene, other.namespace)
    scene.service("a", "twice.example.com")
    other.service("b", "twice.example.com", **{"ingress/routes": "[{host: twice.example.com}]", "ingress/host": ""})


def claimed_by_a_stranger(scene: Scene) -> None:
    scene.ingress("theirs", "twice.example.com")
    scene.service("a", "twice.example.com")


def upstream_collision(scene: Scene) -> None:
    other = Scene(scene.cluster, Stage(scene.api, f"{scene.namespace}-a"), scene.folder)
    with_namespace(scene, other.namespace)
    scene.service("a-shop")
    other.service("shop")


def with_namespace(scene: Scene, name: str) -> None:
    scene.api.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    scene.exits.callback(scene.api.delete, NAMESPACES, name)


def not_copied(scene: Scene) -> None:
    scene.service("shop", **{"nginx.ingress.kubernetes.io/rewrite-target": "/", "cert-manager.io/issuer": "mine"})


def placeholder(scene: Scene) -> None:
    scene.stage.create_service("shop", ON)
    scene.stage.until_ingress("shop", "the Ingress", lambda _: True)


EVERYWHERE = ("--all-namespaces",)
FINDINGS = [
    Finding(Kind.REFUSED, "an annotation that is like one", refused_annotation),
    Finding(Kind.REFUSED, "a value", refused_value, {"VALUE": "shop.example.com"}),
    Finding(Kind.REFUSED, "a contradiction", refused_copied),
    Finding(Kind.REFUSED, "an ExternalName", refused_port),
    Finding(Kind.NAME_TAKEN, "an Ingress that somebody else made", name_taken),
    Finding(Kind.FORBIDDEN, "while Metacontroller doesn't run", forbidden, beside=(Kind.REFUSED,)),
    Finding(Kind.FORBIDDEN, "of a Service that is being deleted", forbidden_and_held, beside=(Kind.HELD,)),
    Finding(Kind.MISSING, "while Metacontroller doesn't run", missing),
    Finding(Kind.DRIFTED, "edited by hand", drifted, keeps="shop"),
    Finding(Kind.DRIFTED, "without our label", drifted_label, keeps="shop"),
    Finding(Kind.DRIFTED, "without a record that can be read", drifted_record, keeps="shop"),
    Finding(Kind.UNWANTED, "while Metacontroller doesn't run", unwanted),
    Finding(Kind.DETACHED, "as render prints it", detached_as_rendered, keeps="shop"),
    Finding(Kind.DETACHED, "without Metacontroller's annotation", detached_without_mark, keeps="shop"),
    Finding(Kind.DETACHED, "without an owner", detached_without_owner, keeps="shop"),
    Finding(Kind.DETACHED, "its Service is gone", detached_from_nothing),
    Finding(Kind.DETACHED, "its Service asks for nothing", detached_and_not_asked_for),
    Finding(Kind.HELD, "a Service", held_service),
    Finding(Kind.HELD, "an Ingress", held_ingress),
    Finding(Kind.HELD, "an Ingress in the way", held_in_the_way),
    Finding(Kind.CLAIMED_TWICE, "a prefix and its other spelling", claimed_twice, {"HOST": "b.example.com"}),
    Finding(Kind.CLAIMED_TWICE, "in two namespaces", claimed_across_namespaces, options=EVERYWHERE),
    Finding(Kind.CLAIMED_TWICE, "by a stranger's Ingress", claimed_by_a_stranger, {"HOST": "a.example.com"}),
    Finding(Kind.UPSTREAM_COLLISION, "of two namespaces", upstream_collision, options=EVERYWHERE),
    Finding(Kind.NOT_COPIED, "two annotations", not_copied),
    Finding(Kind.PLACEHOLDER_HOST, "a Service that states none", placeholder, {"HOST": "shop.example.org"}),
]
