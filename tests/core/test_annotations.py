"""The annotations: each is tried wherever one has to be, and says what is wrong with it."""

import msgspec
import pytest

from ingress_manager.core.annotations import HTTP, KEYS, Stated, parse
from tests import golden
from tests.core import made_up

IN_CASES = {key for case in golden.cases_in(golden.CASES) for key in case.service["metadata"].get("annotations") or ()}


def test_every_annotation_is_tried_in_tests_cases_and_in_made_up_py() -> None:
    assert {*KEYS} - {HTTP.key} <= made_up.WORDS.keys() & IN_CASES


@pytest.mark.parametrize("key", KEYS)
def test_every_problem_names_its_annotation_whose_value_counts_as_none(key: str) -> None:
    stated = parse({key: ""})
    assert [problem.annotation for problem in stated.problems.kept] == [key]
    assert msgspec.structs.replace(stated, problems=Stated().problems) == Stated()


@pytest.mark.parametrize(
    ("count", "says"), [(999, "lists 999 routes; 100 is the most"), (1000, "holds more than 1000 keys and values")]
)
def test_a_list_of_more_than_1000_keys_and_values_is_not_read(count: int, says: str) -> None:
    [problem] = parse({"ingress/routes": f"[{'a, ' * count}]"}).problems.kept
    assert problem.sentence == f"ingress/routes: {says}"
