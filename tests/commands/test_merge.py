"""The merge, by which `audit` knows what Metacontroller would change: it comes out as Metacontroller's does."""

import copy
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingress_manager.commands.view import merge
from ingress_manager.core.observed import LAST_APPLIED


@dataclass
class Case:
    """One merge, and why it comes out as it does."""

    reason: str
    observed: Any
    last: Any
    desired: Any
    want: Any


CASES = [
    Case("Empty objects make an empty object.", {}, {}, {}, {}),
    Case("A desired field is added.", {"a": 1}, {}, {"b": 2}, {"a": 1, "b": 2}),
    Case("A desired field is set, whoever changed it.", {"a": 9}, {"a": 1}, {"a": 1}, {"a": 1}),
    Case("A field that is no longer desired is removed, whoever changed it.", {"a": 9}, {"a": 1}, {}, {}),
    Case("A field that was never applied is someone else's, and stays.", {"a": 9}, {}, {}, {"a": 9}),
    Case("A field removed by someone else is not missed.", {}, {"a": 1}, {}, {}),
    Case(
        "All that holds at any depth.",
        {"metadata": {"labels": {"ours": "x", "old": "x", "theirs": "x"}}},
        {"metadata": {"labels": {"ours": "1", "old": "1"}}},
        {"metadata": {"labels": {"ours": "2", "new": "2"}}},
        {"metadata": {"labels": {"ours": "2", "new": "2", "theirs": "x"}}},
    ),
    Case("An object no longer desired goes, with what others put in it.", {"a": {"b": 1}}, {"a": {}}, {}, {}),
    Case("A desired null in the place of a scalar is a value like any other.", {"a": 1}, {}, {"a": None}, {"a": None}),
    Case(
        "A desired null in the place of an object is an empty object.",
        {"a": {"b": 1, "c": 2}},
        {"a": {"b": 1}},
        {"a": None},
        {"a": {"c": 2}},
    ),
    Case("A scalar in the place of an object is dropped, as by Metacontroller.", {"a": {}}, {}, {"a": 5}, {"a": {}}),
    Case("An object can take the place of a scalar.", {"a": 1}, {}, {"a": {"b": 1}}, {"a": {"b": 1}}),
    Case("A list of scalars is replaced.", {"l": [1, 2]}, {"l": [2]}, {"l": [3]}, {"l": [3]}),
    Case(
        "A list of mixed items is replaced.", {"l": [{"name": "a"}, 1]}, {}, {"l": [{"name": 1}]}, {"l": [{"name": 1}]}
    ),
    Case(
        "A list of objects that have no key in common is replaced.",
        {"l": [{"name": "a"}, {"other": "b"}]},
        {},
        {"l": [{"name": "c"}]},
        {"l": [{"name": "c"}]},
    ),
    Case(
        "The rules of an Ingress have no known key, so that a foreign rule goes.",
        {"rules": [{"host": "a.example.com"}, {"host": "foreign.example.com"}]},
        {"rules": [{"host": "a.example.com"}]},
        {"rules": [{"host": "b.example.com"}]},
        {"rules": [{"host": "b.example.com"}]},
    ),
    Case(
        "Its paths have one, but they lie within the rules, which are replaced as a whole.",
        {"rules": [{"host": "a", "http": {"paths": [{"path": "/a"}, {"path": "/foreign"}]}}]},
        {},
        {"rules": [{"host": "a", "http": {"paths": [{"path": "/b"}]}}]},
        {"rules": [{"host": "a", "http": {"paths": [{"path": "/b"}]}}]},
    ),
    Case(
        "A list with `path` in all items is merged by it: foreign items and fields stay, in their order.",
        {"paths": [{"path": "/theirs"}, {"path": "/old"}, {"path": "/ours", "kept": 1, "pathType": "Exact"}]},
        {"paths": [{"path": "/old"}, {"path": "/ours", "pathType": "Prefix"}]},
        {"paths": [{"path": "/new"}, {"path": "/ours", "pathType": "Prefix"}]},
        {"paths": [{"path": "/theirs"}, {"path": "/ours", "kept": 1, "pathType": "Prefix"}, {"path": "/new"}]},
    ),
    Case(
        "`port` comes before `name`: a port that is renamed is still the same item.",
        {"ports": [{"port": 80, "name": "web", "nodePort": 30080}]},
        {"ports": [{"port": 80, "name": "web"}]},
        {"ports": [{"port": 80, "name": "http"}]},
        {"ports": [{"port": 80, "name": "http", "nodePort": 30080}]},
    ),
    Case(
        "The key must be in the items that were last applied, too.",
        {"l": [{"name": "a"}, {"name": "theirs"}]},
        {"l": [{"unnamed": 1}]},
        {"l": [{"name": "a"}]},
        {"l": [{"name": "a"}]},
    ),
    Case(
        "Of a list merged by key, only what was applied goes.",
        {"l": [{"name": "a"}, {"name": "b"}]},
        {"l": [{"name": "a"}]},
        {"l": []},
        {"l": [{"name": "b"}]},
    ),
    Case(
        "An item that is there twice is changed twice.",
        {"l": [{"name": "a"}, {"name": "a"}]},
        {},
        {"l": [{"name": "a", "x": 1}]},
        {"l": [{"name": "a", "x": 1}, {"name": "a", "x": 1}]},
    ),
    Case("An empty list is filled.", {"l": []}, {}, {"l": [{"name": "a"}]}, {"l": [{"name": "a"}]}),
    Case("A plain list that is desired empty becomes empty.", {"l": [1]}, {"l": [1]}, {"l": []}, {"l": []}),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.reason)
def test_a_merge(case: Case) -> None:
    given = copy.deepcopy(case)
    assert merge.merge(case.observed, case.last, case.desired) == case.want
    assert case == given, "what was given is not changed"


def objects(depth: int = 2) -> st.SearchStrategy[dict[str, Any]]:
    """Objects whose fields have a type each, as Kubernetes objects have, and whose keyed lists name no item twice."""
    fields: dict[str, st.SearchStrategy[Any]] = {
        "a": st.integers(0, 2),
        "b": st.booleans(),
        "plain": st.lists(st.integers(0, 2)),
    }
    if depth:
        inner = objects(depth - 1)
        fields["object"] = inner
        fields["named"] = items("name", st.sampled_from("xyz"), inner)
        fields["ports"] = items("port", st.integers(80, 82), inner)
        fields["rules"] = st.lists(inner, max_size=2)
    return st.fixed_dictionaries({}, optional=fields)


def items(key: str, keys: st.SearchStrategy[Any], inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Lists of objects with that key."""
    item = st.builds(lambda name, rest: {key: name} | rest, keys, inner)
    return st.lists(item, max_size=3, unique_by=lambda item: item[key])


OBJECTS = objects()


@given(OBJECTS, OBJECTS, OBJECTS)
def test_merging_the_same_once_more_changes_nothing(observed: Any, last: Any, desired: Any) -> None:
    once = merge.merge(observed, last, desired)
    assert merge.same(merge.merge(once, desired, desired), once)


@given(OBJECTS, OBJECTS)
def test_what_was_never_applied_and_is_not_desired_stays(observed: Any, desired: Any) -> None:
    merged = merge.merge(observed, {}, desired)
    assert all(merge.same(merged[key], observed[key]) for key in observed.keys() - desired.keys())


def test_an_annotation_that_is_not_json_is_an_error() -> None:
    with pytest.raises(ValueError, match="can't unmarshal"):
        merge.last_applied({"metadata": {"annotations": {LAST_APPLIED: "{nonsense"}}})


def test_1_and_1_point_0_and_true_are_not_the_same() -> None:
    assert merge.same({"a": 1, "b": 2}, {"b": 2, "a": 1})
    assert not merge.same({"a": 1}, {"a": 1.0})
    assert not merge.same({"a": 1}, {"a": True})
