"""JSON: the values that follow each other in a text, and the lines of their fields."""

import json
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any

from ingress_manager.commands.reading.documents import Document, FieldPath, NotReadable, refuse_levels
from ingress_manager.core.kubernetes import Object
from ingress_manager.core.strict_yaml import TOO_DEEP

_SPACE = re.compile(r"[ \t\r\n]*")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_read_value = json.JSONDecoder().scan_once  # type: ignore[attr-defined]
"""Returns the value at an offset of a text, and the offset of its end."""

_REASONS = {
    RecursionError: TOO_DEEP,
    UnicodeEncodeError: "holds half of a character",
    ValueError: "holds a value that can't be read",  # a number of more than 4,300 digits
}


class NotJson(Exception):  # noqa: N818 - it says what a text is
    """A text that begins like JSON is something else."""


def documents(text: str, *, is_written: bool = True) -> Iterator[Document | NotReadable]:
    """Yield the values that follow each other, up to the first that can't be read, and why.

    What a person has written may state a key twice. Raises NotJson for a text that is no JSON from its first value on;
    one that breaks off at its end is JSON.
    """
    decoder = _decoder if is_written else _quick_decoder
    ends: list[int] = []
    first = start = _skip(text, 0)
    while start < len(text):
        lines = JsonLines(text, start, ends)
        try:
            value, end = decoder.raw_decode(text, start)
            if _SURROGATE.search(text, start, end):
                json.dumps(value, ensure_ascii=False).encode()
            refuse_levels(value)
        except json.JSONDecodeError as error:
            if start == first and error.pos < len(text.rstrip()):
                raise NotJson from error
            yield NotReadable(f"is not JSON: {error.msg}", error.lineno - 1)
            return
        except (NotReadable, RecursionError, ValueError) as error:
            sentence = error.sentence if isinstance(error, NotReadable) else _REASONS[type(error)]
            yield NotReadable(sentence, lines.line(()))
            return
        yield Document(value, lines)
        start = _skip(text, end)


def _unique_pairs(pairs: list[tuple[str, Any]]) -> Object:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise NotReadable(f"states {twice} twice")
    return found


_decoder, _quick_decoder = json.JSONDecoder(object_pairs_hook=_unique_pairs), json.JSONDecoder()


class JsonLines:
    """The lines of a value in a text of JSON that can be read. PyYAML would take five times as long for them.

    `start` is the value's offset. `ends` is for the offsets at which lines end, once for all values of a text.
    """

    def __init__(self, text: str, start: int, ends: list[int]) -> None:
        self._text = text
        self._start = start
        self._ends = ends
        self._inside: dict[tuple[str | int, ...], dict[str | int, tuple[int, int]]] = {}

    def line(self, path: FieldPath) -> int:
        """Return the line, from 0, of a field or of the nearest one around it that is there."""
        if not self._ends:
            self._ends.extend(found.start() for found in re.finditer(r"\n|\Z", self._text))
        at: tuple[str | int, ...] = ()
        stands = value = self._start
        for step in path:
            if at not in self._inside:
                self._inside[at] = {key: (member, inside) for key, member, inside in _members(self._text, value)}
            if step not in self._inside[at]:
                break
            stands, value = self._inside[at][step]
            at = (*at, step)
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
    return _SPACE.match(text, at).end()  # type: ignore[union-attr]  # it matches an empty text, too
