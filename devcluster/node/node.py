"""A whole node: kubelet, containerd, kube-proxy and a scheduler beside the control plane, and a DNS. Pods run on it.

| step                      | after                                                         |
|---------------------------|---------------------------------------------------------------|
| the namespaces are made   | nothing: all else lives in them                               |
| the control plane starts  | the namespaces: it listens on the node's address              |
| containerd starts         |                                                               |
| its first images come     | containerd; before the kubelet, which needs `pause`           |
| kubelet and kube-proxy    | the API server: each has a token of its own                   |
| the DNS answers           | the kubelet                                                   |

Sources: the Kubernetes reference of the kubelet's and kube-proxy's configuration; containerd's docs/cri/config.md; the
specification of CNI, and its plugins bridge and host-local.
"""

import contextlib
import json
import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

import trustme
import yaml

from devcluster import build
from devcluster.api import Object, Resource, is_true, wait_for
from devcluster.build import Progress
from devcluster.control_plane import ControlPlane, Site
from devcluster.credentials import write_private
from devcluster.deployments import DEPLOYMENTS
from devcluster.errors import CommandFailed
from devcluster.node.namespaces import Namespaces
from devcluster.processes import Process, Processes
from devcluster.programs import find_programs
from devcluster.running import run
from devcluster.starting import Starting

PROGRAMS = ("containerd", "containerd-shim-runc-v2", "ctr", "kubelet", "kube-proxy", "kube-scheduler", "coredns")
"""Those that are built for a node, beside the control plane's."""

NODES = Resource("v1", "nodes", "Node", namespaced=False)

NAME = "node"
DNS = "10.96.0.10"
PODS = "10.244.0.0/16"
PAUSE, COREDNS = "localhost/pause:1", "localhost/coredns:1"
COREDNS_MANIFEST = Path(__file__).with_name("coredns.yaml")

CONTAINERD = """\
version = 3
root = "{folder}/containerd"
state = "{folder}/containerd-state"
[grpc]
  address = "{folder}/containerd.sock"
[plugins."io.containerd.cri.v1.images".pinned_images]
  sandbox = "{pause}"
[plugins."io.containerd.cri.v1.runtime"]
  disable_apparmor = true
  # For a root without CAP_SYS_RESOURCE: runc would end with "can't get final child's PID from pipe".
  restrict_oom_score_adj = true
  [plugins."io.containerd.cri.v1.runtime".cni]
    bin_dirs = ["{plugins}"]
    conf_dir = "{folder}/cni"
  [plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
"""


class Node(Starting):
    """A cluster of one node. Use it as a context manager; inside, the node is ready, and its DNS answers.

    `images` are archives that containerd is to know, COREDNS and PAUSE among them. `system` names the folders with
    runc and nft, `plugins` the one with those of CNI, and `libraries` is their LD_LIBRARY_PATH, if they need any.

    Nothing of it is left when it ends. One that was killed leaves empty control groups, and for some minutes this
    machine's end of the connection; the next one removes both.

    Entering raises DevClusterError when something needed is missing or doesn't start.
    """

    def __init__(
        self, images: Iterable[Path], *, system: Iterable[Path], plugins: Path, libraries: str, progress: Progress
    ) -> None:
        self._images = list(images)
        self._system = [str(folder) for folder in system]
        self._plugins = plugins
        self._libraries = libraries
        self._progress = progress

    def _start(self, exits: contextlib.ExitStack) -> None:
        """Start all parts, in the order that this module opens with."""
        programs = find_programs(self._progress)
        if missing := [name for name in PROGRAMS if build.built(name) is None]:
            build.build(missing, self._progress)
        after = exits.enter_context(contextlib.ExitStack())  # what comes when the processes have ended
        self._processes = exits.enter_context(Processes())
        self.folder = self._processes.folder
        self._client_file = self.folder / "kubelet-client.pem"
        self._authority_file = self.folder / "kubelet-client-ca.crt"
        self._socket = self.folder / "containerd.sock"
        self._namespaces = Namespaces(self._processes)
        after.callback(self._namespaces.close)
        self._namespaces.start()
        self.number, self.address = self._namespaces.number, self._namespaces.node
        self._certify()

        self._progress("starting etcd, the API server and containerd")
        self.control_plane = exits.enter_context(
            contextlib.closing(ControlPlane(programs, self._processes, self._site()))
        )
        self.api, self.kubeconfig = self.control_plane.api, self.control_plane.kubeconfig
        self.containerd = self._containerd()
        self.containerd.start()
        self.control_plane.start()
        self.containerd.wait_ready(self._containerd_answers)
        self._progress("loading the images")
        for image in self._images:
            self.load(image)
        self.control_plane.wait_ready()
        self.control_plane.start_controllers()

        self._progress("starting the node")
        self.kubelet, self.proxy = self._kubelet(), self._proxy()
        scheduler = str(build.folder("kube-scheduler") / "kube-scheduler")
        options = (f"--kubeconfig={self.kubeconfig}", "--leader-elect=false")
        for process in (self.add("kube-scheduler", scheduler, *options), self.kubelet, self.proxy):
            process.start()
        self.kubectl("apply", "--server-side", f"--filename={COREDNS_MANIFEST}")
        self.kubelet.wait_ready(lambda: is_true(self.api.get(NODES, NAME), "Ready"))
        wait_for(
            lambda: is_true(self.api.get(DEPLOYMENTS, "coredns", "kube-system"), "Available"), 60, what="the node's DNS"
        )

    def load(self, archive: Path) -> None:
        """Bring an image, as `docker save` writes it, to containerd. Raises CommandFailed."""
        self._ctr("images", "import", "--local", str(archive))

    def run(self, *command: str, timeout: float = 60) -> "subprocess.CompletedProcess[str]":
        """Return what a program did that sees the node's network, Pods and Services, whether it failed or not."""
        inside, environment = self._namespaces.inside(*command), self._environment()
        return subprocess.run(inside, capture_output=True, text=True, env=environment, timeout=timeout, check=False)

    def add(self, name: str, *command: str) -> Process:
        """Return a program to be started that sees the node's network, and ends with the node."""
        return self._processes.add(name, self._namespaces.inside(*command))

    def kubectl(self, *arguments: str, input: str = "") -> str:  # noqa: A002 - as subprocess.run calls it
        """Run kubectl as admin and return what it prints; raises CommandFailed with its error message."""
        return self.control_plane.kubectl(*arguments, input=input)

    def check_alive(self) -> None:
        """Raise ProcessDied when one of its processes has ended."""
        self._processes.check_alive()

    def _certify(self) -> None:
        """Write the certificate by which the kubelet knows the API server, which has no token for it."""
        authority = trustme.CA()
        authority.cert_pem.write_to_path(self._authority_file)
        client = authority.issue_cert(
            "kube-apiserver", common_name="kube-apiserver", organization_name="system:masters"
        )
        write_private(self._client_file, client.private_key_and_cert_chain_pem.bytes().decode())

    def _site(self) -> Site:
        key = "service-account.key"
        return Site(
            self.address,
            (
                "--authorization-mode=Node,RBAC",
                "--enable-admission-plugins=NodeRestriction",
                "--service-cluster-ip-range=10.96.0.0/16",
                "--allow-privileged=true",
                # `kubectl exec` and `kubectl logs`: no DNS of the API server's knows the node by its name.
                "--kubelet-preferred-address-types=InternalIP",
                f"--kubelet-client-certificate={self._client_file}",
                f"--kubelet-client-key={self._client_file}",
            ),
            (
                f"--service-account-private-key-file={key}",
                "--root-ca-file=certificates/apiserver.crt",
                "--allocate-node-cidrs=true",
                f"--cluster-cidr={PODS}",
            ),
            6443,
            self._namespaces.inside,
        )

    def _environment(self) -> dict[str, str]:
        folders = [*(str(build.folder(name)) for name in PROGRAMS), *self._system, os.environ["PATH"], "/usr/sbin"]
        extra = {"PATH": os.pathsep.join(folders)}
        if self._libraries:
            extra["LD_LIBRARY_PATH"] = self._libraries
        return self._processes.environment(extra)

    def _deep(self, name: str, *arguments: str) -> Process:
        """Return a program of the node that mounts, or starts processes that outlive it."""
        command = self._namespaces.deep_inside(str(build.folder(name) / name), *arguments)
        return self._processes.add(name, command, env=self._environment())

    def _ctr(self, *arguments: str) -> str:
        return run(build.folder("ctr") / "ctr", f"--address={self._socket}", "--namespace=k8s.io", *arguments)

    def _containerd_answers(self) -> bool:
        with contextlib.suppress(CommandFailed):
            return bool(self._ctr("version"))
        return False

    def _containerd(self) -> Process:
        config = self.folder / "containerd.toml"
        config.write_text(CONTAINERD.format(folder=self.folder, pause=PAUSE, plugins=self._plugins))
        network = {
            "cniVersion": "1.0.0",
            "name": "pods",
            "plugins": [
                {
                    "type": "bridge",
                    "bridge": "pods0",
                    "isGateway": True,
                    "hairpinMode": True,
                    "ipam": {
                        "type": "host-local",
                        "ranges": [[{"subnet": "10.244.0.0/24"}]],
                        "routes": [{"dst": "0.0.0.0/0"}],
                        "dataDir": str(self.folder / "addresses"),
                    },
                }
            ],
        }
        (self.folder / "cni").mkdir()
        (self.folder / "cni" / "pods.conflist").write_text(json.dumps(network))
        return self._deep("containerd", f"--config={config}")

    def _kubelet(self) -> Process:
        kubeconfig = self.folder / "kubelet.kubeconfig"
        self.control_plane.write_kubeconfig(kubeconfig, "node", self.control_plane.node_token)
        (self.folder / "resolv.conf").write_text("nameserver 127.0.0.1\n")  # no name is to be asked for outside
        config = {
            "apiVersion": "kubelet.config.k8s.io/v1beta1",
            "kind": "KubeletConfiguration",
            "authentication": {
                "anonymous": {"enabled": False},
                "webhook": {"enabled": True},
                "x509": {"clientCAFile": str(self._authority_file)},
            },
            "authorization": {"mode": "Webhook"},
            "cgroupDriver": "cgroupfs",
            "cgroupRoot": f"/{self._namespaces.control_group}",
            "failCgroupV1": False,
            "failSwapOn": False,
            "clusterDNS": [DNS],
            "clusterDomain": "cluster.local",
            "containerRuntimeEndpoint": f"unix://{self._socket}",
            # A laptop's disk may be nearly full.
            "evictionHard": {"nodefs.available": "1%", "imagefs.available": "1%"},
            "localStorageCapacityIsolation": False,
            "makeIPTablesUtilChains": False,
            "resolvConf": str(self.folder / "resolv.conf"),
            "volumePluginDir": str(self.folder / "volume-plugins"),
            "podLogsDir": str(self.folder / "pod-logs"),
        }
        return self._deep(
            "kubelet",
            f"--config={self._config('kubelet', config)}",
            f"--kubeconfig={kubeconfig}",
            f"--hostname-override={NAME}",
            f"--node-ip={self.address}",
            f"--root-dir={self.folder / 'kubelet'}",
        )

    def _proxy(self) -> Process:
        config = {
            "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
            "kind": "KubeProxyConfiguration",
            "mode": "nftables",
            "hostnameOverride": NAME,
            "clusterCIDR": PODS,
            "clientConnection": {"kubeconfig": str(self.kubeconfig)},
            "conntrack": {"maxPerCore": 0},  # a limit of this machine's kernel
        }
        return self._deep("kube-proxy", f"--config={self._config('kube-proxy', config)}")

    def _config(self, name: str, content: Object) -> Path:
        path = self.folder / f"{name}.yaml"
        path.write_text(yaml.safe_dump(content))
        return path
