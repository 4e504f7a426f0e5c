"""A whole node, which runs Pods: kubelet, containerd, kube-proxy, a scheduler and DNS beside the control plane.

It needs root on Linux, and Debian's runc, containernetworking-plugins, nftables and iproute2. The node's programs run
in the network, mount and PID namespaces of one process. When that process ends, even by SIGKILL, Linux kills all
processes in its PID namespace, and then removes the mounts and the network. A veth pair connects this machine with the
node; packets from the node can't reach any other network.

Sources: the Kubernetes configuration reference for the kubelet and kube-proxy; containerd's docs/cri/config.md;
unshare(1), nsenter(1), veth(4).
"""

import contextlib
import json
import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import yaml

from devcluster import build
from devcluster.api import Resource, is_true, wait_for
from devcluster.control_plane import ControlPlane, Site
from devcluster.deployments import DEPLOYMENTS
from devcluster.errors import MissingProgram
from devcluster.processes import Process, Processes, run
from devcluster.programs import find_programs

PROGRAMS = ("containerd", "containerd-shim-runc-v2", "ctr", "kubelet", "kube-proxy", "kube-scheduler", "coredns")
"""The programs to build for a node, in addition to the control plane's."""

NODES = Resource("v1", "nodes", "Node", namespaced=False)

ADDRESS = "198.19.0.1"
"""The node's address. It is in a range reserved for network benchmarks (RFC 2544), so it hides no real network."""

DNS, PODS, PLUGINS = "10.96.0.10", "10.244.0.0/16", Path("/usr/lib/cni")
GROUP = "ingress-manager-node"
"""The name of the cgroup that contains all Pods."""

INTERFACE = "ingress-node"
"""This machine's end of the veth pair that connects it with the node."""

PAUSE = "localhost/pause:1"

FIRST = """\
set -e
mount --make-rshared /
# Programs write here, whatever their options. A tmpfs leaves nothing behind.
for folder in /run /var/log /opt; do mount -t tmpfs tmpfs "$folder"; done
# The kubelet would set these for the whole machine, so files are mounted over them.
for setting in vm/overcommit_memory vm/panic_on_oom kernel/panic kernel/panic_on_oops kernel/keys/root_maxkeys \\
  kernel/keys/root_maxbytes; do
  file="/run/$(basename "$setting")"
  cat "/proc/sys/$setting" >"$file"
  mount --bind "$file" "/proc/sys/$setting"
done
ip link set lo up
ip link add node0 type bridge
ip address add 198.19.0.1/24 dev node0
ip link set node0 up
# Programs require a default route. No machine has this gateway's address.
ip route add default via 198.19.0.254 dev node0
echo 1 >/proc/sys/net/ipv4/ip_forward
touch "$1"
# The first process adopts orphaned processes and has to reap them.
while :; do sleep 1000000 & wait; done
"""

NODES_APISERVER = """\
--authorization-mode=Node,RBAC --enable-admission-plugins=NodeRestriction --service-cluster-ip-range=10.96.0.0/16
--allow-privileged=true"""
NODES_CONTROLLERS = """\
--service-account-private-key-file=service-account.key --root-ca-file=certificates/apiserver.crt
--allocate-node-cidrs=true"""

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
  # For root without CAP_SYS_RESOURCE: runc would fail with "can't get final child's PID from pipe".
  restrict_oom_score_adj = true
  [plugins."io.containerd.cri.v1.runtime".cni]
    bin_dirs = ["{plugins}"]
    conf_dir = "{folder}/cni"
  [plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
"""


def require() -> None:
    """Raise MissingProgram if no node can run on this machine."""
    if os.geteuid():
        raise MissingProgram("A node needs root on Linux, because it creates network and process namespaces.")
    missing = [name for name in ("runc", "nft", "ip", "unshare") if shutil.which(name, path=search_path()) is None]
    if missing or not (PLUGINS / "bridge").exists():
        packages = "runc containernetworking-plugins nftables iproute2"
        raise MissingProgram(f"A node needs Debian's packages {packages} (missing: {', '.join(missing) or PLUGINS}).")


def search_path() -> str:
    """Return the search path for the node's programs: PATH, and /usr/sbin, which isn't on every Debian user's PATH."""
    return os.pathsep.join((os.environ["PATH"], "/usr/sbin"))


class Node(Processes):
    """A cluster with one node. Use it as a context manager; once it is entered, the node is ready and its DNS answers.

    `images` are archives to import into containerd; they must include PAUSE and CoreDNS. Only one node can run on a
    machine. Entering raises DevClusterError if something needed is missing or doesn't start.
    """

    def __init__(self, images: Iterable[Path], progress: build.Progress) -> None:
        super().__init__()
        self._images, self._progress = list(images), progress

    def __exit__(self, *_: object) -> None:
        super().__exit__()
        remove_left_over()

    def start(self) -> None:
        """Start the control plane, containerd and the node, and wait for its DNS."""
        programs = find_programs(self._progress)
        build.build(PROGRAMS, self._progress)
        remove_left_over()  # of a node that was killed
        self._make_namespaces()

        self._progress("starting etcd, the API server and containerd")
        controllers = (*NODES_CONTROLLERS.split(), f"--cluster-cidr={PODS}")
        site = Site(ADDRESS, tuple(NODES_APISERVER.split()), controllers, 6443, self._in_node_network)
        self.control_plane = ControlPlane(programs, self, site)
        self.api = self.control_plane.api
        containerd = self._containerd()
        containerd.start()
        self.control_plane.start()
        containerd.wait_ready((self.folder / "containerd.sock").exists)
        self._progress("loading the images")
        for image in self._images:  # before the kubelet, which needs PAUSE
            socket = f"--address={self.folder / 'containerd.sock'}"
            run(build.folder("ctr") / "ctr", socket, "--namespace=k8s.io", "images", "import", "--local", image)
        self.control_plane.wait_ready()
        self.control_plane.start_controllers()

        self._progress("starting the node")
        kubelet = self._kubelet()
        options = (f"--kubeconfig={self.control_plane.kubeconfig}", "--leader-elect=false")
        for process in (self._node_process("kube-scheduler", *options), kubelet, self._proxy()):
            process.start()
        self.control_plane.kubectl("apply", "--server-side", f"--filename={Path(__file__).with_name('coredns.yaml')}")
        kubelet.wait_ready(lambda: is_true(self.api.get(NODES, "node"), "Ready"))
        dns = ("coredns", "kube-system")
        wait_for(lambda: is_true(self.api.get(DEPLOYMENTS, *dns), "Available"), 60, what="the node's DNS")

    def _make_namespaces(self) -> None:
        ready = self.folder / "namespaces-are-ready"
        unshare = ["unshare", "--mount", "--pid", "--net", "--fork", "--kill-child", "--mount-proc"]
        self._first = self.add("namespaces", [*unshare, "sh", "-c", FIRST, "sh", str(ready)])
        self._first.start()
        self._first.wait_ready(ready.exists)
        for command in (
            f"link add {INTERFACE} type veth peer name machine netns {self._first.pid}",
            f"address add 198.19.0.2/24 dev {INTERFACE}",
            f"link set {INTERFACE} up",
        ):
            run("ip", *command.split())
        run(*self._in_node_network("ip", "link", "set", "machine", "master", "node0", "up"))
        for root in control_groups():
            root.mkdir()

    def _in_node_network(self, *command: str) -> list[str]:
        """Wrap a command to run in the node's network namespace, but not in its mount and PID namespaces."""
        return ["nsenter", f"--net=/proc/{self._first.pid}/ns/net", *command]

    def _node_process(self, name: str, *arguments: str) -> Process:
        """Add a process in all namespaces of the node, for programs that mount folders or leave children behind."""
        proc = f"/proc/{self._first.pid}/ns"
        enter = ["nsenter", f"--net={proc}/net", f"--mount={proc}/mnt", f"--pid={proc}/pid_for_children"]
        folders = [*(str(build.folder(program)) for program in PROGRAMS), search_path()]
        environment = self.environment({"PATH": os.pathsep.join(folders)})
        return self.add(name, [*enter, str(build.folder(name) / name), *arguments], env=environment)

    def _containerd(self) -> Process:
        config = self.folder / "containerd.toml"
        config.write_text(CONTAINERD.format(folder=self.folder, pause=PAUSE, plugins=PLUGINS))
        network = {"type": "bridge", "bridge": "pods0", "isGateway": True, "hairpinMode": True}
        ranges = {"ranges": [[{"subnet": "10.244.0.0/24"}]], "routes": [{"dst": "0.0.0.0/0"}]}
        network["ipam"] = {"type": "host-local", **ranges, "dataDir": str(self.folder / "addresses")}
        (self.folder / "cni").mkdir()
        pods = {"cniVersion": "1.0.0", "name": "pods", "plugins": [network]}
        (self.folder / "cni" / "pods.conflist").write_text(json.dumps(pods))
        return self._node_process("containerd", f"--config={config}")

    def _kubelet(self) -> Process:
        kubeconfig = self.folder / "kubelet.kubeconfig"
        self.control_plane.write_kubeconfig(kubeconfig, "node", self.control_plane.node_token)
        (self.folder / "resolv.conf").write_text("nameserver 127.0.0.1\n")  # resolves no names outside the node
        config = {
            "apiVersion": "kubelet.config.k8s.io/v1beta1",
            "kind": "KubeletConfiguration",
            "authentication": {"anonymous": {"enabled": False}, "webhook": {"enabled": True}},
            "authorization": {"mode": "Webhook"},
            "cgroupDriver": "cgroupfs",
            "cgroupRoot": f"/{GROUP}",
            "failCgroupV1": False,
            "failSwapOn": False,
            "clusterDNS": [DNS],
            "clusterDomain": "cluster.local",
            "containerRuntimeEndpoint": f"unix://{self.folder / 'containerd.sock'}",
            # A laptop's disk may be nearly full.
            "evictionHard": {"nodefs.available": "1%", "imagefs.available": "1%"},
            "localStorageCapacityIsolation": False,
            "makeIPTablesUtilChains": False,
            "resolvConf": str(self.folder / "resolv.conf"),
            "volumePluginDir": str(self.folder / "volume-plugins"),
            "podLogsDir": str(self.folder / "pod-logs"),
        }
        (self.folder / "kubelet.yaml").write_text(yaml.safe_dump(config))
        options = (f"--config={self.folder / 'kubelet.yaml'}", f"--kubeconfig={kubeconfig}")
        local = ("--hostname-override=node", f"--node-ip={ADDRESS}", f"--root-dir={self.folder / 'kubelet'}")
        return self._node_process("kubelet", *options, *local)

    def _proxy(self) -> Process:
        options = ("--proxy-mode=nftables", "--hostname-override=node", f"--cluster-cidr={PODS}")
        limit = "--conntrack-max-per-core=0"  # keeps the limit of this machine's kernel
        return self._node_process("kube-proxy", f"--kubeconfig={self.control_plane.kubeconfig}", *options, limit)


def control_groups() -> list[Path]:
    """Return the paths of the node's cgroup: one path with cgroup v2, or one path per controller with v1."""
    mounted = Path("/sys/fs/cgroup")
    return [root / GROUP for root in ([mounted] if (mounted / "cgroup.controllers").exists() else mounted.glob("*/"))]


def remove_left_over() -> None:
    """Remove the veth pair and the cgroups of a node that has ended."""
    # Otherwise, connections without a peer would keep the network namespace alive for minutes.
    subprocess.run(["ip", "link", "delete", INTERFACE], capture_output=True, check=False)
    for root in control_groups():
        for folder, _, _ in os.walk(root, topdown=False):
            with contextlib.suppress(FileNotFoundError):
                Path(folder).rmdir()
