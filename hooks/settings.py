"""The settings: the policy, read from one YAML file. The only module that reads files and the environment."""

import os
import re
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from hooks import policy as policies
from hooks import strict_yaml
from hooks.answers import quoted
from hooks.policy import NamespacePolicy, Policy, Tls
from hooks.wishes import meant

FILE_VARIABLE = "INGRESS_MANAGER_SETTINGS"
"""The environment variable that holds the path of the settings file; without it, the defaults hold."""

KINDS = {"bool": "true or false", "str": "text", "array": "a list", "object": "a mapping", "null": "null"}
"""What msgspec calls types, and people call them."""

Settings = TypeVar("Settings", bound=msgspec.Struct)


class SettingsError(Exception):
    """The settings can't be used. The message names the file, the field, its value and what would be right."""


def from_environment() -> Policy:
    """Return the policy in the file that $INGRESS_MANAGER_SETTINGS names, or the defaults when it is unset or empty.

    Raises SettingsError.
    """
    path = os.environ.get(FILE_VARIABLE)
    return load(Path(path)) if path else Policy()


def load(path: Path) -> Policy:
    """Return the policy that the YAML file at `path` states; an empty file states the defaults.

    Raises SettingsError when the file can't be read, is not YAML, or states what no policy can.
    """
    try:
        return policy(strict_yaml.typed(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise SettingsError(f"settings file {path}: {error.strerror}") from error
    except (SettingsError, ValueError) as error:
        raise SettingsError(f"settings file {path}: {error}") from error


def policy(stated: Any) -> Policy:
    """Return the policy that the plain value `stated` describes; None describes the defaults.

    Raises SettingsError.
    """
    if stated is None:
        return Policy()
    if isinstance(stated, dict):
        # First, one by one: msgspec doesn't tell by which key of a mapping it came to what is wrong.
        if "tls" in stated:
            _convert(stated["tls"], Tls, "tls")
        namespaces = stated.get("namespaces")
        for name, own in namespaces.items() if isinstance(namespaces, dict) else ():
            if not isinstance(name, str):
                raise SettingsError(f"namespaces.{name}: a namespace's name must be text; put it in quotes")
            _convert(own, NamespacePolicy, f"namespaces.{name}")
    made = _convert(stated, Policy, "")
    if problems := list(policies.problems(made)):
        raise SettingsError("; ".join(problems))
    return made


def _convert(stated: Any, type_: type[Settings], at: str) -> Settings:
    """Return the `type_` that `stated`, the value of the field `at`, describes."""
    try:
        return msgspec.convert(stated, type_)
    except msgspec.ValidationError as error:
        problem, _, inside = str(error).partition(" - at `$")
        if unknown := re.search("unknown field `(.*)`", problem):
            known = [field.encode_name for field in msgspec.structs.fields(type_)]
            path = f"{at}.{unknown[1]}".lstrip(".")
            raise SettingsError(f"{path} is not a setting{meant(unknown[1], known)}") from error
        path = f"{at}{inside.rstrip('`')}".lstrip(".") or "the settings"
        for key in re.findall(r"\w+", inside):
            stated = stated[int(key) if key.isdigit() else key]
        raise SettingsError(f"{path}: {quoted(str(stated))} {in_words(problem)}") from error


def in_words(problem: str) -> str:
    """Return what msgspec says of a value's type as the rest of a sentence for a person."""

    def kinds(match: re.Match[str]) -> str:
        wanted = [KINDS.get(kind, kind) for kind in match[1].split(" | ")]
        return f"must be {' or '.join(wanted)}"

    return re.sub("Expected `([^`]*)`, got `[^`]*`", kinds, problem)
