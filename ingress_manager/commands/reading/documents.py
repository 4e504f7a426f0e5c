"""Parses YAML or JSON documents, records the line of each field, and yields a message for each invalid document.

As in kubectl, text that begins with a brace is parsed as JSON values, or as YAML if that fails. Only the first line of
a JSON value is recorded, because most JSON is written by programs. YAML documents are separated by `---` lines, and
each is read even if others are invalid. Aliases and merge keys are expanded as in kubectl (go.yaml.in/yaml/v2).
"""

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import msgspec
import yaml

from ingress_manager.commands.snapshot.items import Document, Message, about_line
from ingress_manager.core.strict_yaml import TOO_DEEP, Events, FieldPath, Places, YamlError, load

DEEPEST = 200  # levels of nesting: no Kubernetes object has so many, and each level needs stack frames
EXPANSION = 5  # keys and values per character of a document: without aliases, there are at most two

_DECODER = json.JSONDecoder(parse_constant=int)  # int rejects NaN
_REFERENCE = re.compile(r"[&*]|<<")
_INK = re.compile(r"\S")
_SEPARATOR = re.compile(r"^---(?=\s|\Z)", re.MULTILINE)


def documents(text: str, file: str) -> Iterator[Document | Message]:
    yield from (text.lstrip().startswith("{") and _of_json(text, file)) or _of_yaml(text, file)


def _of_json(text: str, file: str) -> list[Document | Message]:
    """Return the JSON values in `text`, or [] if it isn't JSON. A value that is nested too deeply becomes a message."""
    found, end, line = list[Document | Message](), 0, 1
    try:
        while match := _INK.search(text, end):
            line += text.count("\n", end, match.start())
            value, end = _DECODER.raw_decode(text, match.start())
            msgspec.json.encode(value)  # raises UnicodeEncodeError for an unpaired surrogate
            level = [value]
            for _ in range(DEEPEST):
                groups = [parent.values() if isinstance(parent, dict) else parent for parent in level]
                level = [member for group in groups for member in group if isinstance(member, (dict, list))]
            found.append(about_line(file, line, TOO_DEEP) if level else Document(value, line, line, {}))
            line += text.count("\n", match.start(), end)
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
            is_plain = not _REFERENCE.search(document)  # for speed: nearly all documents are
            events = document if is_plain else _expanded(document)
            value, places = load(events, EXPANSION * len(document) + 2, deepest=DEEPEST)
            yield Document(value if is_plain else _merged(value, (), places), first, last, places)
        except YamlError as error:
            yield about_line(file, min(first + max(error.line, 1) - 1, last), error.message)
        first += document.count("\n")


def _expanded(text: str) -> Events:
    """Yield the parser's events for YAML text, with aliases expanded. The caller must limit the number of events."""
    seen, opened = list[Any](), list[tuple[str, int]]()
    anchors: dict[str, slice] = {}
    event: Any
    for event in yaml.parse(text, yaml.CBaseLoader):
        anchor, start = getattr(event, "anchor", None) or "", len(seen)
        if (is_alias := isinstance(event, yaml.AliasEvent)) and anchor not in anchors:
            raise YamlError("uses an alias (*) before its anchor (&) is complete", event.start_mark)
        seen += seen[anchors[anchor]] if is_alias else [event]
        event.anchor = None
        if getattr(event, "value", "") == "<<":
            event.style = '"'  # so that `load` accepts the merge key, which _merged expands
        yield from seen[start:]
        if isinstance(event, yaml.CollectionStartEvent):
            opened.append((anchor, start))
            continue
        if isinstance(event, yaml.CollectionEndEvent):
            anchor, start = opened.pop()
        anchors[anchor] = slice(start, len(seen))


def _merged(value: Any, path: FieldPath, places: Places) -> Any:
    """Return the value at `path` with merge keys (<<) expanded as in kubectl. Add merged fields' lines to `places`."""
    if isinstance(value, list):
        return [_merged(item, (*path, number), places) for number, item in enumerate(value)]
    fields: dict[str, Any] = {}
    for key, member in value.items() if isinstance(value, dict) else ():
        inner, line = _merged(member, (*path, key), places), places[*path, key]
        parts = [{key: inner}] if key != "<<" else inner[::-1] if isinstance(inner, list) else [inner]
        for part in parts:
            if not isinstance(part, dict):
                raise YamlError("must merge (<<) only mappings", yaml.Mark("", 0, line - 1, 0, None, 0))
            fields |= part
            places |= dict.fromkeys(((*path, field) for field in part), line)
    return fields if isinstance(value, dict) else value
