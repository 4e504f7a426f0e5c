"""The documents in a text of YAML or JSON: a value and the lines of its fields, or why it can't be read.

A text that begins with a brace is JSON if it can be parsed as JSON, as for kubectl. Of JSON, which programs write, only
the line is known on which it begins.

Documents of YAML are separated by lines that begin with `---`. One that can't be read keeps no other from being read.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

import msgspec

from ingress_manager.commands.snapshot.items import Document, Message, about_line
from ingress_manager.core.strict_yaml import TOO_DEEP, YamlError, load

DEEPEST = 200
"""Levels of nesting. No object of Kubernetes has so many, and commands take stack frames for each."""

_SEPARATOR = re.compile(r"^---(?=\s|\Z)", re.MULTILINE)


def documents(text: str, file: str) -> Iterator[Document | Message]:
    document = _of_json(text, file) if text.lstrip().startswith("{") else None
    yield from _of_yaml(text, file) if document is None else [document]


def _of_json(text: str, file: str) -> Document | Message | None:
    """Return the value of a text of JSON, or why it can't be read; None if it isn't JSON: YAML has braces, too."""
    line = 1 + text[: text.index("{")].count("\n")
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError):
        return None
    except RecursionError:
        return about_line(file, line, TOO_DEEP)
    level = [value]
    for _ in range(DEEPEST):
        members = (values for value in level for values in (value.values() if isinstance(value, dict) else value))
        level = [member for member in members if isinstance(member, (dict, list))]
        if not level:
            return Document(value, line, line, {})
    return about_line(file, line, TOO_DEEP)


def _of_yaml(text: str, file: str) -> Iterator[Document | Message]:
    starts = [0, *(separator.start() for separator in _SEPARATOR.finditer(text)), len(text)]
    first = 1
    for start, end in pairwise(starts):
        document = text[start:end]
        last = first + document.rstrip().count("\n")
        try:
            value, places = load(document, 2 * len(document) + 2, deepest=DEEPEST)
            yield Document(value, first, last, places)
        except YamlError as error:
            yield about_line(file, min(first + max(error.line, 1) - 1, last), error.what)
        first += document.count("\n")
