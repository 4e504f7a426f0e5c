"""`ingress-manager settings`: whether the hook would start with a file. And whose settings other commands take."""

from pathlib import Path
from typing import Any

import pytest

from ingress_manager.commands.reading.manifests import Item
from ingress_manager.commands.reading.settings import RESOURCE, Installation, named_by
from tests.commands.commands import Cluster, listing, put, run, settings_on_a_cluster

GOOD = (
    "limits: {hosts: ['*.{namespace}.example.com']}\n"
    "profiles: {internal: {class: internal}}\n"
    "namespaces: {team-a: {paused: true}, team-b: {}}\n"
)
BAD = "limits:\n  hosts:\n  - A\ndefaults: {host: B}\n"
EVERY_HOST = "limits.hosts is any: a namespace without limits of its own may claim every host."


def told(file: str, line: int = 4) -> str:
    """Return what is printed about BAD."""
    return f'{file}:{line}: defaults.host: "B" must be lower case\n'


def test_the_first_mistake_is_told_with_its_line_and_the_other_files_are_checked_all_the_same(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.yaml", tmp_path / "bad.yaml"
    good.write_text("")
    bad.write_text(BAD)
    out = f"{good}: the hook would start with it: 0 profiles, 0 under namespaces\n"
    assert run("settings", bad, good) == (1, out, f"{told(str(bad))}{good}: {EVERY_HOST}\n")


def test_a_limit_of_hosts_that_is_lifted_on_purpose_for_a_namespace_is_not_told() -> None:
    lifted = "limits: {hosts: [a.example.com]}\nnamespaces: {team-a: {limits: {hosts: any}}}\n"
    assert run("settings", "-", stdin=lifted).err == ""


def test_in_the_manifest_of_a_configmap_the_line_is_that_of_the_text() -> None:
    inside = "".join(f"    {line}\n" for line in BAD.splitlines())
    manifest = (
        f"apiVersion: v1\nkind: ConfigMap\n---\napiVersion: v1\nkind: ConfigMap\ndata:\n  settings.yaml: |\n{inside}"
    )
    assert run("settings", "-", stdin=manifest) == (1, "", told("stdin", 7))


@pytest.mark.parametrize(("content", "sentence"), [(None, "No such file or directory"), (b"\xff", "can't be read: ")])
def test_a_file_that_cannot_be_read_is_wrong_use(tmp_path: Path, content: bytes | None, sentence: str) -> None:
    path = tmp_path / "settings.yaml"
    if content is not None:
        path.write_bytes(content)
    ended = run("settings", path)
    assert (ended.status, ended.out, sentence in ended.err) == (2, "", True)


# The installation is found by what it is, under any name.

HOOK = settings_on_a_cluster("defaults: {class: internal}\n", "tools", "hook")
[CONTROLLER] = HOOK[RESOURCE]["items"]
SHOP = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "shop", "annotations": {"ingress/http": "true"}}}
SERVICES = {"services": listing({**SHOP, "spec": {"ports": [{"port": 80}]}})}
WEBHOOK = ("spec", "hooks", "sync", "webhook")
SAID = "With the settings of the ConfigMap tools/hook-settings-abc.\n"


@pytest.mark.parametrize(
    ("path", "value", "found"),
    [
        (("metadata", "name"), "ingress-manager", Installation("tools", "hook")),
        (WEBHOOK, {"url": "http://127.0.0.1:8080/sync"}, None),
        ((*WEBHOOK, "service", "name"), "--all", None),
        (("metadata", "name"), "acme", None),
    ],
)
def test_the_controller_names_the_service_of_its_hook(path: tuple[str, ...], value: Any, found: Any) -> None:
    assert named_by([Item(put(CONTROLLER, path, value))]) == found


def test_the_settings_are_those_of_the_installation(cluster: Cluster) -> None:
    cluster.answers = HOOK | SERVICES
    ended = run("render")
    assert (ended.status, ended.err) == (0, SAID)
    assert "ingressClassName: internal" in ended.out
    assert cluster.calls[1:] == [
        f"get --output=json -- {RESOURCE}",
        "get --output=json --namespace=tools -- deployment/hook",
        "get --output=json --namespace=tools -- configmap/hook-settings-abc",
    ]
    del cluster.answers[RESOURCE]
    assert "The settings could not be looked at: Error from server: no; --settings FILE" in run("render").err
    cluster.answers[RESOURCE] = listing()
    assert "no DecoratorController leads to a hook; --settings FILE names them" in run("render").err
