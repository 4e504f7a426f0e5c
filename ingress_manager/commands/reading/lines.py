"""Lines: where in a text a field stands. Looked up only for what a person has to be told of.

Ten thousand objects are read in a second; keeping the line of each of their fields would take longer than the rest.
"""

import json
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any

import yaml

Path = Sequence[str | int]
"""Where a value is within a document: the keys and the numbers that lead to it."""

_SPACE = re.compile(r"[ \t\r\n]*")
_read_value = json.JSONDecoder().scan_once  # type: ignore[attr-defined]
"""Returns the value at an offset of a text, and the offset of its end."""


class YamlLines:
    """The lines of a YAML document that can be read."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._root: yaml.Node | None = None
        self._last = 0

    def line(self, path: Path) -> int:
        """Return the line, from 0, of a field or of the nearest one around it that is there."""
        if self._root is None:
            self._root = yaml.compose(self._text, yaml.CSafeLoader)
            self._last = self._text.count("\n")
        stands: Any = self._root
        node = stands
        for step in path:
            found = self._inside(node, step)
            if found is None:
                break
            stands, node = found
        # To libyaml, some more characters end a line than to editors.
        return min(int(stands.start_mark.line), self._last)

    @staticmethod
    def _inside(node: yaml.Node, step: str | int) -> tuple[yaml.Node, yaml.Node] | None:
        """Return what to point at for a field, its key or the member of a list, and its value."""
        if isinstance(node, yaml.SequenceNode) and isinstance(step, int):
            return node.value[step], node.value[step]
        if isinstance(node, yaml.MappingNode):
            return next(((key, value) for key, value in node.value if key.value == step), None)
        return None


class JsonLines:
    """The lines of a value in a text of JSON that can be read; `start` is the value's offset.

    `ends` is a list for the offsets at which lines end; it is filled when it is needed, once for all values of a text.
    """

    def __init__(self, text: str, start: int, ends: list[int]) -> None:
        self._text = text
        self._start = start
        self._ends = ends
        self._known: dict[tuple[str | int, ...], tuple[int, int]] = {}
        self._opened: set[tuple[str | int, ...]] = set()

    def line(self, path: Path) -> int:
        """Return the line, from 0, of a field or of the nearest one around it that is there."""
        if not self._ends:
            self._ends.extend(found.start() for found in re.finditer(r"\n|\Z", self._text))
        at: tuple[str | int, ...] = ()
        stands = value = self._start
        for step in path:
            if at not in self._opened:
                self._opened.add(at)
                self._known.update(
                    ((*at, key), (member, inside)) for key, member, inside in _members(self._text, value)
                )
            at = (*at, step)
            if at not in self._known:
                break
            stands, value = self._known[at]
        return bisect_left(self._ends, stands)


def _members(text: str, start: int) -> Iterator[tuple[str | int, int, int]]:
    """Yield, for each member of the object or the list at `start`, its key or number, its offset and its value's."""
    at = _skip(text, start + 1)
    number = 0
    while text[start] in "{[" and text[at] not in "}]":
        key: str | int = number
        stands = at
        if text[start] == "{":
            key, at = scanstring(text, at + 1)
            at = _skip(text, _skip(text, at) + 1)
        yield key, stands, at
        _, at = _read_value(text, at)
        at = _skip(text, at)
        if text[at] == ",":
            at = _skip(text, at + 1)
        number += 1


def _skip(text: str, at: int) -> int:
    """Return the offset of what follows the white space at `at`."""
    found = _SPACE.match(text, at)
    assert found  # noqa: S101 - it matches an empty text, too
    return found.end()
