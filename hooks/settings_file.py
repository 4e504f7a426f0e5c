"""The settings file: the policy that it states, and what tells one file from another."""

import hashlib
import os
from pathlib import Path
from typing import NamedTuple

from ingress_manager.core.errors import SettingsError
from ingress_manager.core.policy import Policy
from ingress_manager.core.settings import FILE_VARIABLE, parse


class SettingsFile(NamedTuple):
    """What a settings file states, and the SHA-256 of its bytes in hexadecimal digits."""

    policy: Policy
    sha256: str


def from_environment() -> SettingsFile:
    """Return what the file named by $INGRESS_MANAGER_SETTINGS states; the defaults when that is not set.

    Raises SettingsError.
    """
    path = os.environ.get(FILE_VARIABLE)
    return load(Path(path)) if path else SettingsFile(Policy(), hashlib.sha256().hexdigest())


def load(path: Path) -> SettingsFile:
    """Return what the YAML file at `path` states; an empty file states the defaults.

    Raises SettingsError, which names the file, when it can't be read, is not YAML, or states no valid policy.
    """
    try:
        content = path.read_bytes()
        return SettingsFile(parse(content.decode()), hashlib.sha256(content).hexdigest())
    except (OSError, UnicodeDecodeError, SettingsError) as error:
        raise SettingsError(getattr(error, "strerror", "") or str(error), origin=f"settings file {path}") from error
