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

    A text that a person has written may state a key twice, by mistake. One that a program has printed doesn't.

    Raises NotJson for a text that is no JSON from its first value on. One that breaks off at its end is JSON.
    """
    ends: list[int] = []
    first = start = _skip(text, 0)
    while start < len(text):
        lines = JsonLines(text, start, ends)
        try:
            value, end = _value(text, start, _decoder if is_written else _quick_decoder)
        except json.JSONDecodeError as error:
            if start == first and error.pos < len(text.rstrip()):
                raise NotJson from error
            yield NotReadable(f"is not JSON: {error.msg}", error.lineno - 1)
            return
        except NotReadable as error:
            yield NotReadable(error.sentence, lines.line(()))
            return
        yield Document(value, lines)
        start = _skip(text, end)


def _value(text: str, start: int, decoder: json.JSONDecoder) -> tuple[Any, int]:
    """Return the value at an offset, and the offset of its end. Raises NotReadable and json.JSONDecodeError."""
    try:
        value, end = decoder.raw_decode(text, start)
        if _SURROGATE.search(text, start, end):
            json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError:
        raise
    except (RecursionError, ValueError) as error:
        raise NotReadable(_REASONS[type(error)]) from error
    refuse_levels(value)
    return value, end


def _unique_pairs(pairs: list[tuple[str, Any]]) -> Object:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise NotReadable(f"states {twice} twice")
    return found


_decoder, _quick_decoder = json.JSONDecoder(object_pairs_hook=_unique_pairs), json.JSONDecoder()


class JsonLines:
    """The lines of a value in a text of JSON that can be read; `start` is the value's offset.

    PyYAML would know the lines of JSON, too, in five times the time, and refuses a character in two halves.

    `ends` is a list for the offsets at which lines end; it is filled when it is needed, once for all values of a text.
    """

    def __init__(self, text: str, start: int, ends: list[int]) -> None:
        self._text = text
        self._start = start
        self._ends = ends
        self._known: dict[tuple[str | int, ...], tuple[int, int]] = {}
        self._opened: set[tuple[str | int, ...]] = set()

    def line(self, path: FieldPath) -> int:
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
    found = _SPACE.match(text, at)
    assert found  # noqa: S101 - it matches an empty text, too
    return found.end()
