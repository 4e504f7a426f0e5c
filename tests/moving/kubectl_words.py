"""What kubectl reads of its arguments, and how it prints what a JSONPath names."""

import copy
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from devcluster.api import ApiError
from devcluster.sync_requests import Object


@dataclass
class Words:
    """The arguments of one call."""

    verb: str
    names: list[str] = field(default_factory=list)
    """What stands behind `--`, or is no option."""

    options: dict[str, str] = field(default_factory=dict)


def parse(arguments: Sequence[str]) -> Words:
    """Return the arguments, sorted. Everything behind `--` is a name, and each option is written with its value."""
    words = iter(arguments[1:])
    found = Words(arguments[0])
    for word in words:
        if word == "--":
            found.names += words
        elif word.startswith("-"):
            name, _, value = word.removeprefix("--").partition("=")
            found.options[name] = value
        else:
            found.names.append(word)
    return found


def read_by(words: Words, stdin: str) -> Iterator[Words]:
    """Yield the arguments of a call for each object of a list that it reads; as they are when it reads none."""
    if "raw" in words.options or words.options.get("filename") != "-":
        yield words
        return
    for each in json.loads(stdin)["items"]:
        name = [each["kind"].lower(), each["metadata"]["name"]]
        options = {**words.options, "namespace": each["metadata"]["namespace"]}
        yield Words(words.verb, [*name, *words.names], options)


def operated(metadata: Object, operations: list[Object]) -> Object:
    """Return the change, as a merge patch, that a JSON patch makes to metadata. Raises ApiError as an API server does.

    It knows `test` and `remove`.
    """
    now = copy.deepcopy(metadata)
    for operation in operations:
        _, _, *steps, last = (step.replace("~1", "/").replace("~0", "~") for step in operation["path"].split("/"))
        try:
            inside: Any = now
            for step in steps:
                inside = inside[int(step) if isinstance(inside, list) else step]
            key = int(last) if isinstance(inside, list) else last
            if operation["op"] == "remove":
                del inside[key]
            elif inside[key] != operation["value"]:
                raise KeyError(last)
        except (KeyError, IndexError) as error:
            said = "the server rejected our request due to an error in our request"
            raise ApiError(422, "Invalid", said) from error
    maps = {key: {each: now[key].get(each) for each in metadata[key]} for key in ("annotations", "labels")}
    return {**maps, "ownerReferences": now["ownerReferences"], "resourceVersion": metadata["resourceVersion"]}


_TOKEN = re.compile(r"\{[^{}]*\}|[^{}]+")
_STEP = re.compile(r"\.((?:\\.|[^.\[\]\\])+)|\[(\*|[0-9]+)\]|\[\?\(@\.([^=]+)==([^)]+)\)\]")


def jsonpath(template: str, found: Object) -> str:
    """Return what kubectl prints for a template. Source: its documentation, "JSONPath Support"."""
    tokens = _TOKEN.findall(template)
    return "".join(_printed(tokens, found))


def _printed(tokens: list[str], found: Any) -> Iterator[str]:
    while tokens:
        token = tokens.pop(0)
        inner = token[1:-1].strip()
        if not token.startswith("{"):
            yield token
        elif inner.startswith("range "):
            end = tokens.index("{end}")
            body, tokens[: end + 1] = tokens[:end], []
            for each in values(inner.removeprefix("range "), found):
                yield from _printed([*body], each)
        elif inner.startswith('"'):
            yield json.loads(inner)
        else:
            yield " ".join(map(as_go_prints, values(inner, found)))


def as_go_prints(value: Any) -> str:
    """Return a text as it is, and anything else as encoding/json of Go writes it."""
    if isinstance(value, str):
        return value
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return text.translate({ord(char): f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"})


def values(path: str, found: Any) -> list[Any]:
    """Return what a path such as .metadata.name, .items[*] or .items[?(@.port==80)] leads to."""
    now = [found]
    for name, index, key, wanted in _STEP.findall(path):
        if key:
            now = [inside for each in now for inside in each if as_go_prints(inside.get(key)) == wanted.strip("\"'")]
        elif name:
            field = re.sub(r"\\(.)", r"\1", name)
            now = [each[field] for each in now if isinstance(each, dict) and field in each]
        elif index == "*":
            now = [inside for each in now for inside in each]
        else:
            now = [each[int(index)] for each in now if len(each) > int(index)]
    return now
