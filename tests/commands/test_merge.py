"""The merge, by which `audit` knows what Metacontroller would change: it comes out as Metacontroller's does."""

import copy
from pathlib import Path

import pytest
import yaml

from devcluster.sync_requests import Object
from ingress_manager.commands.view import merge
from ingress_manager.core.observed import LAST_APPLIED

CASES = yaml.safe_load(Path(__file__).with_name("merge.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["why"])
def test_a_merge(case: Object) -> None:
    given = copy.deepcopy(case)
    assert merge.merge(case["observed"], case["last"], case["desired"]) == case["becomes"]
    assert case == given, "what was given is not changed"


def test_an_annotation_that_is_not_json_is_an_error() -> None:
    with pytest.raises(ValueError, match="can't unmarshal"):
        merge.last_applied({"metadata": {"annotations": {LAST_APPLIED: "{nonsense"}}})


def test_1_and_1_point_0_and_true_are_not_the_same() -> None:
    assert merge.same({"a": 1, "b": 2}, {"b": 2, "a": 1})
    assert not merge.same({"a": 1}, {"a": 1.0})
    assert not merge.same({"a": 1}, {"a": True})
