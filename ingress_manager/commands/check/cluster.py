"""Reads the parts of a cluster that `check` needs, and defines the result of a check."""

import contextlib
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from enum import StrEnum
from functools import cached_property, partial
from typing import Any, NamedTuple

from ingress_manager.commands.reading import settings as hook_settings
from ingress_manager.commands.reading.kubectl import IGNORE_NOT_FOUND, Kubectl, KubectlFailed
from ingress_manager.commands.reading.settings import DECORATORS, DEFAULT_INSTALLATION, Installation, SettingsText
from ingress_manager.commands.snapshot.items import Item, at, mappings
from ingress_manager.commands.snapshot.managed import CONTROLLER
from ingress_manager.core.settings import Settings

ALL = "--all-namespaces"
DEPLOYMENTS = "deployments.apps"
SHORT_TIMEOUT = "--request-timeout=5s"
"""The timeout for requests to the hook through the API server, which hang if a NetworkPolicy isolates the hook."""

_METACONTROLLER = re.compile(r"(?:.*/)?metacontroller(?::(?P<tag>[^@]+))?(?:@.*)?")
"""Matches the name of a Metacontroller image from any registry."""


class Outcome(StrEnum):
    """The outcome of a check. The value is the mark that is printed before the check's sentence."""

    WRONG = "✗"
    WARNING = "!"
    UNKNOWN = "?"
    OK = "✓"


class Result(NamedTuple):
    outcome: Outcome
    sentence: str
    remedy: str = ""
    """What to do; empty if there is nothing to do, or if the remedy in CHECKS applies."""


wrong, warning, unknown, ok = (partial(Result, outcome) for outcome in Outcome)


class Cluster:
    """The objects of a cluster, read on demand and only once. Methods and properties may raise KubectlFailed."""

    def __init__(self, kubectl: Kubectl) -> None:
        self.kubectl = kubectl
        self.now = datetime.now(UTC)
        self._read: dict[str, Sequence[Item]] = {}

    def all(self, resources: str, *options: str) -> Sequence[Item]:
        """Return a resource's objects, or [] if the cluster lacks the resource. `options` replace --all-namespaces."""
        if resources not in self._read:
            self._read[resources] = self.kubectl.get_if_known(resources, *(options or (ALL,)))
        return self._read[resources]

    def one(self, resource: str, name: str, namespace: str = "default") -> Item | None:
        """Return an object by name, or None if it doesn't exist. Cluster-scoped objects count as being in "default"."""
        return next((item for item in self.all(resource) if (item.namespace, item.name) == (namespace, name)), None)

    @property
    def controller(self) -> Item | None:
        return self.one(DECORATORS, CONTROLLER)

    def makes(self, resource: str) -> bool:
        """Return whether the DecoratorController manages a resource, such as "httproutes"."""
        return any(one.get("resource") == resource for one in mappings(at(self.controller, "spec", "attachments")))

    @property
    def engines(self) -> list[Item]:
        return [item for kind in (DEPLOYMENTS, "statefulsets.apps") for item in self.all(kind) if engine_version(item)]

    @property
    def installation(self) -> Installation:
        """Return the hook's namespace and name from the DecoratorController, or else the defaults in manifests/."""
        return hook_settings.named_by(self.all(DECORATORS)) or DEFAULT_INSTALLATION

    @property
    def hook(self) -> Item | None:
        return self.one(DEPLOYMENTS, self.installation.name, self.installation.namespace)

    @property
    def settings_text(self) -> SettingsText | None:
        name, scope = self.hook and hook_settings.configmap_of(self.hook), f"--namespace={self.installation.namespace}"
        configmaps = self.all(f"configmaps/{name}", scope, IGNORE_NOT_FOUND) if name else ()
        return hook_settings.text_of(configmaps[0]) if configmaps else None

    @property
    def settings(self) -> Settings:
        settings = self.settings_text.parse() if self.settings_text else None
        if not isinstance(settings, Settings):
            raise KubectlFailed("the settings don't exist or aren't valid")
        return settings

    def metric_label(self, metric: str, label: str) -> str:
        """Return the value of a label on the hook's metric `{metric}_info`, or "" if the metric can't be read."""
        match = re.search(f'^{metric}_info\\{{{label}="([^"]*)"\\}}', self._metrics, re.MULTILINE)
        return match[1] if match else ""

    @cached_property
    def _metrics(self) -> str:
        service = f"{self.installation.namespace}/services/http:{self.installation.name}:http"
        with contextlib.suppress(KubectlFailed):
            return self.kubectl.run("get", "--raw", f"/api/v1/namespaces/{service}/proxy/metrics", SHORT_TIMEOUT)
        return ""


def containers(item: Item) -> list[dict[str, Any]]:
    return mappings(at(item, "spec", "template", "spec", "containers"))


def image_of(item: Item) -> str:
    return next((str(container.get("image", "")) for container in containers(item)), "")


def engine_version(item: Item) -> str:
    """Return the tag (or else the name) of an item's Metacontroller image, or "" if the item has no such image."""
    images = (_METACONTROLLER.fullmatch(str(container.get("image", ""))) for container in containers(item))
    return next((image["tag"] or image[0] for image in images if image), "")
