"""The settings file: its settings, and its hash."""

import hashlib
import os
from pathlib import Path
from typing import NamedTuple

from ingress_manager.core.errors import SettingsError
from ingress_manager.core.settings import Settings
from ingress_manager.core.settings_parser import FILE_VARIABLE, parse


class SettingsFile(NamedTuple):
    """The settings, and the hexadecimal SHA-256 of the file's bytes."""

    settings: Settings
    sha256: str


def from_environment() -> SettingsFile:
    """Return the settings of the file that $INGRESS_MANAGER_SETTINGS names; the defaults if it isn't set.

    Raises SettingsError.
    """
    path = os.environ.get(FILE_VARIABLE)
    return load(Path(path)) if path else SettingsFile(Settings(), hashlib.sha256().hexdigest())


def load(path: Path) -> SettingsFile:
    """Return the settings of the YAML file at `path`; the defaults if it is empty.

    Raises SettingsError, which names the file, if it can't be read, or isn't YAML or valid settings.
    """
    try:
        content = path.read_bytes()
        return SettingsFile(parse(content.decode()), hashlib.sha256(content).hexdigest())
    except (OSError, UnicodeDecodeError, SettingsError) as error:
        raise SettingsError(getattr(error, "strerror", "") or str(error), origin=f"settings file {path}") from error
