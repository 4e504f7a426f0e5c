"""Network, mount and process namespaces for a node: whatever runs, listens or is mounted there ends with them.

One process holds them, the first of its process namespace. When it ends, however that happens, Linux ends all others of
that namespace, and with the last of them the mounts and the network go. Two virtual interfaces connect this machine
with the node; no packet has a way from there to any other network.

Sources: unshare(1), nsenter(1), pid_namespaces(7), veth(4).
"""

import contextlib
import functools
import ipaddress
import os
import socket
import subprocess
import sys
from pathlib import Path

from devcluster.api import wait_for
from devcluster.errors import DevClusterError
from devcluster.processes import Processes
from devcluster.running import run

MOST = 250
"""How many nodes can run on one machine: each has a network and an interface of its own."""

ENTER = ("--mount", "--pid", "--net")
"""Those that unshare makes."""

FIRST = """\
set -e
mount --make-rshared /
# Programs write here whatever they are told. With a file system of their own, nothing is left of it.
for folder in /run /var/log /opt; do mount -t tmpfs tmpfs "$folder"; done
# The kubelet sets these for the whole machine. It is given files in their place.
for setting in vm/overcommit_memory vm/panic_on_oom kernel/panic kernel/panic_on_oops kernel/keys/root_maxkeys \\
  kernel/keys/root_maxbytes; do
  file="/run/$(basename "$setting")"
  cat "/proc/sys/$setting" >"$file"
  mount --bind "$file" "/proc/sys/$setting"
done
ip link set lo up
ip link add node0 type bridge
ip address add "$1" dev node0
ip link set node0 up
# Programs want a way to all other networks. It leads to nobody.
ip route add default via "$2" dev node0
echo 1 >/proc/sys/net/ipv4/ip_forward
touch "$3"
# The first process takes over each that lost its parent, and has to wait for its end.
while :; do sleep 1000000 & wait; done
"""


def lacking() -> str | None:
    """Return why there can be no such namespaces on this machine, in one sentence, or None."""
    if sys.platform != "linux":
        return "A node needs Linux."
    if os.geteuid():
        return "A node needs root: it has network and process namespaces of its own."
    command = ["unshare", *ENTER, "--fork", "--mount-proc", "true"]
    tried = subprocess.run(command, capture_output=True, text=True, check=False)
    if tried.returncode:
        return f"A node needs namespaces of its own, and this machine gives none: {tried.stderr.strip()}."
    return None


class Namespaces:
    """The namespaces of a node. They end with the process that holds them, which `processes` ends."""

    def __init__(self, processes: Processes) -> None:
        self.number, self._taken = take_number()
        # Of those networks that are for tests of networks (RFC 2544), so that nobody else's is hidden.
        self._network = ipaddress.ip_network(f"198.19.{self.number}.0/24")
        self.node = str(self._network[1])
        """The node's address."""
        self.control_group = f"ingress-manager-node{self.number}"
        self._ready = processes.folder / "namespaces-are-ready"
        unshare = ["unshare", *ENTER, "--fork", "--kill-child", "--mount-proc", "sh", "-c", FIRST, "sh"]
        addresses = [f"{self.node}/{self._network.prefixlen}", str(self._network[254])]
        self._first = processes.add("namespaces", [*unshare, *addresses, str(self._ready)])

    def start(self) -> None:
        """Make them, and connect this machine. Raises DevClusterError."""
        self._clean()  # of a node that was killed
        self._first.start()
        self._first.wait_ready(self._ready.exists)
        interface = interface_of(self.number)
        for command in (
            f"link add {interface} type veth peer name machine netns {self._first.pid}",
            f"address add {self._network[2]}/{self._network.prefixlen} dev {interface}",
            f"link set {interface} up",
        ):
            run("ip", *command.split())
        run(*self.inside("ip", "link", "set", "machine", "master", "node0", "up"))
        make_control_group(self.control_group)

    def close(self) -> None:
        """Remove what the processes have left when they have ended. Raises NotReady."""
        self._clean()
        self._taken.close()

    def _clean(self) -> None:
        # A connection that nobody answers any more keeps the network for minutes, which nobody else can see.
        subprocess.run(["ip", "link", "delete", interface_of(self.number)], capture_output=True, check=False)
        remove_control_groups(self.control_group)

    def inside(self, *command: str) -> list[str]:
        """Return the command that runs another one in the node's network, and else here."""
        return ["nsenter", f"--net=/proc/{self._first.pid}/ns/net", *command]

    def deep_inside(self, *command: str) -> list[str]:
        """Return the command that runs another one in all of the namespaces."""
        found = f"/proc/{self._first.pid}/ns"
        return ["nsenter", f"--net={found}/net", f"--mount={found}/mnt", f"--pid={found}/pid_for_children", *command]


def take_number() -> tuple[int, socket.socket]:
    """Return the number of a node that no other one on this machine has, and what keeps it until it is closed.

    Linux takes it back from a process that has ended, however that came. Raises DevClusterError when all are taken.
    """
    for number in range(MOST):
        taken = socket.socket(socket.AF_UNIX)
        try:
            taken.bind(f"\0ingress-manager-node{number}")
        except OSError:
            taken.close()
            continue
        return number, taken
    raise DevClusterError(f"{MOST} nodes run on this machine, and there can be no more.")


def interface_of(number: int) -> str:
    """Return the name of this machine's end of the connection to a node."""
    return f"ingress-node{number}"


def remove_control_groups(name: str) -> None:
    """Remove the control groups of this name, which nothing runs in any more. Raises NotReady when something does."""
    mounted = Path("/sys/fs/cgroup")
    for root in (mounted, *mounted.glob("*/")):
        for folder, _, _ in os.walk(root / name, topdown=False):
            # The last of its processes may be just ending.
            wait_for(functools.partial(removed, Path(folder)), 10, what=f"the end of all in the control group {folder}")


def make_control_group(name: str) -> None:
    """Make a control group of this name, of each kind of resource that this machine counts."""
    mounted = Path("/sys/fs/cgroup")
    of_each_kind = [] if (mounted / "cgroup.controllers").exists() else mounted.glob("*/")
    for root in of_each_kind or [mounted]:
        (root / name).mkdir()
    # In version 1, a group has as much of the CPU as one process beside it. The kubelet gives all Pods this much.
    with contextlib.suppress(FileNotFoundError):
        (mounted / "cpu" / name / "cpu.shares").write_text(str(1024 * (os.cpu_count() or 1)))


def removed(folder: Path) -> bool:
    """Remove a control group; return whether nothing is in it any more."""
    try:
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True
