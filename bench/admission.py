"""What the answer at `kubectl apply` costs: Services created with the webhook, and without it.

Both take turns on one API server. On a machine that is now faster and now slower, only what was measured side by side
can be compared. The engine is stopped: it would make Ingresses meanwhile.
"""

from statistics import median

from bench.catch_up import counted
from bench.figures import Figure, Section, at_least
from bench.load import create, create_namespace, service
from devcluster.admission import says_something
from devcluster.api import SERVICES, WEBHOOKS, wait_for
from devcluster.build import Progress, build
from devcluster.cluster import DevCluster
from devcluster.errors import DevClusterError
from devcluster.overlay import CONTROLLER

ROUNDS, COUNT = 5, 1000


def admission_section(engine: str, progress: Progress) -> Section:
    """Return what the webhook costs where Services are created with it and without it."""
    build(["loadgen"], progress)
    with DevCluster(engine, admission=True, progress=progress) as cluster:
        if cluster.admission is None:
            raise DevClusterError("a cluster with the webhook has none")
        cluster.engine.stop()
        webhooks = (cluster.api.get(WEBHOOKS, CONTROLLER) or {})["webhooks"]
        seconds: dict[bool, list[float]] = {False: [], True: []}
        cpu = 0.0
        for number in range(ROUNDS + 1):
            for asked in (False, True):
                namespace = f"round-{number}-{'with' if asked else 'without'}-the-webhook"
                progress(f"creating {COUNT:,} Services: {namespace}")
                cluster.api.patch(WEBHOOKS, CONTROLLER, {"webhooks": webhooks if asked else []})
                wait_for(lambda asked=asked: says_something(cluster.api) == asked, 60, what="the webhook")  # type: ignore[misc]
                before = cluster.admission.process.cpu_seconds()
                create_namespace(cluster, namespace)
                created = create(cluster, SERVICES, (service(namespace, f"s{number}") for number in range(COUNT)))
                seconds[asked].append(created)
                cpu += cluster.admission.process.cpu_seconds() - before
        answered = counted(cluster.admission.metrics(), "ingress_manager_admissions_total", answer="allowed")
    # The first round fills caches.
    without, with_it = ([COUNT / each for each in seconds[asked][1:]] for asked in (False, True))
    each = 1000 * cpu / (COUNT * (ROUNDS + 1))
    return Section(
        f"{COUNT:,} Services created with the webhook and without it, in turns",
        [
            Figure("Services created a second without it", f"{median(without):,.0f}"),
            Figure("with it", f"{median(with_it):,.0f}"),
            at_least(
                "with it / without it: the median of the rounds",
                median(one / other for one, other in zip(with_it, without, strict=True)),
                0.8,
                "{:.2f}",
            ),
            Figure("CPU of the webhook for each", f"{each:.2f} ms"),
            # The API server may ask once more, about a Service that it has to try again.
            at_least("how often it was asked, and answered", answered, COUNT * (ROUNDS + 1), "{:,}"),
        ],
    )
