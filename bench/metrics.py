"""The hook's own count of its answers, which costs it nothing that a user's hook doesn't pay."""

import contextlib
import http.client
from urllib.parse import urlsplit

from prometheus_client.parser import text_string_to_metric_families

from devcluster.errors import DevClusterError

ANSWERS = "ingress_manager_answers_total"


def read_answers(hook_url: str) -> int:
    """Return how many sync calls the hook has answered so far. Raises DevClusterError when it doesn't say."""
    with contextlib.closing(http.client.HTTPConnection(urlsplit(hook_url).netloc, timeout=10)) as hook:
        hook.request("GET", "/metrics")
        return answers(hook.getresponse().read().decode())


def answers(text: str) -> int:
    """Return the answers of all codes in metrics of Prometheus' text format.

    Raises DevClusterError when there are none: not even a count of zero.
    """
    counts = [
        sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == ANSWERS
    ]
    if not counts:
        raise DevClusterError(f"the hook's metrics hold no {ANSWERS}")
    return int(sum(counts))
