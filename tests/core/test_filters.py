"""Filters and timeouts: what the table says is right stands in a rule as it was stated, and what is wrong is told.

tests/e2e/test_filters.py holds the same table to the API server.
"""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from ingress_manager.core.filters import (
    Filter,
    Filters,
    Timeouts,
    as_object,
    as_objects,
    find_filter_problems,
    find_timeout_problems,
    rewrites_prefix,
)
from ingress_manager.core.kubernetes import Object
from ingress_manager.core.settings import sentence_of
from ingress_manager.core.shape import Mismatch, fit, type_of
from ingress_manager.core.strict_yaml import load_text, load_typed

ROWS: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("filters.yaml").read_text(encoding="utf-8"))
RIGHT = [row for row in ROWS if "says" not in row]
WRONG = [row for row in ROWS if "says" in row]


class Stated(msgspec.Struct, forbid_unknown_fields=True):
    """The fields of a profile that are about the rules of HTTPRoutes."""

    filters: Filters = ()
    timeouts: Timeouts = Timeouts()


def read(row: dict[str, Any]) -> tuple[Stated, list[str]]:
    """Return what a row states, without what differs from its types, and all that is wrong with it."""
    text = json.dumps({key: row[key] for key in ("filters", "timeouts") if key in row})
    typed, written = load_typed(text), load_text(text)
    mismatches: list[Mismatch] = []
    stated = msgspec.convert(fit(typed, type_of(Stated), mismatches), Stated)
    problems = [
        *find_filter_problems("filters", stated.filters),
        *find_timeout_problems("timeouts", stated.timeouts),
    ]
    says = [sentence_of(each, typed, written) for each in mismatches]
    return stated, says + [problem.sentence for problem in problems]


def in_rule(stated: Stated) -> Object:
    """Return what stands in a rule."""
    return {"filters": as_objects(stated.filters), "timeouts": as_object(stated.timeouts)}


def made(row: dict[str, Any]) -> Object:
    """Return what is to stand in a rule."""
    return {"filters": row.get("made", row.get("filters", [])), "timeouts": row.get("timeouts", {})}


@pytest.mark.parametrize("row", RIGHT, ids=lambda row: row["what"])
def test_what_is_right_stands_in_a_rule_as_it_was_stated(row: dict[str, Any]) -> None:
    stated, says = read(row)
    assert says == []
    assert in_rule(stated) == made(row)


@pytest.mark.parametrize("row", WRONG, ids=lambda row: row["what"])
def test_all_that_is_wrong_is_told_with_the_field(row: dict[str, Any]) -> None:
    _, says = read(row)
    assert says == row["says"].splitlines()


def test_seventeen_filters_are_too_many() -> None:
    extension = {"type": "ExtensionRef", "extensionRef": {"group": "traefik.io", "kind": "Middleware", "name": "sso"}}
    assert read({"filters": [extension] * 16})[1] == []
    assert read({"filters": [extension] * 17})[1] == ["filters: must list at most 16 values, and the list has 17"]


@pytest.mark.parametrize(
    ("what", "filters", "rewrites"),
    [
        ("a prefix is rewritten", [{"path": {"type": "ReplacePrefixMatch", "replacePrefixMatch": "/a"}}], True),
        ("a path is rewritten", [{"path": {"type": "ReplaceFullPath", "replaceFullPath": "/a"}}], False),
        ("a host is rewritten", [{"hostname": "a.example.com"}], False),
        ("nothing is rewritten", [], False),
    ],
)
def test_a_rewritten_prefix_is_seen_beside_other_filters(what: str, filters: list[Object], rewrites: bool) -> None:
    stated = [{"type": "CORS", "cors": {}}, *({"type": "URLRewrite", "urlRewrite": each} for each in filters)]
    assert rewrites_prefix(msgspec.convert(stated, list[Filter])) is rewrites, what
