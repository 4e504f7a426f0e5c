"""Whatever is in a file, a command says what is wrong in lines, and never breaks off."""

import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from devcluster.sync_requests import Object
from ingress_manager.commands.audit import reports
from ingress_manager.commands.audit.audit import audit
from ingress_manager.commands.audit.preview import preview
from ingress_manager.commands.printing.objects import FORMATS, as_yaml, printed
from ingress_manager.commands.reading.manifests import read
from ingress_manager.commands.render.rendering import render
from ingress_manager.core.policy import Policy
from tests.core import made_up

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(max_size=9), inside, max_size=3),
    max_leaves=9,
)


def told(text: str) -> None:
    """Read the text, and do all that commands do with it; each finding is one line."""
    found = read(text, "f")
    rendered = render(found.items, Policy())
    audited, changed = audit(found.items, Policy()), preview(found.items, Policy(paused=True))
    findings = [*rendered.messages, *audited.invalid, *changed.invalid]
    for finding in [*found.unreadable, *findings]:
        assert str(finding).startswith("f:")
        assert str(finding).isprintable()
        assert 1 <= finding.line <= text.count("\n") + 1
    for form in FORMATS:
        "".join(printed(rendered.objects, form)).encode()
    for form in reports.FORMATS:
        for report in ("".join(reports.findings(audited, form)), "".join(reports.effects(changed, form))):
            assert report.replace("\n", "").isprintable()
            report.encode()


@given(made_up.services())
def test_services_made_up_at_random_are_rendered_or_told_of(made: Object) -> None:
    told(as_yaml(made))
    told(json.dumps(made, ensure_ascii=False))


@given(st.text(alphabet=st.sampled_from(list("ab:-[]{}#&*!|>'\"%@`,? \n\t\0\x85\u2028\ud7ff")), max_size=40))
def test_whatever_stands_in_a_file_is_told_in_lines(text: str) -> None:
    told(text)


@given(ANYTHING)
def test_what_is_printed_is_read_as_it_was(value: Any) -> None:
    shown = as_yaml({"value": value})
    assert read(shown, "f").items[0].object == {"value": value} or isinstance(value, float | list | dict)
    assert yaml.safe_load(shown) == {"value": value}


@pytest.mark.parametrize(
    "text",
    [
        *("? a\n? a\n", "a: *b\n", "&a [*a]\n", "a: &a {b: *a}\nkind: Service\napiVersion: v1\n", "%YAML 1.1\n"),
        *("...\n---\n...\n", "a: 1\n...\nb: 2\n", "\ufeff{}", "[" * 50, "---", "---\n--- a\n"),
    ],
)
def test_the_odd_corners_of_yaml_are_read_or_told(text: str) -> None:
    told(text)
