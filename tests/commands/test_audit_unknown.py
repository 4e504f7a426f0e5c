"""Whoever can look at less is never told more: of any case of audit, any part is taken away; no finding appears."""

import json
from copy import deepcopy
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devcluster.sync_requests import Object
from ingress_manager.commands.audit.audit import audit
from ingress_manager.commands.audit.seen import Finding
from ingress_manager.commands.reading.kinds import HTTPROUTE, INGRESS, LISTENERSET, SERVICE
from ingress_manager.commands.reading.manifests import Manifests, read
from ingress_manager.commands.view import surroundings
from ingress_manager.commands.view.known import SETTINGS, UNKNOWN, Known, Unknown
from ingress_manager.commands.view.surroundings import surroundings_in
from ingress_manager.core.policy import Policy
from tests import dumps, golden
from tests import make_cases as cases
from tests.golden import Case

KINDS = (SERVICE, INGRESS, HTTPROUTE, LISTENERSET)
AROUND = surroundings.RESOURCES
OF_SEVERAL = {"refused", "claimed-twice", "upstream-collision", "detached"}
"""Kinds whose sentences tell less where less is known."""

AUDITS = golden.cases_in(cases.AUDITS)


def unreadable(each: Object, way: str) -> Object | str:
    """Return an object that can't be read, in one of some ways; as text, the document isn't YAML."""
    spoiled = deepcopy(each)
    if way == "is no YAML":
        return "a: ["
    if way == "has a wrong key":
        spoiled["metadata"]["annotations"] = {"a\nb": ""}
    elif way == "has a wrong name":
        spoiled["metadata"]["name"] = "--all"
    elif way == "has a wrong namespace":
        spoiled["metadata"]["namespace"] = 5
    elif way == "is invalid":
        spoiled["spec"] = 5
    elif each["kind"] == SERVICE:
        spoiled["metadata"]["annotations"] = 5
    else:
        spoiled["apiVersion"] = f"{each['apiVersion'].rpartition('/')[0]}/v1beta1"
    return spoiled


WAYS = ("is no YAML", "has a wrong key", "has a wrong name", "has a wrong namespace", "is invalid", "is of old")


class Less(NamedTuple):
    """What of a case is taken away."""

    kinds: frozenset[str]
    namespaces: frozenset[str]
    settings: bool
    objects: dict[int, str]
    """The numbers of those that can't be read, and why."""


LESS = st.builds(
    Less,
    st.frozensets(st.sampled_from([*KINDS, *AROUND]), max_size=2),
    st.frozensets(st.sampled_from(["team", "team-a", "team-b", "routes", "infrastructure"]), max_size=2),
    st.booleans(),
    st.dictionaries(st.integers(0, 20), st.sampled_from(WAYS), max_size=2),
)


def objects_of(case: Case) -> list[Object]:
    return [item.object for item in dumps.manifests(case).items]


def read_again(case: Case, objects: list[Object], less: Less) -> tuple[Manifests, Known, Policy | Unknown]:
    """Return what can be read of a case of which something is taken away."""
    kept = [
        each
        for each in objects
        if each["kind"] not in less.kinds and each["metadata"].get("namespace") not in less.namespaces
    ]
    documents = [unreadable(each, less.objects[n]) if n in less.objects else each for n, each in enumerate(kept)]
    if any(isinstance(each, str) for each in documents):
        texts = (each if isinstance(each, str) else json.dumps(each) for each in documents)
        manifests = read("".join(f"---\n{text}\n" for text in texts), "f")
    else:
        manifests = read(json.dumps({"kind": "List", "items": documents}))  # which takes a tenth of the time
    known = Known(misread=manifests.misread, is_whole=manifests.is_whole)
    known.unread = dict.fromkeys([*less.kinds & {*KINDS}, *([SETTINGS] if less.settings else [])], "no")
    known.open = {HTTPROUTE, LISTENERSET} & less.kinds
    return manifests, known, UNKNOWN if less.settings else case.policy


def told(found: Finding) -> tuple[str, ...]:
    """Return what a person is told by a finding, as far as it is the same whoever looks."""
    return (found.kind, str(found.item), "" if found.kind in OF_SEVERAL else found.sentence)


def finds_no_more(case: Case, *lesses: Less) -> None:
    """Whoever sees less of the case is told no more, and is never told to delete more."""
    objects = objects_of(case)
    whole, *parts = (
        audit(manifests.items, policy, known, surroundings_in(manifests)).findings
        for manifests, known, policy in (read_again(case, objects, less) for less in (NOTHING_LESS, *lesses))
    )
    deleted = {str(each.item) for each in whole if "delete" in each.command}
    for part in parts:
        assert {told(each) for each in part} <= {told(each) for each in whole}
        assert {str(each.item) for each in part if "delete" in each.command} <= deleted


NOTHING_LESS = Less(frozenset(), frozenset(), settings=False, objects={})


@given(st.sampled_from(AUDITS), LESS)
def test_who_sees_less_of_a_case_is_told_no_more(case: Case, less: Less) -> None:
    finds_no_more(case, less)


@pytest.mark.parametrize("case", AUDITS, ids=lambda case: case.name)
def test_without_one_kind_the_settings_or_any_one_object_of_a_case_nobody_is_told_more(
    case: Case,
) -> None:
    objects = [{n: way} for n in range(len(objects_of(case))) for way in ("is invalid", "is no YAML")]
    finds_no_more(
        case,
        *(NOTHING_LESS._replace(kinds=frozenset({kind})) for kind in (*KINDS, *AROUND)),
        NOTHING_LESS._replace(settings=True),
        *(NOTHING_LESS._replace(objects=each) for each in objects),
    )
