"""The documents in a text of YAML or JSON: a value and the lines of its fields, or why it can't be read.

As for kubectl, a text that begins with a brace is JSON, one value or several, if it parses as JSON. Only the first line
of each value is known: programs write JSON. Lines that begin with `---` separate documents of YAML. An unreadable one
doesn't keep the others from being read.
"""

import json
import re
from collections.abc import Iterator
from itertools import pairwise

import msgspec

from ingress_manager.commands.snapshot.items import Document, Message, about_line
from ingress_manager.core.strict_yaml import TOO_DEEP, YamlError, load

DEEPEST = 200
"""Levels of nesting. No object of Kubernetes has so many, and commands take stack frames for each."""

_DECODER = json.JSONDecoder(parse_constant=int)  # which refuses NaN
_INK = re.compile(r"\S")
_SEPARATOR = re.compile(r"^---(?=\s|\Z)", re.MULTILINE)


def documents(text: str, file: str) -> Iterator[Document | Message]:
    yield from (text.lstrip().startswith("{") and _of_json(text, file)) or _of_yaml(text, file)


def _of_json(text: str, file: str) -> list[Document | Message]:
    """Return the values of JSON, or why one can't be read; none if it isn't JSON: YAML has braces, too."""
    found, end, line = list[Document | Message](), 0, 1
    try:
        while begin := _INK.search(text, end):
            line += text.count("\n", end, begin.start())
            value, end = _DECODER.raw_decode(text, begin.start())
            msgspec.json.encode(value)  # raises UnicodeEncodeError for half of a character
            level = [value]
            for _ in range(DEEPEST):
                members = (one for each in level for one in (each.values() if isinstance(each, dict) else each))
                level = [member for member in members if isinstance(member, (dict, list))]
            found.append(about_line(file, line, TOO_DEEP) if level else Document(value, line, line, {}))
            line += text.count("\n", begin.start(), end)
    except ValueError:
        return []
    except RecursionError:
        found.append(about_line(file, line, TOO_DEEP))
    return found


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
