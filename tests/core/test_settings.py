"""Settings: one YAML file, read strictly; what is wrong is named."""

import hashlib
from pathlib import Path

import pytest
import yaml

from hooks.settings_file import from_environment, load
from ingress_manager.core.errors import SettingsError
from ingress_manager.core.filters import Timeouts
from ingress_manager.core.policy import Defaults, Gateway, Limits, NamespaceSettings, Policy, Profile, Tls
from ingress_manager.core.settings import FILE_VARIABLE, parse
from tests.words import ours


def written(tmp_path: Path, text: str) -> Path:
    """Return the path of a settings file that holds `text`."""
    path = tmp_path / "settings.yaml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("reason", "text", "policy"),
    [
        ("an empty file states what is built in", "", Policy()),
        ("only comments state nothing", "# paused: true\n", Policy()),
        ("two empty words state nothing", "{defaults: {}, limits: {}}", Policy()),
        ("what is stated holds", "defaults: {host: a.example.org}", Policy(Defaults(host="a.example.org"))),
        ("null leaves the class to the cluster", "defaults: {class: null}", Policy(Defaults(ingress_class=None))),
        ("paused", "paused: true", Policy(paused=True)),
        (
            "what looks like a date is text",
            "defaults: {class: 2024-12-31}",
            Policy(Defaults(ingress_class="2024-12-31")),
        ),
        (
            "a template",
            "defaults: {host: '{service}.{namespace}.x'}",
            Policy(Defaults(host="{service}.{namespace}.x")),
        ),
        (
            "TLS, of which each field stands alone",
            "defaults: {tls: {enabled: true, redirectStatusCode: 308}}",
            Policy(
                Defaults(
                    tls=Tls(enabled=True, secret=None, redirect=False, redirect_status_code=308, annotations={}),
                )
            ),
        ),
        (
            "what the administrator adds",
            "defaults: {annotations: {a.b/c: 'true'}, labels: {team: ''}, tls: {annotations: {d.e/f: g}}}",
            Policy(Defaults(annotations={"a.b/c": "true"}, labels={"team": ""}, tls=Tls(annotations={"d.e/f": "g"}))),
        ),
        (
            "outputs and a Gateway, without a listener for http",
            "defaults: {outputs: [httproute], gateway: {name: w, namespace: n, http: null}}",
            Policy(
                Defaults(outputs=("httproute",), gateway=Gateway(name="w", namespace="n", http=None, https="https"))
            ),
        ),
        (
            "no Gateway and no profile",
            "defaults: {gateway: null, profile: null}",
            Policy(Defaults(gateway=None, profile=None)),
        ),
        (
            "limits",
            "limits: {hosts: ['*.{namespace}.x'], classes: [nginx, b], pathTypes: [Exact, Prefix]}",
            Policy(
                limits=Limits(hosts=("*.{namespace}.x",), classes=("nginx", "b"), path_types=("Exact", "Prefix")),
            ),
        ),
        (
            "what is copied",
            "limits: {copyAnnotations: {a.b/c: any, d.e/f: [g, h]}, copyLabels: {team: any, a.b/c: [d, '']}}",
            Policy(
                limits=Limits(
                    copy_annotations={"a.b/c": "any", "d.e/f": ("g", "h")},
                    copy_labels={"team": "any", "a.b/c": ("d", "")},
                )
            ),
        ),
        ("nothing is copied", "limits: {copyAnnotations: {}}", Policy(limits=Limits(copy_annotations={}))),
        (
            "a profile, which is the default and the only one that is allowed",
            "{defaults: {profile: a}, limits: {profiles: [a]}, profiles: {a: {class: c, host: h.x}, b: {}}}",
            Policy(
                Defaults(profile="a"),
                Limits(profiles=("a",)),
                profiles={"a": Profile(ingress_class="c", host="h.x"), "b": Profile()},
            ),
        ),
        (
            "a profile for both outputs that says to each what it does",
            (
                "{defaults: {gateway: {name: w, namespace: n}}, profiles: {a: {outputs: [ingress, httproute], "
                "annotations: {}, tls: {redirect: true}, timeouts: {request: 60s}}}}"
            ),
            Policy(
                Defaults(gateway=Gateway(name="w", namespace="n")),
                profiles={
                    "a": Profile(
                        outputs=("ingress", "httproute"),
                        annotations={},
                        tls=Tls(redirect=True),
                        timeouts=Timeouts(request="60s"),
                    )
                },
            ),
        ),
        (
            "a default class that isn't allowed, where the default profile has one that is",
            "{defaults: {profile: a}, limits: {classes: [b]}, profiles: {a: {class: b}}}",
            Policy(Defaults(profile="a"), Limits(classes=("b",)), profiles={"a": Profile(ingress_class="b")}),
        ),
        (
            "a profile whose class only some namespaces allow",
            "{limits: {classes: [nginx]}, profiles: {a: {class: b}}, namespaces: {c: {limits: {classes: any}}}}",
            Policy(
                limits=Limits(classes=("nginx",)),
                profiles={"a": Profile(ingress_class="b")},
                namespaces={"c": NamespaceSettings(limits=Limits(classes="any"))},
            ),
        ),
        (
            "namespaces, with what is theirs",
            (
                "namespaces: {a: {defaults: {host: s.a.x, class: null, tls: {secret: null}}, paused: true}, "
                "b: {limits: {hosts: ['*.b.x']}, paused: false}, c: {}}"
            ),
            Policy(
                namespaces={
                    "a": NamespaceSettings(
                        Defaults(host="s.a.x", ingress_class=None, tls=Tls(secret=None)), paused=True
                    ),
                    "b": NamespaceSettings(limits=Limits(hosts=("*.b.x",)), paused=False),
                    "c": NamespaceSettings(),
                }
            ),
        ),
        (
            "a namespace's redirect, by the general outputs",
            (
                "{defaults: {outputs: [httproute], gateway: {name: w, namespace: n}}, "
                "namespaces: {a: {defaults: {tls: {redirect: true}}}}}"
            ),
            Policy(
                Defaults(outputs=("httproute",), gateway=Gateway(name="w", namespace="n")),
                namespaces={"a": NamespaceSettings(Defaults(tls=Tls(redirect=True)))},
            ),
        ),
    ],
)
def test_settings_state_the_policy(reason: str, text: str, policy: Policy, tmp_path: Path) -> None:
    assert load(written(tmp_path, text)).policy == policy, reason


LONG_CLASSES = [f"{number}{'a' * 250}" for number in range(10)]
ALLOWED = 'defaults.class: the default "nginx" must be one of the classes that are allowed: {}'

REFUSED: list[dict[str, str]] = [
    *yaml.safe_load(Path(__file__).with_name("settings.yaml").read_text(encoding="utf-8")),
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
    with pytest.raises(SettingsError) as error:
        parse(
            """
paused: maybe
hots: a
namespaces:
  a: {limits: {hosts: [1, '*']}}
  b:
    limits: {classes: []}
    defaults: {tls: {secret: a/b}}
defaults:
  class: 7
  host: A
  outputs: [httproute]
  gateway: {namespace: B}
"""
        )
    assert [str(mistake) for mistake in error.value.mistakes] == [
        'line 2: paused: "maybe" must be true or false',
        "line 3: hots is not a setting",
        "line 5: namespaces.a.limits.hosts[0]: 1 must be text; put it in quotes",
        "line 7: namespaces.b.limits.classes: must list at least one value, and the list is empty",
        (
            'line 8: namespaces.b.defaults.tls.secret: "a/b" must be a name of at most 253 lower-case letters, digits, '
            "- and ."
        ),
        "line 10: defaults.class: 7 must be text or null; put it in quotes",
        'line 11: defaults.host: "A" must be lower case',
        "line 13: defaults.gateway: must state name",
    ]
    assert error.value.mistakes[2].path == ("namespaces", "a", "limits", "hosts", 0)


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
