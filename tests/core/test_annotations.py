"""The annotations: each row of the table decides something, and says what is wrong with it."""

from collections.abc import Mapping

import msgspec
import pytest

from devcluster.sync_requests import Object, service
from ingress_manager.core.annotations import HTTP, KEYS, TABLE, Annotation, Stated, parse
from ingress_manager.core.decide import Desired, decide
from ingress_manager.core.kubernetes import Observed, Service
from ingress_manager.core.policy import OUTPUT_NAMES, Defaults, Gateway, Policy, Profile, Tls
from tests import golden
from tests.core import made_up

PORTS = [{"name": "http", "port": 80}, {"name": "metrics", "port": 9090}]
OTHER_VALUES = {
    "ingress/http": "false",
    "ingress/profile": "other",
    "ingress/host": "other.example.com",
    "ingress/path": "/other",
    "ingress/path-type": "Exact",
    "ingress/port": "metrics",
    "ingress/class": "other",
    "ingress/tls": "false",
    "ingress/tls-secret": "other",
    "ingress/tls-redirect": "false",
    "ingress/routes": "[{path: /other}]",
}
"""For each annotation, a value that asks for something else than what holds without it."""

EVERYWHERE: dict[str, Mapping[str, object]] = {
    "OTHER_VALUES in tests/core/test_annotations.py": OTHER_VALUES,
    "WORDS in tests/core/made_up.py": made_up.WORDS,
    "tests/cases": {
        key: value
        for case in golden.cases_in(golden.CASES)
        for key, value in (case.service["metadata"].get("annotations") or {}).items()
    },
}
"""Where each annotation has to be tried."""

POLICY = Policy(
    Defaults(
        outputs=OUTPUT_NAMES,
        gateway=Gateway(name="web", namespace="infrastructure"),
        tls=Tls(enabled=True, redirect=True),
    ),
    profiles={"other": Profile()},
)


def objects(annotations: dict[str, str]) -> tuple[Object, ...]:
    """Return what should exist for a Service with two ports and these annotations."""
    parent = msgspec.convert(service(annotations, ports=PORTS), Service)
    decision = decide(parent, Observed(httproutes={}), POLICY)
    assert isinstance(decision, Desired), decision
    return decision.objects


@pytest.mark.parametrize("where", EVERYWHERE)
def test_every_annotation_is_tried(where: str) -> None:
    assert {*KEYS} - {HTTP.key} <= EVERYWHERE[where].keys()


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.key)
def test_every_annotation_changes_the_answer(row: Annotation) -> None:
    assert objects({HTTP.key: "true"} | {row.key: OTHER_VALUES[row.key]}) != objects({HTTP.key: "true"})


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.key)
def test_every_problem_names_its_annotation(row: Annotation) -> None:
    stated = parse({HTTP.key: "true"} | {row.key: "\0"})
    assert stated is not None
    if row.key == "ingress/port":  # any text may be the name of a port; whether it is one is checked later
        assert stated.port == "\0"
    else:
        assert [problem.annotation for problem in stated.problems.kept] == [row.key]
        assert getattr(stated, row.field, None) == getattr(Stated(), row.field, None)


def test_of_many_unknown_annotations_the_first_are_named_and_all_are_counted() -> None:
    stated = parse({"ingress/http": "true"} | {f"ingress/x{number}": "" for number in range(1000)})
    assert stated is not None
    assert (len(stated.problems.kept), stated.problems.more) == (20, 980)


@pytest.mark.parametrize("count", [999, 1000])
def test_a_list_of_more_than_1000_keys_and_values_is_not_read(count: int) -> None:
    stated = parse({"ingress/http": "true", "ingress/routes": f"[{'a, ' * count}]"})
    assert stated is not None
    [problem] = stated.problems.kept
    many = "lists 999 routes; 100 is the most" if count == 999 else "holds more than 1000 keys and values"
    assert problem.sentence == f"ingress/routes: {many}"
