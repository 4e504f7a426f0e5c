"""What `check` reads of a cluster, when it is asked for, and once; and a line for each thing that was looked at."""

import contextlib
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from enum import StrEnum
from functools import cached_property, partial
from typing import Any, NamedTuple

from ingress_manager.commands.reading.kubectl import IGNORE_NOT_FOUND, Kubectl, KubectlFailed
from ingress_manager.commands.reading.settings import (
    DEFAULT,
    RESOURCE,
    Installation,
    SettingsText,
    configmap_of,
    named_by,
    text_of,
)
from ingress_manager.commands.snapshot.items import Item, at, mappings
from ingress_manager.commands.snapshot.managed import CONTROLLER
from ingress_manager.core.policy import Policy

ALL = "--all-namespaces"
DEPLOYMENTS = "deployments.apps"
BRIEFLY = "--request-timeout=5s"
"""The API server would wait for long for a hook that a NetworkPolicy keeps from it."""

_METACONTROLLER = re.compile(r"(?:.*/)?metacontroller(?::(?P<tag>[^@]+))?(?:@.*)?")
"""The name of its image, whatever registry it is from."""


class State(StrEnum):
    """How something is, as the sign that its line begins with."""

    WRONG = "✗"
    WARNING = "!"
    UNKNOWN = "?"
    OK = "✓"


class Line(NamedTuple):
    """What was found when one thing was looked at."""

    state: State
    sentence: str
    remedy: str = ""
    """What to do; empty where nothing is to be done, or the table says it."""


wrong, warning, unknown, ok = (partial(Line, state) for state in State)


class Cluster:
    """A cluster with its installation. All of it raises KubectlFailed where that can't be read."""

    def __init__(self, kubectl: Kubectl) -> None:
        self.kubectl = kubectl
        self.now = datetime.now(UTC)
        self._read: dict[str, Sequence[Item]] = {}

    def all(self, resources: str, *options: str) -> Sequence[Item]:
        """Return the objects of a kind, such as "deployments.apps"; none where the cluster doesn't know it."""
        if resources not in self._read:
            self._read[resources] = self.kubectl.get_if_known(resources, *(options or (ALL,)))
        return self._read[resources]

    def one(self, resource: str, name: str, namespace: str = "default") -> Item | None:
        """Return an object by its name, None where it isn't there; one that is in no namespace counts as in default."""
        return next((each for each in self.all(resource) if (each.namespace, each.name) == (namespace, name)), None)

    @property
    def controller(self) -> Item | None:
        return self.one(RESOURCE, CONTROLLER)

    def makes(self, resource: str) -> bool:
        """Return whether Metacontroller is told to look after a kind, such as "httproutes"."""
        return any(each.get("resource") == resource for each in mappings(at(self.controller, "spec", "attachments")))

    @property
    def engines(self) -> list[Item]:
        """Return what runs Metacontroller."""
        return [item for kind in (DEPLOYMENTS, "statefulsets.apps") for item in self.all(kind) if engine_version(item)]

    @property
    def installation(self) -> Installation:
        """Return the hook's Deployment: the one that the DecoratorController leads to, or that of manifests/."""
        return named_by(self.all(RESOURCE)) or DEFAULT

    @property
    def hook(self) -> Item | None:
        return self.one(DEPLOYMENTS, self.installation.name, self.installation.namespace)

    @property
    def settings(self) -> SettingsText | None:
        """Return the text of the settings, None where it isn't there."""
        namespace, name = self.installation.namespace, configmap_of(self.hook) if self.hook else None
        found = self.all(f"configmaps/{name}", f"--namespace={namespace}", IGNORE_NOT_FOUND) if name else ()
        text = text_of(found[0]) if found else None
        return None if text is None else SettingsText(text, f"ConfigMap {namespace}/{name}")

    @property
    def policy(self) -> Policy:
        """Return the settings."""
        policy = self.settings.policy() if self.settings else None
        if not isinstance(policy, Policy):
            raise KubectlFailed("the settings aren't there, or can't be used")
        return policy

    def told(self, metric: str, label: str) -> str:
        """Return what the hook tells of itself in a metric; empty where it can't be asked."""
        found = re.search(f'^{metric}_info\\{{{label}="([^"]*)"\\}}', self._metrics, re.MULTILINE)
        return found[1] if found else ""

    @cached_property
    def _metrics(self) -> str:
        service = f"{self.installation.namespace}/services/http:{self.installation.name}:http"
        with contextlib.suppress(KubectlFailed):
            return self.kubectl.run("get", "--raw", f"/api/v1/namespaces/{service}/proxy/metrics", BRIEFLY)
        return ""


def containers(item: Item) -> list[dict[str, Any]]:
    return mappings(at(item, "spec", "template", "spec", "containers"))


def engine_version(item: Item) -> str:
    """Return the version of Metacontroller that something runs, or its image, if that has no tag; empty: it doesn't."""
    found = (_METACONTROLLER.fullmatch(str(each.get("image", ""))) for each in containers(item))
    return next((each["tag"] or each[0] for each in found if each), "")
