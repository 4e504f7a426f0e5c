"""The administrator's settings: in a file, and as they are in a cluster, a ConfigMap that the hook's Deployment mounts.

kustomize ends its name with a hash of its content, so that only the Deployment says which one holds. The
DecoratorController ingress-manager names the Service of its hook, which has the name of the hook's Deployment.
"""

from collections.abc import Iterable
from typing import NamedTuple

import click

from ingress_manager.commands.reading.kubectl import Kubectl, KubectlFailed
from ingress_manager.commands.reading.manifests import read, text_of_file
from ingress_manager.commands.snapshot.items import Item, Message, about_line, at, mappings, of_kind
from ingress_manager.commands.snapshot.managed import CONTROLLER
from ingress_manager.core import settings_parser
from ingress_manager.core.errors import SettingsError
from ingress_manager.core.settings import Settings
from ingress_manager.core.syntax import wrong_name

VOLUME = "settings"
KEY = "settings.yaml"


def is_name(text: object) -> bool:
    """Return whether a value can be the name of an object, which no shell takes for an option."""
    return isinstance(text, str) and not wrong_name(text)


def configmap_of(deployment: Item) -> str | None:
    """Return the name of the ConfigMap with settings that a Deployment of the hook mounts, None if it mounts none."""
    volumes = mappings(at(deployment, "spec", "template", "spec", "volumes"))
    names = (at(volume, "configMap", "name") for volume in volumes if volume.get("name") == VOLUME)
    return next((str(name) for name in names if is_name(name)), None)


class SettingsText(NamedTuple):
    """The text of settings, and where it was read."""

    text: str
    file: str
    """The name of the file or the object, for people."""

    line: int = 0
    """In the manifest of a ConfigMap: the line of the file on which the text begins; else 0."""

    def parse(self) -> Settings | Message:
        try:
            return settings_parser.parse(self.text)
        except SettingsError as error:
            return about_line(self.file, self.line or error.line or 1, error.sentence)


def text_of(configmap: Item) -> SettingsText | None:
    """Return the settings in a ConfigMap, None if it has none."""
    text, line = at(configmap, "data", KEY), configmap.line("data", KEY)
    return SettingsText(text, configmap.file or str(configmap), line) if isinstance(text, str) else None


def usable_settings(text: SettingsText) -> Settings:
    """Return the settings in a text. Raises click.UsageError with what is wrong with it."""
    settings = text.parse()
    if isinstance(settings, Message):
        raise click.UsageError(f"the settings can't be used:\n{settings}")
    return settings


def settings_of_file(path: str) -> SettingsText:
    """Return the settings in a file, all of it or its last ConfigMap's. Raises click.UsageError and Unreadable."""
    text, name = text_of_file(path)
    # Parsing it as manifests, too, would take longer than the rest.
    configmaps = of_kind(read(text, name).items, "ConfigMap") if "ConfigMap" in text else []
    return [SettingsText(text, name), *filter(None, map(text_of, configmaps))][-1]


DECORATORS = "decoratorcontrollers.metacontroller.k8s.io"


class Installation(NamedTuple):
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


DEFAULT_INSTALLATION = Installation("ingress-manager", "ingress-manager")
"""The names in manifests/, and of the chart's release ingress-manager."""


def named_by(controllers: Iterable[Item]) -> Installation | None:
    """Return the hook's Deployment, which has the name of the Service that our DecoratorController calls, if any."""
    for controller in controllers:
        if controller.name == CONTROLLER:
            service = at(controller, "spec", "hooks", "sync", "webhook", "service")
            namespace, name = at(service, "namespace"), at(service, "name")
            return Installation(namespace, name) if is_name(namespace) and is_name(name) else None
    return None


def settings_of_cluster(kubectl: Kubectl) -> SettingsText:
    """Return the settings in the ConfigMap that the hook of a cluster reads. Raises KubectlFailed."""
    try:
        installation = named_by(kubectl.get(DECORATORS))
    except KubectlFailed as failed:
        if not failed.is_forbidden:
            raise
        # A team may not list DecoratorControllers: its hook has the default names.
        installation = DEFAULT_INSTALLATION
    if installation is None:
        raise KubectlFailed("no DecoratorController leads to a hook")
    namespace = f"--namespace={installation.namespace}"
    for name in filter(None, map(configmap_of, kubectl.get(f"deployment/{installation.name}", namespace))):
        for configmap in kubectl.get(f"configmap/{name}", namespace):
            return text_of(configmap) or SettingsText("", str(configmap))
    raise KubectlFailed(f"the Deployment {installation} mounts no ConfigMap")
