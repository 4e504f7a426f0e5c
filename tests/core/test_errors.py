"""Errors: a refusal is one line that a person can read, whatever was put into it."""

from ingress_manager.core.errors import MOST_KEPT, Problem, Problems, Refused


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
