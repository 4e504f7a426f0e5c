"""What a person needs who runs `ingress-manager audit` on a cluster: the rights that docs/commands/audit.md names."""

import json
from pathlib import Path
from typing import Any

import pytest

from devcluster.api import INGRESSES, Object
from devcluster.control_plane import ControlPlane
from devcluster.story import Stage
from tests.commands.commands import settings_on_a_cluster
from tests.e2e.objects import CONFIG_MAPS, DEPLOYMENTS, by_hand, create, forget_installation
from tests.e2e.objects import namespace as make_namespace
from tests.e2e.people import grant, reader
from tests.e2e.shell import run

ON = {"ingress/http": "true"}
LISTS = [
    {"apiGroups": [""], "resources": ["services", "events"], "verbs": ["list"]},
    {"apiGroups": ["networking.k8s.io"], "resources": ["ingresses"], "verbs": ["list"]},
    {"apiGroups": ["gateway.networking.k8s.io"], "resources": ["httproutes"], "verbs": ["list"]},
]
"""The rights that docs/commands/audit.md names, but for the settings."""


@pytest.fixture(autouse=True)
def nothing_installed(empty_cluster: ControlPlane) -> None:
    """Let nobody find an installation: some may not look for it."""
    forget_installation(empty_cluster)


def test_who_may_list_the_three_kinds_can_audit_a_namespace_or_the_cluster(
    empty_cluster: ControlPlane, tmp_path: Path
) -> None:
    plane, namespace = empty_cluster, "audited-by-readers"
    make_namespace(plane.api, namespace)
    Stage(plane.api, namespace).create_service("shop", {**ON, "ingress/host": "shop.example.com"})
    settings = tmp_path / "settings.yaml"
    settings.write_text("defaults: {class: nginx}\n")
    named = f"--current-settings={settings}"
    alone, everywhere = f"--namespace={namespace}", "--all-namespaces"
    for name, where in (("of-one-namespace", namespace), ("of-all", None)):
        kubeconfig = reader(plane, tmp_path, name, LISTS, where)
        for option in (alone, everywhere):
            ended = run(plane, "audit", named, option, "--only=missing", kubeconfig=kubeconfig)
            if where and option == everywhere:
                assert (ended.returncode, ended.stdout) == (2, "")
                assert "Error from server (Forbidden): services is forbidden" in ended.stderr
            else:
                assert (ended.returncode, ended.stderr) == (1, "")
                assert (
                    f"missing  Service {namespace}/shop  its Ingress {namespace}/shop isn't there, and" in ended.stdout
                )
    ended = run(plane, "audit", alone, kubeconfig=kubeconfig)
    assert ended.returncode == 2
    assert "The settings could not be looked at: Error from server" in ended.stdout
    assert "missing  Service" not in ended.stdout


def test_who_may_not_look_at_all_is_told_in_a_line_for_each_kind_and_no_finding_depends_on_it(
    empty_cluster: ControlPlane, tmp_path: Path
) -> None:
    plane, namespace = empty_cluster, "audited-by-a-tenant"
    make_namespace(plane.api, namespace)
    Stage(plane.api, namespace).create_service("shop", {**ON, "ingress/host": "shop.example.com"})
    Stage(plane.api, namespace).create_service("wrong", {"ingress/http": "yes"})
    settings = tmp_path / "settings.yaml"
    settings.write_text("defaults: {class: nginx}\n")
    for count, name in enumerate(("services-alone", "services-and-ingresses"), start=1):
        kubeconfig = reader(plane, tmp_path, name, LISTS[:count], namespace)
        ended = run(plane, "audit", "-n", namespace, f"--current-settings={settings}", kubeconfig=kubeconfig)
        kinds = [line.split()[0] for line in ended.stdout.splitlines() if line[:1].islower()]
        assert (ended.returncode, kinds) == (2, [["refused"], ["refused", "missing"]][count - 1])
        lines = [
            f"{kind} could not be looked at: Error from server (Forbidden): " for kind in ("Ingresses", "HTTPRoutes")
        ]
        said = [line for line in ended.stdout.splitlines() if " could not be looked at: " in line]
        assert len(said) == 3 - count
        assert all(line.startswith(start) for line, start in zip(said, lines[count - 1 :], strict=True))


SETTINGS = [
    {"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["get"]},
    {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]},
]
FEWER: dict[str, tuple[list[Object], str | None, list[Object]]] = {
    "services": (LISTS[:1], "team", []),
    "services-settings": (LISTS[:1], "team", SETTINGS),
    "services-ingresses": (LISTS[:2], "team", []),
    "services-ingresses-deployment": (LISTS[:2], "team", SETTINGS[:1]),
    "services-ingresses-settings": (LISTS[:2], "team", SETTINGS),
    "services-httproutes-settings": ([LISTS[0], LISTS[2]], "team", SETTINGS),
    "one-namespace": (LISTS, "team", SETTINGS),
    "one-namespace-no-settings": (LISTS, "team", []),
    "all-namespaces-no-settings": (LISTS, None, []),
    "all-namespaces-services": (LISTS[:1], None, SETTINGS),
}
"""The rights of ten people: to list, where (None: in all namespaces), and to the settings."""


def test_ten_people_with_fewer_rights_are_told_no_more_than_the_administrator_and_what_they_did_not_see(
    empty_cluster: ControlPlane, tmp_path: Path
) -> None:
    plane = empty_cluster
    for namespace in ("team", "team-a", "ingress-manager"):
        make_namespace(plane.api, namespace)
    text = (
        "defaults: {class: internal, host: '{service}.{namespace}.example.com', outputs: [ingress, httproute], "
        "gateway: {name: web, namespace: web}}\nlimits: {hosts: ['*.example.com'], classes: any}\n"
        "namespaces: {team-a: {defaults: {outputs: [ingress]}}}\n"
    )
    _, deployment, configmap = settings_on_a_cluster(text).values()
    labels = {"matchLabels": {"app": "x"}}
    pod = {**deployment["spec"]["template"]["spec"], "containers": [{"name": "x", "image": "x"}]}
    pod["volumes"] = [{"name": "settings", "configMap": {"name": "settings"}}]
    template = {"metadata": {"labels": labels["matchLabels"]}, "spec": pod}
    spec = {"replicas": 0, "selector": labels, "template": template}
    create(plane.api, DEPLOYMENTS, "ingress-manager", "ingress-manager", spec=spec)
    create(plane.api, CONFIG_MAPS, "settings", "ingress-manager", data=configmap["data"])
    for namespace, names in (("team", ("shop", "a-shop", "taken")), ("team-a", ("shop", "twice"))):
        stage = Stage(plane.api, namespace)
        for name in names:
            stage.create_service(name, {**ON, "nginx.ingress.kubernetes.io/rewrite-target": "/"})
        stage.create_service("wrong", {**ON, "ingress/hots": "x"})
        stage.create_service("bare", {**ON, "ingress/host": "elsewhere.example.org"})
        for name in ("taken", "theirs"):
            plane.api.create(INGRESSES, by_hand(namespace, name, "same.example.com", name))
        label = {"labels": {"app.kubernetes.io/managed-by": "ingress-manager"}}
        plane.api.patch(INGRESSES, "theirs", {"metadata": label}, namespace)

    def told(where: str, kubeconfig: Path | None = None) -> tuple[set[tuple[str, ...]], Any]:
        ended = run(plane, "audit", where, "-o", "json", kubeconfig=kubeconfig)
        report = json.loads(ended.stdout)
        assert ended.returncode == (2 if report["unseen"] else 1), ended.stderr
        return {(each["kind"], *map(str, each["object"].values())) for each in report["findings"]}, report

    everything = {where: told(where)[0] for where in ("--namespace=team", "--namespace=team-a", "--all-namespaces")}
    kinds = {found[0] for found in everything["--all-namespaces"]}
    assert kinds >= {"refused", "name-taken", "missing", "detached", "claimed-twice"}, kinds
    try:
        for name, (lists, where, settings) in FEWER.items():
            kubeconfig = reader(plane, tmp_path, name, lists, where)
            if settings:
                grant(plane.api, (where or "default", name), name, settings, "ingress-manager")
            scope = "--all-namespaces" if where is None else f"--namespace={where}"
            found, report = told(scope, kubeconfig)
            assert found <= everything[scope], name
            unseen = {each["what"] for each in report["unseen"]}
            lacks = {kind for kind, rule in zip(("Ingress", "HTTPRoute"), LISTS[1:], strict=True) if rule not in lists}
            assert unseen == lacks | ({"settings"} if settings != SETTINGS else set()), name
            assert (found == everything[scope]) == (not unseen), name
    finally:
        plane.api.delete(DEPLOYMENTS, "ingress-manager", "ingress-manager")  # the cluster is shared
        plane.api.delete(CONFIG_MAPS, "settings", "ingress-manager")
