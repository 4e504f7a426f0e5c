"""Errors: a refusal is one line that a person can read, whatever was put into it."""

import pytest

from ingress_manager.core.errors import MOST_KEPT, REASONS, Problem, Problems, Reason, Refused


def test_a_refusal_has_at_most_500_characters_and_says_that_it_goes_on() -> None:
    assert Refused(422, [Problem("x" * 501)]).line() == "x" * 499 + "…"
    assert Refused(422, [Problem("x" * 500)]).line() == "x" * 500


def test_a_refusal_tells_as_many_problems_as_fit_and_counts_the_others() -> None:
    problems = [Problem(f"{number} {'x' * 100}") for number in range(6)]
    assert Refused(422, problems[:1]).line() == problems[0].sentence
    assert Refused(422, problems[:2]).line() == f"{problems[0].sentence} · {problems[1].sentence}"
    assert Refused(422, problems, more=10).line() == " · ".join([p.sentence for p in problems[:4]] + ["and 12 more"])


def test_a_refusal_can_be_printed() -> None:
    assert str(Refused(422, [Problem("a"), Problem("b")])) == "a; b"


def test_a_problem_keeps_its_reason_and_its_annotation_when_its_sentence_is_begun() -> None:
    problem = Problem("must be lower case", Reason.INVALID_VALUE, "ingress/host")
    begun = problem.about('ingress/host: "A"')
    assert (begun.sentence, begun.reason, begun.annotation) == (
        'ingress/host: "A" must be lower case',
        Reason.INVALID_VALUE,
        "ingress/host",
    )
    assert problem.about("x", "ingress/path").annotation == "ingress/path"


def test_the_same_sentence_is_collected_once_and_beyond_twenty_they_are_counted() -> None:
    problems = Problems()
    problems.extend([Problem("the same"), Problem("the same")])
    assert (len(problems.kept), problems.more) == (1, 0)
    problems.extend((Problem(str(number)) for number in range(MOST_KEPT + 4)), more=7)
    assert (len(problems.kept), problems.more) == (MOST_KEPT, 12)
    problems.extend([Problem("the same")] * 99)
    assert problems.more == 12, "what is kept is not counted again"


@pytest.mark.parametrize("reason", Reason)
def test_every_reason_says_what_it_means_and_what_to_do(reason: Reason) -> None:
    assert all(text.endswith(".") for text in REASONS[reason])
    assert reason.value == reason.name.lower().replace("_", "-")
