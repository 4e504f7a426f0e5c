"""Users with few permissions, such as tenants; visitors who send requests continuously; and requests in the audit log.

Scripts run with this kubectl and `ingress-manager` on PATH.
"""

import contextlib
import os
import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException
from pathlib import Path

import yaml

from devcluster.api import SERVICE_ACCOUNTS, SERVICES, Api, ApiError, Object, Resource, T, wait_for
from devcluster.build import REPOSITORY
from devcluster.cluster import DevCluster
from devcluster.control_plane import ControlPlane
from tests.docs.test_docs import blocks
from tests.e2e.objects import CLUSTER_BINDINGS, CLUSTER_ROLES, ROLE_BINDINGS, ROLES, create


def grant(api: Api, account: tuple[str, str], role: str, rules: list[Object], namespace: str | None) -> None:
    """Grant permissions to a ServiceAccount, given as (namespace, name), in a namespace, or in all with None."""
    roles, bindings = (ROLES, ROLE_BINDINGS) if namespace else (CLUSTER_ROLES, CLUSTER_BINDINGS)
    create(api, roles, role, namespace, rules=rules)
    subject = {"kind": "ServiceAccount", "namespace": account[0], "name": account[1]}
    of = {"apiGroup": "rbac.authorization.k8s.io", "kind": roles.kind, "name": role}
    create(api, bindings, role, namespace, roleRef=of, subjects=[subject])


def kubeconfig_of(plane: ControlPlane, namespace: str, name: str, folder: Path) -> Path:
    kubeconfig = folder / f"{name}.kubeconfig"
    plane.write_kubeconfig(kubeconfig, name, plane.api.service_account_token(namespace, name))
    return kubeconfig


def editor_of(plane: ControlPlane, namespace: str, folder: Path) -> Path:
    """Return the kubeconfig of a user who has the ClusterRole `edit` in a namespace through a group."""
    plane.kubectl("create", "rolebinding", "edit", "--clusterrole=edit", f"--group={namespace}", f"-n={namespace}")
    path, config = folder / "editor.kubeconfig", yaml.safe_load(plane.kubeconfig.read_text())
    config["users"][0]["user"] |= {"as": "developer", "as-groups": [namespace]}
    config["contexts"][0]["context"]["namespace"] = namespace
    path.write_text(yaml.safe_dump(config))
    wait_for(lambda: can(plane, path, "create secrets"), 30, what="the permissions of `edit`")
    return path


def can(plane: ControlPlane, kubeconfig: Path, permission: str) -> bool:
    return sh(plane, f"kubectl auth can-i {permission}", kubeconfig=kubeconfig, check=False).returncode == 0


def tenant_of(plane: ControlPlane, namespace: str, *, resources: Sequence[Resource] = (SERVICES,)) -> Api:
    """Return a client of a ServiceAccount with all permissions for these resources in the namespace, and no others."""
    create(plane.api, SERVICE_ACCOUNTS, "tenant", namespace)
    rules = [
        {"apiGroups": [each.api_version.rpartition("/")[0]], "resources": [each.plural], "verbs": ["*"]}
        for each in resources
    ]
    grant(plane.api, (namespace, "tenant"), "tenant", rules, namespace)
    api = Api(plane.url, plane.api.service_account_token(namespace, "tenant"), plane.ca_file)
    wait_for(lambda: said(lambda: api.list(resources[0], namespace)) is None, 30, what="the tenant's permissions")
    return api


def said(write: Callable[[], object]) -> str | None:
    """Return the message with which a policy denies a write, or None if it is allowed."""
    try:
        write()
    except ApiError as error:
        if error.status != 403:
            raise
        return str(error)
    return None


Ended = subprocess.CompletedProcess[str]


def environment_of(plane: ControlPlane, kubeconfig: Path | None = None) -> dict[str, str]:
    """Return environment variables with the commands on PATH and this kubeconfig; by default, the administrator's."""
    path = os.pathsep.join((str(Path(sys.executable).parent), str(plane.programs.kubectl.parent)))
    return os.environ | {"PATH": f"{path}:{os.environ['PATH']}", "KUBECONFIG": str(kubeconfig or plane.kubeconfig)}


def run(plane: ControlPlane, *arguments: str | Path, kubeconfig: Path | None = None) -> Ended:
    command = shlex.join(["kubectl", "ingress-manager", *map(str, arguments)])
    return sh(plane, command, kubeconfig=kubeconfig, check=False)


def sh(
    plane: ControlPlane,
    script: str,
    *,
    kubeconfig: Path | None = None,
    folder: Path = REPOSITORY,
    environment: dict[str, str] | None = None,
    check: bool = True,
) -> Ended:
    """Run a script until a command fails, and return the result. A failure fails the test unless `check` is false."""
    ended = subprocess.run(
        ["sh", "-e", "-c", script],  # noqa: S607
        cwd=folder,
        env=environment_of(plane, kubeconfig) | (environment or {}),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert not check or ended.returncode == 0, f"{script}\n{ended.stdout}{ended.stderr}"
    # Progress messages of slow steps depend on the machine's load.
    ended.stderr = "".join(line for line in ended.stderr.splitlines(keepends=True) if not line.startswith("… "))
    return ended


def checkout(folder: Path) -> Path:
    copied = folder / "checkout"
    shutil.copytree(REPOSITORY, copied, ignore=shutil.ignore_patterns(".*", "*.egg-info", "__pycache__"))
    (copied / ".venv").symlink_to(REPOSITORY / ".venv")
    return copied


def commands_of(page: str) -> list[str]:
    return [line for block in blocks(f"../{page}", "sh") for line in block.splitlines()]


@contextlib.contextmanager
def meanwhile(act: Callable[[], object], pause: float = 0) -> Iterator[None]:
    ended = threading.Event()

    def run() -> None:
        while not ended.wait(pause):
            act()

    with ThreadPoolExecutor(1) as threads:
        running = threads.submit(run)
        try:
            yield
        finally:
            ended.set()
    running.result()


@contextlib.contextmanager
def asking(ask: Callable[[], T]) -> Iterator[list[T | Exception]]:
    """Yield the growing list of answers to continuous requests, each on a new connection, until the context ends."""
    answers: list[T | Exception] = []

    def once() -> None:
        try:
            answers.append(ask())
        except (OSError, HTTPException, ValueError) as error:
            answers.append(error)

    with meanwhile(once):
        yield answers


# Requests, from the audit log.

READS = {"get", "list", "watch"}


def tried(cluster: DevCluster, user: str) -> set[tuple[str, str, str]]:
    """Return a user's requests to the API server as (verb, resource, subresource). Fails if any was forbidden."""
    asked = {}
    for event in cluster.control_plane.audit_events():
        if event["user"]["username"] == user:
            about = event.get("objectRef", {})
            what = (event["verb"], about.get("resource", event["requestURI"]), about.get("subresource", ""))
            asked[what] = event["annotations"]["authorization.k8s.io/decision"]
    assert [what for what, decision in asked.items() if decision == "forbid"] == []
    return set(asked)


def write_requests(cluster: DevCluster, namespace: str, resource: str = "ingresses") -> list[tuple[str, str, int]]:
    """Return (verb, name, HTTP status) of each write to a resource in a namespace, not counting its subresources."""
    found = []
    for event in cluster.control_plane.audit_events():
        about = event.get("objectRef", {})
        place = (about.get("resource"), about.get("namespace"), about.get("subresource"))
        if event["verb"] not in READS and place == (resource, namespace, None):
            # A create request that was cut off before its body was read has no name.
            found.append((event["verb"], about.get("name", ""), event["responseStatus"]["code"]))
    return found


def writes(cluster: DevCluster, namespace: str, resource: str = "ingresses") -> list[tuple[str, str]]:
    return [(verb, name) for verb, name, status in write_requests(cluster, namespace, resource) if status < 400]


@contextlib.contextmanager
def written(cluster: DevCluster, namespace: str) -> Iterator[list[tuple[str, str]]]:
    """Yield a list that, when the context ends, receives the successful writes to the namespace's Ingresses."""
    before = len(writes(cluster, namespace))
    found: list[tuple[str, str]] = []
    yield found
    found += writes(cluster, namespace)[before:]


def deleted(writes: list[tuple[str, str]]) -> set[str]:
    return {name for verb, name in writes if verb.startswith("delete")}
