"""Settings: one YAML file, parsed strictly, with errors that name the field."""

import hashlib
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from msgspec import inspect

from hooks.settings_file import from_environment, load
from ingress_manager.core.effective import effective_settings
from ingress_manager.core.errors import SettingsError
from ingress_manager.core.settings import Defaults, Limits, Profile, Settings
from ingress_manager.core.settings_parser import FILE_VARIABLE, fill_in_namespaces, parse, read
from ingress_manager.core.shape import FieldError, check_values
from tests import golden
from tests.core import made_up
from tests.words import ours

CASES = yaml.safe_load(Path(__file__).with_name("settings.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("text", CASES["right"])
def test_settings_are_parsed_completely(text: str) -> None:
    plain = yaml.load(text, golden.Loader)  # noqa: S506 - a safe one
    assert parse(text) == msgspec.convert(fill_in_namespaces(plain or {}), Settings)


LONG_CLASSES = ", ".join([f"{number}{'a' * 250}" for number in range(10)])
ALLOWED = 'defaults.class: the default is "nginx", which is not one of the allowed classes: '
A_DURATION = 'profiles.a.timeouts.request: "{}…" must be a duration such as 1h, 1m30s or 500ms'
ENDLESS = [
    (f"defaults: {'9' * 5000}", "defaults: must be a mapping, not text"),
    (f"paused: {'1:' * 174}1.5", "paused: must be true or false, not text"),
    ("defaults: {host: '\ud800'}", "contains an unpaired surrogate"),
    (f"? {'k' * 2000}\n: 1\n? {'k' * 2000}\n: 1", f'line 3: the key "{"k" * 317}…" is repeated'),
    (f"limits: {{classes: [{LONG_CLASSES}]}}", f"{ALLOWED}{LONG_CLASSES}"[:2000] + "…"),
    (f"profiles: {{a: {{timeouts: {{request: {'9' * 5000}s}}}}}}", A_DURATION.format("9" * 60)),
    (f"a: [{'1,' * 200_000}]", "contains more than 200000 keys and values"),
    ("namespaces: " + "[" * 10_000, "is nested too deeply"),
]
WRONG = [*[(case["text"], case["says"]) for case in CASES["wrong"]], *ENDLESS]


@pytest.mark.parametrize(("text", "says"), WRONG, ids=[text[:60] for text, _ in WRONG])
def test_a_mistake_in_settings_is_reported_with_its_field(text: str, says: str) -> None:
    with pytest.raises(SettingsError) as error:
        parse(text)
    assert ours(str(error.value)).removeprefix("line 1: ") == says


BOGUS = "bogus; }"
UNCHECKED = (".annotations.*", ".copyAnnotations.*[]", ".profiles.* key")
"""Annotation values, values that the Gateway API checks, and profiles in Settings, which are tested as Profile."""


def bogus(type_: inspect.Type) -> Iterator[tuple[str, Any]]:
    """Yield each path in a type that can hold a string or key, and a value with BOGUS at that path."""
    match type_:
        case inspect.StrType():
            yield "", BOGUS
        case inspect.Metadata(type=inner):
            yield from bogus(inner)
        case inspect.UnionType(types=types):
            for alternative in types:
                yield from bogus(alternative)
        case inspect.VarTupleType(item_type=item):
            yield from ((f"[]{place}", [value]) for place, value in bogus(item))
        case inspect.DictType(value_type=inner):
            yield " key", {BOGUS: None}
            yield from ((f".*{place}", {"a": value}) for place, value in bogus(inner))
        case inspect.StructType(fields=fields):
            for field in fields:
                name = field.encode_name
                yield from ((f".{name}{place}", {name: value}) for place, value in bogus(field.type))
        case inspect.BoolType() | inspect.IntType() | inspect.NoneType() | inspect.LiteralType() | inspect.AnyType():
            return
        case _:
            pytest.fail(f"a type that is new to the settings: {type_}")


def test_every_text_and_every_key_has_a_check_beside_its_field() -> None:
    unchecked = set()
    for type_ in (Settings, Profile):
        for place, value in bogus(inspect.type_info(type_)):
            try:
                check_values(value, type_)
            except FieldError:
                continue
            unchecked.add(next((known for known in UNCHECKED if place.endswith(known)), place))
    assert unchecked == {*UNCHECKED}


def test_random_settings_have_values_for_every_default_and_limit() -> None:
    drawn = {*made_up.fields_of_defaults([]), *made_up.LIMITS, *made_up.ONLY_HTTPROUTES, "profiles"}
    assert drawn == {field for type_ in (Defaults, Limits, Profile) for field in type_.__struct_encode_fields__}


@pytest.mark.parametrize(
    ("host", "paused", "line", "path"),
    [("A", "maybe", 3, ("paused",)), ("A", "true", 2, ("defaults", "host")), ("a", "true", 2, ("defaults", "class"))],
)
def test_types_are_checked_before_texts(host: str, paused: str, line: int, path: tuple[str, ...]) -> None:
    with pytest.raises(SettingsError) as error:
        parse(f"limits: {{classes: [b]}}\ndefaults: {{host: {host}}}\npaused: {paused}\n")
    assert (error.value.line, error.value.path) == (line, path)


@pytest.mark.parametrize(
    ("held", "says"),
    [
        (None, "No such file"),
        (b"host: \xff", "'utf-8' codec can't decode byte 0xff in position 6"),
        (b"host: \0", "is not YAML: unacceptable character"),
    ],
)
def test_a_missing_or_binary_file_is_named(held: bytes | None, says: str, tmp_path: Path) -> None:
    path = tmp_path / "settings.yaml"
    if held is not None:
        path.write_bytes(held)
    with pytest.raises(SettingsError, match=rf"{path}: {says}"):
        load(path)


def test_the_environment_names_the_file_or_the_defaults_apply(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, text = tmp_path / "settings.yaml", "defaults: {class: traefik}"
    path.write_text(text)
    monkeypatch.setenv(FILE_VARIABLE, str(path))
    # In the form of `sha256sum`, so that an operator can compare.
    expected = Settings(Defaults(ingress_class="traefik")), hashlib.sha256(text.encode()).hexdigest()
    assert from_environment() == expected
    for environment in ({}, {FILE_VARIABLE: ""}):
        monkeypatch.setattr("os.environ", environment)
        assert from_environment().settings == Settings()


# Pauses, and the cache of effective settings.

PAUSED, RUNNING, SILENT = {"paused": True}, {"paused": False}, dict[str, Any]()


@pytest.mark.parametrize(
    ("paused", "namespaces", "shown", "where"),
    [
        (False, {}, "", ""),
        (True, {}, "every namespace", "abcd"),
        (False, {"a": PAUSED, "b": RUNNING, "c": SILENT, "d": PAUSED}, "a, d", "ad"),
        (True, {"a": PAUSED, "b": RUNNING, "c": SILENT}, "every namespace but b", "acd"),
        (False, {"*": PAUSED, "b": RUNNING, "c": SILENT}, "*", "ad"),
    ],
)
def test_a_namespace_may_override_the_pause(paused: bool, namespaces: dict[str, Any], shown: str, where: str) -> None:
    settings = read({"paused": paused, "namespaces": namespaces})
    assert settings.pauses == shown
    assert [name for name in "abcd" if settings.entry_for(name).paused] == list(where)
    assert settings.without_pause() == read({"namespaces": dict.fromkeys(namespaces, SILENT)})


def test_the_cache_stays_small_for_forged_namespaces_and_profiles_of_any_length() -> None:
    """Anyone who reaches the hook's port can send such names."""
    settings = Settings(limits=Limits(hosts=("*.{namespace}.example.com",)))
    tracemalloc.start()
    try:
        for number in range(30):
            effective_settings(settings, f"{number}{'n' * 100_000}", f"{number}{'p' * 100_000}")
            effective_settings(settings, "team-a", f"{number}{'p' * 100_000}")
        remembered, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert remembered < 100_000
