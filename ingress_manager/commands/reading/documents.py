"""What YAML and JSON have in common: a document, the lines of its fields, or why it can't be read."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from ingress_manager.core.strict_yaml import TOO_DEEP

FieldPath = Sequence[str | int]
"""Where a value is within a document: the keys and the numbers that lead to it."""

DEEPEST = 200
"""Levels of nesting. No object of Kubernetes has so many, and what commands do with an object takes frames for each."""

NESTED = (dict, list)
"""What holds other values. In a tuple: every value of ten thousand objects is asked for its type."""


class Lines(Protocol):
    """Where in a text the fields of a document stand. Looked up only for what a person has to be told of.

    Ten thousand objects are read in a second; keeping the line of each of their fields would take longer than the rest.
    """

    def line(self, path: FieldPath) -> int:
        """Return the line, from 0, of a field or of the nearest one around it that is there."""


class Document(NamedTuple):
    """A value that could be read."""

    value: Any
    lines: Lines


class NotReadable(Exception):  # noqa: N818 - it says what a document is
    """Why a document can't be read: a sentence, and the line that it is about, from 0."""

    def __init__(self, sentence: str, line: int = 0) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.line = line


def refuse_levels(value: Any) -> None:
    """Raise NotReadable for a value that is nested too deeply for what is done with it."""
    level: list[dict[str, Any] | list[Any]] = [value] if isinstance(value, NESTED) else []
    for _ in range(DEEPEST):
        level = [
            each
            for members in level
            for each in (members.values() if isinstance(members, dict) else members)
            if isinstance(each, NESTED)
        ]
        if not level:
            return
    raise NotReadable(TOO_DEEP)
