"""What was read of a cluster for a check, and why the rest could not be read. The pure part."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ingress_manager.commands.check.lines import Line, State
from ingress_manager.commands.reading.installations import (
    CONTROLLER,
    DEFAULT,
    Installation,
    installation_behind,
    service_of_hook,
)
from ingress_manager.commands.reading.manifests import Item, at, mappings
from ingress_manager.core.kubernetes import Object

METACONTROLLER = "metacontroller"
BASE = "controller"
OVERLAYS = {"httproute": BASE, "listenerset": "httproute"}
"""The folders of metacontroller/ that add kinds to those of another one, in order, and that one."""


class Right(NamedTuple):
    """What somebody may do in all namespaces."""

    verb: str
    group: str
    resource: str


@dataclass(slots=True)
class Seen:
    """What was read of a cluster."""

    expected: Mapping[str, list[Object]]
    """The objects that this version installs, by the folder that they are from."""

    items: list[Item] = field(default_factory=list)
    unread: dict[str, str] = field(default_factory=dict)
    """Why the objects of a kind could not be read, by the kind; and so for what else is asked for."""

    kubernetes: str = ""
    """The API server's version; empty when it could not be read."""

    rights: dict[Right, bool] = field(default_factory=dict)
    """Which rights Metacontroller's ServiceAccount has, by what the API server says."""

    metrics: str = ""
    """What the hook tells of itself; empty when it can't be asked."""

    warned: list[str] | None = None
    """What was told of a Service with a mistake, in a dry run; None where that was not tried."""

    now: str = ""
    wanted: Installation | None = None
    """The installation that a person has named."""

    def of_kind(self, kind: str, namespace: str | None = None) -> list[Item]:
        """Return the objects of a kind, such as "Deployment", in all namespaces or in one."""
        return [
            item
            for item in self.items
            if item.object.get("kind") == kind and namespace in {None, item.metadata.get("namespace")}
        ]

    def one(self, kind: str, name: object, namespace: str | None = None) -> Item | None:
        """Return an object by its name, None where it isn't there."""
        return next((item for item in self.of_kind(kind, namespace) if item.name == name), None)

    def expected_of(self, kind: str, *folders: str) -> list[Object]:
        """Return the objects of a kind that some folders install."""
        return [each for folder in folders for each in self.expected[folder] if each["kind"] == kind]

    @property
    def controller(self) -> Item | None:
        return self.one("DecoratorController", CONTROLLER)

    def makes(self, resource: str) -> bool:
        """Return whether Metacontroller is told to look after a kind, such as "httproutes"."""
        return any(each.get("resource") == resource for each in mappings(at(self.controller, "spec", "attachments")))

    @property
    def folder(self) -> str:
        """Return the folder whose DecoratorController makes the same kinds as the one that is there."""
        return "listenerset" if self.makes("listenersets") else "httproute" if self.makes("httproutes") else BASE

    @property
    def installation(self) -> Installation:
        """Return the hook's Deployment: the one that is wanted, or that the DecoratorController leads to.

        Where neither leads to one, the Service that the DecoratorController names has the Deployment's name.
        """
        service = service_of_hook(self.of_kind("DecoratorController"))
        named = Installation(*service) if service else DEFAULT
        return self.wanted or installation_behind(service, self.items) or named

    @property
    def hook(self) -> Item | None:
        return self.one("Deployment", self.installation.name, self.installation.namespace)

    def engines(self) -> list[Item]:
        return [
            item
            for item in (*self.of_kind("Deployment"), *self.of_kind("StatefulSet"))
            if any(name_of_image(image) == METACONTROLLER for image in images(item))
        ]

    def pods(self) -> list[Item]:
        """Return the hook's Pods that aren't being deleted."""
        labels = at(self.hook, "spec", "selector", "matchLabels")
        return [
            pod
            for pod in self.of_kind("Pod", self.installation.namespace)
            if isinstance(labels, dict)
            and labels.items() <= pod.labels.items()
            and "deletionTimestamp" not in pod.metadata
        ]

    def unknown(self, part: str, kind: str, what: str) -> Iterator[Line]:
        """Yield the line that says why something could not be looked at; nothing where it could."""
        if kind in self.unread:
            yield Line(part, State.UNKNOWN, f"{what} could not be looked at: {self.unread[kind]}")


def containers(item: Item | None) -> list[dict[str, Any]]:
    return mappings(at(item, "spec", "template", "spec", "containers"))


def images(item: Item | None) -> list[str]:
    return [str(each.get("image", "")) for each in containers(item)]


def name_of_image(image: str) -> str:
    """Return the last part of an image's name, without its tag."""
    return image.partition("@")[0].rpartition("/")[2].partition(":")[0]


def tag_of_image(image: str) -> str:
    """Return the tag of an image, empty where it has none."""
    return image.partition("@")[0].rpartition("/")[2].partition(":")[2]


def condition(found: Any, kind: str) -> dict[str, Any]:
    """Return a condition of a status; empty where there is none of that type."""
    return next((each for each in mappings(at(found, "conditions")) if each.get("type") == kind), {})


def number(found: Any, default: int = 0) -> int:
    """Return a number of replicas; those of a status are left out where they are 0."""
    return found if isinstance(found, int) else default
