"""Text for people: on one line, quoted, listed, and with the known word that a wrong one may stand for."""

from collections.abc import Callable, Collection, Sequence
from difflib import get_close_matches
from typing import Any

LONGEST_VALUE, MOST_LISTED = 60, 10
"""Characters of a value, and things of a list, that are shown."""

LONGEST_KEY = 317
"""Characters of a key that are shown. The key of an annotation has as many: a domain, a slash and a name."""

LONGEST_WORD, MOST_WORDS = 64, 200
"""Characters of a word, and known words, that are compared. With more, it takes long."""


def one_line(text: str) -> str:
    """Return `text` with every character that could break or disguise a line written as a Python escape."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def cut(text: str, longest: int) -> str:
    """Return `text` on one line, cut after so many characters."""
    # Cut twice: before escaping, because a text can be very long, and after it, because escapes are longer.
    shown = one_line(text[: longest + 1])
    return shown if len(shown) <= longest else f"{shown[:longest]}…"


def quoted(value: str) -> str:
    """Return `value` as a person would see it in YAML: double-quoted, on one line, cut after 60 characters."""
    escaped = value[: LONGEST_VALUE + 1].replace("\\", "\\\\").replace('"', '\\"')
    return f'"{cut(escaped, LONGEST_VALUE)}"'


def listed(things: Sequence[Any], show: Callable[[Any], str] = str) -> str:
    """Return the first ten of the things with commas between, and how many more there are. Only these ten are shown."""
    shown = ", ".join(map(show, things[:MOST_LISTED]))
    return shown if len(things) <= MOST_LISTED else f"{shown} and {len(things) - MOST_LISTED} more"


def nearest(word: str, known: Collection[str]) -> str:
    """Return the known word that is nearest to `word`; "" when none is near, or when there is too much to compare."""
    words = [candidate for candidate in known if len(candidate) <= LONGEST_WORD]
    if len(word) > LONGEST_WORD or len(words) > MOST_WORDS:
        return ""
    return next(iter(get_close_matches(word, words, n=1)), "")
