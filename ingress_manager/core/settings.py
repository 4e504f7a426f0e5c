"""The settings: the policy, read from the text of one YAML file."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from ingress_manager.core.annotations import parse_path_type
from ingress_manager.core.copying import ANY, DEFAULT_COPIED, Limit, check_key, check_value
from ingress_manager.core.errors import Problem, SettingsError
from ingress_manager.core.policy import (
    ALL_OTHERS,
    HTTPROUTE,
    OUTPUT_NAMES,
    PLACEHOLDERS,
    NamespaceSettings,
    Policy,
    fill_in,
    in_namespace,
)
from ingress_manager.core.shape import LEFT_OUT, Mismatch, fit, type_of
from ingress_manager.core.strict_yaml import load_text, load_typed
from ingress_manager.core.syntax import LONGEST_LABEL, check_host, check_name, check_namespace
from ingress_manager.core.text import did_you_mean, listed, one_line, quoted

FILE_VARIABLE = "INGRESS_MANAGER_SETTINGS"
"""The environment variable that holds the path of the settings file; without it, the defaults hold."""

ANY_WORD = f"the word {ANY}"
LIMIT = f"a list of what is allowed, or {ANY_WORD}"


def parse(text: str) -> Policy:
    """Return the policy that a YAML text states; an empty one states the defaults.

    Raises SettingsError, with all that is wrong.
    """
    try:
        stated, written = load_typed(text), load_text(text)
        refuse_old(stated)
    except Problem as problem:
        raise SettingsError(problem.sentence) from problem
    mismatches: list[Mismatch] = []
    fitting = fit({} if stated is None else stated, type_of(Policy), mismatches)
    policy = msgspec.convert({} if fitting is LEFT_OUT else fitting, Policy)
    problems = [sentence_of(each, stated, written) for each in mismatches]
    problems += [problem.sentence for problem in find_problems(policy)]
    if not mismatches:
        problems += [problem.sentence for problem in find_contradictions(policy)]
    if problems:
        raise SettingsError(*problems)
    return policy


def sentence_of(mismatch: Mismatch, stated: Any, written: Any) -> str:
    """Return what is wrong, and what would be right, with each key and value as it stands in the file.

    `stated` are all the settings, `written` the same with every scalar as text.
    """
    at = key = ""
    for step in mismatch.path:
        if isinstance(stated, dict):
            key = list(written)[list(stated).index(step)]
            at, stated, written = f"{at}.{key}".lstrip("."), stated[step], written[key]
        else:
            at, stated, written = f"{at}[{step}]", stated[step], written[step]
    at = one_line(at)
    match mismatch.sort:
        case "unknown":
            return f"{at} is not a setting{did_you_mean(key, mismatch.right)}"
        case "key":
            return f"{at}: a key must be text; put it in quotes"
        case "missing":
            return f"{at}: must state {mismatch.right[0]}"
        case "empty":
            return f"{at}: must list at least one value, and the list is empty"
    return f"{at or 'the settings'}: {wrong_type(mismatch.right, stated, written)}"


def wrong_type(right: tuple[str, ...], stated: Any, written: Any) -> str:
    """Return the end of a sentence about a value that is of none of the right types."""
    wanted = LIMIT if ANY_WORD in right else " or ".join(right)
    if isinstance(stated, list | dict):
        return f"must be {wanted}, not a {'list' if isinstance(stated, list) else 'mapping'}"
    if isinstance(stated, str):
        return f"{quoted(stated)} must be {wanted}"
    value = one_line(written[:60]) or "is empty, and"
    return f"{value} must be {wanted}{'; put it in quotes' if 'text' in right and stated is not None else ''}"


def refuse_old(stated: Any) -> None:
    """Raise Problem, which says what to write, for a value that was right in version 0.1 and isn't any more."""
    if not isinstance(stated, dict):
        return
    copied = stated.get("copyAnnotations")
    if isinstance(copied, list) and all(isinstance(key, str) for key in copied):
        named = [key for key in copied if "*" not in key]
        instead = ", ".join(f"{key}: {ANY if key in DEFAULT_COPIED else '[VALUES]'}" for key in named)
        full = "" if len(named) == len(copied) else "; a key that ends in * has to be written as the full keys you need"
        raise Problem(f"copyAnnotations: must be a mapping, no longer a list: write {{{one_line(instead)}}}{full}")
    namespaces = stated.get("namespaces")
    for name, entry in namespaces.items() if isinstance(namespaces, dict) else ():
        if isinstance(entry, dict) and "hosts" in entry and entry["hosts"] is None:
            raise Problem(
                f"namespaces.{one_line(str(name))}.hosts: must be a list, or the word {ANY} to allow every host; "
                "nothing, or null, no longer does"
            )


def find_problems(policy: Policy) -> Iterator[Problem]:
    """Yield what is wrong with a value beyond its type: the field's path, the value, what would be right."""
    yield from _check("host", policy.host, check_template)
    yield from _check("class", policy.ingress_class, check_name)
    yield from _check("tls.secret", policy.tls.secret, check_secret)
    yield from _check_annotations("tls.annotations", policy.tls.annotations)
    yield from _check_annotations("annotations", policy.annotations)
    for key, limit in policy.copied.items():
        yield from _check("copyAnnotations", key, check_key)
        yield from _check_limit(f"copyAnnotations.{key}", limit, partial(check_value, key))
    yield from _check_limit("pathTypes", policy.path_types, parse_path_type)
    if "Prefix" not in policy.path_types:
        yield Problem("pathTypes: must hold Prefix, which is the default")
    yield from _check_outputs("outputs", policy.outputs)
    if policy.gateway is not None:
        yield from _check("gateway.name", policy.gateway.name, check_name)
        yield from _check("gateway.namespace", policy.gateway.namespace, check_namespace)
        yield from _check("gateway.http", policy.gateway.http, check_name)
        yield from _check("gateway.https", policy.gateway.https, check_name)
    for name, entry in policy.namespaces.items():
        yield from _check_namespace(name, entry)


def find_contradictions(policy: Policy) -> Iterator[Problem]:
    """Yield where settings that are right by themselves contradict each other."""
    for name in policy.namespaces:
        here = in_namespace(policy, name)
        if not here.allows_class(here.ingress_class):
            default = "null, the cluster's default," if here.ingress_class is None else quoted(here.ingress_class)
            allowed = listed(here.classes or ())
            yield Problem(f"namespaces.{name}.class: the default {default} must be one of the classes: {allowed}")
    if policy.gateway is None and any(HTTPROUTE in stated for stated in _all_outputs(policy)):
        yield Problem(
            f"gateway: must be stated where outputs hold {HTTPROUTE}, as in {{name: web, namespace: infrastructure}}"
        )


def _check_namespace(name: str, entry: NamespaceSettings) -> Iterator[Problem]:
    at = f"namespaces.{name}"
    if name != ALL_OTHERS:
        yield from _check(at, name, check_namespace)
    yield from _check(f"{at}.host", entry.host, check_template)
    yield from _check_limit(f"{at}.hosts", entry.hosts, check_pattern)
    yield from _check_limit(f"{at}.classes", entry.classes, check_name)
    if entry.tls is not UNSET:
        yield from _check(f"{at}.tls.secret", entry.tls.secret, check_secret)
        yield from _check_annotations(f"{at}.tls.annotations", entry.tls.annotations)
    yield from _check_annotations(f"{at}.annotations", entry.annotations)
    if entry.outputs is not UNSET:
        yield from _check_outputs(f"{at}.outputs", entry.outputs)
    if entry.ingress_class is not UNSET:
        yield from _check(f"{at}.class", entry.ingress_class, check_name)


def _all_outputs(policy: Policy) -> Iterator[Sequence[str]]:
    """Yield the outputs, in general and of each namespace that states its own."""
    yield policy.outputs
    for entry in policy.namespaces.values():
        if entry.outputs is not UNSET:
            yield entry.outputs


def check_output(name: str) -> str:
    """Return the name of an output. Raises Problem."""
    if name not in OUTPUT_NAMES:
        raise Problem(f"must be {' or '.join(OUTPUT_NAMES)}{did_you_mean(name, OUTPUT_NAMES)}")
    return name


def check_template(template: str) -> str:
    """Return a host template that makes a valid host for short names. Raises Problem."""
    return _check_filled_in(template, fill_in(template, "a", "a"), PLACEHOLDERS, check_host)


def check_secret(template: str) -> str:
    """Return a template that makes the name of a Secret for the longest names, too. Raises Problem."""
    longest = "a" * LONGEST_LABEL
    return _check_filled_in(template, fill_in(template, longest, longest), PLACEHOLDERS, check_name)


def check_pattern(pattern: str) -> str:
    """Return a pattern of hosts, in which {namespace} may stand. Raises Problem."""
    service, namespace = PLACEHOLDERS
    return _check_filled_in(pattern, fill_in(pattern, service, "a"), [namespace], check_host)


def _check_filled_in(template: str, filled_in: str, placeholders: Sequence[str], check: Callable[[str], str]) -> str:
    """Return `template` if `check` returns what it makes. Raises Problem, which names the placeholders."""
    try:
        check(filled_in)
    except Problem:
        if "{" in filled_in:
            raise Problem(f"may hold only {' and '.join(placeholders)} in braces") from None
        raise
    return template


def _check(path: str, value: str | UnsetType | None, check: Callable[[str], str]) -> Iterator[Problem]:
    """Yield the problem that `check` has with a value that is stated."""
    if isinstance(value, str):
        try:
            check(value)
        except Problem as problem:
            yield problem.about(f"{path}: {quoted(value)}")


def _check_limit(path: str, limit: Limit | UnsetType, check: Callable[[str], str]) -> Iterator[Problem]:
    """Yield the problems that `check` has with the values that a limit lists."""
    for number, value in enumerate(limit if isinstance(limit, tuple) else ()):
        if value == ANY:
            yield Problem(f"{path}: the word {ANY} must stand alone, not in a list")
        else:
            yield from _check(f"{path}[{number}]", value, check)


def _check_outputs(path: str, outputs: Sequence[str]) -> Iterator[Problem]:
    """Yield what is wrong with a list of outputs."""
    seen: set[str] = set()
    for number, name in enumerate(outputs):
        yield from _check(f"{path}[{number}]", name, check_output)
        if name in seen:
            yield Problem(f"{path}: lists {one_line(name)} twice")
        seen.add(name)


def _check_annotations(path: str, annotations: dict[str, str] | UnsetType) -> Iterator[Problem]:
    """Yield what is wrong with the keys of the administrator's annotations."""
    for key in annotations if isinstance(annotations, dict) else ():
        yield from _check(path, key, check_key)
