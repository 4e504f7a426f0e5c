"""Settings: one YAML file, read strictly; what is wrong is named."""

import hashlib
from pathlib import Path

import pytest

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
        ("nothing in the place of a mapping", "tls:", "tls: is empty, and must be a mapping"),
        ("nothing in the place of text", "host: ~", "host: ~ must be text"),
        ("a wrong type in a list", "pathTypes: [Exact, 7]", "pathTypes[1]: 7 must be text; put it in"),
        ("a wrong type in a mapping", "annotations: {a.b/c: yes}", "annotations.a.b/c: yes must be text; put it in"),
        ("a list where the word any may stand", "copyAnnotations: {a.b/c: [1]}", "copyAnnotations.a.b/c[0]: 1 must be"),
        (
            "nothing is no limit",
            "namespaces: {a: {classes: }}",
            "namespaces.a.classes: is empty, and must be a list of what is allowed, or the word any",
        ),
        ("an empty limit", "namespaces: {a: {classes: []}}", "namespaces.a.classes: must list at least one value, and"),
        (
            "no hosts",
            "namespaces: {a: {hosts: []}}",
            "namespaces.a.hosts: must list at least one value, and the list is empty",
        ),
        ("no path types", "pathTypes: []", "pathTypes: must list at least one value, and the list is empty"),
        (
            "no values",
            "copyAnnotations: {a.b/c: []}",
            "copyAnnotations.a.b/c: must list at least one value, and the list is",
        ),
        (
            "a word in the place of a limit",
            "namespaces: {a: {hosts: example.com}}",
            'namespaces.a.hosts: "example.com" must be a list of what is allowed, or the word any',
        ),
        (
            "a mapping in the place of a limit",
            "namespaces: {a: {hosts: {b: c}}}",
            "namespaces.a.hosts: must be a list of what is allowed, or the word any, not a mapping",
        ),
        (
            "the word any in a list",
            "namespaces: {a: {hosts: [any]}}",
            "namespaces.a.hosts: the word any must stand alone",
        ),
        (
            "a key that is no text",
            "copyAnnotations: {1: any}",
            "copyAnnotations.1: a key must be text; put it in quotes",
        ),
        (
            "a list, as in version 0.1",
            "copyAnnotations: [a.b/c, d.e/f]",
            "copyAnnotations: must be a mapping, no longer a list: write {a.b/c: [VALUES], d.e/f: [VALUES]}",
        ),
        (
            "a wildcard, as in version 0.1",
            "copyAnnotations: [a.b/c, d.e/*]",
            "write {a.b/c: [VALUES]}; a key that ends in * has to be written as the full keys you need",
        ),
        ("a list of no keys", "copyAnnotations: [[]]", "copyAnnotations: must be a mapping, not a list"),
        (
            "null for every host, as in version 0.1",
            "namespaces: {a: {hosts: null}}",
            "namespaces.a.hosts: must be a list, or the word any to allow every host; nothing, or null, no longer does",
        ),
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
        ("a number that nobody can read", f"class: {'9' * 5000}", "holds a number of more digits than can be read"),
        ("an equals sign, for which YAML has a type", "host: =", 'host: "=" must be a DNS name'),
        ("a mapping in the place of text", "host: {a: b}", "host: must be text, not a mapping"),
        ("a list as a key", "{[a]: b}", "must not use a list or a mapping as a key (line 1, column 2)"),
        ("a merge key", "namespaces: {a: {<<: {host: x}}}", "must not use merge keys (<<)"),
        ("a namespace that is no mapping", "namespaces: {team-a: x}", 'namespaces.team-a: "x" must be a mapping'),
        ("namespaces that are no mapping", "namespaces: []", "namespaces: must be a mapping, not a list"),
        ("a list in the place of the settings", "- host", "the settings: must be a mapping, not a list"),
        ("a key stated twice is named", "host: a\nhost: b", "states host twice"),
        ("a key stated in two ways", "namespaces: {yes: {}, true: {}}", "states one key in two ways, among yes, true"),
        (
            "a namespace that is a number",
            "namespaces: {1: {}}",
            "namespaces.1: a key must be text; put it in quotes",
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
        (
            "a name in capitals",
            "namespaces: {Team: {}}",
            'namespaces.Team: "Team" must be a namespace\'s name: at most 63',
        ),
        ("a name with a dot", "namespaces: {team.a: {}}", 'namespaces.team.a: "team.a" must be a namespace\'s name'),
        ("a name of 64 characters", f"namespaces: {{{'a' * 64}: {{}}}}", "…\" must be a namespace's name"),
        ("a wildcard in a key", "copyAnnotations: {'a.b/*c': any}", 'copyAnnotations: "a.b/*c" must be the full key'),
        ("no key", "copyAnnotations: {a_b/c: any}", 'copyAnnotations: "a_b/c" must be the key of an annotation, as in'),
        ("a key without a domain", "annotations: {a: b}", 'annotations: "a" must begin with a domain'),
        (
            "the old annotation for the class",
            "copyAnnotations: {kubernetes.io/ingress.class: any}",
            "class and ingress/class say the same",
        ),
        (
            "our own keys",
            "tls: {annotations: {ingress/http: x}}",
            "belongs to ingress-manager, Metacontroller or kubectl",
        ),
        (
            "a value that a known key can't have",
            "copyAnnotations: {nginx.ingress.kubernetes.io/limit-rps: ['1', '-1']}",
            'copyAnnotations.nginx.ingress.kubernetes.io/limit-rps[1]: "-1" must be a number of one to six',
        ),
        (
            "a wrong path type",
            "pathTypes: [Prefix, exact]",
            'pathTypes[1]: "exact" must be Prefix, Exact or Implementation',
        ),
        ("without Prefix", "pathTypes: [Exact]", "pathTypes: must hold Prefix, which is the default"),
        (
            "a Secret's template that makes too long names",
            "tls: {secret: '{service}.{namespace}.{service}.{namespace}'}",
            'tls.secret: "{service}.{namespace}.{service}.{namespace}" must be a name of at most 253',
        ),
        (
            "a namespace's wrong Secret",
            "namespaces: {a: {tls: {secret: '{pod}'}}}",
            'namespaces.a.tls.secret: "{pod}" may hold only {service} and {namespace} in braces',
        ),
        (
            "a pattern with a Service's name",
            "namespaces: {a: {hosts: ['{service}.x']}}",
            'namespaces.a.hosts[0]: "{service}.x" may hold only {namespace} in braces',
        ),
        (
            "a default class that isn't allowed",
            "namespaces: {a: {classes: [b, c]}}",
            'namespaces.a.class: the default "nginx" must be one of the classes: b, c',
        ),
        (
            "the cluster's default beside a limit",
            "{class: null, namespaces: {'*': {classes: [b]}}}",
            "namespaces.*.class: the default null, the cluster's default, must be one of the classes: b",
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
