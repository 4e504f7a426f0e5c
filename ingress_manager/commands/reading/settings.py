"""Reads the administrator's settings from a file, or from the ConfigMap that the hook's Deployment mounts.

kustomize appends a hash to the ConfigMap's name, so only the Deployment shows which ConfigMap is used. To find the
Deployment, look up the hook's Service in the DecoratorController ingress-manager: the Deployment has the same name.
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
    """Return whether a value is a valid object name, so that kubectl can't mistake it for an option."""
    return isinstance(text, str) and not wrong_name(text)


def configmap_of(deployment: Item) -> str | None:
    """Return the name of the ConfigMap that the hook's Deployment mounts as settings, or None if it mounts none."""
    volumes = mappings(at(deployment, "spec", "template", "spec", "volumes"))
    names = (at(volume, "configMap", "name") for volume in volumes if volume.get("name") == VOLUME)
    return next((str(name) for name in names if is_name(name)), None)


class SettingsText(NamedTuple):
    """The text of the settings, with the name of the file or object that contains it."""

    text: str
    file: str
    line: int = 0
    """The line of the settings in a ConfigMap's manifest, or 0 if the text isn't from a manifest."""

    def parse(self) -> Settings | Message:
        try:
            return settings_parser.parse(self.text)
        except SettingsError as error:
            return about_line(self.file, self.line or error.line or 1, error.sentence)


def text_of(configmap: Item) -> SettingsText | None:
    text, line = at(configmap, "data", KEY), configmap.line("data", KEY)
    return SettingsText(text, configmap.file or str(configmap), line) if isinstance(text, str) else None


def usable_settings(text: SettingsText) -> Settings:
    """Return the parsed settings. Raises click.UsageError with the first error in the text."""
    settings = text.parse()
    if isinstance(settings, Message):
        raise click.UsageError(f"the settings are invalid:\n{settings}")
    return settings


def settings_of_file(path: str) -> SettingsText:
    """Return the settings in a file. If it contains ConfigMaps, use the last. Raises click.UsageError, Unreadable."""
    text, name = text_of_file(path)
    # For speed: parsing all text as manifests would take longer than the rest of the command.
    configmaps = of_kind(read(text, name).items, "ConfigMap") if "ConfigMap" in text else []
    return [SettingsText(text, name), *filter(None, map(text_of, configmaps))][-1]


DECORATORS = "decoratorcontrollers.metacontroller.k8s.io"


class Installation(NamedTuple):
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


DEFAULT_INSTALLATION = Installation("ingress-manager", "ingress-manager")
"""The hook's namespace and name if it was installed from manifests/, or with Helm under these names."""


def named_by(controllers: Iterable[Item]) -> Installation | None:
    """Return the hook's namespace and name from our DecoratorController, or None if they are missing or invalid."""
    for controller in controllers:
        if controller.name == CONTROLLER:
            service = at(controller, "spec", "hooks", "sync", "webhook", "service")
            namespace, name = at(service, "namespace"), at(service, "name")
            return Installation(namespace, name) if is_name(namespace) and is_name(name) else None
    return None


def settings_of_cluster(kubectl: Kubectl) -> SettingsText:
    """Return the settings in the ConfigMap that the cluster's hook reads. Raises KubectlFailed."""
    try:
        installation = named_by(kubectl.get(DECORATORS))
    except KubectlFailed as failed:
        if not failed.is_forbidden:
            raise
        # Teams may lack permission to list DecoratorControllers: assume the default names.
        installation = DEFAULT_INSTALLATION
    if installation is None:
        raise KubectlFailed(f"no DecoratorController {CONTROLLER} names the hook's Service")
    namespace = f"--namespace={installation.namespace}"
    for name in filter(None, map(configmap_of, kubectl.get(f"deployment/{installation.name}", namespace))):
        for configmap in kubectl.get(f"configmap/{name}", namespace):
            return text_of(configmap) or SettingsText("", str(configmap))
    raise KubectlFailed(f"Deployment {installation} mounts no ConfigMap with the settings")
