"""What a person needs who runs `ingress-manager audit` on a cluster: the rights that docs/commands/audit.md names."""

import subprocess
from pathlib import Path

import pytest

from devcluster import credentials
from devcluster.api import NAMESPACES, SERVICE_ACCOUNTS, Object, Resource, wait_for
from devcluster.control_plane import ControlPlane
from devcluster.story import Stage
from tests.e2e.tenant import BINDINGS
from tests.e2e.test_commands import run

pytestmark = pytest.mark.thorough

ON = {"ingress/http": "true"}
CLUSTER_ROLES = Resource("rbac.authorization.k8s.io/v1", "clusterroles", "ClusterRole", namespaced=False)
CLUSTER_BINDINGS = Resource(
    "rbac.authorization.k8s.io/v1", "clusterrolebindings", "ClusterRoleBinding", namespaced=False
)
LISTS = [
    {"apiGroups": [""], "resources": ["services"], "verbs": ["list"]},
    {"apiGroups": ["networking.k8s.io"], "resources": ["ingresses"], "verbs": ["list"]},
    {"apiGroups": ["gateway.networking.k8s.io"], "resources": ["httproutes"], "verbs": ["list"]},
]
"""The rights that docs/commands/audit.md names, but for the settings."""


def reader(plane: ControlPlane, folder: Path, name: str, rules: list[Object], namespace: str | None) -> Path:
    """Return the kubeconfig of somebody who has these rights, in one namespace or, with None, in all."""
    where = namespace or "default"
    plane.api.create(
        SERVICE_ACCOUNTS, {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name, "namespace": where}}
    )
    role = {"apiVersion": CLUSTER_ROLES.api_version, "kind": "ClusterRole", "metadata": {"name": name}, "rules": rules}
    plane.api.create(CLUSTER_ROLES, role)
    binding = {
        "apiVersion": CLUSTER_ROLES.api_version,
        "kind": "RoleBinding" if namespace else "ClusterRoleBinding",
        "metadata": {"name": name, **({"namespace": namespace} if namespace else {})},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": where}],
    }
    plane.api.create(BINDINGS if namespace else CLUSTER_BINDINGS, binding)
    kubeconfig = folder / f"{name}.kubeconfig"
    token = plane.api.service_account_token(where, name)
    credentials.write_kubeconfig(kubeconfig, url=plane.url, ca_file=plane.ca_file, user=name, token=token)
    options = [f"--namespace={namespace}"] if namespace else ["--all-namespaces"]
    # The API server takes a moment to learn of new rights.
    wait_for(lambda: run_kubectl(plane, kubeconfig, "get", "services", *options) == 0, 20, what="the rights")
    return kubeconfig


def run_kubectl(plane: ControlPlane, kubeconfig: Path, *arguments: str) -> int:
    """Return the exit status of kubectl."""
    command = [str(plane.programs.kubectl.path), f"--kubeconfig={kubeconfig}", *arguments]
    return subprocess.run(command, capture_output=True, check=False, timeout=60).returncode


def test_who_may_list_the_three_kinds_can_audit_a_namespace_or_the_cluster(
    empty_cluster: ControlPlane, tmp_path: Path
) -> None:
    plane, namespace = empty_cluster, "audited-by-readers"
    plane.api.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
    Stage(plane.api, namespace).create_service("shop", {**ON, "ingress/host": "shop.example.com"})
    settings = tmp_path / "settings.yaml"
    settings.write_text("class: nginx\n")
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
    plane.api.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
    Stage(plane.api, namespace).create_service("shop", {**ON, "ingress/host": "shop.example.com"})
    Stage(plane.api, namespace).create_service("wrong", {"ingress/http": "yes"})
    settings = tmp_path / "settings.yaml"
    settings.write_text("class: nginx\n")
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
