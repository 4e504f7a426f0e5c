"""The settings: the policy, read from one YAML file. No other module reads files or the environment."""

import hashlib
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec

from hooks.copying import check_key
from hooks.errors import Problem, SettingsError
from hooks.policy import ALL_OTHERS, PLACEHOLDERS, NamespaceSettings, Policy, Tls, fill_in
from hooks.strict_yaml import load_text, load_typed
from hooks.syntax import check_host, check_name
from hooks.text import did_you_mean, one_line, quoted

FILE_VARIABLE = "INGRESS_MANAGER_SETTINGS"
"""The environment variable that holds the path of the settings file; without it, the defaults hold."""

KINDS = {"bool": "true or false", "str": "text", "array": "a list", "object": "a mapping", "null": "null"}
"""What msgspec calls a type, and what people call it."""

Settings = TypeVar("Settings", bound=msgspec.Struct)


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
        return SettingsFile(parse(content.decode("utf-8")), hashlib.sha256(content).hexdigest())
    except OSError as error:
        raise SettingsError(f"settings file {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise SettingsError(f"settings file {path}: byte {error.start + 1} is not UTF-8") from error
    except SettingsError as error:
        raise SettingsError(f"settings file {path}: {error}") from error


def parse(text: str) -> Policy:
    """Return the policy that a YAML text states; an empty one states the defaults. Raises SettingsError."""
    try:
        stated, written = load_typed(text), load_text(text)
        if stated is None:
            return Policy()
        if isinstance(stated, dict):
            # Mappings are converted one by one first: for a mistake inside, msgspec would not name the mapping's key.
            if "tls" in stated:
                _convert(stated["tls"], written["tls"], Tls, "tls")
            for name, entry, entry_written in _namespaces(stated, written):
                _convert(entry, entry_written, NamespaceSettings, f"namespaces.{name}")
        policy = _convert(stated, written, Policy, "")
    except Problem as problem:
        raise SettingsError(problem.sentence) from problem
    if problems := list(find_problems(policy)):
        raise SettingsError("; ".join(problem.sentence for problem in problems))
    return policy


def find_problems(policy: Policy) -> Iterator[Problem]:
    """Yield what is wrong with the settings beyond their types: the field's path, its value, what would be right."""
    yield from _check("host", policy.host, check_template)
    yield from _check("class", policy.ingress_class, check_name)
    yield from _check("tls.secret", policy.tls.secret, check_name)
    for number, key in enumerate(policy.copied):
        yield from _check(f"copyAnnotations[{number}]", key, check_key)
    for name, entry in policy.namespaces.items():
        if name != ALL_OTHERS:
            yield from _check(f"namespaces.{name}", name, check_name)
        yield from _check(f"namespaces.{name}.host", entry.host, check_template)
        if entry.ingress_class is not msgspec.UNSET:
            yield from _check(f"namespaces.{name}.class", entry.ingress_class, check_name)
        for number, pattern in enumerate((entry.hosts is not msgspec.UNSET and entry.hosts) or ()):
            yield from _check(f"namespaces.{name}.hosts[{number}]", pattern, check_host)


def check_template(template: str) -> str:
    """Return a host template that makes a valid host for short names. Raises Problem."""
    try:
        check_host(fill_in(template, "a", "a"))
    except Problem:
        if "{" in fill_in(template, "", ""):
            raise Problem(f"may hold only {' and '.join(PLACEHOLDERS)} in braces") from None
        raise
    return template


def _check(path: str, value: str | None, check: Callable[[str], str]) -> Iterator[Problem]:
    if value is not None:
        try:
            check(value)
        except Problem as problem:
            yield problem.about(f"{path}: {quoted(value)}")


def _namespaces(stated: dict[Any, Any], written: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Yield the name of each namespace's entry, its value, and the same as text. Raises Problem."""
    entries = stated.get("namespaces")
    if isinstance(entries, dict):
        for (name, entry), (name_written, entry_written) in zip(
            entries.items(), written["namespaces"].items(), strict=True
        ):
            if not isinstance(name, str):
                raise Problem(f"namespaces.{name_written}: a namespace's name must be text; put it in quotes")
            yield name, entry, entry_written


def _convert(stated: Any, written: Any, type_: type[Settings], at: str) -> Settings:
    """Return the `type_` that `stated`, the value of the field `at`, describes. Raises Problem.

    `written` is the same value with each scalar as it stands in the file.
    """
    known = [field.encode_name for field in msgspec.structs.fields(type_)]
    for key, as_written in zip(stated, written, strict=True) if isinstance(stated, dict) else ():
        if key not in known:
            path = one_line(f"{at}.{as_written}".lstrip("."))
            raise Problem(f"{path} is not a setting{did_you_mean(as_written, known)}")
    try:
        return msgspec.convert(stated, type_)
    except msgspec.ValidationError as error:
        problem, _, inside = str(error).partition(" - at `$")
        for key in re.findall(r"\w+", inside):
            at_key = int(key) if key.isdigit() else key
            stated, written = stated[at_key], written[at_key]
        path = f"{at}{inside.rstrip('`')}".lstrip(".") or "the settings"
        raise Problem(f"{path}: {_wrong_type(stated, written, problem)}") from error


def _wrong_type(stated: Any, written: Any, problem: str) -> str:
    """Return what msgspec says about a value's type, as the end of a sentence for a person."""
    types = re.findall("`([^`]*)`", problem)[0].split(" | ")
    wanted = " or ".join(KINDS.get(kind, kind) for kind in types)
    if isinstance(stated, list | dict):
        return f"must be {wanted}, not {KINDS['array' if isinstance(stated, list) else 'object']}"
    if isinstance(stated, str):
        return f"{quoted(stated)} must be {wanted}"
    value = one_line(written[:60]) or "nothing"
    return f"{value} must be {wanted}{'; put it in quotes' if 'str' in types and stated is not None else ''}"
