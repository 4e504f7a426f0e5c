"""Strict YAML, where anchors are allowed: in manifests of others. Settings and annotations try the rest."""

import pytest
import yaml

from ingress_manager.core.strict_yaml import YamlError, load_typed

MOST = 60
"""Keys and values, also those that aliases repeat."""

RIGHT = [
    "{a: &x [1, {b: c}], d: *x, e: *x}",
    "{x: &x {a: 1, b: 2}, c: {b: 3, <<: *x}}",
    "{x: &x {a: 1}, y: &y {a: 2, b: 3}, c: {<<: [*x, *y], d: 4}}",
]
WRONG = {
    "{a: &x [*x]}": r"is not YAML: \*x names nothing that ends before it",
    "{a: &x text, *x : b}": "must not use a list or a mapping as a key",
    "{a: {<<: text}}": r"must name a mapping by a merge key \(<<\)",
    f"{{a: &x [{'1,' * 40}], b: *x}}": f"holds more than {MOST} keys and values",
}


@pytest.mark.parametrize("text", RIGHT)
def test_an_alias_is_what_it_names_and_a_merge_key_gives_what_a_mapping_lacks(text: str) -> None:
    assert load_typed(text, MOST, anchors=True)[0] == yaml.safe_load(text)


@pytest.mark.parametrize("text", WRONG)
def test_an_alias_that_x_or_too_much_is_told(text: str) -> None:
    with pytest.raises(YamlError, match=WRONG[text]):
        load_typed(text, MOST, anchors=True)
