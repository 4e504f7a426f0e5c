"""What the benchmark reads of a cluster's parts: the CPU that they use, and the hook's own count of its answers.

The count costs the hook nothing that a user's hook doesn't pay.
"""

import requests
from prometheus_client.parser import text_string_to_metric_families

from devcluster.cluster import DevCluster
from devcluster.errors import DevClusterError

ANSWERS = "ingress_manager_answers_total"


def cpu_seconds(cluster: DevCluster) -> dict[str, float]:
    """Return the CPU seconds that each part has used so far."""
    return {name: process.cpu_seconds() for name, process in cluster.parts.items()}


def read_answers(cluster: DevCluster) -> int:
    """Return how many sync calls the hook has answered so far, by whatever code.

    Raises DevClusterError when the hook doesn't say: not even a count of zero.
    """
    families = text_string_to_metric_families(requests.get(f"{cluster.hook_url}/metrics", timeout=10).text)
    counts = [sample.value for family in families for sample in family.samples if sample.name == ANSWERS]
    if not counts:
        raise DevClusterError(f"the hook's metrics hold no {ANSWERS}")
    return int(sum(counts))
