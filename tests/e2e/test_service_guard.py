"""What the policy of Services keeps a tenant from: somebody whose only right is to edit the Services of a namespace."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

from devcluster.api import NAMESPACES, SERVICES, Api, Object, path_of, wait_for
from devcluster.build import REPOSITORY
from devcluster.control_plane import ControlPlane
from tests.e2e.objects import create, new
from tests.e2e.people import said, tenant_of

pytestmark = pytest.mark.gate

NAMESPACE = "guarded"
METACONTROLLERS = "metacontroller.io/decoratorcontroller-ingress-manager"
ON = {"ingress/http": "true"}


def service(name: str, annotations: dict[str, str] | None = None, **metadata: Any) -> Object:
    metadata = {"annotations": annotations or {}} | metadata
    return new(SERVICES, name, NAMESPACE, metadata, spec={"ports": [{"name": "http", "port": 80}]})


EXTERNAL = {"type": "ExternalName", "externalName": "secret.team-b.svc.cluster.local"}


@pytest.fixture(scope="module")
def tenant(empty_cluster: ControlPlane) -> Iterator[Api]:
    """Return a tenant's client of an API server that enforces the policy."""
    plane = empty_cluster
    create(plane.api, NAMESPACES, NAMESPACE)
    frozen = service("frozen-before", finalizers=[METACONTROLLERS, "a.b/c"])
    # Other tests of this API server may have applied the policy.
    plane.kubectl("delete", "validatingadmissionpolicybinding", "ingress-manager-service-guard", "--ignore-not-found")
    wait_for(lambda: said(lambda: dry_create(plane.api, frozen)) is None, 30, what="the end of the policy")
    plane.api.create(SERVICES, frozen)
    plane.kubectl("apply", "--filename", str(REPOSITORY / "metacontroller/controller/service-guard.yaml"))
    status = SERVICES._replace(plural="services/status")
    with contextlib.closing(tenant_of(plane, NAMESPACE, rights=[SERVICES, status])) as api:
        probe = service("probe", ON, finalizers=["orphan"])
        wait_for(lambda: said(lambda: dry_create(api, probe)) is not None, 30, what="the policy of Services")
        yield api


def dry_create(api: Api, obj: Object) -> None:
    api.request("POST", path_of(SERVICES, NAMESPACE), params={"dryRun": "All"}, body=obj)


@dataclass(frozen=True)
class Step:
    """The annotations of a Service, what the tenant does to it, and what the policy says; None: it lets it through."""

    reason: str
    annotations: dict[str, str]
    write: Callable[[Api, str], object]
    says: str | None


def patched(**patch: Any) -> Callable[[Api, str], object]:
    return lambda api, name: api.patch(SERVICES, name, patch, NAMESPACE)


def deleted(**options: Any) -> Callable[[Api, str], object]:
    return lambda api, name: api.request("DELETE", path_of(SERVICES, NAMESPACE, name), body=options)


def status_patched(**patch: Any) -> Callable[[Api, str], object]:
    return lambda api, name: api.request("PATCH", f"{path_of(SERVICES, NAMESPACE, name)}/status", body=patch)


NOW = "2026-01-02T03:04:05Z"
READY = {"type": "Ready", "status": "True", "reason": "Ready", "message": "", "lastTransitionTime": NOW}
FROZEN: dict[str, Any] = {"finalizers": [METACONTROLLERS]}
FREEZES = "keeps Metacontroller from asking"
TO_EXTERNAL, TO_ORPHAN, ORPHANED = (
    "can't become an ExternalName",
    'finalizer "orphan"',
    "can't be deleted with --cascade=orphan",
)
BY_INTERNAL = "a Service with the annotation internal.ingress/http "
OFF = {"ingress/http": "false"}
INTERNAL = {"internal.ingress/http": "true"}
OTHERS = {"my-ingress/http": "true", "ingress.example.com/http": "true", "internal.ingress/https": "true"}
STEPS = [
    Step("into an ExternalName", ON, patched(spec=EXTERNAL), TO_EXTERNAL),
    Step("the same, opting out at once", ON, patched(metadata={"annotations": None}, spec=EXTERNAL), TO_EXTERNAL),
    Step("the same, with false", OFF, patched(spec=EXTERNAL), TO_EXTERNAL),
    Step("the same, opting in at once", {}, patched(metadata={"annotations": ON}, spec=EXTERNAL), TO_EXTERNAL),
    Step("into an ExternalName, never annotated", {}, patched(spec=EXTERNAL), None),
    Step("into an ExternalName, with another entrance", INTERNAL, patched(spec=EXTERNAL), BY_INTERNAL + TO_EXTERNAL),
    Step("the same, opting out at once", INTERNAL, patched(metadata={"annotations": None}, spec=EXTERNAL), BY_INTERNAL),
    Step("the same, opting in at once", {}, patched(metadata={"annotations": INTERNAL}, spec=EXTERNAL), BY_INTERNAL),
    Step("into an ExternalName, with keys that look alike", OTHERS, patched(spec=EXTERNAL), None),
    Step("an orphaning delete", ON, deleted(propagationPolicy="Orphan"), ORPHANED),
    Step("the older way to ask for it", ON, deleted(orphanDependents=True), ORPHANED),
    Step("an orphaning delete, never annotated", {}, deleted(propagationPolicy="Orphan"), None),
    Step("the same with another entrance", INTERNAL, deleted(propagationPolicy="Orphan"), BY_INTERNAL + ORPHANED),
    Step("the finalizer orphan", ON, patched(metadata={"finalizers": ["orphan"]}), TO_ORPHAN),
    Step("the same beside another", ON, patched(metadata={"finalizers": ["a.b/c", "orphan"]}), TO_ORPHAN),
    Step("the same, never annotated", {}, patched(metadata={"finalizers": ["orphan"]}), None),
    Step("the same with another entrance", INTERNAL, patched(metadata={"finalizers": ["orphan"]}), TO_ORPHAN),
    Step("the same by the status", ON, status_patched(metadata={"finalizers": ["orphan"]}), TO_ORPHAN),
    Step("Metacontroller's finalizer", ON, patched(metadata=FROZEN), FREEZES),
    Step("the same, opting out at once", ON, patched(metadata=FROZEN | {"annotations": None}), FREEZES),
    Step("the same, never annotated", {}, patched(metadata=FROZEN), FREEZES),
    Step("the same beside another", ON, patched(metadata={"finalizers": ["a.b/c", METACONTROLLERS]}), FREEZES),
    Step("the same by the status", {}, status_patched(metadata=FROZEN), FREEZES),
    Step("a condition of a load balancer", ON, status_patched(status={"conditions": [READY]}), None),
    Step("a plain delete", ON, deleted(), None),
    Step("a delete in the background", ON, deleted(propagationPolicy="Background"), None),
    Step("a delete in the foreground", ON, deleted(propagationPolicy="Foreground"), None),
    Step("an edit", ON, patched(spec={"ports": [{"name": "http", "port": 81}]}), None),
    Step("another finalizer", ON, patched(metadata={"finalizers": ["a.b/c"]}), None),
    Step("opting out", ON, patched(metadata={"annotations": None}), None),
    Step("into a LoadBalancer", ON, patched(spec={"type": "LoadBalancer"}), None),
]


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.reason)
def test_what_a_tenant_can_do_to_a_service(tenant: Api, step: Step) -> None:
    name = f"s{STEPS.index(step)}"  # each step has its own, since some end in a Service that takes its time to go
    tenant.create(SERVICES, service(name, step.annotations))
    message = said(lambda: step.write(tenant, name))
    assert (message is None) == (step.says is None), message
    assert (step.says or "") in (message or "")


def test_a_service_with_the_finalizer_orphan_cannot_be_created_annotated_nor_annotated_later(tenant: Api) -> None:
    orphan: dict[str, Any] = {"finalizers": ["orphan"]}
    assert TO_ORPHAN in (said(lambda: dry_create(tenant, service("shop", ON, **orphan))) or "")
    tenant.create(SERVICES, service("later", **orphan))
    annotate = {"metadata": {"annotations": ON}}
    assert TO_ORPHAN in (said(lambda: tenant.patch(SERVICES, "later", annotate, NAMESPACE)) or "")
    tenant.patch(SERVICES, "later", {"metadata": {"finalizers": None}}, NAMESPACE)
    tenant.delete(SERVICES, "later", NAMESPACE)


def test_a_service_cannot_be_created_with_metacontrollers_finalizer_and_one_that_has_it_can_only_lose_it(
    tenant: Api,
) -> None:
    assert FREEZES in (said(lambda: dry_create(tenant, service("shop", **FROZEN))) or "")
    edit = {"metadata": {"labels": {"team": "a"}}}
    assert FREEZES in (said(lambda: tenant.patch(SERVICES, "frozen-before", edit, NAMESPACE)) or "")
    tenant.patch(SERVICES, "frozen-before", {"metadata": {"finalizers": ["a.b/c"]}}, NAMESPACE)
    tenant.patch(SERVICES, "frozen-before", {"metadata": {"annotations": ON}}, NAMESPACE)


def test_an_external_name_that_is_one_already_can_be_annotated_and_edited(tenant: Api) -> None:
    """The hook refuses it, with an Event that says why."""
    tenant.create(SERVICES, service("outside") | {"spec": EXTERNAL})
    assert said(lambda: tenant.patch(SERVICES, "outside", {"metadata": {"annotations": ON}}, NAMESPACE)) is None
    other = {"spec": {"externalName": "b.example.com"}}
    assert said(lambda: tenant.patch(SERVICES, "outside", other, NAMESPACE)) is None
    tenant.delete(SERVICES, "outside", NAMESPACE)


@pytest.mark.thorough
def test_a_service_with_twenty_thousand_annotations_is_changed_or_refused_with_a_sentence(tenant: Api) -> None:
    """To look at each would keep the API server busy. At 80,000, its own bookkeeping does so."""
    annotations = ON | {f"a{number}": "" for number in range(20_000)}
    tenant.create(SERVICES, service("many", annotations))
    for change in ({"labels": {"team": "a"}}, {"annotations": {"ingress/http": None}}):
        tenant.patch(SERVICES, "many", {"metadata": change}, NAMESPACE)
    for write, says in (
        (patched(spec=EXTERNAL), TO_EXTERNAL),
        (patched(metadata={"finalizers": ["orphan"]}), TO_ORPHAN),
        (deleted(propagationPolicy="Orphan"), ORPHANED),
    ):
        message = said(partial(write, tenant, "many")) or ""
        assert "a Service with more than 1,000 annotations" in message
        assert says in message
    tenant.delete(SERVICES, "many", NAMESPACE)
