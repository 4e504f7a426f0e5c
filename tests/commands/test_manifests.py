"""Reading YAML and JSON as kubectl does: each object has its line, and each error is one line."""

import json
import re
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from devcluster.sync_requests import Object
from ingress_manager.commands.printing import as_json, as_yaml
from ingress_manager.commands.reading.documents import DEEPEST, EXPANSION
from ingress_manager.commands.reading.manifests import Read, read
from ingress_manager.commands.render import rendered
from ingress_manager.commands.snapshot.items import Unreadable
from ingress_manager.commands.snapshot.objects import as_spec
from ingress_manager.core.settings import Settings
from tests.core import made_up
from tests.words import ours

SERVICE = """\
apiVersion: v1
kind: Service
metadata:
  name: shop
  annotations:
    ingress/http: "true"
spec:
  ports:
  - port: 80
"""
FLAT = ", ".join(["[]"] * DEEPEST)
BOMB = "a0: &a0 1\n" + "".join(f"a{n + 1}: &a{n + 1} [*a{n}, *a{n}]\n" for n in range(30))


def objects(parsed: Read) -> list[Any]:
    return [item.object for item in parsed.items]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("---\n# nothing\n---\nnull\n", []),
        ("{apiVersion: serving.knative.dev/v1, kind: Service}\n", []),
        ("{a: [b], c: 'd'}\n", [{"a": ["b"], "c": "d"}]),
        (f"a: [{FLAT}]\n", [{"a": [[]] * DEEPEST}]),
        ("{1: a, ~: b, true: c, 1.5: {on: d}}\n", [{"1": "a", "~": "b", "true": "c", "1.5": {"on": "d"}}]),
        ('{"kind": "ServiceList", "apiVersion": "v1", "items": [{"metadata": {"name": "shop"}}]}',
         [{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "shop"}}]),
        ("{a: &x {b: &y c}, *y : [*x, *y, &x 3, *x]}\n", [{"a": {"b": "c"}, "c": [{"b": "c"}, "c", 3, 3]}]),
        ("{a: &x {b: 1, c: [2]}, d: {b: 3, <<: [{b: 4}, {<<: *x, e: 5}], c: 6}}\n",
         [{"a": {"b": 1, "c": [2]}, "d": {"b": 4, "c": 6, "e": 5}}]),
    ],
    ids=["no object", "a Service of another API", "braces", "brackets", "keys", "a typed list", "aliases", "merges"],
)  # fmt: skip
def test_what_is_read(text: str, values: list[Any]) -> None:
    assert objects(read(text, "f")) == values


def test_documents_lists_and_nested_lists_are_read_despite_other_errors() -> None:
    lists = "kind: List\nitems:\n- b: 1\n- kind: List\n  items: [{c: 1}, null]\n"
    parsed = read(f"a: 1\n---\n{lists}--- \n# nothing\n--- {{d: 1}}\n---\ne: [\n---\nf: 1\n", "f")
    assert objects(parsed) == [{"a": 1}, {"b": 1}, {"c": 1}, {"d": 1}, {"f": 1}]
    assert [item.line() for item in parsed.items] == [1, 5, 7, 10, 14]
    assert [(message.item.file, message.line) for message in parsed.unreadable] == [("f", 12)]


def test_an_object_knows_the_lines_of_its_fields_in_yaml() -> None:
    [_, item] = read(f"a: 1\n---\n{SERVICE}", "f").items
    assert item.line() == 3
    assert item.line("metadata", "annotations", "ingress/http") == 8
    assert item.line("spec", "ports", 0) == 11
    assert item.line("spec", "ports", 0, "port", "deeper") == 11
    assert item.line("metadata", "annotations", "ingress/host") == 7, "the nearest field around it"
    [item] = read("a: &x\n  b: 1\nc:\n  d: *x\n  <<: *x\n", "f").items
    assert [item.line("c", *path) for path in ("d", "b", "db")] == [4, 5, 2], "merged, and of an alias"
    [of_the_cluster] = read(SERVICE).items
    assert of_the_cluster.line("metadata") == 0


def test_in_json_an_object_knows_the_line_on_which_its_document_begins() -> None:
    parsed = read('\n{"kind": "List", "items": [\n  {"a": 1},\n  {"b": {\n  "d": 1}}\n]}\n', "f")
    assert [item.line() for item in parsed.items] == [2, 2]
    assert parsed.items[1].line("b", "d") == 2
    parsed = read('{"a":\n1}{"b": 2}\n\n{"c": 3}\n', "f")
    assert [(item.object, item.line()) for item in parsed.items] == [({"a": 1}, 1), ({"b": 2}, 2), ({"c": 3}, 4)]


@pytest.mark.parametrize(
    ("reason", "text", "line", "sentence"),
    [
        ("a line is that of the file", "a: 1\n---\nb: 1\nb: 2\n", 4, 'the key "b" is repeated'),
        ("JSON before something else", '{"a": 1}\nb: 2', 2, "is not YAML: …"),
        ("half of a character in JSON", '{"a": "\\ud800"}', 1, "is not YAML: …"),
        ("no mapping", "a: 1\n---\n- kind: Service\n", 3, "must be a Kubernetes object (a mapping)"),
        ("no mapping in a list", "kind: List\nitems:\n- a: 1\n- text\n", 4, "must be a Kubernetes object (a mapping)"),
        ("lists that would end the process", "a: " + "[" * 100_000, 1, "is nested too deeply"),
        ("JSON that commands can't go through", '{"a": ' * DEEPEST + "[]" + "}" * DEEPEST, 1, "is nested too deeply"),
        ("aliases for billions", BOMB, 1, f"contains more than {EXPANSION * len(BOMB) + 2} keys and values"),
        ("an alias within its anchor", "\n- &a [*a]\n", 2, "uses an alias (*) before its anchor (&) is complete"),
        ("no mapping to merge", "a: &a 1\nb:\n  <<: *a\n", 3, "must merge (<<) only mappings"),
        ("the same in YAML", "a: " + "[" * DEEPEST + "]" * DEEPEST, 1, "is nested too deeply"),
    ],
)  # fmt: skip
def test_unreadable_text_is_reported_with_its_line(reason: str, text: str, line: int, sentence: str) -> None:
    assert [(wrong.line, ours(wrong.sentence)) for wrong in read(text, "f").unreadable] == [(line, sentence)], reason


@pytest.mark.parametrize(
    ("metadata", "sentence"),
    [
        ("{}", "metadata.name is missing"),
        ("{name: 7}", "metadata.name: must be text: put it in quotes"),
        ("{name: --all}", 'metadata.name: "--all" must be '),
        ("{name: shop, namespace: A}", 'metadata.namespace: "A" must be '),
        ("{name: shop, uid: '1,a=b'}", 'metadata.uid: "1,a=b" must be the value that the API server assigned'),
        ("{name: shop, annotations: {a=b: c}}", 'metadata.annotations: "a=b" must be an annotation key'),
        ("{name: shop, uid: A.1_b-c, resourceVersion: '1', annotations: {A.b/C_d: c, e: f}}", ""),
    ],
)
def test_a_service_with_an_invalid_name_is_reported_and_skipped(metadata: str, sentence: str) -> None:
    parsed = read(f"# a comment\napiVersion: v1\nkind: Service\nmetadata: {metadata}\n", "f")
    assert [message.line for message in parsed.unreadable] == [4] * bool(sentence)
    assert all(message.sentence.startswith(f"invalid Service: {sentence}") for message in parsed.unreadable)
    assert len(parsed.items) == (not sentence)


def ingress(paths: str, more: str = "") -> str:
    head = "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: shop}\n"
    return f"{head}spec: {{rules: [{{http: {{paths: [{{{paths}}}]}}}}]{more}}}\n"


def test_a_null_field_of_an_ingress_counts_as_absent() -> None:
    backend = "pathType: Prefix, backend: {service: {name: shop, port: {number: 80}}}"
    [with_nulls] = read(ingress(f"path: , {backend}", ", tls: null")).items
    [without] = read(ingress(backend)).items
    assert as_spec(with_nulls) == as_spec(without)
    [item] = read(ingress("pathType: [], backend: {}"), "shop.yaml").items
    sentence = "shop.yaml:4: default/shop: invalid Ingress: spec.rules[0].http.paths[0].pathType: must be text"
    with pytest.raises(Unreadable, match=re.escape(sentence)):
        as_spec(item)


# Whatever a file contains, a command reports errors as single lines, and never crashes.


def expect_messages(text: str) -> None:
    """Read the text and process it as `render` does; check that each message is one line."""
    parsed = read(text, "f")
    objects, messages = rendered(parsed.items, Settings())
    for finding in [*parsed.unreadable, *messages]:
        assert str(finding).startswith("f:")
        assert str(finding).isprintable()
        assert 1 <= finding.line <= text.count("\n") + 1
    for form in (as_json, as_yaml):
        form(objects).encode()


@given(made_up.services())
def test_random_services_are_rendered_or_reported(made: Object) -> None:
    expect_messages(as_yaml(made))
    expect_messages(json.dumps(made, ensure_ascii=False))


@given(st.text(alphabet=st.sampled_from(list("ab:-[]{}#&*!<|>'\"%@`,? \n\t\0\x85\u2028\ud7ff")), max_size=40))
def test_whatever_a_file_contains_is_reported_in_lines(text: str) -> None:
    expect_messages(text)


@given(made_up.ANYTHING)
def test_what_is_printed_is_read_as_it_was(value: Any) -> None:
    shown = as_yaml({"value": value})
    assert read(shown, "f").items[0].object == {"value": value} or isinstance(value, float | list | dict)
    assert yaml.safe_load(shown) == {"value": value}
