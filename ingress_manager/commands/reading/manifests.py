"""Manifests: the objects in a text of YAML or JSON; each knows the file and the line where it stands.

YAML is read as kubectl reads it (sigs.k8s.io/yaml): documents are separated by lines that begin with `---`, and scalars
have the types of YAML 1.1, but for dates and numbers in base 60, which stay text. So `yes` and `010` without quotes are
true and 8, and can't be the value of an annotation. A key that is stated twice is refused; kubectl would take the last.

A document that can't be read doesn't keep the others from being read. Nor does an object that can't have its name: a
command would take it for something else.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import yaml

from ingress_manager.commands.printing.messages import Message
from ingress_manager.commands.reading.lines import JsonLines, Path, YamlLines
from ingress_manager.commands.reading.naming import misnamed
from ingress_manager.core.kubernetes import Object

DEEPEST = 200
"""Levels of nesting. No object of Kubernetes has so many, and what commands do with an object takes frames for each."""

DEEPEST_YAML = 1000
"""Levels that libyaml is given to read. It would take more, and exhaust the stack of the process with some 50,000."""

MOST_MERGED = 100_000
"""Fields that merge keys put in, in all of a document; and values that aliases put in."""

_SEPARATOR = re.compile(r"^---(?=\s|\Z)", re.MULTILINE)
_DEEP_INDENT = re.compile(rf"^[ ?-]{{{DEEPEST_YAML}}}", re.MULTILINE)
_SPACE = re.compile(r"[ \t\r\n]*")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a document comes from."""

    file: str
    """Empty when that is the cluster."""

    namespace: str
    """The namespace of the objects that state none."""

    first_line: int = 1
    lines: YamlLines | JsonLines | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """An object, and where it stands. What is inside may be anything that JSON can say."""

    object: Object
    origin: Origin
    path: Path = ()
    """Where it is within its document: () or, in a List, ("items", number)."""

    @property
    def kind(self) -> str:
        """Return the apiVersion and the kind, as in v1/Service."""
        return f"{self.object.get('apiVersion', '')}/{self.object.get('kind', '')}"

    @property
    def metadata(self) -> Object:
        """Return the metadata; empty when there is none, or something else stands in its place."""
        found = self.object.get("metadata")
        return found if isinstance(found, dict) else {}

    @property
    def namespace(self) -> str:
        """Return the namespace, which is that of the origin when the object states none."""
        return str(self.metadata.get("namespace") or self.origin.namespace)

    @property
    def name(self) -> str:
        """Return the name; empty when there is none."""
        return str(self.metadata.get("name") or "")

    @property
    def label(self) -> str:
        """Return what a person calls the object: namespace/name."""
        return f"{self.namespace}/{self.name}"

    @property
    def annotations(self) -> dict[str, str]:
        """Return the annotations whose values are text; no other is an annotation to Kubernetes."""
        return _texts(self.metadata.get("annotations"))

    @property
    def labels(self) -> dict[str, str]:
        """Return the labels whose values are text."""
        return _texts(self.metadata.get("labels"))

    def line(self, *path: str | int) -> int:
        """Return the line of one of its fields in the file, else of the nearest field around it; 0 without a file."""
        if not self.origin.file or self.origin.lines is None:
            return 0
        return self.origin.first_line + self.origin.lines.line((*self.path, *path))


@dataclass(slots=True)
class Manifests:
    """What was read, in the order in which it was read."""

    items: list[Item] = field(default_factory=list)
    unreadable: list[Message] = field(default_factory=list)
    """Why a document or an object can't be read, or a file from there on."""

    def take(self, items: Iterable[Item]) -> None:
        """Add the items, but for those that can't have their names: nothing of them becomes a command."""
        for item in items:
            if wrong := misnamed(item.kind, item.metadata, item.namespace):
                line = item.line(*wrong.path)
                self.unreadable.append(Message(wrong.sentence, item.origin.file, line, item.label))
            else:
                self.items.append(item)

    def extend(self, others: "Manifests") -> None:
        """Add what was read elsewhere."""
        self.items.extend(others.items)
        self.unreadable.extend(others.unreadable)

    def of_kind(self, *kinds: str) -> Iterator[Item]:
        """Yield the items of these kinds, written as v1/Service."""
        return (item for item in self.items if item.kind in kinds)


class _NotReadable(Exception):  # noqa: N818 - it is caught where it is raised for
    """A sentence, and the line that it is about, from 0."""

    def __init__(self, sentence: str, line: int) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.line = line


def read(text: str, file: str = "", namespace: str = "default") -> Manifests:
    """Return what is in the text of a file: JSON when it begins with a brace, as kubectl tells them apart, else YAML.

    `file` is the name that messages show; empty: the text comes from the cluster.
    """
    found = Manifests()
    start = _skip(text, 0)
    if text.startswith("{", start):
        # What breaks off at the end of the text is JSON. What is wrong before may be YAML, which has braces, too.
        if _read_json(text, start, file, namespace, found):
            return found
        found = Manifests()
    _read_yaml(text, file, namespace, found)
    return found


def _texts(mapping: Any) -> dict[str, str]:
    if not isinstance(mapping, dict):
        return {}
    return {key: value for key, value in mapping.items() if isinstance(key, str) and isinstance(value, str)}


def _opened(value: Any, origin: Origin, opened: set[int], path: Path = ()) -> Iterator[Item]:
    """Yield the objects of a document: the object itself, or those of a List. Raises _NotReadable.

    `opened` is for the Lists that were opened. By aliases, one could hold another many times, and that one a third.
    """
    if not isinstance(value, dict):
        return
    members, kind = value.get("items"), value.get("kind")
    if not (isinstance(kind, str) and kind.endswith("List") and isinstance(members, list)):
        yield Item(value, origin, path)
        return
    if id(members) in opened:
        raise _NotReadable("holds one List in several places", 0)
    opened.add(id(members))
    # The members of a ServiceList, unlike those of a List, need not say what they are.
    implied = {} if kind == "List" else {"apiVersion": value.get("apiVersion"), "kind": kind.removesuffix("List")}
    for number, member in enumerate(members):
        if isinstance(member, dict):
            yield from _opened({**implied, **member}, origin, opened, (*path, "items", number))


def _refuse_levels(value: Any) -> None:
    """Raise _NotReadable for a value that is nested too deeply for what is done with it."""
    level: list[dict[str, Any] | list[Any]] = [value] if isinstance(value, dict | list) else []
    for _ in range(DEEPEST):
        inside = (each.values() if isinstance(each, dict) else each for each in level)
        level = [each for members in inside for each in members if isinstance(each, dict | list)]
        if not level:
            return
    raise _NotReadable("is nested too deeply", 0)


# JSON


def _read_json(text: str, start: int, file: str, namespace: str, found: Manifests) -> bool:
    """Read values that follow each other. Return False when the first can't be read for what is within the text."""
    first = start
    decoder = json.JSONDecoder(object_pairs_hook=_unique_pairs)
    ends: list[int] = []
    while start < len(text):
        try:
            value, end = decoder.raw_decode(text, start)
            _refuse_levels(value)
            if _SURROGATE.search(text, start, end):
                json.dumps(value, ensure_ascii=False).encode()
        except json.JSONDecodeError as error:
            found.unreadable.append(Message(f"is not JSON: {error.msg}", file, error.lineno))
            return start > first or error.pos >= len(text.rstrip())
        except _NotReadable as error:
            found.unreadable.append(Message(error.sentence, file, 1 + text.count("\n", 0, start)))
            return True
        except UnicodeEncodeError:
            found.unreadable.append(Message("holds half of a character", file, 1 + text.count("\n", 0, start)))
            return True
        except RecursionError:
            found.unreadable.append(Message("is nested too deeply", file, 1 + text.count("\n", 0, start)))
            return True
        except ValueError:  # a number of more than 4,300 digits
            line = 1 + text.count("\n", 0, start)
            found.unreadable.append(Message("holds a value that can't be read", file, line))
            return True
        found.take(_opened(value, Origin(file, namespace, 1, JsonLines(text, start, ends)), set()))
        start = _skip(text, end)
    return True


def _unique_pairs(pairs: list[tuple[str, Any]]) -> Object:
    made = dict(pairs)
    if len(made) < len(pairs):
        twice = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise _NotReadable(f"states {twice} twice", 0)
    return made


def _skip(text: str, at: int) -> int:
    """Return the offset of what follows the white space at `at`."""
    found = _SPACE.match(text, at)
    return found.end() if found else at


# YAML


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
                raise _NotReadable("puts too many fields in by merge keys", node.start_mark.line)
            return
        self._checked.add(id(node))
        seen: set[str] = set()
        for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
            if key.value in seen:
                raise _NotReadable(f"states {key.value} twice", key.start_mark.line)
            seen.add(key.value)
            if not key.tag.endswith(":merge"):
                key.tag = "tag:yaml.org,2002:str"
        super().flatten_mapping(node)

    def construct_integer(self, node: yaml.ScalarNode) -> int:
        """Return the number: Go takes 010, too, for octal."""
        digits = str(node.value).replace("_", "")
        return int(re.sub(r"^([-+]?)0(?=[0-9])", r"\g<1>0o", digits), 0)

    def construct_boolean(self, node: yaml.ScalarNode) -> bool:
        """Return the truth value."""
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


def _read_yaml(text: str, file: str, namespace: str, found: Manifests) -> None:
    starts = [0, *(separator.start() for separator in _SEPARATOR.finditer(text)), len(text)]
    line = 1
    for start, end in pairwise(starts):
        document = text[start:end]
        try:
            origin = Origin(file, namespace, line, YamlLines(document))
            found.take([*_opened(_load(document), origin, set())])
        except _NotReadable as error:
            found.unreadable.append(Message(error.sentence, file, line + error.line))
        line += document.count("\n")


def _load(document: str) -> Any:
    """Return the value of a document. Raises _NotReadable."""
    _refuse_depth(document)
    try:
        value = yaml.load(document, _Loader)  # noqa: S506 - it builds plain values only
    except yaml.MarkedYAMLError as error:
        # At the end of a document, libyaml points behind it.
        line = min(error.problem_mark.line if error.problem_mark else 0, document.rstrip().count("\n"))
        raise _NotReadable(f"is not YAML: {error.problem}", line) from error
    except yaml.reader.ReaderError as error:
        line = document.count("\n", 0, error.position)
        raise _NotReadable("is not YAML: it holds a character that is not allowed", line) from error
    except (ValueError, OverflowError, RecursionError) as error:
        raise _NotReadable("holds a value that can't be read", 0) from error
    if "&" in document:
        _refuse_endless(value, len(document) + MOST_MERGED)
    _refuse_levels(value)
    return value


def _refuse_endless(value: Any, most: int) -> None:
    """Raise _NotReadable for a value that aliases put into itself, or make more than `most` values."""
    begun: set[int] = set()
    sizes: dict[int, int] = {}
    stack = [value]
    while stack:
        members = _members(stack[-1])
        if id(stack[-1]) not in begun:
            begun.add(id(stack[-1]))
            if any(id(member) in begun and id(member) not in sizes for member in members):
                raise _NotReadable("holds a value that holds itself", 0)
            stack.extend(member for member in members if id(member) not in sizes)
        else:
            sizes[id(stack.pop())] = 1 + sum(sizes[id(member)] for member in members)
    if sizes[id(value)] > most:
        raise _NotReadable("puts too many values in by aliases", 0)


def _members(value: Any) -> list[Any]:
    """Return what is in a mapping or a list."""
    return list(value.values()) if isinstance(value, dict) else list(value) if isinstance(value, list) else []


def _refuse_depth(document: str) -> None:
    """Raise _NotReadable when a document is nested so deeply that reading it would end the process.

    Only what could be is counted: a level takes a bracket, or two characters of indentation.
    """
    if document.count("[") + document.count("{") < DEEPEST_YAML and not _DEEP_INDENT.search(document):
        return
    depth = 0
    try:
        for event in yaml.parse(document, yaml.CSafeLoader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > DEEPEST_YAML:
                raise _NotReadable("is nested too deeply", 0)
    except yaml.YAMLError:
        return  # reading it says what is wrong
