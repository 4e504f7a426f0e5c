"""The settings file, and its hash."""

import hashlib
import os
from pathlib import Path
from typing import NamedTuple

from ingress_manager.core.errors import SettingsError
from ingress_manager.core.settings import Settings
from ingress_manager.core.settings_parser import FILE_VARIABLE, parse


class SettingsFile(NamedTuple):
    settings: Settings
    sha256: str
    """The hash of the file's bytes, in hexadecimal."""


def from_environment() -> SettingsFile:
    """Read the file named in $INGRESS_MANAGER_SETTINGS, or use the defaults if it is unset. Raises SettingsError."""
    path = os.environ.get(FILE_VARIABLE)
    return load(Path(path)) if path else SettingsFile(Settings(), hashlib.sha256().hexdigest())


def load(path: Path) -> SettingsFile:
    """Read a settings file. Raises SettingsError, which names the file."""
    try:
        content = path.read_bytes()
        return SettingsFile(parse(content.decode()), hashlib.sha256(content).hexdigest())
    except (OSError, UnicodeDecodeError, SettingsError) as error:
        raise SettingsError(getattr(error, "strerror", "") or str(error), origin=f"settings file {path}") from error
