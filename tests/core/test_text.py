"""Text: what a person reads is one line, quoted as in YAML, and never long; a refusal, too."""

import pytest

from ingress_manager.core.errors import MOST_KEPT, Problem, Problems, Refused
from ingress_manager.core.text import is_seen, listed, nearest, one_line, quoted


@pytest.mark.parametrize(
    ("reason", "text", "shown"),
    [
        ("plain text stays", "shop.example.com", "shop.example.com"),
        ("letters of other scripts stay", "bücher.example", "bücher.example"),
        ("a line can't be broken", "a\nb\r\u2028c", "a\\nb\\r\\u2028c"),
        ("an escape sequence can't colour a terminal", "\x1b[31mred", "\\x1b[31mred"),
        ("text can't be turned around", "\u202egro.elpmaxe", "\\u202egro.elpmaxe"),
        ("a NUL is seen", "a\0b", "a\\x00b"),
    ],
)
def test_no_character_can_break_or_disguise_a_line(reason: str, text: str, shown: str) -> None:
    assert one_line(text) == shown, reason


@pytest.mark.parametrize(("text", "seen"), [("a\tb\nü", True), ("a\rb", False), ("\u200b", False)])
def test_a_text_is_seen_as_it_is_unless_something_in_it_moves_a_cursor_or_has_no_shape(text: str, seen: bool) -> None:
    assert is_seen(text) is seen


@pytest.mark.parametrize(
    ("reason", "value", "shown"),
    [
        ("a value is quoted as in YAML", "yes", '"yes"'),
        ("a quote can't end it", 'a"b', '"a\\"b"'),
        ("a backslash is told from an escape", "a\\nb", '"a\\\\nb"'),
        ("a long value is cut", "x" * 61, '"' + "x" * 60 + '…"'),
        ("a value of 60 characters is not cut", "x" * 60, '"' + "x" * 60 + '"'),
        ("escapes are cut, too", "\x01" * 60, '"' + "\\x01" * 15 + '…"'),
    ],
)
def test_a_value_is_shown_as_its_owner_wrote_it(reason: str, value: str, shown: str) -> None:
    assert quoted(value) == shown, reason


def test_a_list_names_ten_things_and_counts_the_others() -> None:
    assert listed([]) == ""
    assert listed([1, 2], lambda number: f"<{number}>") == "<1>, <2>"
    assert listed(list("abcdefghij")) == "a, b, c, d, e, f, g, h, i, j"
    assert listed(list("abcdefghijkl")) == "a, b, c, d, e, f, g, h, i, j and 2 more"


@pytest.mark.parametrize(
    ("reason", "word", "said"),
    [
        ("a typing error is recognised", "ingress/hots", "ingress/host"),
        ("a word that is like no known one gets no suggestion", "ingress/zzz", ""),
        ("the prefix of all words doesn't make them alike", "ingress/x", ""),
        ("a long word gets no suggestion", "ingress/" + "host" * 20, ""),
    ],
)
def test_the_nearest_known_word_is_named(reason: str, word: str, said: str) -> None:
    assert nearest(word, ["ingress/host", "ingress/path"], "ingress/") == said, reason


@pytest.mark.parametrize(
    ("reason", "known"),
    [("long known words", ["x", "hosts" * 20]), ("many known words", ["host", *map(str, range(200))])],
)
def test_nothing_is_compared_that_takes_long(reason: str, known: list[str]) -> None:
    """A tenant chooses the wrong word, and an administrator may have a thousand profiles."""
    assert not nearest("hosts" * 12, known), reason
    assert not nearest("hots", known), reason


def test_a_refusal_has_at_most_500_characters_and_says_that_it_goes_on() -> None:
    word = " [invalid-value]"
    assert Refused([Problem("x" * 485)]).line() == "x" * 483 + "…" + word
    assert Refused([Problem("x" * 484)]).line() == "x" * 484 + word
    assert Refused([Problem("\n" * 900)], more=3).line() == "\\n" * 235 + "…" + word + " · and 3 more"


def test_a_refusal_tells_as_many_problems_as_fit_and_counts_the_others() -> None:
    problems = [Problem(f"{number} {'x' * 100}") for number in range(6)]
    told = [f"{problem.sentence} [invalid-value]" for problem in problems]
    assert Refused(problems[:1]).line() == told[0]
    assert Refused(problems[:2]).line() == f"{told[0]} · {told[1]}"
    assert Refused(problems, more=10).line() == " · ".join([*told[:4], "and 12 more"])


def test_the_same_sentence_is_collected_once_and_beyond_twenty_they_are_counted() -> None:
    problems = Problems()
    problems.extend([Problem("the same"), Problem("the same")])
    assert (len(problems.kept), problems.more) == (1, 0)
    problems.extend((Problem(str(number)) for number in range(MOST_KEPT + 4)), more=7)
    assert (len(problems.kept), problems.more) == (MOST_KEPT, 12)
    problems.extend([Problem("the same")] * 99)
    assert problems.more == 12, "what is kept is not counted again"
