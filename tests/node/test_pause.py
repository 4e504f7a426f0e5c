"""What holds the namespaces of a Pod."""

from devcluster.api import wait_for
from devcluster.node.node import Node
from tools.node_images import HOOK

POD = f"""
apiVersion: v1
kind: Pod
metadata:
  name: shares-processes
spec:
  shareProcessNamespace: true
  containers:
  - name: leaves-orphans
    image: {HOOK}
    imagePullPolicy: Never
    # The first sleep has lost its parent when it ends.
    command: [sh, -c, "sh -c 'sleep 1 &'; exec sleep 1000"]
"""


def test_it_is_the_parent_of_orphans_and_none_stays_as_a_zombie(node: Node) -> None:
    node.kubectl("apply", "--filename=-", input=POD)
    try:
        node.kubectl("wait", "--for=condition=Ready", "pod/shares-processes", "--timeout=60s")
        names = "exec", "shares-processes", "--", "sh", "-c", "exec cat /proc/[0-9]*/comm"
        wait_for(
            lambda: sorted(node.kubectl(*names).split()) == ["cat", "pause", "sleep"], 30, what="the end of the orphan"
        )
    finally:
        node.kubectl("delete", "pod", "shares-processes", "--now")
