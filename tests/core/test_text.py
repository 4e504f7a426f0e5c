"""Text for people is one line of limited length, quoted as in YAML, also in refusals."""

from collections.abc import Callable

import pytest

from ingress_manager.core.errors import MOST_KEPT, Problem, Problems
from ingress_manager.core.text import listed, nearest, one_line, quoted


@pytest.mark.parametrize(
    ("reason", "show", "text", "shown"),
    [
        ("letters of other scripts stay", one_line, "bücher.example", "bücher.example"),
        ("a line can't be broken", one_line, "a\nb\r\u2028c\0", "a\\nb\\r\\u2028c\\x00"),
        ("an escape sequence can't colour a terminal", one_line, "\x1b[31mred", "\\x1b[31mred"),
        ("text can't be turned around", one_line, "\u202egro.elpmaxe", "\\u202egro.elpmaxe"),
        ("a value is quoted as in YAML, and a quote can't end it", quoted, 'a"b', '"a\\"b"'),
        ("a backslash is told from an escape", quoted, "a\\nb", '"a\\\\nb"'),
        ("a value of 60 characters is not cut", quoted, "x" * 60, '"' + "x" * 60 + '"'),
        ("a longer one is", quoted, "x" * 61, '"' + "x" * 60 + '…"'),
        ("escapes are cut, too", quoted, "\x01" * 60, '"' + "\\x01" * 15 + '…"'),
        ("ten things are listed", listed, "abcdefghij", "a, b, c, d, e, f, g, h, i, j"),
        ("the others are counted", listed, "abcdefghijkl", "a, b, c, d, e, f, g, h, i, j and 2 more"),
    ],
)
def test_shown_text_stays_on_one_line(reason: str, show: Callable[[str], str], text: str, shown: str) -> None:
    assert show(text) == shown, reason


@pytest.mark.parametrize(
    ("reason", "word", "known", "said"),
    [
        ("a typing error is recognised", "hots", ["host", "path"], "host"),
        ("another word is like none", "x", ["host", "path"], ""),
        ("a long word, which a tenant may choose, would take long", "hosts" * 13, ["hosts" * 12], ""),
        ("so would long known ones", "hosts" * 12, ["hosts" * 13], ""),
        ("so would a thousand profiles", "hots", ["host", *map(str, range(200))], ""),
    ],
)
def test_the_nearest_known_word_is_named(reason: str, word: str, known: list[str], said: str) -> None:
    assert nearest(word, known) == said, reason


def test_a_refusal_has_at_most_500_characters_and_counts_what_does_not_fit() -> None:
    word = " [invalid-value]"
    assert Problems([Problem("x" * 485)]).line() == "x" * 483 + "…" + word
    assert Problems([Problem("x" * 484)]).line() == "x" * 484 + word
    assert Problems([Problem("\n" * 900)], more=3).line() == "\\n" * 235 + "…" + word + " · and 3 more"
    problems = [Problem(f"{number} {'x' * 100}") for number in range(6)]
    lines = [f"{problem.sentence} [invalid-value]" for problem in problems]
    assert Problems(problems[:2]).line() == f"{lines[0]} · {lines[1]}"
    assert Problems(problems, more=10).line() == " · ".join([*lines[:4], "and 12 more"])


def test_the_same_sentence_is_collected_once_and_beyond_twenty_they_are_counted() -> None:
    problems = Problems()
    problems.extend([Problem("the same")] * 2)
    assert (len(problems.kept), problems.more) == (1, 0)
    problems.extend((Problem(str(number)) for number in range(MOST_KEPT + 4)), more=7)
    problems.extend([Problem("the same")])
    assert (len(problems.kept), problems.more) == (MOST_KEPT, 12)
