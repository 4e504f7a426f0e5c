"""Filters and timeouts: what the table says is right stands in a rule as it was stated, and what is wrong is told.

tests/e2e/test_filters.py holds the same table to the API server.
"""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from ingress_manager.core.errors import SettingsError
from ingress_manager.core.filters import Filter, Timeouts, as_object, as_objects, rewrites_prefix
from ingress_manager.core.kubernetes import Object
from ingress_manager.core.policy import Profile
from ingress_manager.core.settings import parse

ROWS: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("filters.yaml").read_text(encoding="utf-8"))
RIGHT = [row for row in ROWS if "says" not in row]
WRONG = [row for row in ROWS if "says" in row]


def read(row: dict[str, Any]) -> Profile:
    """Return a profile with what a row states. Raises SettingsError."""
    stated: Object = {key: row[key] for key in ("filters", "timeouts") if key in row}
    gateway = {"name": "web", "namespace": "infrastructure"}
    profile: Object = {"outputs": ["httproute"], "gateway": gateway, **stated}
    return parse(json.dumps({"profiles": {"a": profile}})).profiles["a"]


def wrong(row: dict[str, Any]) -> list[str]:
    """Return all that is wrong with what a row states."""
    with pytest.raises(SettingsError) as error:
        read(row)
    return [mistake.sentence.removeprefix("profiles.a.") for mistake in error.value.mistakes]


def in_rule(profile: Profile) -> Object:
    """Return what stands in a rule."""
    return {"filters": as_objects(profile.filters or ()), "timeouts": as_object(profile.timeouts or Timeouts())}


def made(row: dict[str, Any]) -> Object:
    """Return what is to stand in a rule."""
    return {"filters": row.get("made", row.get("filters", [])), "timeouts": row.get("timeouts", {})}


@pytest.mark.parametrize("row", RIGHT, ids=lambda row: row["what"])
def test_what_is_right_stands_in_a_rule_as_it_was_stated(row: dict[str, Any]) -> None:
    assert in_rule(read(row)) == made(row)


@pytest.mark.parametrize("row", WRONG, ids=lambda row: row["what"])
def test_all_that_is_wrong_is_told_with_the_field(row: dict[str, Any]) -> None:
    assert wrong(row) == row["says"].splitlines()


def test_seventeen_filters_are_too_many() -> None:
    extension = {"type": "ExtensionRef", "extensionRef": {"group": "traefik.io", "kind": "Middleware", "name": "sso"}}
    assert len(read({"filters": [extension] * 16}).filters or ()) == 16
    assert wrong({"filters": [extension] * 17}) == ["filters: must list at most 16 values, and the list has 17"]


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
