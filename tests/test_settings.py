"""Settings: one YAML file, read strictly; what is wrong is named."""

import hashlib
from pathlib import Path

import pytest

from hooks.errors import SettingsError
from hooks.policy import NamespaceSettings, Policy, Tls
from hooks.settings import FILE_VARIABLE, from_environment, load


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
        ("copied annotations", "copyAnnotations: [a.b/c, d.e/*]", Policy(copied=("a.b/c", "d.e/*"))),
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
    ],
)
def test_settings_state_the_policy(reason: str, text: str, policy: Policy, tmp_path: Path) -> None:
    assert load(written(tmp_path, text)).policy == policy, reason


@pytest.mark.parametrize(
    ("reason", "text", "says"),
    [
        ("an unknown field is named", "hots: a", "hots is not a setting; did you mean host?"),
        ("an unknown field that is like no other", "zzz: a", "zzz is not a setting"),
        ("an unknown field of tls", "tls: {secrets: a}", "tls.secrets is not a setting; did you mean secret?"),
        (
            "an unknown field of a namespace",
            "namespaces: {team-a: {hots: []}}",
            "namespaces.team-a.hots is not a setting; did you mean hosts?",
        ),
        ("a wrong type is named with its field", "paused: maybe", 'paused: "maybe" must be true or false'),
        ("a number in the place of text", "class: 7", "class: 7 must be text or null; put it in quotes"),
        ("a value is shown as it stands in the file", "class: 0x1F", "class: 0x1F must be text or null"),
        ("true in the place of a mapping", "tls: yes", "tls: yes must be a mapping"),
        ("nothing in the place of a mapping", "tls:", "tls: nothing must be a mapping"),
        ("nothing in the place of text", "host: ~", "host: ~ must be text"),
        ("a wrong type in a list", "copyAnnotations: [a.b/c, 7]", "copyAnnotations[1]: 7 must be text; put it in"),
        ("a wrong type in tls", "tls: {enabled: 1}", "tls.enabled: 1 must be true or false"),
        ("tls that is no mapping", "tls: true", "tls: true must be a mapping"),
        (
            "a wrong type in a namespace",
            "namespaces: {team-a: {hosts: [7]}}",
            "namespaces.team-a.hosts[0]: 7 must be text",
        ),
        ("a field that is a number", "1: x", "1 is not a setting"),
        ("a field that is true", "tls: {yes: 1}", "tls.yes is not a setting"),
        ("a field that looks like a message", "'a - at `$b': 1", "a - at `$b is not a setting"),
        ("a field with a control character", '"\\x1b[31m": 1', "\\x1b[31m is not a setting"),
        ("a number that nobody can read", f"class: {'9' * 5000}", "holds a number that can't be read"),
        ("an equals sign, for which YAML has a type", "host: =", 'host: "=" must be a DNS name'),
        ("a mapping in the place of text", "host: {a: b}", "host: must be text, not a mapping"),
        ("a merge key", "namespaces: {a: {<<: {host: x}}}", "must not use merge keys (<<)"),
        ("a namespace that is no mapping", "namespaces: {team-a: x}", 'namespaces.team-a: "x" must be a mapping'),
        ("namespaces that are no mapping", "namespaces: []", "namespaces: must be a mapping, not a list"),
        ("a list in the place of the settings", "- host", "the settings: must be a mapping, not a list"),
        ("a key stated twice is named", "host: a\nhost: b", "states host twice"),
        ("a key stated in two ways", "namespaces: {yes: {}, true: {}}", "states one key in two ways, among yes, true"),
        (
            "a namespace that is a number",
            "namespaces: {1: {}}",
            "namespaces.1: a namespace's name must be text; put it",
        ),
        ("a key stated twice, deeper", "tls: {secret: a, secret: b}", "states secret twice"),
        ("a text that is not YAML", "host: [", "is not YAML: did not find expected node content (line 2, column 1)"),
        ("no object is built from a tag", "host: !!python/name:os.system ''", "must not use tags (!)"),
        ("nothing is repeated by aliases", "host: &a x\nclass: *a", "must not use anchors (&) or aliases (*)"),
        ("a NUL", "host: \0", "is not YAML: unacceptable character"),
        ("deep nesting", "namespaces: " + "[" * 10_000, "is nested too deeply"),
        ("a wrong host", "host: Example.com", 'host: "Example.com" must be lower case'),
        (
            "a template with an unknown placeholder",
            "host: '{name}.example.com'",
            'host: "{name}.example.com" may hold only {service} and {namespace} in braces',
        ),
        ("a wrong class", "class: My Class", 'class: "My Class" must be a name'),
        ("a wrong Secret", "tls: {secret: a/b}", 'tls.secret: "a/b" must be a name'),
        (
            "a namespace's wrong host",
            "namespaces: {team-a: {hosts: [a.example.com, '*']}}",
            'namespaces.team-a.hosts[1]: "*" must name a domain',
        ),
        (
            "a namespace's wrong template",
            "namespaces: {team-a: {host: '{pod}.x'}}",
            'namespaces.team-a.host: "{pod}.x" may hold only {service} and {namespace} in braces',
        ),
        ("a namespace's wrong class", "namespaces: {'*': {class: ''}}", 'namespaces.*.class: "" must be a name'),
        ("a name that no namespace can have", "namespaces: {Team: {}}", 'namespaces.Team: "Team" must be a name'),
        ("a wildcard inside a key", "copyAnnotations: ['a.b/*c']", 'copyAnnotations[0]: "a.b/*c" may hold * only at'),
        ("a wildcard for every key", "copyAnnotations: ['*']", 'copyAnnotations[0]: "*" must begin with a domain'),
        (
            "the old annotation for the class",
            "copyAnnotations: [kubernetes.io/ingress.class]",
            "ingress/class says the same",
        ),
        ("our own keys", "copyAnnotations: [ingress/http]", "belongs to ingress-manager, Metacontroller or kubectl"),
        (
            "all problems are told",
            "host: A\nclass: B",
            'host: "A" must be lower case; class: "B" must be a name',
        ),
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
    with pytest.raises(SettingsError, match=r"settings\.yaml: byte 7 is not UTF-8"):
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
