"""What failed waits in one queue of Metacontroller's, for all tenants. One of them can't fill it."""

import contextlib
from concurrent.futures import ThreadPoolExecutor

import pytest

from devcluster.api import INGRESSES, NAMESPACES, SERVICES, path_of
from devcluster.cluster import DevCluster
from devcluster.story import Stage
from tests.e2e.objects import by_hand, create
from tests.e2e.people import tenant_of

PATCHES = 1000
"""If each failed, and made an Event, what fails next would wait for a minute and a half."""


@pytest.mark.parametrize("value", ["yes", "true"])
def test_who_patches_all_the_time_services_that_are_refused_or_whose_name_is_taken_delays_nobody(
    value: str, cluster: DevCluster, stage: Stage
) -> None:
    names = [f"wrong-{number}" for number in range(12)]
    attacker = f"{stage.namespace}-attacker"
    create(stage.api, NAMESPACES, attacker)
    with contextlib.closing(tenant_of(cluster.control_plane, attacker, rights=(SERVICES, INGRESSES))) as tenant:
        for name in names:
            tenant.create(INGRESSES, by_hand(attacker, name, f"{name}.example.com", name))
            Stage(tenant, attacker).create_service(name, {"ingress/http": value})

        def patch(number: int) -> None:
            change = {"metadata": {"labels": {"patched": f"{number}"}}}
            tenant.request("PATCH", path_of(SERVICES, attacker, names[number % 12]), body=change)

        with ThreadPoolExecutor(4) as threads:
            list(threads.map(patch, range(PATCHES)))
    stage.create_service("mistaken", {"ingress/http": "yes"})
    stage.until_event("mistaken", "must be")
    stage.annotate("mistaken", "true")
    stage.until_ingress("mistaken", "the Ingress of the corrected Service", lambda _: True)
    cluster.hook.stop()
    try:
        stage.create_service("unlucky", {"ingress/http": "true"})
        stage.until_event("unlucky", "")
    finally:
        cluster.restart_hook()
    stage.until_ingress("unlucky", "the Ingress of a Service that failed for another reason", lambda _: True)
    stage.api.delete(NAMESPACES, attacker)
