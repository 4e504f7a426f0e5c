"""A tenant writes whatever they like into Metacontroller's record of an object: nothing of it is ever made.

The tenant may do everything to the Services and Ingresses of a namespace, as the built-in role `edit` allows.
Metacontroller may do everything here, as by its own manifests: no missing right keeps it from what it is told.
"""

import itertools
import json
import time
from collections.abc import Iterator
from contextlib import closing

import pytest

from devcluster import engines
from devcluster.api import INGRESSES, SERVICES, Object, Resource
from devcluster.cluster import DevCluster
from devcluster.story import Stage
from ingress_manager.core.observed import LAST_APPLIED
from tests.e2e.conftest import SERVING_SETTINGS, fresh_stage
from tests.e2e.objects import CLUSTER_BINDINGS, by_hand, create, new
from tests.e2e.people import tenant_of
from tests.e2e.traffic import ON
from tests.holds import holds

HOST = "web.example.com"
ENTRANCES = {**ON, "ingress/host": HOST, "b.ingress/http": "true", "b.ingress/host": "b.example.com"}
ADMIN = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}


def binding(tenant: str) -> tuple[Resource, Object]:
    """Return a ClusterRoleBinding that makes the tenant of a namespace cluster-admin; it looks as an Ingress does."""
    subject = {"kind": "ServiceAccount", "name": "tenant", "namespace": tenant}
    looks = {"rules": [{"host": HOST}]}
    return CLUSTER_BINDINGS, new(CLUSTER_BINDINGS, tenant, roleRef=ADMIN, subjects=[subject], spec=looks)


def forgeries(own: str, victim: str) -> dict[str, tuple[Resource, Object]]:
    """Return what the tenant of a namespace would like to have, perhaps in that of a victim."""
    return {
        "an Ingress of another namespace": (INGRESSES, by_hand(victim, "private", HOST, "private")),
        "an Ingress of another Service": (INGRESSES, by_hand(own, "other", HOST, "other")),
        "a ClusterRoleBinding": binding(own),
        "another backend": (INGRESSES, by_hand(own, "web", HOST, "private")),
    }


@pytest.fixture(scope="module")
def almighty(serving: DevCluster) -> Iterator[DevCluster]:
    """Yield the cluster while Metacontroller may do everything, and only the hosts of example.com may be claimed."""
    subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": engines.USER}
    create(serving.api, CLUSTER_BINDINGS, "almighty", roleRef=ADMIN, subjects=[subject])
    serving.restart_hook({**SERVING_SETTINGS, "limits": {"hosts": ["*.example.com"]}})
    yield serving
    serving.restart_hook(SERVING_SETTINGS)
    serving.api.delete(CLUSTER_BINDINGS, "almighty")


_numbers = itertools.count(1)


FIRST, *OTHERS = forgeries("", "")


@pytest.mark.parametrize("what", [pytest.param(FIRST, marks=pytest.mark.gate), *OTHERS])
def test_nothing_of_a_forged_record_is_made_and_what_stands_stays_as_it_is(almighty: DevCluster, what: str) -> None:
    number = next(_numbers)
    own, victim = f"forger-{number}", f"victim-{number}"
    resource, forged = forgeries(own, victim)[what]
    with (
        fresh_stage(almighty, own) as stage,
        fresh_stage(almighty, victim),
        closing(tenant_of(almighty.control_plane, own, rights=(SERVICES, INGRESSES))) as tenant,
    ):
        create(tenant, SERVICES, "web", own, {"annotations": ENTRANCES}, spec={"ports": [{"port": 80}]})
        for name in ("web", "web.b"):
            stage.until_ingress(name, "what the Service asks for", lambda _: True)
        tenant.patch(SERVICES, "web", annotated({"ingress/oops": "on purpose"}), own)
        stage.until_event("web", "ingress/oops")
        before = seen(stage)
        tenant.patch(INGRESSES, "web", annotated({LAST_APPLIED: json.dumps(forged)}), own)
        tenant.patch(SERVICES, "web", annotated({"b.ingress/http": None}), own)
        stage.until("the end of the other entrance", lambda: stage.ingress("web.b") is None)

        time.sleep(1)  # in which it would be made
        made = almighty.api.get(resource, forged["metadata"]["name"], forged["metadata"].get("namespace"))
        now = stage.until("the end of the forged record", lambda: of_true_record(seen(stage)))
        assert made is None or made["metadata"]["uid"] == before["metadata"]["uid"]
        assert (now["spec"], now["metadata"]["uid"]) == (before["spec"], before["metadata"]["uid"])
        time.sleep(1)
        version = seen(stage)["metadata"]["resourceVersion"]
        assert version == now["metadata"]["resourceVersion"], "it is rewritten for ever"


def of_true_record(ingress: Object) -> Object | None:
    """Return the Ingress if it holds all that its record says was applied."""
    return ingress if holds(ingress, json.loads(ingress["metadata"]["annotations"][LAST_APPLIED])) else None


def annotated(annotations: dict[str, str | None]) -> Object:
    """Return the patch that writes these annotations."""
    return {"metadata": {"annotations": annotations}}


def seen(stage: Stage) -> Object:
    """Return the Ingress that stands."""
    ingress = stage.ingress("web")
    assert ingress is not None
    return ingress
