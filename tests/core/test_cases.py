"""Each case in tests/cases is a Service and its objects or refusal; a new case needs no code. See tests/golden.py.

Values that are invalid in any Service are in refused.yaml instead. Attacks are cases, too; those with several steps are
in tests/e2e/attacks.yaml.
"""

import dataclasses
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from hypothesis import find, given
from hypothesis import strategies as st

from devcluster.sync_requests import body, service, sync_request
from hooks.sync import answer
from ingress_manager.commands.snapshot.drift import merge
from ingress_manager.core.annotations import HTTP, KEYS, TABLE, Requested, parse
from ingress_manager.core.settings import OUTPUT_NAMES, Defaults, Gateway, Limits, Profile, Settings
from ingress_manager.core.text import quoted
from ingress_manager.core.vocabulary import KNOWN
from tests import golden
from tests.core import made_up
from tests.words import ours

CASES = golden.cases_in(golden.CASES)
BY_NAME = {case.name: case for case in CASES}
NAMES = ("every-annotation", "both-routes", "http-false", "every-problem-of-a-route-refused")
ONE_OF_EACH = [BY_NAME[name] for name in NAMES]
"""One case of each answer, for other tests: an Ingress, one with HTTPRoutes, no objects, and several problems."""
FIELDS = ["why", "from", "example", "metadata", "annotations", "spec", "settings", "becomes"]
REFUSED: dict[str, dict[str, list[str]]] = yaml.safe_load(Path(__file__).with_name("refused.yaml").read_bytes())
ALL_COPIED = Settings(limits=Limits(copy_annotations=dict.fromkeys(KNOWN, "any")))
"""Settings that copy every known annotation with any value."""


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_service_becomes_what_the_case_says(case: golden.Case) -> None:
    assert case.becomes == case.fields["becomes"]


def test_metacontroller_writes_nothing_more_once_the_answer_is_applied() -> None:
    """Metacontroller merges a list as a map if all its items have a name: two with the same name would become one."""
    for case in CASES:
        for made in case.objects:
            assert merge(made, made, made) == made, case.name


def test_every_case_says_why_it_exists_and_an_attack_where_it_comes_from() -> None:
    assert len(CASES) > 100
    for case in CASES:
        assert [*case.fields] == [field for field in FIELDS if field in case.fields], case.name
        assert case.fields["why"].endswith("."), case.name
    attacks = golden.read(golden.CASES / "attacks.yaml") + golden.read(golden.TESTS / "e2e/attacks.yaml")
    for attack in attacks:
        assert attack.fields["from"], attack.name
        assert all(re.fullmatch(r"finding S\d+|CVE-20\d\d-\d+|what held", source) for source in attack.fields["from"])


@pytest.mark.parametrize("key", REFUSED)
def test_the_value_is_refused_as_the_table_says(key: str) -> None:
    for sentence, values in REFUSED[key].items():
        for value in values:
            answered = answer(body(sync_request(service({"ingress/http": "true", key: value}))), ALL_COPIED)
            said = f"{key}: {sentence.replace('VALUE', quoted(value))} [invalid-value]\n"
            assert (answered.status, ours(answered.body.decode())) == (422, said)


@pytest.mark.parametrize("key", KEYS)
@given(data=st.data())
def test_every_annotation_has_valid_values_invalid_values_and_a_case(key: str, data: st.DataObject) -> None:
    requested = parse({key: data.draw(made_up.WORDS[key])})
    assert requested.problems.kept == []
    assert getattr(requested, TABLE[key].field) is not None
    assert REFUSED[key]
    assert any(key in (case.service["metadata"].get("annotations") or ()) for case in CASES)
    refused = parse({key: ""})
    assert [problem.annotation for problem in refused.problems.kept] == [key]
    assert msgspec.structs.replace(refused, problems=Requested().problems) == Requested(), "a wrong one counts as none"


def without(field: str, plain: Any) -> Any:
    return {key: without(field, plain[key]) for key in plain if key != field} if isinstance(plain, dict) else plain


@pytest.mark.parametrize(
    "field", sorted({field for type_ in (Defaults, Limits, Profile) for field in type_.__struct_encode_fields__})
)
def test_no_setting_is_ignored_silently(field: str) -> None:
    """Leaving out the setting changes the result of some case."""
    for case in CASES:
        plain = yaml.safe_load(case.settings_text) or {}
        fewer = {part: without(field, value) for part, value in plain.items()}
        changed = dataclasses.replace(case, fields=case.fields | {"settings": fewer})
        if fewer != plain and changed.becomes != case.becomes:
            return
    pytest.fail("no case needs it")


@pytest.mark.parametrize("output", OUTPUT_NAMES)
@pytest.mark.parametrize("key", KEYS)
def test_no_annotation_is_ignored_silently(key: str, output: str) -> None:
    """At least one valid value changes the answer, if only into a refusal."""
    settings = Settings(Defaults(outputs=(output,), gateway=Gateway(name="web", namespace="infrastructure")))

    def answered(annotations: dict[str, str]) -> bytes:
        return answer(body(sync_request(service({HTTP: "true"} | annotations))), settings).body

    find(made_up.WORDS[key], lambda value: answered({key: value}) != answered({}))


@pytest.mark.parametrize(
    ("count", "says"), [(999, "lists 999 routes; the limit is 100"), (1000, "contains more than 1000 keys and values")]
)
def test_a_list_of_more_than_1000_keys_and_values_is_not_read(count: int, says: str) -> None:
    [problem] = parse({"ingress/routes": f"[{'a, ' * count}]"}).problems.kept
    assert problem.sentence == f"ingress/routes: {says}"
