"""Settings: one YAML file, read strictly; what is wrong is named."""

import hashlib
from pathlib import Path

import msgspec
import pytest
import yaml

from hooks.settings_file import from_environment, load
from ingress_manager.core.errors import SettingsError
from ingress_manager.core.policy import Defaults, Policy
from ingress_manager.core.settings import FILE_VARIABLE, filled_in, parse
from tests import golden
from tests.words import ours

CASES = yaml.safe_load(Path(__file__).with_name("settings.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("text", CASES["right"])
def test_settings_state_what_stands_in_them(text: str) -> None:
    stated = yaml.load(text, golden.Loader)  # noqa: S506 - a safe one
    assert parse(text) == msgspec.convert(filled_in(stated or {}), Policy)


LONG_CLASSES = ", ".join([f"{number}{'a' * 250}" for number in range(10)])
ALLOWED = 'defaults.class: the default "nginx" must be one of the classes that are allowed: '
ENDLESS = [
    (f"defaults: {'9' * 5000}", "defaults: must be a mapping, not a number"),
    (f"paused: {'1:' * 174}1.5", "paused: must be true or false, not text"),
    ("defaults: {host: '\ud800'}", "holds half of a character"),
    (f"? {'k' * 2000}\n: 1\n? {'k' * 2000}\n: 1", f"line 3: states {'k' * 317}… twice"),
    (f"limits: {{classes: [{LONG_CLASSES}]}}", f"{ALLOWED}{LONG_CLASSES}"[:2000] + "…"),
    (f"a: [{'1,' * 200_000}]", "holds more than 200000 keys and values"),
    ("namespaces: " + "[" * 10_000, "is nested too deeply"),
]
WRONG = [*[(case["text"], case["says"]) for case in CASES["wrong"]], *ENDLESS]


@pytest.mark.parametrize(("text", "says"), WRONG, ids=[text[:60] for text, _ in WRONG])
def test_of_wrong_settings_a_mistake_is_told_with_its_field(text: str, says: str) -> None:
    with pytest.raises(SettingsError) as error:
        parse(text)
    assert ours(str(error.value)).removeprefix("line 1: ") == says


@pytest.mark.parametrize(
    ("host", "paused", "line", "path"),
    [("A", "maybe", 3, ("paused",)), ("A", "true", 2, ("defaults", "host")), ("a", "true", 2, ("defaults", "class"))],
)
def test_a_wrong_type_is_told_first_then_a_wrong_text_then_a_contradiction(
    host: str, paused: str, line: int, path: tuple[str, ...]
) -> None:
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
def test_a_file_that_is_not_there_or_no_text_is_named(held: bytes | None, says: str, tmp_path: Path) -> None:
    path = tmp_path / "settings.yaml"
    if held is not None:
        path.write_bytes(held)
    with pytest.raises(SettingsError, match=rf"{path}: {says}"):
        load(path)


def test_the_environment_names_the_file_else_the_defaults_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, text = tmp_path / "settings.yaml", "defaults: {class: traefik}"
    path.write_text(text)
    monkeypatch.setenv(FILE_VARIABLE, str(path))
    # As `sha256sum` prints it, so that an operator can compare.
    expected = Policy(Defaults(ingress_class="traefik")), hashlib.sha256(text.encode()).hexdigest()
    assert from_environment() == expected
    for environment in ({}, {FILE_VARIABLE: ""}):
        monkeypatch.setattr("os.environ", environment)
        assert from_environment().policy == Policy()
