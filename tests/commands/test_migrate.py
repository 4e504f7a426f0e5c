"""`ingress-manager migrate`: every folder of tests/commands/migrate holds what another controller reads, and the steps.

objects.yaml    Services, the controller's ConfigMap, Ingresses that it left; its first line says why the case exists
settings.yaml   the administrator's settings, if they aren't the defaults
steps.sh        what is printed
findings.txt    what has no counterpart, if anything

`make cases` writes the last two.
"""

import shlex
from pathlib import Path

import pytest

from ingress_manager.commands.migrate.exposed import is_true
from ingress_manager.commands.migrate.migration import CONTROLLERS
from tests.commands.commands import kubectl_that_answers, run
from tools import cases

MIGRATIONS = cases.cases_in(cases.MIGRATIONS)


@pytest.mark.parametrize("case", MIGRATIONS, ids=lambda path: path.name)
def test_the_steps_are_those_of_the_case(case: Path) -> None:
    assert cases.migrated(case) == {name: (case / name).read_text(encoding="utf-8") for name in cases.migrated(case)}
    assert {path.name for path in case.iterdir()} - {"objects.yaml", "settings.yaml"} == set(cases.migrated(case))
    assert (case / "objects.yaml").read_text(encoding="utf-8").startswith("# ")


def test_every_row_of_the_tables_is_in_a_case() -> None:
    text = "".join((case / "objects.yaml").read_text(encoding="utf-8") for case in MIGRATIONS)
    missing = [
        row.key for each in CONTROLLERS for row in (*each.annotations, *each.settings) if f"{row.key}:" not in text
    ]
    assert missing == []


def test_what_a_file_holds_cannot_become_a_command() -> None:
    text = (
        'apiVersion: v1\nkind: Service\nmetadata:\n  name: "a; reboot"\n  labels: {expose: "true"}\n  annotations:\n'
        '    "fabric8.io/x\\nreboot": ""\n    fabric8.io/ingress.name: "b\\nreboot"\n'
        "    fabric8.io/exposeUrl: http://a.example.com\nspec: {ports: [{port: 80}]}\n---\n"
        'apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: "b\\nreboot"}\n'
    )
    ended = run("migrate", "-", stdin=text)
    assert (ended.status, shlex.split(ended.out, comments=True)) == (1, [])
    assert '"a; reboot" must be a name' in ended.err
    assert '"b\\nreboot" must be a name' in ended.err


def test_what_no_script_can_hold_is_told_and_nothing_is_printed_of_its_service(tmp_path: Path) -> None:
    (tmp_path / "settings.yaml").write_text("limits: {copyAnnotations: {external-dns.alpha.kubernetes.io/ttl: any}}\n")
    for value, seen in (("60\\u200b'; touch PWNED #", "60\\u200b'; touch PWNED #"), ("60\\0", "60\\x00")):
        text = (
            "apiVersion: v1\nkind: Service\nmetadata:\n  name: shop\n  annotations:\n"
            "    fabric8.io/expose: 'true'\n    fabric8.io/exposeUrl: http://a.example.com\n"
            f'    fabric8.io/ingress.annotations: "external-dns.alpha.kubernetes.io/ttl: {value}"\n'
            "spec: {ports: [{port: 80}]}\n"
        )
        ended = run("migrate", "-", "--settings", tmp_path / "settings.yaml", stdin=text)
        assert (ended.status, shlex.split(ended.out, comments=True)) == (1, [])
        assert ended.err == (
            f'stdin:5: default/shop: external-dns.alpha.kubernetes.io/ttl: "{seen}" holds characters that a person '
            "would not see in a command, so none is made: take them out, with `kubectl edit`\n"
        )


def test_the_cluster_is_asked_for_services_ingresses_and_the_configmaps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exposed = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "shop", "namespace": "a", "annotations": {"fabric8.io/expose": "true"}},
        "spec": {"ports": [{"port": 80}]},
    }
    config = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "exposecontroller", "namespace": "b"},
        "data": {"config.yml": "domain: example.org"},
    }
    answers = {
        "services,ingresses": {"kind": "List", "items": [exposed]},
        "configmaps": {"kind": "List", "items": [config]},
    }
    calls = kubectl_that_answers(tmp_path, monkeypatch, answers)
    ended = run("migrate", "-n", "a")
    assert ended.status == 0
    assert "ingress/host=shop.a.example.org" in ended.out
    assert [line for line in calls.read_text().splitlines() if "configmaps" in line] == [
        f"get --output=json --field-selector=metadata.name={name} --all-namespaces -- configmaps"
        for name in ("exposecontroller", "xposer")
    ]
    backend = {"service": {"name": "shop", "port": {"number": 80}}}
    left = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
        "metadata": {"name": "shop", "namespace": "a", "annotations": {"kubernetes.io/ingress.class": "nginx"}},
        "spec": {"rules": [{"host": "a.example.com", "http": {"paths": [{"pathType": "Prefix", "backend": backend}]}}]},
    }
    other = {**exposed, "metadata": {**exposed["metadata"], "name": "blog"}}  # type: ignore[dict-item]
    objects = {"kind": "List", "items": [exposed, other, left]}
    kubectl_that_answers(tmp_path, monkeypatch, {**answers, "services,ingresses": objects})
    printed = run("migrate", "-n", "a", "--context", "there").out
    commands = [line.strip("# ") for line in printed.splitlines() if "kubectl " in line or "adopt " in line]
    assert len(commands) == 6
    for words in (shlex.split(command.removesuffix(" &&")) for command in commands):
        assert words[words.index("--") - 1 if "--" in words else -1] == "--context=there"
    kubectl_that_answers(tmp_path, monkeypatch, {"services,ingresses": {"kind": "List", "items": [exposed]}})
    ended = run("migrate", "-n", "a")
    assert ended.status == 1
    assert "Without the ConfigMap xposer: Error from server: no\n" in ended.err
    assert "a/shop: its host can't be known: add the ConfigMap exposecontroller" in ended.err


def test_nothing_to_migrate_is_no_step() -> None:
    assert run("migrate", "-", stdin="a: 1\n")[:2] == (0, "")


@pytest.mark.parametrize(("value", "true"), [(True, True), ("true", True), ("False", False), (None, False)])
def test_a_setting_is_true_as_text_too(value: object, true: bool) -> None:
    assert is_true(value) is true
