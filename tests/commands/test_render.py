"""`ingress-manager render`: the objects for Services, the position of each mistake, and the requests to a cluster."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from devcluster.sync_requests import service
from ingress_manager.commands.printing import as_yaml
from ingress_manager.commands.reading.manifests import read
from ingress_manager.commands.reading.settings import DECORATORS
from ingress_manager.commands.render import rendered
from tests.commands.commands import DEFAULTS, Cluster, listing, put, run, settings_on_a_cluster
from tests.core.test_cases import ONE_OF_EACH
from tests.golden import Case

GOOD = as_yaml(service({"ingress/http": "true", "ingress/host": "shop.example.com"}))


def class_in(printed: str) -> str:
    ingress_class: str = yaml.safe_load(printed)["spec"]["ingressClassName"]
    return ingress_class


@pytest.mark.parametrize("case", ONE_OF_EACH, ids=lambda case: case.name)
def test_a_service_becomes_what_the_hook_answers(case: Case) -> None:
    objects, messages = rendered(read(as_yaml(case.service), "f").items, case.settings)
    assert bool(messages) == ("refused 422" in case.becomes)
    assert objects == case.objects


def test_a_folder_is_read_without_its_subfolders(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    (tmp_path / "a.yaml").write_text(GOOD)
    (tmp_path / "notes.txt").write_text("a: [")
    (tmp_path / "inside" / "b.json").write_text(json.dumps(service({"ingress/http": "true"})))
    assert run("render", "-f", tmp_path).out.count("kind: Ingress") == 1


def test_a_mistyped_ingress_http_is_reported() -> None:
    ended = run("render", "--check", "-", stdin=as_yaml(service({"internal.ingress/htpp": "true"})))
    assert (ended.status, ended.out) == (1, "")
    meant = "should internal.ingress/htpp be internal.ingress/http?"
    needed = f'has no effect because this Service lacks internal.ingress/http: "true"; {meant}'
    assert f"internal.ingress/htpp {needed} [contradiction]" in ended.err
    denied = service({"ingress/http": "true", "ingress/class": "nginx", "ingress/path": "/~a"})
    ended = run("render", "--check", "-", stdin=as_yaml(denied))
    assert ended.status == 0
    assert 'by default, ingress-nginx rejects the path "/~a" with pathType Prefix' in ended.err


def test_the_settings_hold_from_a_file_or_the_manifest_of_a_configmap(settings: Callable[[str], Path]) -> None:
    path = settings("defaults: {class: internal}\nnamespaces: {team-a: {paused: true}}\n")
    ended = run("render", "-", "--settings", path, stdin=GOOD)
    paused = "The settings pause team-a: nothing changes there until `paused` is false.\n"
    assert (ended.status, class_in(ended.out), ended.err) == (0, "internal", paused)
    data = {"settings.yaml": "defaults: {class: public}\n"}
    settings(as_yaml({"apiVersion": "v1", "kind": "ConfigMap", "data": data}))
    assert class_in(run("render", "-", "--settings", path, stdin=GOOD).out) == "public"


@pytest.mark.parametrize(
    ("metadata", "spec", "sentence"),
    [
        ("annotations: {a: true}", "{}", "metadata.annotations.a: must be text, not true or false; put it in quotes"),
        ("", "", "spec is missing"),
        ("", "{ports: [{port: '80'}]}", "spec.ports[0].port: must be a whole number, not text"),
        ("annotations: [x]", "{}", "metadata.annotations: must be a mapping or null, not a list"),
    ],
)
def test_objects_that_are_not_services_are_reported(metadata: str, spec: str, sentence: str) -> None:
    rest = f", spec: {spec}" if spec else ""
    ended = run("render", "-", stdin=f"{{apiVersion: v1, kind: Service, metadata: {{name: a, {metadata}}}{rest}}}\n")
    assert ended == (1, "", f"{DEFAULTS}stdin:1: default/a: invalid Service: {sentence}\n")


def test_a_key_without_a_value_is_read_as_by_the_api_server() -> None:
    metadata = "name: a, labels: {a: }, annotations: {ingress/http: 'true', example.com/x: , ingress/host: }"
    ended = run("render", "-", stdin=f"{{apiVersion: v1, kind: Service, metadata: {{{metadata}}}, spec: {{}}}}\n")
    no_host = 'stdin:1: default/a: ingress/host: "" must contain a domain, such as example.com [invalid-value]\n'
    assert (ended.status, ended.err.splitlines(keepends=True)[1]) == (1, no_host)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("nowhere.yaml", "nowhere.yaml can't be read: No such file or directory"),
        ("empty", "the folder empty contains no .json, .yaml or .yml file"),
        ("-A -", "can't be used with files"),
        ("-A -n a", "can't be combined"),
        ("- --settings nowhere.yaml", "nowhere.yaml can't be read"),
        ("- --settings -", "- is given twice, but standard input can be read only once"),
        ("- -f -", "- is given twice, but standard input can be read only once"),
    ],
)
def test_usage_errors_exit_2(arguments: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    ended = run("render", *arguments.split())
    assert (ended.status, ended.out) == (2, "")
    assert message in ended.err


def test_unreadable_input_ends_the_command(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(b"a: 1\nb: \xff\n")
    (tmp_path / "b.yaml").write_text(f"{GOOD}---\na: [\n")
    ended = run("render", tmp_path)
    assert (ended.status, ended.out) == (1, "")
    first, second = ended.err.splitlines()
    assert first == f"{tmp_path}/a.yaml:2: is not UTF-8 text"
    assert second.startswith(f"{tmp_path}/b.yaml:{GOOD.count(chr(10)) + 2}: is not YAML: ")


def test_a_windows_file_is_read_and_a_kustomize_patch_is_not_checked(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(GOOD, encoding="utf-16")
    (tmp_path / "b.yaml").write_text(
        "apiVersion: v1\nkind: Service\nmetadata: {name: a, annotations: {ingress/hots: a}}\n"
    )
    (tmp_path / "c.yaml").write_text("- op: remove\n  path: /spec\n")
    ended = run("render", "--check", "--settings", "/dev/null", tmp_path)
    patch = "not checked: an incomplete object, perhaps a Kustomize patch"
    assert ended == (0, "", f"{tmp_path}/b.yaml:1: {patch}\n{tmp_path}/c.yaml:1: {patch}\n")
    assert run("render", tmp_path).status == 1


# From the cluster.

SERVICES = {"services": listing(service({"ingress/http": "true"}))}
CLUSTER = {**SERVICES, **settings_on_a_cluster("defaults: {class: internal}\n")}
WHERE = "ConfigMap ingress-manager/ingress-manager-settings-abc"
WEBHOOK = ("items", 0, "spec", "hooks", "sync", "webhook")
NO_HOOK = "no DecoratorController ingress-manager names the hook's Service; name a file with --settings FILE"


def test_the_cluster_is_asked_by_kubectl_with_its_own_options(cluster: Cluster) -> None:
    cluster.answers = CLUSTER
    ended = run("render", "-A", "--context", "there", "--kubeconfig", "mine")
    assert (ended.status, class_in(ended.out), ended.err) == (0, "internal", f"Using the settings in {WHERE}.\n")
    options = "--context=there --kubeconfig=mine"
    assert cluster.calls == [
        f"get --output=json --all-namespaces {options} -- services",
        f"get --output=json {options} -- decoratorcontrollers.metacontroller.k8s.io",
        f"get --output=json --namespace=ingress-manager {options} -- deployment/ingress-manager",
        f"get --output=json --namespace=ingress-manager {options} -- configmap/ingress-manager-settings-abc",
    ]


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        (
            {"deployment/ingress-manager": {"kind": "Deployment", "spec": {"template": {"spec": {}}}}},
            "Deployment ingress-manager/ingress-manager mounts no ConfigMap with the settings",
        ),
        (
            {"configmap/ingress-manager-settings-abc": {"kind": "ConfigMap", "metadata": {"name": "a"}}},
            "Using the settings in ConfigMap default/a.\n",
        ),
        ({DECORATORS: listing()}, NO_HOOK),
        ({DECORATORS: put(CLUSTER[DECORATORS], ("items", 0, "metadata", "name"), "acme")}, NO_HOOK),
        ({DECORATORS: put(CLUSTER[DECORATORS], WEBHOOK, {"url": "http://127.0.0.1:8080/sync"})}, NO_HOOK),
        ({DECORATORS: put(CLUSTER[DECORATORS], (*WEBHOOK, "service", "name"), "--all")}, NO_HOOK),
        (settings_on_a_cluster("", "tools", "hook"), "Using the settings in ConfigMap tools/hook-settings-abc.\n"),
        (settings_on_a_cluster("\npaused: 1\n"), f"{WHERE}:2: paused: must be true or false, not a whole number\n"),
    ],
)
def test_wrong_settings_of_a_cluster_are_reported(answers: dict[str, Any], message: str, cluster: Cluster) -> None:
    cluster.answers = {**CLUSTER, **answers}
    assert message in run("render").err


def test_kubectls_error_is_passed_on_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert run("render") == (
        2,
        "",
        "Error: kubectl is not on PATH; most commands can read files instead, with -f FILE\n",
    )
    program = tmp_path / "kubectl"
    said = "E1122 03:04:05.0 7 memcache.go:265] noise\nIt was refused\n  \n- is it the right host?"
    forbidden = (
        'Error from server (Forbidden): ingresses.networking.k8s.io is forbidden: User "tom" cannot list resource '
        '"ingresses" in API group "networking.k8s.io" at the cluster scope'
    )
    lacking = "Error: you don't have permission to list ingresses.networking.k8s.io in the cluster\n"
    for script, message in (
        (f"echo '{forbidden}' >&2; exit 1", lacking),
        (f"echo '{said}' >&2; exit 1", "Error: It was refused - is it the right host?\n"),
        ("exit 1", "Error: kubectl failed with exit code 1\n"),
        (f"echo '{json.dumps(listing())}'", "There is no Service to render.\n"),
    ):
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        ended = run("render", "--settings", "/dev/null")
        assert (ended.status, ended.out, ended.err) == (2, "", message)
