"""What a person needs who runs `ingress-manager audit` on a cluster: the rights that docs/commands/audit.md names."""

from pathlib import Path

import pytest

from devcluster.control_plane import ControlPlane
from devcluster.story import Stage
from tests.e2e.objects import namespace as make_namespace
from tests.e2e.people import reader
from tests.e2e.shell import run

pytestmark = pytest.mark.thorough

ON = {"ingress/http": "true"}
LISTS = [
    {"apiGroups": [""], "resources": ["services"], "verbs": ["list"]},
    {"apiGroups": ["networking.k8s.io"], "resources": ["ingresses"], "verbs": ["list"]},
    {"apiGroups": ["gateway.networking.k8s.io"], "resources": ["httproutes"], "verbs": ["list"]},
]
"""The rights that docs/commands/audit.md names, but for the settings."""


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
                assert f"missing  Service {namespace}/shop  its Ingress {namespace}/shop isn't there\n" in ended.stdout
    ended = run(plane, "audit", alone, kubeconfig=kubeconfig)
    assert ended.returncode == 2
    assert "The settings could not be looked at, and the defaults were taken in their place;" in ended.stderr


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
        kinds = [line.split()[0] for line in ended.stdout.splitlines() if line[:1].isalpha()]
        assert (ended.returncode, kinds) == (2, [["refused"], ["refused", "missing"]][count - 1])
        lines = [
            f"{kind} could not be looked at: Error from server (Forbidden): " for kind in ("Ingresses", "HTTPRoutes")
        ]
        said = ended.stderr.splitlines()
        assert len(said) == 3 - count
        assert all(line.startswith(start) for line, start in zip(said, lines[count - 1 :], strict=True))
