"""The documents in a text of YAML or JSON: a value and the lines of its fields, or why it can't be read.

A text that begins with a brace is JSON, as to kubectl, if it can be read so. Of JSON, which programs write, only
the line is known on which it begins.

Documents of YAML are separated by lines that begin with `---`. One that can't be read keeps no other from being read.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import msgspec

from ingress_manager.commands.printing import Message
from ingress_manager.core.strict_yaml import TOO_DEEP, FieldPath, Places, YamlError, load

DEEPEST = 200
"""Levels of nesting. No object of Kubernetes has so many, and what commands do with an object takes frames for each."""

_SEPARATOR = re.compile(r"^---(?=\s|\Z)", re.MULTILINE)


class Document(NamedTuple):
    """A value that could be read."""

    value: Any
    first: int
    """The line, from 1, on which it begins."""

    last: int
    places: Places

    def line(self, path: FieldPath) -> int:
        """Return the line of a field, or of the nearest one around it that is there."""
        around = (tuple(path[:length]) for length in range(len(path), -1, -1))
        line = next((self.places[each] for each in around if each in self.places), 1)
        # To libyaml, some more characters end a line than to editors.
        return min(self.first + line - 1, self.last)


def documents(text: str, file: str) -> Iterator[Document | Message]:
    """Yield each document of the text of a file, or why it can't be read."""
    found = _of_json(text, file) if text.lstrip().startswith("{") else None
    yield from _of_yaml(text, file) if found is None else [found]


def _of_json(text: str, file: str) -> Document | Message | None:
    """Return the value of a text of JSON, or why it can't be read; None if it is no JSON: YAML has braces, too."""
    line = 1 + text[: text.index("{")].count("\n")
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError):
        return None
    except RecursionError:
        return Message(TOO_DEEP, file, line)
    level = [value]
    for _ in range(DEEPEST):
        inside = (each.values() if isinstance(each, dict) else each for each in level)
        level = [member for members in inside for member in members if isinstance(member, (dict, list))]
        if not level:
            return Document(value, line, line, {})
    return Message(TOO_DEEP, file, line)


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
            yield Message(error.what, file, min(first + max(error.line, 1) - 1, last))
        first += document.count("\n")
