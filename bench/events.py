"""What an event costs: of a stranger's Ingress, of a new Service, and of a new label on a Service."""

import time
from collections import Counter

from bench.figures import Figure, at_most, exactly
from bench.load import create, create_namespace, how_many, service
from bench.metrics import cpu_seconds, read_answers
from devcluster.api import INGRESSES, SERVICES, wait_for
from devcluster.build import Progress
from devcluster.cluster import DevCluster
from ingress_manager.core.decide import RECHECK_SECONDS

EVENTS = 500
"""CPU time is counted in hundredths of a second: with fewer events, 0.3 ms for each could not be told from nothing."""

NEW_SERVICES = 20
READS = ("get", "list", "watch")


def stranger_figures(cluster: DevCluster, progress: Progress) -> list[Figure]:
    """Return what each change of an Ingress that isn't ours costs each part. The engine has to be idle before."""
    progress(f"changing a stranger's Ingress {EVENTS} times")
    stranger = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
        "metadata": {"name": "stranger", "namespace": "default"},
        "spec": {"defaultBackend": {"service": {"name": "stranger", "port": {"number": 80}}}},
    }
    cluster.api.create(INGRESSES, stranger)
    time.sleep(1)
    before, calls = cpu_seconds(cluster), read_answers(cluster)
    for number in range(EVENTS):
        cluster.api.patch(INGRESSES, "stranger", {"metadata": {"labels": {"number": str(number)}}}, "default")
    time.sleep(2)
    after, calls_after = cpu_seconds(cluster), read_answers(cluster)
    cluster.api.delete(INGRESSES, "stranger", "default")
    milliseconds = {part: 1000 * (after[part] - before[part]) / EVENTS for part in after}
    return [
        at_most("CPU of the engine for an event of a stranger's Ingress", milliseconds["engine"], 1, "{:.2f} ms"),
        Figure("of the API server, which makes the change too", f"{milliseconds['API server']:.2f} ms"),
        Figure("of the hook", f"{milliseconds['hook']:.2f} ms"),
        exactly("sync calls for each", f"{(calls_after - calls) / EVENTS:.2f}", "0.00"),
    ]


def own_figures(cluster: DevCluster, progress: Progress) -> list[Figure]:
    """Return the sync calls and the writes for new Services, and for a new label. The engine has to be idle before."""
    namespace = "new"
    create_namespace(cluster, namespace)
    names = [f"new{number}" for number in range(NEW_SERVICES)]
    progress(f"counting what {NEW_SERVICES} new Services cost")
    written, calls = writes(cluster), read_answers(cluster)
    began = time.monotonic()
    create(cluster, SERVICES, (service(namespace, name) for name in names))
    wait_for(lambda: how_many(cluster, namespace) == NEW_SERVICES, what="the Ingresses of the new Services")
    time.sleep(max(0.0, began + 0.75 * min(RECHECK_SECONDS) - time.monotonic()))
    calls_at_once = read_answers(cluster)
    time.sleep(max(RECHECK_SECONDS))
    calls_later, written_for_new = read_answers(cluster), writes(cluster) - written

    progress(f"counting what a new label costs each of {NEW_SERVICES} Services")
    for name in names:
        cluster.api.patch(SERVICES, name, {"metadata": {"labels": {"touched": "yes"}}}, namespace)
    time.sleep(2)
    calls_for_label = read_answers(cluster) - calls_later
    written_for_label = writes(cluster) - written - written_for_new
    to_services = {what: number for what, number in writes(cluster).items() if what.endswith(" services")}
    return [
        exactly("sync calls for a new Service, at once", per_service(calls_at_once - calls), "2.00"),
        exactly("and when the check of resyncAfterSeconds comes due", per_service(calls_later - calls_at_once), "1.00"),
        exactly("writes for a new Service", per_service_by_kind(written_for_new), "1.00 create ingresses"),
        exactly("sync calls for a new label", per_service(calls_for_label), "1.00"),
        exactly("writes for a new label", per_service_by_kind(written_for_label), "none"),
        exactly("writes to Services since the start", per_service_by_kind(Counter(to_services)), "none"),
    ]


def per_service(count: int) -> str:
    """Return a count, divided by the number of new Services."""
    return f"{count / NEW_SERVICES:.2f}"


def per_service_by_kind(counts: Counter[str]) -> str:
    """Return the counts of each kind, divided by the number of new Services."""
    return ", ".join(f"{per_service(count)} {kind}" for kind, count in sorted(counts.items())) or "none"


def writes(cluster: DevCluster) -> Counter[str]:
    """Return how often the engine has written to Services and Ingresses so far, from the API server's audit log."""
    return Counter(
        f"{event['verb']} {event['objectRef']['resource']}"
        for event in cluster.audit_events()
        if event["user"]["username"] == cluster.engine_user
        and event["verb"] not in READS
        and event.get("objectRef", {}).get("resource") in {"services", "ingresses"}
    )
