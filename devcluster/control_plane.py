"""The control plane: etcd, kube-apiserver, and kube-controller-manager.

By default (`ALONE`), the cluster has no nodes, and its only controllers are those that delete objects or fill in the
ClusterRoles `view`, `edit` and `admin`. Without a scheduler, a kubelet and a Deployment controller, Pods and
Deployments are stored but nothing runs; deployments.py reports the Deployments' status. node.py adds a node.
"""

import json
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import trustme
import yaml

from devcluster.api import NAMESPACES, Api, wait_for
from devcluster.processes import Process, Processes, run
from devcluster.programs import Programs

AUDIT_POLICY = Path(__file__).with_name("audit-policy.yaml")

CONTROLLERS = ("clusterrole-aggregation-controller", "garbage-collector-controller", "namespace-controller")
"""The controllers of kube-controller-manager that run in a cluster without nodes."""


@dataclass(frozen=True)
class Site:
    """Where a control plane listens, and how its programs are started."""

    address: str
    apiserver: tuple[str, ...]
    """Additional options for kube-apiserver."""
    controller_manager: tuple[str, ...]
    """Additional options for kube-controller-manager."""
    port: int | None = None
    """The API server's port; None chooses a free one."""
    inside: Callable[..., list[str]] = lambda *command: list(command)
    """Wraps a command so that it runs where the control plane should, for example in a node's network namespace."""


ALONE = Site(
    "127.0.0.1",
    (
        "--permit-port-sharing",  # see Processes.port
        "--endpoint-reconciler-type=none",  # it would fail: Endpoints must not contain a loopback address
        "--authorization-mode=RBAC",
        # The plugin needs a ServiceAccount named default in each namespace, and no controller creates it here.
        "--disable-admission-plugins=ServiceAccount",
        # Each ClusterIP is a loopback address, so that a Service's backend can listen on it.
        "--service-cluster-ip-range=127.10.0.0/16",
    ),
    (f"--controllers={','.join(CONTROLLERS)}",),
)
"""A control plane on loopback, without nodes."""


class ControlPlane:
    """A control plane. It adds its programs to `processes` and keeps its files in `processes.folder`.

    Call `start`, `wait_ready`, then `start_controllers`. All raise ProcessDied; the first two also raise NotReady.
    """

    def __init__(self, programs: Programs, processes: Processes, site: Site = ALONE) -> None:
        self.programs, self.processes, self.folder, self._site = programs, processes, processes.folder, site
        self._port = site.port or processes.port()
        self.url = f"https://{site.address}:{self._port}"
        self.ca_file = self.folder / "certificates" / "apiserver.crt"
        self.kubeconfig = self.folder / "admin.kubeconfig"
        self.audit_log = self.folder / "audit.log"
        self.admin_token, self._manager_token, self.node_token = (secrets.token_urlsafe(24) for _ in range(3))
        self.api = Api(self.url, self.admin_token, self.ca_file)
        self.etcd = self._etcd()
        self.apiserver = self._apiserver()
        self.controller_manager = self._controller_manager()

    def start(self) -> None:
        """Start etcd and the API server, and return before the API server is ready."""
        self.etcd.start()
        # An API server that finds no socket waits a second before it tries again.
        self.etcd.wait_ready((self.folder / "etcd.sock").exists)
        self.apiserver.start()

    def wait_ready(self) -> None:
        """Wait for the API server, its RBAC defaults and the namespace `default`, and write the kubeconfigs."""
        self.apiserver.wait_ready(self.api.ready)
        self.write_kubeconfig(self.kubeconfig, "admin", self.admin_token)
        managers = self.folder / "controller-manager.kubeconfig"
        self.write_kubeconfig(managers, "kube-controller-manager", self._manager_token)
        wait_for(lambda: self.api.get(NAMESPACES, "default"), what="the namespace default")

    def start_controllers(self) -> None:
        """Start kube-controller-manager, and return before it is ready.

        CRDs should already exist, because the garbage collector looks for new ones only every 30 seconds.
        """
        self.controller_manager.start()

    def write_kubeconfig(self, path: Path, user: str, token: str) -> None:
        """Write a kubeconfig with `user`'s token. Only the current OS user can read the file."""
        name = "ingress-manager"
        content = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": name, "cluster": {"server": self.url, "certificate-authority": str(self.ca_file)}}],
            "users": [{"name": user, "user": {"token": token}}],
            "contexts": [{"name": name, "context": {"cluster": name, "user": user}}],
            "current-context": name,
        }
        write_private(path, yaml.safe_dump(content, sort_keys=False))

    def kubectl(self, *arguments: str, input: str = "") -> str:  # noqa: A002 - as subprocess.run calls it
        """Run kubectl as admin, ignoring user preferences, and return its output. Raises CommandFailed."""
        environment = self.processes.environment({"KUBECONFIG": str(self.kubeconfig)})
        return run(self.programs.kubectl, *arguments, input=input, env=environment)

    def version(self) -> str:
        """Return the Kubernetes version, for example v1.36.3."""
        return str(self.api.request("GET", "/version")["gitVersion"])

    def check_alive(self) -> None:
        """Raise ProcessDied if one of the control plane's processes has ended."""
        for process in (self.etcd, self.apiserver, self.controller_manager):
            process.check_alive()

    def audit_events(self) -> Iterator[dict[str, Any]]:
        """Yield the current entries of the audit log, oldest first. Each is an Event of audit.k8s.io/v1."""
        if self.audit_log.exists():
            with self.audit_log.open() as lines:
                # A last line without a newline is still being written.
                yield from (json.loads(line) for line in lines if line.endswith("\n"))

    def _etcd(self) -> Process:
        # etcd listens on Unix sockets in our folder, which no other user can open. Their paths are relative, because
        # socket paths must be short. etcd has to advertise TCP addresses, but nothing uses them.
        return self._process(
            self.programs.etcd,
            "--data-dir=etcd",
            "--unsafe-no-fsync",  # the data needn't survive a power cut
            "--listen-client-urls=unix://etcd.sock",
            "--advertise-client-urls=http://127.0.0.1:2379",
            "--listen-peer-urls=unix://etcd-peer.sock",
            "--initial-advertise-peer-urls=http://127.0.0.1:2380",
            "--initial-cluster=default=http://127.0.0.1:2380",
            "--enable-grpc-gateway=false",
            "--log-level=warn",
        )

    def _apiserver(self) -> Process:
        # Any key can sign the tokens of ServiceAccounts.
        trustme.CA().private_key_pem.write_to_path(self.folder / "service-account.key")
        # Usually, each controller in the controller manager has its own ServiceAccount. Here they share one user, which
        # may do everything and has its own name in the audit log.
        write_private(
            self.folder / "tokens.csv",
            f'{self.admin_token},admin,admin,"system:masters"\n'
            f'{self._manager_token},system:kube-controller-manager,controller-manager,"system:masters"\n'
            f'{self.node_token},system:node:node,node,"system:nodes"\n',
        )
        return self._process(
            self.programs.kube_apiserver,
            "--etcd-servers=unix://etcd.sock",
            f"--bind-address={self._site.address}",
            f"--advertise-address={self._site.address}",
            f"--secure-port={self._port}",
            "--cert-dir=certificates",  # where the API server creates its certificate and the CA's
            "--token-auth-file=tokens.csv",
            "--service-account-issuer=https://kubernetes.default.svc",
            "--service-account-key-file=service-account.key",
            "--service-account-signing-key-file=service-account.key",
            f"--audit-policy-file={AUDIT_POLICY}",
            f"--audit-log-path={self.audit_log}",
            "--audit-log-maxsize=0",  # one file, however large
            # No limits on requests: benchmarks would measure the limits.
            "--enable-priority-and-fairness=false",
            "--max-requests-inflight=0",
            "--max-mutating-requests-inflight=0",
            *self._site.apiserver,
        )

    def _controller_manager(self) -> Process:
        return self._process(
            self.programs.kube_controller_manager,
            "--kubeconfig=controller-manager.kubeconfig",
            *self._site.controller_manager,
            "--secure-port=0",  # no port: nothing checks its health
            "--leader-elect=false",
            # With the default limits it deletes 14 to 20 objects a second.
            "--kube-api-qps=2000",
            "--kube-api-burst=4000",
        )

    def _process(self, path: Path, *arguments: str) -> Process:
        return self.processes.add(path.name, self._site.inside(str(path), *arguments))


def read_kubeconfig(path: Path) -> tuple[str, Path, str]:
    """Return (server URL, CA file, token) from a kubeconfig that `write_kubeconfig` wrote."""
    content = yaml.safe_load(path.read_text())
    [cluster], [user] = content["clusters"], content["users"]
    return cluster["cluster"]["server"], Path(cluster["cluster"]["certificate-authority"]), user["user"]["token"]


def write_private(path: Path, text: str) -> None:
    """Write a file that only the current user can read."""
    path.touch(mode=0o600)
    path.write_text(text)
