"""Nothing of a node outlives it, nothing on it reaches another network, and this machine's kernel stays as it is."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from devcluster.api import wait_for
from devcluster.build import REPOSITORY
from devcluster.node.node import Node
from tools.node import whole

KERNEL = ("vm/overcommit_memory", "vm/panic_on_oom", "kernel/panic", "kernel/panic_on_oops", "kernel/keys/root_maxkeys")
"""The settings that a kubelet sets for its machine."""

ANOTHER = """
import sys
from devcluster.node.node import PAUSE
from tools.node import whole

with whole(lambda _: None) as node:
    node.kubectl("run", "waits", f"--image={PAUSE}", "--image-pull-policy=Never")
    node.kubectl("wait", "--for=condition=Ready", "pod/waits", "--timeout=60s")
    print(node.folder, node.number, flush=True)
    sys.stdin.read()
"""


def kernel() -> dict[str, str]:
    """Return the settings of this machine's kernel."""
    return {name: (Path("/proc/sys") / name).read_text() for name in KERNEL}


def left_of(folder: str) -> list[str]:
    """Return what is left of a node: processes, mounts, its folder."""
    commands = [(each.name, each / "cmdline") for each in Path("/proc").glob("[0-9]*")]
    left = [f"process {name}" for name, line in commands if folder in text_of(line)]
    left += [line for line in text_of(Path("/proc/mounts")).splitlines() if folder in line]
    return left + ([folder] if Path(folder).exists() else [])


def removed_by_the_next(number: int) -> list[Path]:
    """Return this machine's end of the connection to a node, and its control groups."""
    interface = Path(f"/sys/class/net/ingress-node{number}")
    return [interface] * interface.exists() + [*Path("/sys/fs/cgroup").glob(f"**/ingress-manager-node{number}")]


def text_of(path: Path) -> str:
    """Return what a file holds; nothing when it has just gone."""
    try:
        return path.read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def test_a_node_that_is_killed_leaves_nothing_but_what_the_next_one_removes() -> None:
    before = kernel()
    command = [sys.executable, "-c", ANOTHER]
    with subprocess.Popen(command, cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        folder, number = process.stdout.readline().split()
        assert left_of(folder), "what is looked for is there while the node runs"
        assert removed_by_the_next(int(number))
        os.kill(process.pid, signal.SIGKILL)
    wait_for(lambda: not left_of(folder), 60, what="the end of what was killed")
    assert kernel() == before
    with whole(print) as node:
        next_folder, next_number = str(node.folder), node.number
    assert left_of(next_folder) == []
    assert removed_by_the_next(next_number) == []
    assert kernel() == before


def test_no_packet_has_a_way_to_another_network(node: Node) -> None:
    # Nobody answers as the gateway. Any gateway would take the packet, and nothing would come back in this time.
    connect = "import socket; socket.create_connection(('192.0.2.1', 80), timeout=20)"
    tried = node.run(sys.executable, "-c", connect)
    assert "No route to host" in tried.stderr
