"""The settings: the policy, read from one YAML file. The only module that reads files and the environment."""

import os
from pathlib import Path
from typing import Any

import msgspec
import yaml

from hooks.policy import Policy

FILE_VARIABLE = "INGRESS_MANAGER_SETTINGS"
"""The environment variable that holds the path of the settings file; without it, the defaults hold."""


class SettingsError(Exception):
    """The settings can't be used. The message names the file, the field and what would be right."""


class _StrictLoader(yaml.SafeLoader):
    """YAML whose mappings state each key once; PyYAML alone would silently keep the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [key.value for key, _ in node.value]
        for key in keys:
            if keys.count(key) > 1:
                raise SettingsError(f"{key}: is stated twice")
        return super().construct_mapping(node, deep)


def from_environment() -> Policy:
    """Return the policy in the file that $INGRESS_MANAGER_SETTINGS names, or the defaults when it is unset or empty.

    Raises SettingsError.
    """
    path = os.environ.get(FILE_VARIABLE)
    return load(Path(path)) if path else Policy()


def load(path: Path) -> Policy:
    """Return the policy that the YAML file at `path` states; an empty file states the defaults.

    Raises SettingsError when the file can't be read, is not YAML, or holds a field that is unknown or of a wrong type.
    """
    try:
        stated = yaml.load(path.read_text(encoding="utf-8"), _StrictLoader)  # noqa: S506 - a SafeLoader
        return msgspec.convert({} if stated is None else stated, Policy)
    except OSError as error:
        raise SettingsError(f"settings file {path}: {error.strerror}") from error
    except (SettingsError, ValueError, yaml.YAMLError, msgspec.ValidationError) as error:
        raise SettingsError(f"settings file {path}: {error}") from error
