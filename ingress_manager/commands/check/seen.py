"""What was read of a cluster for a check, and why the rest could not be read. The pure part."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ingress_manager.commands.reading.installations import CONTROLLER, DEFAULT, Installation, named_by
from ingress_manager.commands.reading.manifests import Item, at, mappings
from ingress_manager.commands.reading.settings import SettingsText, configmap_of, text_of
from ingress_manager.core.kubernetes import Object
from ingress_manager.core.policy import Policy

BASE = "controller"
OVERLAYS = {"httproute": BASE, "listenerset": "httproute"}
"""The folders of metacontroller/ that add kinds to those of another one, in order, and that one."""

CRD, RIGHTS, SETTINGS, VERSION = "CustomResourceDefinition", "rights", "settings", "version"
NAMES = {CRD: "CRDs", RIGHTS: "its rights", SETTINGS: "the settings", VERSION: "the version"}
"""What is called otherwise than its kind in the plural."""


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

    made: str = ""
    """When the newest Ingress was made by ingress-manager; empty where nobody has looked."""

    now: str = ""
    wanted: Installation | None = None
    """The installation that a person has named."""

    def why_unread(self, what: str) -> str:
        """Return why something can't be looked at; empty where it can."""
        if what == RIGHTS and not self.engines():
            return self.unread.get(what, "nothing was found that runs Metacontroller")
        if what == SETTINGS and self.policy is None:
            reasons = (self.unread[kind] for kind in ("Deployment", "ConfigMap") if kind in self.unread)
            return next(reasons, "they aren't there, or can't be used")
        return self.unread.get(what, "")

    def name_of(self, what: str) -> str:
        """Return what to call something that can't be looked at."""
        if what.endswith("Policy"):
            return f"{what.removesuffix('y')}ies"
        return NAMES.get(what) or f"{what}{'es' if what.endswith('s') else 's'}"

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
        return next((folder for folder in reversed(OVERLAYS) if self.makes(f"{folder}s")), BASE)

    @property
    def installation(self) -> Installation:
        """Return the hook's Deployment: the one that is wanted, or that the DecoratorController leads to."""
        return self.wanted or named_by(self.of_kind("DecoratorController")) or DEFAULT

    @property
    def hook(self) -> Item | None:
        return self.one("Deployment", self.installation.name, self.installation.namespace)

    @property
    def settings(self) -> SettingsText | None:
        """Return the text of the settings, None where it isn't there."""
        name = configmap_of(self.hook) if self.hook else None
        configmap = self.one("ConfigMap", name, self.installation.namespace) if name else None
        text = text_of(configmap) if configmap else None
        return None if text is None else SettingsText(text, f"ConfigMap {self.installation.namespace}/{name}")

    @property
    def policy(self) -> Policy | None:
        """Return the settings, None where they can't be read or used."""
        policy = self.settings.policy() if self.settings else None
        return policy if isinstance(policy, Policy) else None

    def engines(self) -> list[Item]:
        """Return what runs Metacontroller."""
        there = (*self.of_kind("Deployment"), *self.of_kind("StatefulSet"))
        return [item for item in there if any(name_of_image(image) == "metacontroller" for image in images(item))]


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
    conditions = mappings(at(found, "status", "conditions"))
    return next((each for each in conditions if each.get("type") == kind), {})
