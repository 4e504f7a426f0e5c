"""Formats text for people (one line, quotes, lists), and finds the nearest known word."""

from collections.abc import Callable, Collection, Sequence
from difflib import get_close_matches
from typing import Any

LONGEST_VALUE, MOST_LISTED = 60, 10  # shown characters of a value, and items of a list
LONGEST_KEY = 317  # of an annotation: a domain of 253 characters, a slash and a name of 63
LONGEST_WORD, MOST_WORDS = 64, 200  # the longest and the most words that `nearest` compares: more would be slow


def one_line(text: str) -> str:
    """Escape every character that could break or disguise a line, as `repr` does."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def cut(text: str, longest: int) -> str:
    """Return `text` on one line, cut after `longest` characters."""
    # Cut before escaping, too: a text can be very long.
    shown = one_line(text[: longest + 1])
    return shown if len(shown) <= longest else f"{shown[:longest]}…"


def quoted(value: str) -> str:
    """Return a value double-quoted as in YAML, on one line, cut after LONGEST_VALUE characters."""
    escaped = value[: LONGEST_VALUE + 1].replace("\\", "\\\\").replace('"', '\\"')
    return f'"{cut(escaped, LONGEST_VALUE)}"'


def listed(things: Sequence[Any], show: Callable[[Any], str] = str) -> str:
    """Return the first MOST_LISTED things, separated by commas, and how many more there are."""
    shown = ", ".join(map(show, things[:MOST_LISTED]))
    return shown if len(things) <= MOST_LISTED else f"{shown} and {len(things) - MOST_LISTED} more"


def nearest(word: str, known: Collection[str]) -> str:
    """Return the known word most like `word`, or "" if none is similar, or comparing would take too long."""
    words = [candidate for candidate in known if len(candidate) <= LONGEST_WORD]
    if len(word) > LONGEST_WORD or len(words) > MOST_WORDS:
        return ""
    return next(iter(get_close_matches(word, words, n=1)), "")
