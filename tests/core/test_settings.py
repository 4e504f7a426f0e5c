"""Settings: one YAML file, read strictly; what is wrong is named."""

import hashlib
from pathlib import Path

import pytest
import yaml

from hooks.settings_file import from_environment, load
from ingress_manager.core.errors import SettingsError
from ingress_manager.core.policy import Gateway, NamespaceSettings, NamespaceTls, Policy, Tls
from ingress_manager.core.settings import FILE_VARIABLE, parse


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
        ("what looks like a date is text", "class: 2024-12-31", Policy(ingress_class="2024-12-31")),
        ("TLS", "tls: {enabled: true, secret: w}", Policy(tls=Tls(enabled=True, secret="w"))),
        ("nothing is copied", "copyAnnotations: {}", Policy(copied={})),
        (
            "copied",
            "copyAnnotations: {a.b/c: any, d.e/f: [g, h]}",
            Policy(copied={"a.b/c": "any", "d.e/f": ("g", "h")}),
        ),
        ("the administrator's annotations", "annotations: {a.b/c: 'true'}", Policy(annotations={"a.b/c": "true"})),
        (
            "the issuer is an annotation for TLS",
            "tls: {secret: '{service}-tls', annotations: {cert-manager.io/issuer: x}}",
            Policy(tls=Tls(secret="{service}-tls", annotations={"cert-manager.io/issuer": "x"})),
        ),
        (
            "outputs",
            "outputs: [httproute]\ngateway: {name: w, namespace: n, https: p}\nnamespaces: {a: {outputs: [ingress]}}",
            Policy(
                outputs=("httproute",),
                gateway=Gateway(name="w", namespace="n", http="http", https="p"),
                namespaces={"a": NamespaceSettings(outputs=("ingress",))},
            ),
        ),
        ("path types", "pathTypes: [Exact, Prefix]", Policy(path_types=("Exact", "Prefix"))),
        ("a template", "host: '{service}.{namespace}.x'", Policy(host="{service}.{namespace}.x")),
        (
            "namespaces",
            "namespaces: {team-a: {hosts: ['*.a.x'], host: s.a.x, class: null}, '*': {}}",
            Policy(
                namespaces={
                    "team-a": NamespaceSettings(hosts=("*.a.x",), host="s.a.x", ingress_class=None),
                    "*": NamespaceSettings(),
                }
            ),
        ),
        (
            "limits",
            "namespaces: {a: {hosts: any, classes: any}, '*': {hosts: ['*.{namespace}.x'], classes: [nginx, b]}}",
            Policy(
                namespaces={
                    "a": NamespaceSettings(hosts="any", classes="any"),
                    "*": NamespaceSettings(hosts=("*.{namespace}.x",), classes=("nginx", "b")),
                }
            ),
        ),
        (
            "what is different in a namespace",
            "namespaces: {a: {tls: {enabled: true, secret: null, annotations: {}}, annotations: {b.c/d: e}}}",
            Policy(
                namespaces={
                    "a": NamespaceSettings(
                        tls=NamespaceTls(enabled=True, secret=None, annotations={}), annotations={"b.c/d": "e"}
                    )
                }
            ),
        ),
    ],
)
def test_settings_state_the_policy(reason: str, text: str, policy: Policy, tmp_path: Path) -> None:
    assert load(written(tmp_path, text)).policy == policy, reason


REFUSED: list[dict[str, str]] = [
    *yaml.safe_load(Path(__file__).with_name("settings.yaml").read_text(encoding="utf-8")),
    {
        "what": "a number that nobody can read",
        "text": f"class: {'9' * 5000}",
        "says": "holds a number of more digits than can be read",
    },
    {"what": "deep nesting", "text": "namespaces: " + "[" * 10_000, "says": "is nested too deeply"},
]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case["what"])
def test_wrong_settings_are_refused_and_the_field_is_named(case: dict[str, str]) -> None:
    with pytest.raises(SettingsError) as error:
        parse(case["text"])
    assert str(error.value) == case["says"]


def test_all_problems_of_a_file_are_told_and_none_that_follows_from_another() -> None:
    with pytest.raises(SettingsError) as error:
        parse(
            "{paused: maybe, hots: a, class: 7, host: A, outputs: [httproute], gateway: {namespace: B}, namespaces: {"
            "a: {hosts: [1, '*']}, b: {classes: [], tls: {secret: a/b}}}}"
        )
    assert error.value.sentences == (
        'paused: "maybe" must be true or false',
        "hots is not a setting; did you mean host?",
        "class: 7 must be text or null; put it in quotes",
        "gateway: must state name",
        "namespaces.a.hosts[0]: 1 must be text; put it in quotes",
        "namespaces.b.classes: must list at least one value, and the list is empty",
        'host: "A" must be lower case',
        'namespaces.b.tls.secret: "a/b" must be a name of at most 253 lower-case letters, digits, - and .',
    )


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
    monkeypatch.setenv(FILE_VARIABLE, str(written(tmp_path, "class: traefik")))
    assert from_environment().policy == Policy(ingress_class="traefik")
    # As `sha256sum` prints it, so that an operator can compare.
    assert from_environment().sha256 == hashlib.sha256(b"class: traefik").hexdigest()


@pytest.mark.parametrize("value", [None, ""])
def test_without_a_file_the_defaults_hold(value: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(FILE_VARIABLE, raising=False)
    if value is not None:
        monkeypatch.setenv(FILE_VARIABLE, value)
    assert from_environment().policy == Policy(host="example.com", ingress_class="nginx", paused=False)
