"""The administrator's settings: in a file, and as they are in a cluster, a ConfigMap that the hook's Deployment mounts.

kustomize ends its name with a hash of its content, so that only the Deployment says which one holds.
"""

from pathlib import Path

import click
import msgspec

from ingress_manager.commands.reading.manifests import Item, read
from ingress_manager.core import settings
from ingress_manager.core.errors import Problem, SettingsError
from ingress_manager.core.policy import Policy
from ingress_manager.core.syntax import check_name

NAMESPACE = "ingress-manager"
DEPLOYMENT = "ingress-manager"
VOLUME = "settings"
KEY = "settings.yaml"


class _ConfigMap(msgspec.Struct):
    name: str


class _Volume(msgspec.Struct, rename="camel"):
    name: str
    config_map: _ConfigMap | None = None


class _Pod(msgspec.Struct):
    volumes: list[_Volume] | None = None


class _Template(msgspec.Struct):
    spec: _Pod


class _Spec(msgspec.Struct):
    template: _Template


class _Deployment(msgspec.Struct):
    spec: _Spec


def configmap_of(deployment: Item) -> str | None:
    """Return the name of the ConfigMap that a Deployment of the hook has its settings from, None if from none."""
    try:
        volumes = msgspec.convert(deployment.object, _Deployment).spec.template.spec.volumes or ()
        names = [each.config_map.name for each in volumes if each.name == VOLUME and each.config_map]
        return check_name(names[0]) if names else None
    except (msgspec.ValidationError, Problem):
        return None  # no API server has it


def text_of(configmap: Item) -> str | None:
    """Return the settings in a ConfigMap, None if it has none."""
    data = configmap.object.get("data")
    text = data.get(KEY) if isinstance(data, dict) else None
    return text if isinstance(text, str) else None


def policy_of_file(path: str) -> Policy:
    """Return what a settings file states, or the settings in the manifest of a ConfigMap. Raises click.UsageError."""
    return policy_of_text(text_of_file(path), f"settings file {path}")


def text_of_file(path: str) -> str:
    """Return the text of a settings file, or the one in the manifest of a ConfigMap. Raises click.UsageError."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise click.UsageError(f"the settings file {path} can't be read: {error}") from error
    for item in read(text, path).of_kind("v1/ConfigMap"):
        text = text_of(item) or text
    return text


def policy_of_text(text: str, origin: str) -> Policy:
    """Return the settings that a text states. Raises click.UsageError, which names their origin."""
    try:
        return settings.parse(text)
    except SettingsError as error:
        raise click.UsageError(f"{origin}: {error}") from error
