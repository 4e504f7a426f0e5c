"""Settings: one YAML file, read strictly; what is wrong is named."""

from pathlib import Path

import pytest

from hooks.policy import Policy
from hooks.settings import FILE_VARIABLE, SettingsError, from_environment, load


def written(tmp_path: Path, text: str) -> Path:
    """Return the path of a settings file that holds `text`."""
    path = tmp_path / "settings.yaml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("reason", "text", "policy"),
    [
        ("an empty file states the defaults", "", Policy()),
        ("only comments state the defaults", "# host: apps.example.org\n", Policy()),
        ("what is stated holds", "host: apps.example.org", Policy(host="apps.example.org")),
        ("null leaves the class to the cluster", "class: null", Policy(ingress_class=None)),
        ("paused", "paused: true", Policy(paused=True)),
    ],
)
def test_settings_state_the_policy(reason: str, text: str, policy: Policy, tmp_path: Path) -> None:
    assert load(written(tmp_path, text)) == policy, reason


@pytest.mark.parametrize(
    ("reason", "text", "says"),
    [
        ("an unknown field is named", "hots: a", "unknown field `hots`"),
        ("a wrong type is named with its field", "paused: maybe", "Expected `bool`, got `str` - at `$.paused`"),
        ("a key stated twice is named", "host: a\nhost: b", "host: is stated twice"),
        ("a list is no settings", "- host", "Expected `object`, got `array`"),
        ("YAML that is none", "host: [", "expected the node content"),
        ("no object is built from a tag", "host: !!python/name:os.system ''", "could not determine a constructor"),
        ("a NUL", "host: \0", "special characters are not allowed"),
    ],
)
def test_wrong_settings_are_refused_with_the_file_and_the_field(
    reason: str, text: str, says: str, tmp_path: Path
) -> None:
    path = written(tmp_path, text)
    with pytest.raises(SettingsError) as error:
        load(path)
    assert str(path) in str(error.value), reason
    assert says in str(error.value), reason


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"nowhere\.yaml: No such file"):
        load(tmp_path / "nowhere.yaml")


def test_a_file_that_is_not_text_is_named(tmp_path: Path) -> None:
    path = tmp_path / "settings.yaml"
    path.write_bytes(b"host: \xff")
    with pytest.raises(SettingsError, match=r"settings\.yaml: 'utf-8' codec can't decode"):
        load(path)


def test_the_environment_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FILE_VARIABLE, str(written(tmp_path, "class: traefik")))
    assert from_environment() == Policy(ingress_class="traefik")


@pytest.mark.parametrize("value", [None, ""])
def test_without_a_file_the_defaults_hold(value: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(FILE_VARIABLE, raising=False)
    if value is not None:
        monkeypatch.setenv(FILE_VARIABLE, value)
    assert from_environment() == Policy(host="example.com", ingress_class="nginx", paused=False)
