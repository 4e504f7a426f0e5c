"""Answers: a refusal is one line that a person can read, whatever was put into it."""

import pytest

from hooks.answers import Refused, one_line, quoted, refusal


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
def test_a_line_stays_a_line(reason: str, text: str, shown: str) -> None:
    assert one_line(text) == shown, reason


@pytest.mark.parametrize(
    ("reason", "value", "shown"),
    [
        ("a value is quoted as in YAML", "yes", '"yes"'),
        ("a quote can't end it", 'a"b', '"a\\"b"'),
        ("a backslash is told from an escape", "a\\nb", '"a\\\\nb"'),
        ("a long one is cut", "x" * 61, '"' + "x" * 60 + '…"'),
        ("the longest whole one is whole", "x" * 60, '"' + "x" * 60 + '"'),
    ],
)
def test_a_value_is_shown_as_its_owner_wrote_it(reason: str, value: str, shown: str) -> None:
    assert quoted(value) == shown, reason


def test_a_refusal_has_at_most_500_characters_and_says_that_it_goes_on() -> None:
    body = refusal(Refused(422, "x" * 501)).body.decode()
    assert body == "x" * 499 + "…\n"
    assert refusal(Refused(422, "x" * 500)).body.decode() == "x" * 500 + "\n"
