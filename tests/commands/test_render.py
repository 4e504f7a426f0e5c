"""`ingress-manager render`: what Services become, with the place of every mistake."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from devcluster.sync_requests import service
from ingress_manager.commands.printing.objects import FORMATS, as_yaml, printed
from ingress_manager.commands.reading.kubectl import IGNORE_NOT_FOUND, Kubectl, KubectlFailed
from ingress_manager.commands.reading.manifests import read
from ingress_manager.commands.render.rendering import render
from ingress_manager.core.text import quoted
from tests.commands.commands import kubectl_that_answers, listing, run, settings_on_a_cluster
from tests.core.test_cases import ONE_OF_EACH
from tests.words import ours
from tools.golden import Case

GOOD = as_yaml(service({"ingress/http": "true", "ingress/host": "shop.example.com"}))
BAD = "# a comment\n" + as_yaml(service({"ingress/http": "true", "ingress/path": "shop", "ingress/port": "web"}))
DEFAULTS = "With the default settings; --settings FILE takes others.\n"


@pytest.mark.parametrize("case", ONE_OF_EACH, ids=lambda case: case.name)
def test_a_service_becomes_what_the_hook_answers(case: Case) -> None:
    rendered = render(read(as_yaml(case.service), "f").items, case.policy)
    refused = isinstance(case.becomes, str)
    assert bool(rendered.messages) == refused
    assert rendered.objects == ([] if refused else case.becomes)


def test_what_is_right_is_printed_and_what_is_wrong_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "good.yaml").write_text(f"kind: ConfigMap\n---\n{GOOD}")
    (tmp_path / "bad.yaml").write_text(BAD)
    ended = run("render", "-f", tmp_path / "good.yaml", "-f", tmp_path / "bad.yaml")
    assert ended.status == 1
    [made] = yaml.safe_load_all(ended.out)
    assert made["spec"]["rules"][0]["host"] == "shop.example.com"
    assert ended.err == (
        f"{DEFAULTS}"
        f'{tmp_path}/bad.yaml:10: team-a/shop: ingress/path: "shop" must start with / [invalid-value]\n'
        f'{tmp_path}/bad.yaml:11: team-a/shop: ingress/port: "web" is not a TCP port of this Service; it has 80 '
        "[unknown-port]\n"
    )


def test_a_protection_that_would_be_lost_is_told_beforehand(tmp_path: Path) -> None:
    (tmp_path / "f.yaml").write_text(
        as_yaml(service({"ingress/http": "true", "nginx.ingress.kubernetes.io/auth-url": "https://a"}))
    )
    ended = run("render", "--check", tmp_path / "f.yaml")
    assert (ended.status, ended.out) == (1, "")
    assert "nginx.ingress.kubernetes.io/auth-url protects this Service, and isn't copied" in ended.err


def test_a_file_that_is_half_right_is_read_as_far_as_it_is_right(tmp_path: Path) -> None:
    (tmp_path / "half.yaml").write_text(f"{GOOD}---\na: [\n")
    ended = run("render", tmp_path / "half.yaml", "-o", "name")
    assert (ended.status, ended.out) == (1, "ingress.networking.k8s.io/shop\n")
    assert ours(ended.err) == f"{DEFAULTS}{tmp_path}/half.yaml:14: is not YAML: …\n"


def test_standard_input_is_read_and_the_namespace_is_default_or_the_one_that_is_named() -> None:
    bare = GOOD.replace("  namespace: team-a\n", "")
    for options, namespace in ((), "default"), (("-n", "mine"), "mine"):
        ended = run("render", "-f", "-", *options, stdin=bare)
        assert (ended.status, yaml.safe_load(ended.out)["metadata"]["namespace"]) == (0, namespace)
    assert run("render", "-", stdin='{"a": 1').err.endswith("stdin:1: is not JSON: Expecting ',' delimiter\n")


def test_a_folder_is_read_and_the_folders_in_it_when_that_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    (tmp_path / "a.yaml").write_text(GOOD)
    (tmp_path / "notes.txt").write_text("a: [")
    (tmp_path / "inside" / "b.json").write_text(json.dumps(service({"ingress/http": "true"})))
    assert run("render", "-f", tmp_path, "-o", "name").out.count("ingress") == 1
    assert run("render", "-R", "-f", tmp_path, "-o", "name").out.count("ingress") == 2


def test_a_check_prints_no_objects() -> None:
    assert run("render", "--check", "-", stdin=GOOD) == (0, "", DEFAULTS)
    assert run("render", "--check", "-", stdin=BAD)[:2] == (1, "")


@pytest.mark.parametrize("form", FORMATS)
def test_the_formats_are_those_of_kubectl(form: str) -> None:
    ended = run("render", "-", "-o", form, stdin=f"{GOOD}---\n{GOOD}")
    assert ended.status == 0
    if form == "name":
        assert ended.out == "ingress.networking.k8s.io/shop\n" * 2
    else:
        found = json.loads(ended.out)["items"] if form == "json" else list(yaml.safe_load_all(ended.out))
        assert [made["kind"] for made in found] == ["Ingress", "Ingress"]


def test_nothing_is_an_empty_stream_or_an_empty_list() -> None:
    assert "".join(printed([], "yaml")) == ""
    assert json.loads("".join(printed([], "json"))) == {"apiVersion": "v1", "kind": "List", "items": []}


@pytest.mark.parametrize(
    "text",
    [
        *("y", "N", "on", "1e3", "0o10", "010", "1:20", "2020-01-01", "", "~", "null", "a: b", "*.a", "<<", "=", "{a}"),
        *("a\nb", "a\nb\n", " a\n", "\x1b", "ü", "#", "a #b", "shop.example.com", "/"),
    ],
)
def test_text_is_written_so_that_kubectl_and_others_read_text(text: str) -> None:
    shown = as_yaml({"kind": "X", "text": text})
    assert read(shown).items[0].object["text"] == text
    assert yaml.safe_load(shown)["text"] == text


def test_the_settings_hold_from_a_file_or_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = tmp_path / "settings.yaml"
    settings.write_text("defaults: {class: internal}\n")
    ended = run("render", "-", "--settings", settings, stdin=GOOD)
    assert (yaml.safe_load(ended.out)["spec"]["ingressClassName"], ended.err) == ("internal", "")
    monkeypatch.setenv("INGRESS_MANAGER_SETTINGS", str(settings))
    assert yaml.safe_load(run("render", "-", stdin=GOOD).out)["spec"]["ingressClassName"] == "internal"
    configmap = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"settings.yaml": "defaults: {class: public}\n"}}
    settings.write_text(as_yaml(configmap))
    assert yaml.safe_load(run("render", "-", stdin=GOOD).out)["spec"]["ingressClassName"] == "public"


def test_settings_that_pause_are_told_of_and_the_ingress_is_shown_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "settings.yaml").write_text("namespaces: {team-a: {paused: true}}\n")
    ended = run("render", "-", "--settings", tmp_path / "settings.yaml", "-o", "name", stdin=GOOD)
    assert (ended.status, ended.out) == (0, "ingress.networking.k8s.io/shop\n")
    assert "The settings pause team-a: nothing changes there until `paused` is false." in ended.err


@pytest.mark.parametrize(
    ("reason", "change", "line", "sentence"),
    [
        ("true is no text", 'ingress/http: true', 6, "ingress/http: must be text: put the value in quotes"),
        ("nor is nothing", "ingress/host:", 6, "ingress/host: must be text: put the value in quotes"),
    ],
)  # fmt: skip
def test_an_annotation_that_is_no_text_is_told(reason: str, change: str, line: int, sentence: str) -> None:
    text = f"apiVersion: v1\nkind: Service\nmetadata:\n  name: shop\n  annotations:\n    {change}\nspec: {{}}\n"
    assert run("render", "-", stdin=text).err == f"{DEFAULTS}stdin:{line}: default/shop: {sentence}\n", reason


@pytest.mark.parametrize(
    ("reason", "fields", "sentence"),
    [
        ("no spec", {"metadata": {"name": "a"}}, "1: default/a: is no valid Service: spec is missing"),
        (
            "a port as text",
            {"metadata": {"name": "a"}, "spec": {"ports": [{"port": "80"}]}},
            "1: default/a: is no valid Service: spec.ports[0].port: must be a whole number, not text",
        ),
        (
            "annotations that are none",
            {"metadata": {"name": "a", "annotations": ["x"]}, "spec": {}},
            "1: default/a: is no valid Service: metadata.annotations: must be a mapping or null, not a list",
        ),
        (
            "a time that is none",
            {"metadata": {"name": "a", "creationTimestamp": "now"}, "spec": {}},
            "1: default/a: is no valid Service: metadata.creationTimestamp: must be a time or null, not text",
        ),
    ],
)
def test_what_is_no_service_is_told(reason: str, fields: dict[str, Any], sentence: str) -> None:
    text = json.dumps({"apiVersion": "v1", "kind": "Service", **fields})
    assert run("render", "-", stdin=text) == (1, "", f"{DEFAULTS}stdin:{sentence}\n"), reason


def test_problems_that_are_not_kept_are_counted() -> None:
    many = {f"ingress/x{number}": "" for number in range(25)}
    ended = run("render", "-", stdin=as_yaml(service({"ingress/http": "true", **many})))
    assert ended.err.endswith("stdin:1: team-a/shop: and 5 more\n")


def test_a_service_of_another_api_is_another_kind() -> None:
    knative = GOOD.replace("apiVersion: v1", "apiVersion: serving.knative.dev/v1")
    none = f"{DEFAULTS}There is no Service in what was read.\n"
    assert run("render", "-", stdin=knative) == (2, "", none)
    assert run("render", "-", "--allow-empty", stdin=knative) == (0, "", none)


@pytest.mark.parametrize(
    ("reason", "arguments", "message"),
    [
        ("no such file", ["nowhere.yaml"], "nowhere.yaml can't be read: No such file or directory"),
        ("an empty folder", ["empty"], "the folder empty holds no .json, .yaml or .yml file"),
        ("the cluster's options with files", ["-A", "-"], "are for the cluster, not for files"),
        ("two namespaces", ["-A", "-n", "a"], "exclude each other"),
        ("no folder to look into", ["-R"], "--recursive is for folders, and none is named"),
        ("no settings", ["-", "--settings", "nowhere.yaml"], "the settings file nowhere.yaml can't be read"),
        ("another option", ["--nope"], "No such option"),
    ],
)
def test_wrong_use_is_told_with_exit_status_2(
    reason: str, arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    ended = run("render", *arguments)
    assert (ended.status, ended.out) == (2, ""), reason
    assert message in ended.err


def test_settings_that_cannot_be_used_are_wrong_use(tmp_path: Path) -> None:
    path = tmp_path / "settings.yaml"
    path.write_text("hosts: []\npaused: 1\n")
    ended = run("render", "-", "--settings", path, stdin=GOOD)
    assert (ended.status, ended.out) == (2, "")
    assert ended.err.endswith(
        "Error: the settings can't be used:\n"
        f"{path}:1: hosts is not a setting; did you mean limits.hosts?\n"
        f"{path}:2: paused: 1 must be true or false\n"
    )


def test_a_file_that_is_not_utf_8_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(b"a: 1\nb: \xff\n")
    assert run("render", tmp_path / "a.yaml").err == f"{DEFAULTS}{tmp_path}/a.yaml:2: is not UTF-8 text\n"


# From the cluster.

SERVICES = listing(service({"ingress/http": "true"}))
CLUSTER = {"services": SERVICES, **settings_on_a_cluster("defaults: {class: internal}\n")}


def test_the_cluster_is_asked_by_kubectl_with_its_own_options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = kubectl_that_answers(tmp_path, monkeypatch, CLUSTER)
    ended = run("render", "-A", "--context", "there", "--kubeconfig", "mine")
    assert (ended.status, ended.err) == (
        0,
        "With the settings of the ConfigMap ingress-manager/ingress-manager-settings-abc.\n",
    )
    assert yaml.safe_load(ended.out)["spec"]["ingressClassName"] == "internal"
    there = "--context=there --kubeconfig=mine"
    assert calls.read_text().splitlines() == [
        f"get --output=json --all-namespaces {there} -- services",
        f"get --output=json {there} -- decoratorcontrollers.metacontroller.k8s.io",
        f"get --output=json --namespace=ingress-manager {there} -- deployment/ingress-manager",
        f"get --output=json --namespace=ingress-manager {there} -- configmap/ingress-manager-settings-abc",
    ]


@pytest.mark.parametrize(
    ("options", "shown"),
    [((), "get --output=json -- services"), (("-n", "a"), "get --output=json --namespace=a -- services")],
)
def test_the_namespace_is_left_to_kubectl(
    options: tuple[str, ...], shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = kubectl_that_answers(tmp_path, monkeypatch, {"services": SERVICES})
    ended = run("render", *options)
    assert ended.status == 0
    assert ended.err == (
        "The installation is looked for as ingress-manager/ingress-manager, because DecoratorControllers could not be "
        "looked at: Error from server: no; --installation names another.\n"
        "With the default settings, because those of the cluster can't be read: Error from server: no\n"
    )
    assert calls.read_text().splitlines()[0] == shown


def test_a_hook_without_settings_has_the_defaults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bare = {"kind": "Deployment", "spec": {"template": {"spec": {}}}}
    kubectl_that_answers(tmp_path, monkeypatch, {**CLUSTER, "deployment/ingress-manager": bare})
    assert "the Deployment ingress-manager/ingress-manager mounts no ConfigMap" in run("render").err


def test_a_configmap_without_settings_states_the_defaults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    empty = {"kind": "ConfigMap", "apiVersion": "v1"}
    kubectl_that_answers(tmp_path, monkeypatch, {**CLUSTER, "configmap/ingress-manager-settings-abc": empty})
    assert yaml.safe_load(run("render").out)["spec"]["ingressClassName"] == "nginx"


def test_settings_of_a_cluster_that_cannot_be_used_are_told_by_their_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kubectl_that_answers(tmp_path, monkeypatch, {**CLUSTER, **settings_on_a_cluster("\npaused: 1\n")})
    ended = run("render")
    sentence = "ConfigMap ingress-manager/ingress-manager-settings-abc:2: paused: 1 must be true or false\n"
    assert (ended.status, ended.err.endswith(sentence)) == (2, True)


def test_what_kubectl_says_is_passed_on_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = "E1122 03:04:05.0 7 memcache.go:265] noise\nIt was refused\n  \n- is it the right host?\n"
    kubectl_that_answers(tmp_path, monkeypatch, {}, said)
    assert run("render") == (2, "", "Error: It was refused - is it the right host?\n")
    kubectl_that_answers(tmp_path, monkeypatch, {}, "")
    assert run("render") == (2, "", "Error: kubectl failed with exit code 1\n")


@pytest.mark.parametrize("printed", ["", "hello", '{"kind": "List", "items": [', "a: 1"])
def test_a_kubectl_that_prints_something_else_is_told(printed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(_: Kubectl, *arguments: str) -> str:
        return printed if arguments[-1] == "services" else json.dumps(CLUSTER[arguments[-1]])

    monkeypatch.setattr(Kubectl, "run", answer)
    assert run("render") == (2, "", f"Error: kubectl get services has printed no JSON: {quoted(printed)}\n")


def test_where_nothing_is_found_kubectl_may_print_nothing_only_if_it_was_told_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Kubectl, "run", lambda *_: "")
    assert Kubectl().get("services", IGNORE_NOT_FOUND).items == []
    with pytest.raises(KubectlFailed, match="has printed no JSON"):
        Kubectl().get("services")


def test_a_kubectl_that_prints_no_object_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(_: Kubectl, *arguments: str) -> str:
        return json.dumps(SERVICES if arguments[-1] == "services" else listing())

    monkeypatch.setattr(Kubectl, "run", answer)
    assert "kubectl get deployment/ingress-manager has printed no object" in run("render").err


def test_without_kubectl_the_way_out_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert run("render") == (2, "", "Error: kubectl is not on PATH; -f FILE reads files instead\n")
