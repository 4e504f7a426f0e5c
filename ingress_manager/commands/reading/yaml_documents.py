"""YAML as kubectl reads it (sigs.k8s.io/yaml): the documents in a text, and the lines of their fields.

Documents are separated by lines that begin with `---`. Scalars have the types of YAML 1.1, but for dates and numbers in
base 60, which stay text. So `yes` and `010` without quotes are true and 8, and can't be the value of an annotation.
A key that is stated twice is refused; kubectl would take the last.

Refused, too, is what could end the process, or keep it busy for hours: too many levels, and what aliases and merge keys
multiply.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import yaml

from ingress_manager.commands.reading.documents import Document, FieldPath, NotReadable, refuse_levels
from ingress_manager.core.strict_yaml import TOO_DEEP, TOO_DEEP_FOR_LIBYAML

DEEPEST_YAML = 500
"""Levels that libyaml is given to read. 50,000 exhaust the stack of PyYAML before 6.0.4, which refuses 1,000."""

MOST_MERGED = 100_000
"""Fields that merge keys put in, in all of a document; and values that aliases put in."""

_SEPARATOR = re.compile(r"^---(?=\s|\Z)", re.MULTILINE)
_DEEP_INDENT = re.compile(rf"^[ ?-]{{{DEEPEST_YAML}}}", re.MULTILINE)


def documents(text: str) -> Iterator[Document | NotReadable]:
    """Yield each document, or why it can't be read: that keeps no other from being read."""
    starts = [0, *(separator.start() for separator in _SEPARATOR.finditer(text)), len(text)]
    first_line = 0
    for start, end in pairwise(starts):
        document = text[start:end]
        try:
            yield Document(_load(document), YamlLines(document, first_line))
        except NotReadable as error:
            yield NotReadable(error.sentence, first_line + error.line)
        first_line += document.count("\n")


class YamlLines:
    """The lines of a YAML document that can be read. It begins at `first_line` of its file."""

    def __init__(self, text: str, first_line: int = 0) -> None:
        self._text = text
        self._first_line = first_line
        self._root: yaml.Node | None = None
        self._last = 0

    def line(self, path: FieldPath) -> int:
        """Return the line, from 0, of a field or of the nearest one around it that is there."""
        if self._root is None:
            self._root = yaml.compose(self._text, yaml.CSafeLoader)
            self._last = self._text.count("\n")
        stands: Any = self._root
        node = stands
        for step in path:
            if isinstance(node, yaml.SequenceNode) and isinstance(step, int):
                stands = node = node.value[step]
                continue
            fields = node.value if isinstance(node, yaml.MappingNode) else ()
            found = next((field for field in fields if field[0].value == step), None)
            if found is None:
                break
            stands, node = found
        # To libyaml, some more characters end a line than to editors.
        return self._first_line + min(int(stands.start_mark.line), self._last)


class _Loader(yaml.CSafeLoader):
    """YAML 1.1 with the scalars that kubectl knows, and every key once."""

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._checked: set[int] = set()
        self._merged = 0

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Refuse a key that is stated twice, then put in what merge keys (<<) stand for: those may repeat keys.

        Any other key is text, as it is in JSON.
        """
        if id(node) in self._checked:
            # It is put in once more. Mappings that are put into each other would make a short text endless.
            self._merged += len(node.value)
            if self._merged > MOST_MERGED:
                raise NotReadable("puts too many fields in by merge keys", node.start_mark.line)
            return
        self._checked.add(id(node))
        seen: set[str] = set()
        for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
            if key.value in seen:
                raise NotReadable(f"states {key.value} twice", key.start_mark.line)
            seen.add(key.value)
            if not key.tag.endswith(":merge"):
                key.tag = "tag:yaml.org,2002:str"
        super().flatten_mapping(node)

    def construct_integer(self, node: yaml.ScalarNode) -> int:
        """Return the number: Go takes 010, too, for octal."""
        digits = str(node.value).replace("_", "")
        return int(re.sub(r"^([-+]?)0(?=[0-9])", r"\g<1>0o", digits), 0)

    def construct_boolean(self, node: yaml.ScalarNode) -> bool:
        return str(node.value).lower() in {"y", "yes", "true", "on"}


_SCALARS = (
    ("bool", r"y|Y|yes|Yes|YES|n|N|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF", "yYnNtTfFoO"),
    ("int", r"[-+]?(?:0b[01_]+|0o?[0-7_]+|0x[0-9a-fA-F_]+|0|[1-9][0-9_]*)", "-+0123456789"),
    ("float", r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", "-+.0123456789"),
    ("float", r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)", "-+."),
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("merge", r"<<", "<"),
)
"""Which plain scalars are no text: the type, the pattern, and the characters that it begins with. Source: resolve.go of
sigs.k8s.io/yaml/goyaml.v2; tests/commands/test_manifests.py compares with kubectl."""

_Loader.yaml_implicit_resolvers = {}
for _type, _pattern, _first in _SCALARS:
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_type}", re.compile(rf"(?:{_pattern})\Z"), list(_first))
_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.construct_integer)
_Loader.add_constructor("tag:yaml.org,2002:bool", _Loader.construct_boolean)


def _load(document: str) -> Any:
    _refuse_depth(document)
    try:
        value = yaml.load(document, _Loader)  # noqa: S506 - it builds plain values only
    except yaml.MarkedYAMLError as error:
        # At the end of a document, libyaml points behind it.
        line = min(error.problem_mark.line if error.problem_mark else 0, document.rstrip().count("\n"))
        too_deep = error.problem == TOO_DEEP_FOR_LIBYAML
        raise NotReadable(TOO_DEEP if too_deep else f"is not YAML: {error.problem}", line) from error
    except yaml.reader.ReaderError as error:
        line = document.count("\n", 0, error.position)
        raise NotReadable("is not YAML: it holds a character that is not allowed", line) from error
    except (ValueError, OverflowError, RecursionError) as error:
        raise NotReadable("holds a value that can't be read") from error
    if "&" in document:
        _refuse_endless(value, len(document) + MOST_MERGED)
    refuse_levels(value)
    return value


def _refuse_endless(value: Any, most: int) -> None:
    """Raise NotReadable for a value that aliases put into itself, or make more than `most` values."""
    begun: set[int] = set()
    sizes: dict[int, int] = {}
    stack = [value]
    while stack:
        last = stack[-1]
        members = list(last.values()) if isinstance(last, dict) else last if isinstance(last, list) else []
        if id(last) not in begun:
            begun.add(id(last))
            if any(id(member) in begun and id(member) not in sizes for member in members):
                raise NotReadable("holds a value that holds itself")
            stack.extend(member for member in members if id(member) not in sizes)
        else:
            sizes[id(stack.pop())] = 1 + sum(sizes[id(member)] for member in members)
    if sizes[id(value)] > most:
        raise NotReadable("puts too many values in by aliases")


def _refuse_depth(document: str) -> None:
    """Raise NotReadable when a document is nested so deeply that reading it would end the process.

    Only what could be is counted: a level takes a bracket, or two characters of indentation.
    """
    if document.count("[") + document.count("{") < DEEPEST_YAML and not _DEEP_INDENT.search(document):
        return
    depth = 0
    try:
        for event in yaml.parse(document, yaml.CSafeLoader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > DEEPEST_YAML:
                raise NotReadable(TOO_DEEP)
    except yaml.YAMLError:
        return  # reading it says what is wrong
