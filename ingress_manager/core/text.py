"""Text for people: on one line, quoted, listed, and with the known word that a wrong one may stand for."""

from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from typing import TypeVar

LONGEST_VALUE = 60
"""Characters of a value that are shown."""

MOST_LISTED = 10
"""Things of a list that are shown."""

LONGEST_KEY = 317
"""Characters of a key that are shown. The key of an annotation has as many: a domain, a slash and a name."""

LONGEST_WORD = 64
"""Characters. A longer word is like none that we know, and comparing it takes long."""

MOST_WORDS = 200
"""Known words that a wrong one is compared with. Comparing it with more takes long."""

Thing = TypeVar("Thing")


def one_line(text: str) -> str:
    """Return `text` with every character that could break or disguise a line written as a Python escape."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def is_seen(text: str) -> bool:
    """Return whether a person sees a text as it is, in lines: nothing in it moves a cursor, or is without a shape."""
    return text.replace("\n", "").replace("\t", "").isprintable()


def cut(text: str, longest: int) -> str:
    """Return `text` on one line, cut after so many characters."""
    # Cut twice: before escaping, because a text can be very long, and after it, because escapes are longer.
    shown = one_line(text[: longest + 1])
    return shown if len(shown) <= longest else f"{shown[:longest]}…"


def quoted(value: str) -> str:
    """Return `value` as a person would see it in YAML: double-quoted, on one line, cut after 60 characters."""
    escaped = value[: LONGEST_VALUE + 1].replace("\\", "\\\\").replace('"', '\\"')
    return f'"{cut(escaped, LONGEST_VALUE)}"'


def listed(things: Sequence[Thing], show: Callable[[Thing], str] = str) -> str:
    """Return the first ten of the things with commas between, and how many more there are."""
    shown = ", ".join(map(show, things[:MOST_LISTED]))
    return shown if len(things) <= MOST_LISTED else f"{shown} and {len(things) - MOST_LISTED} more"


def nearest(word: str, known: Iterable[str], prefix: str = "") -> str:
    """Return the known word that is nearest to `word`, or "" when none is near.

    `prefix` is what all known words begin with. It isn't compared, so that it doesn't make words alike.
    """
    words = [each.removeprefix(prefix) for each in known if len(each) <= LONGEST_WORD]
    if len(word) > LONGEST_WORD or len(words) > MOST_WORDS:
        return ""
    near = get_close_matches(word.removeprefix(prefix), words, n=1)
    return f"{prefix}{near[0]}" if near else ""
