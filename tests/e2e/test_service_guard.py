"""What the policies of Services keep a tenant from, whose only right is to edit the Services of a namespace."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from devcluster.api import HTTPROUTES, INGRESSES, NAMESPACES, SERVICES, Api, Object, path_of, wait_for
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
    for policy in ("controller/guards", "httproute/external-name"):
        plane.kubectl("apply", "--filename", str(REPOSITORY / f"metacontroller/{policy}.yaml"))
    stands = {"labels": {"app.kubernetes.io/managed-by": "ingress-manager"}}
    for kind, name, metadata in (
        (INGRESSES, "stands", stands),
        (INGRESSES, "entrance.internal", stands),
        (HTTPROUTES, "routed.0123", stands),
        (INGRESSES, "strangers", {}),
    ):
        spec = {"rules": [{"host": "a.example.com"}]} if kind == INGRESSES else {"hostnames": ["a.example.com"]}
        create(plane.api, kind, name, NAMESPACE, metadata, spec=spec)
    status = SERVICES._replace(plural="services/status")
    with contextlib.closing(tenant_of(plane, NAMESPACE, rights=[SERVICES, status])) as api:
        probe = service("probe", ON, finalizers=["orphan"])
        wait_for(lambda: said(lambda: dry_create(api, probe)) is not None, 30, what="the policy of Services")
        for name in ("stands", "routed"):
            tried = external(name)
            wait_for(lambda: said(lambda: dry_create(api, tried)) is not None, 30, what="that of ExternalNames")  # noqa: B023
        yield api


def external(name: str, annotations: dict[str, str] | None = None) -> Object:
    return service(name, annotations) | {"spec": EXTERNAL}


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
TO_ORPHAN, ORPHANED = 'finalizer "orphan"', "can't be deleted with --cascade=orphan"
BY_INTERNAL = "a Service with the annotation internal.ingress/http "
OFF = {"ingress/http": "false"}
INTERNAL = {"internal.ingress/http": "true"}
OTHERS = {"my-ingress/http": "true", "ingress.example.com/http": "true", "internal.ingress/https": "true"}
STEPS = [
    Step("into an ExternalName, while no Ingress stands", {}, patched(spec=EXTERNAL), None),
    Step("an orphaning delete, with keys that look alike", OTHERS, deleted(propagationPolicy="Orphan"), None),
    Step("an orphaning delete, opted out by hand", OFF, deleted(propagationPolicy="Orphan"), ORPHANED),
    Step("an orphaning delete", ON, deleted(propagationPolicy="Orphan"), ORPHANED),
    Step("the older way to ask for it", ON, deleted(orphanDependents=True), ORPHANED),
    Step("an orphaning delete, never annotated", {}, deleted(propagationPolicy="Orphan"), None),
    Step("the same with another entrance", INTERNAL, deleted(propagationPolicy="Orphan"), BY_INTERNAL + ORPHANED),
    Step("the finalizer orphan", ON, patched(metadata={"finalizers": ["orphan"]}), TO_ORPHAN),
    Step("the same, never annotated", {}, patched(metadata={"finalizers": ["orphan"]}), None),
    Step("the same with another entrance", INTERNAL, patched(metadata={"finalizers": ["orphan"]}), TO_ORPHAN),
    Step("the same by the status", ON, status_patched(metadata={"finalizers": ["orphan"]}), TO_ORPHAN),
    Step("Metacontroller's finalizer", ON, patched(metadata=FROZEN), FREEZES),
    Step("the same, opting out at once", ON, patched(metadata=FROZEN | {"annotations": None}), FREEZES),
    Step("the same, never annotated", {}, patched(metadata=FROZEN), FREEZES),
    Step("the same by the status", {}, status_patched(metadata=FROZEN), FREEZES),
    Step("a condition of a load balancer", ON, status_patched(status={"conditions": [READY]}), None),
    Step("a plain delete", ON, deleted(), None),
    Step("a delete in the foreground", ON, deleted(propagationPolicy="Foreground"), None),
    Step("an edit", ON, patched(spec={"ports": [{"name": "http", "port": 81}]}), None),
    Step("another finalizer", ON, patched(metadata={"finalizers": ["a.b/c"]}), None),
    Step("opting out", ON, patched(metadata={"annotations": None}), None),
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


@pytest.mark.parametrize(
    ("name", "leads"),
    [
        ("stands", "Ingress stands"),
        ("entrance", "Ingress entrance.internal"),
        ("routed", "HTTPRoute routed.0123"),
        ("strangers", None),
        ("stand", None),
    ],
)
def test_a_name_to_which_an_ingress_of_ours_leads_is_no_external_names(
    tenant: Api, name: str, leads: str | None
) -> None:
    """The Service may be gone, or opted out: what it had still stands."""
    message = said(lambda: dry_create(tenant, external(name)))
    tenant.create(SERVICES, service(name))
    patch = {"metadata": {"annotations": ON}, "spec": EXTERNAL}
    assert message == said(lambda: tenant.patch(SERVICES, name, patch, NAMESPACE))
    assert (message is None) == (leads is None)
    if leads:
        assert f"Service {name} can't become an ExternalName while {leads} leads to it" in (message or "")
    tenant.delete(SERVICES, name, NAMESPACE)


def test_an_external_name_that_is_one_already_can_be_annotated_and_edited(tenant: Api) -> None:
    """The hook refuses it, with an Event that says why."""
    tenant.create(SERVICES, external("outside"))
    assert said(lambda: tenant.patch(SERVICES, "outside", {"metadata": {"annotations": ON}}, NAMESPACE)) is None
    other = {"spec": {"externalName": "b.example.com"}}
    assert said(lambda: tenant.patch(SERVICES, "outside", other, NAMESPACE)) is None
    tenant.delete(SERVICES, "outside", NAMESPACE)
