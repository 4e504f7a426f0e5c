"""The schema of the settings takes what the hook takes, and refuses unknown fields and wrong types."""

import json
from typing import Any

import msgspec
import pytest
import yaml
from hypothesis import given

from devcluster.build import REPOSITORY
from ingress_manager.core.policy import Policy
from tests.core import made_up
from tools import docs

pytestmark = [pytest.mark.no_cover, pytest.mark.thorough]
WRONG = ("is not a setting", "must be text; put it in quotes", "must be true or false")
MISTAKES = [
    each
    for each in yaml.safe_load((REPOSITORY / "tests/core/settings.yaml").read_text(encoding="utf-8"))["wrong"]
    if any(says in each["says"] for says in WRONG)
]


def is_valid(stated: Any) -> bool:
    """Return whether the schema takes settings."""
    # It makes expressions for two seconds: in each process, if it stood above.
    from jsonschema import Draft7Validator  # noqa: PLC0415
    from referencing import Registry  # noqa: PLC0415

    schema = json.loads((docs.DOCS / "settings.schema.json").read_text(encoding="utf-8"))
    path = schema["$ref"].partition("#")[0]
    whole = json.loads((docs.DOCS / path).read_text(encoding="utf-8"))
    return Draft7Validator(schema, registry=Registry().with_contents([(path, whole)])).is_valid(stated)


@given(made_up.policy())
def test_it_takes_whatever_settings_the_hook_takes(policy: Policy) -> None:
    assert is_valid(json.loads(msgspec.json.encode(policy)))


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda each: each["text"])
def test_it_refuses_a_field_that_is_none_and_a_wrong_type(mistake: dict[str, str]) -> None:
    assert not is_valid(yaml.safe_load(mistake["text"]))
