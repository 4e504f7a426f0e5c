"""Settings: one YAML file, read strictly; what is wrong is named."""

import hashlib
from pathlib import Path

import msgspec
import pytest
import yaml

from hooks.settings_file import from_environment, load
from ingress_manager.core.errors import SettingsError
from ingress_manager.core.policy import Defaults, Policy
from ingress_manager.core.settings import FILE_VARIABLE, parse
from tests.words import ours
from tools import golden


def written(tmp_path: Path, text: str) -> Path:
    """Return the path of a settings file that holds `text`."""
    path = tmp_path / "settings.yaml"
    path.write_text(text, encoding="utf-8")
    return path


CASES: list[dict[str, str]] = yaml.safe_load(Path(__file__).with_name("settings.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", [case for case in CASES if "says" not in case], ids=lambda case: case["what"])
def test_settings_state_what_stands_in_them(case: dict[str, str], tmp_path: Path) -> None:
    stated = yaml.load(case["text"], golden.Loader)  # noqa: S506 - a safe one
    assert load(written(tmp_path, case["text"])).policy == msgspec.convert(stated or {}, Policy)


LONG_CLASSES = [f"{number}{'a' * 250}" for number in range(10)]
ALLOWED = 'defaults.class: the default "nginx" must be one of the classes that are allowed: {}'

REFUSED: list[dict[str, str]] = [
    *[case for case in CASES if "says" in case],
    {
        "what": "a number that nobody can read",
        "text": f"defaults: {'9' * 5000}",
        "says": f"line 1: defaults: {'9' * 60} must be a mapping",
    },
    {
        "what": "two keys that are numbers that nobody can read",
        "text": f"namespaces:\n  ? {'9' * 5000}\n  ? {'8' * 5000}\n",
        "says": f"line 2: namespaces.{'9' * 317}…: a key must be text; put it in quotes; "
        f"line 3: namespaces.{'8' * 317}…: a key must be text; put it in quotes",
    },
    {
        "what": "a number of base 60 that is larger than any other",
        "text": f"paused: {'1:' * 174}1.5",
        "says": f'line 1: paused: "{"1:" * 30}…" must be true or false',
    },
    {"what": "half of a character", "text": "defaults: {host: '\ud800'}", "says": "holds half of a character"},
    {
        "what": "a very long key, stated twice",
        "text": f"? {'k' * 2000}\n: 1\n? {'k' * 2000}\n: 1",
        "says": f"line 3: states {'k' * 317}… twice",
    },
    {
        "what": "very long values of which one sentence lists many",
        "text": f"limits: {{classes: [{', '.join(LONG_CLASSES)}]}}",
        "says": ALLOWED.format(", ".join(LONG_CLASSES))[:2000] + "…",
    },
    {
        "what": "more than 100 mistakes",
        "text": "\n".join(f"k{number}: 1" for number in range(101)),
        "says": "; ".join(f"line {number + 1}: k{number} is not a setting" for number in range(100))
        + "; line 100: there are more mistakes than these 100",
    },
    {
        "what": "100 mistakes and no more",
        "text": "\n".join(f"k{number}: 1" for number in range(100)),
        "says": "; ".join(f"line {number + 1}: k{number} is not a setting" for number in range(100)),
    },
    {
        "what": "more than can be read in time",
        "text": f"a: [{'1,' * 200_000}]",
        "says": "holds more than 200000 keys and values",
    },
    {"what": "deep nesting", "text": "namespaces: " + "[" * 10_000, "says": "line 1: is nested too deeply"},
]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case["what"])
def test_wrong_settings_are_refused_and_the_field_is_named(case: dict[str, str]) -> None:
    with pytest.raises(SettingsError) as error:
        parse(case["text"])
    assert ours(str(error.value)) == case["says"]


def test_all_mistakes_of_a_file_are_told_in_the_order_of_their_lines_and_none_that_follows_from_another() -> None:
    text = """
paused: maybe
namespaces:
  a: {limits: {hosts: [1, '*']}}
defaults:
  host: A
  outputs: [httproute]
  gateway: {namespace: B}
"""
    with pytest.raises(SettingsError) as error:
        parse(text)
    assert [str(mistake) for mistake in error.value.mistakes] == [
        'line 2: paused: "maybe" must be true or false',
        "line 4: namespaces.a.limits.hosts[0]: 1 must be text; put it in quotes",
        'line 6: defaults.host: "A" must be lower case',
        "line 8: defaults.gateway: must state name",
    ]
    assert error.value.mistakes[1].path == ("namespaces", "a", "limits", "hosts", 0)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"nowhere\.yaml: No such file"):
        load(tmp_path / "nowhere.yaml")


@pytest.mark.parametrize(
    ("held", "says"), [(b"host: \xff", "byte 7 is not UTF-8"), (b"host: \0", "is not YAML: unacceptable character")]
)
def test_a_file_that_is_not_text_is_named(held: bytes, says: str, tmp_path: Path) -> None:
    path = tmp_path / "settings.yaml"
    path.write_bytes(held)
    with pytest.raises(SettingsError, match=rf"{path}: {says}"):
        load(path)


def test_the_environment_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FILE_VARIABLE, str(written(tmp_path, "defaults: {class: traefik}")))
    assert from_environment().policy == Policy(Defaults(ingress_class="traefik"))
    # As `sha256sum` prints it, so that an operator can compare.
    assert from_environment().sha256 == hashlib.sha256(b"defaults: {class: traefik}").hexdigest()


@pytest.mark.parametrize("value", [None, ""])
def test_without_a_file_the_defaults_hold(value: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(FILE_VARIABLE, raising=False)
    if value is not None:
        monkeypatch.setenv(FILE_VARIABLE, value)
    assert from_environment().policy == Policy(Defaults(host="example.com", ingress_class="nginx"), paused=False)
