"""What policies deny users who may edit Services or other kinds that Metacontroller and Traefik list."""

import contextlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from devcluster.api import INGRESSES, NAMESPACES, SERVICES, Api, Object, Resource, path_of, wait_for
from devcluster.build import REPOSITORY
from devcluster.control_plane import ControlPlane
from tests.e2e.objects import GATEWAYS, ON, create, service
from tests.e2e.people import said, tenant_of

NAMESPACE = "guarded"
POLICIES = ("metacontroller/controller/guards", "metacontroller/controller/size", "gateway/gateway-api/depth")
SPECS: dict[Resource, Object] = {
    Resource(stated["apiVersion"], plural, stated["kind"]): stated["spec"]
    for plural, stated in yaml.safe_load(Path(__file__).with_name("policies.yaml").read_text(encoding="utf-8")).items()
}
DRY = {"dryRun": "All"}


@pytest.fixture(scope="module")
def tenant(empty_cluster: ControlPlane) -> Iterator[Api]:
    """Yield a client with all permissions to these kinds, on an API server that enforces the policies."""
    plane = empty_cluster
    for policy in POLICIES:
        plane.kubectl("apply", "--filename", str(REPOSITORY / f"{policy}.yaml"))
    create(plane.api, NAMESPACES, NAMESPACE)
    resources = [*SPECS, *(kind._replace(plural=f"{kind.plural}/status") for kind in (SERVICES, INGRESSES))]
    with contextlib.closing(tenant_of(plane, NAMESPACE, resources=resources)) as api:
        for resource, spec in SPECS.items():
            create(api, resource, "shop", NAMESPACE, spec=spec)
        probes = [partial(dry_patch, api, resource, with_fields(resource, 9)) for resource in SPECS]
        probes.append(partial(dry_patch, api, SERVICES, {"spec": EXTERNAL}))
        asking = service(NAMESPACE, "probe", annotations=ON, finalizers=["orphan"])
        probes.append(partial(api.request, "POST", path_of(SERVICES, NAMESPACE), params=DRY, body=asking))
        for probe in probes:
            wait_for(partial(said, probe), 30, what="the policies")
        yield api


def judge(says: str | None, write: Callable[..., object], *arguments: Any, **options: Any) -> None:
    """Attempt a write, and check that it is denied with this message, or allowed if that is None."""
    message = said(partial(write, *arguments, **options))
    assert (message is None) == (says is None), message
    assert (says or "") in (message or "")


EXTERNAL = {"type": "ExternalName", "externalName": "secret.team-b.svc.cluster.local"}
ORPHAN: dict[str, Any] = {"finalizers": ["orphan"]}
FROZEN: dict[str, Any] = {"finalizers": ["metacontroller.io/decoratorcontroller-ingress-manager"]}
ASKS: dict[str, Any] = {"annotations": ON}
INTERNAL = {"annotations": {"internal.ingress/http": "true"}}
OFF = {"annotations": {"ingress/http": "false"}}
ALIKE = {"annotations": dict.fromkeys(("a-ingress/http", "ingress.example.com/http", "internal.ingress/https"), "true")}
OTHER = {"externalName": "other.example.com"}
LABELLED = {"labels": {"team": "a"}}
PLAIN: Object = {}
ORPHANING = {"propagationPolicy": "Orphan"}
FREEZES = "keeps Metacontroller from calling the hook"
TO_ORPHAN, ORPHANED = 'finalizer "orphan"', "can't be deleted with --cascade=orphan"
BY_INTERNAL = "a Service with the annotation internal.ingress/http "
Step = tuple[str, Object, str, Object, str | None]
STEPS: list[Step] = [
    ("an ExternalName that asks, and changes", {"spec": EXTERNAL}, "PATCH", {"metadata": ASKS, "spec": OTHER}, None),
    ("an orphaning delete, with keys that look alike", ALIKE, "DELETE", ORPHANING, None),
    ("an orphaning delete, opted out by hand", OFF, "DELETE", ORPHANING, ORPHANED),
    ("an orphaning delete", ASKS, "DELETE", ORPHANING, ORPHANED),
    ("the older way to ask for it", ASKS, "DELETE", {"orphanDependents": True}, ORPHANED),
    ("an orphaning delete, never annotated", PLAIN, "DELETE", ORPHANING, None),
    ("the same with another entrance", INTERNAL, "DELETE", ORPHANING, BY_INTERNAL + ORPHANED),
    ("the finalizer orphan", ASKS, "PATCH", {"metadata": ORPHAN}, TO_ORPHAN),
    ("the same, never annotated", PLAIN, "PATCH", {"metadata": ORPHAN}, None),
    ("the same, annotated later", ORPHAN, "PATCH", {"metadata": ASKS}, TO_ORPHAN),
    ("the same with another entrance", INTERNAL, "PATCH", {"metadata": ORPHAN}, TO_ORPHAN),
    ("the same by the status", ASKS, "PATCH /status", {"metadata": ORPHAN}, TO_ORPHAN),
    ("the same from the beginning", ASKS | ORPHAN, "", {}, TO_ORPHAN),
    ("Metacontroller's finalizer", ASKS, "PATCH", {"metadata": FROZEN}, FREEZES),
    ("the same, opting out at once", ASKS, "PATCH", {"metadata": FROZEN | {"annotations": None}}, FREEZES),
    ("the same, never annotated", PLAIN, "PATCH", {"metadata": FROZEN}, FREEZES),
    ("the same by the status", PLAIN, "PATCH /status", {"metadata": FROZEN}, FREEZES),
    ("the same from the beginning", FROZEN, "", {}, FREEZES),
    ("another write of the status", ASKS, "PATCH /status", {"metadata": LABELLED}, None),
    ("a plain delete", ASKS, "DELETE", {}, None),
    ("a delete in the foreground", ASKS, "DELETE", {"propagationPolicy": "Foreground"}, None),
    ("an edit", ASKS, "PATCH", {"spec": {"ports": [{"name": "http", "port": 81}]}}, None),
    ("another finalizer", ASKS, "PATCH", {"metadata": {"finalizers": ["a.b/c"]}}, None),
    ("opting out", ASKS, "PATCH", {"metadata": {"annotations": None}}, None),
]
"""A description, the Service's metadata, the request and its content, and the message that denies it, or None."""


@pytest.mark.gate
@pytest.mark.parametrize("step", STEPS, ids=lambda step: step[0])
def test_what_a_tenant_can_do_to_a_service(tenant: Api, step: Step) -> None:
    _, stated, sent, content, says = step
    name = f"s{STEPS.index(step)}"  # each step has its own, since some end in a Service that takes its time to go
    write: Callable[[], object] = partial(tenant.create, SERVICES, service(NAMESPACE, name, **stated))
    if sent:
        write()
        verb, _, subresource = sent.partition(" ")
        path = path_of(SERVICES, NAMESPACE, name) + subresource
        write = partial(tenant.request, verb, path, body=content)
    judge(says, write)


@pytest.mark.gate
@pytest.mark.parametrize(
    ("label", "creating", "changing"),
    [
        (None, None, "can't become an ExternalName"),
        ("deny", "can't be an ExternalName", "can't become an ExternalName"),
        ("allow", None, None),
        ("Deny", None, "can't become an ExternalName"),
    ],
)
@pytest.mark.usefixtures("tenant")  # it installs the policies, which also apply to administrators
def test_only_some_namespaces_allow_an_external_name(
    empty_cluster: ControlPlane, label: str | None, creating: str | None, changing: str | None
) -> None:
    api, namespace = empty_cluster.api, f"names-{[None, 'deny', 'allow', 'Deny'].index(label)}"
    create(api, NAMESPACES, namespace, metadata={"labels": {"ingress-manager/external-names": label}} if label else {})
    judge(creating, api.create, SERVICES, service(namespace, "made", spec=EXTERNAL))
    for name, annotations in (("asks", ON), ("plain", {})):
        api.create(SERVICES, service(namespace, name, annotations=annotations))
        judge(changing, api.patch, SERVICES, name, {"metadata": {"annotations": None}, "spec": EXTERNAL}, namespace)


LISTED_BY_METACONTROLLER = {"services", "ingresses", "httproutes", "listenersets"}
TOO_LARGE, TOO_DEEP = "more than 200 labels", "metadata.managedFields can't have more than eight levels"


def with_fields(resource: Resource, levels: int, level: int = 6, leaves: int = 0) -> Object:
    """Return a patch that nests managedFields this many levels deep, with `leaves` more fields in one level."""
    beside = "".join(f'"f:{number:05}":{{}},' for number in range(leaves))
    fields = "{}"
    for each in range(levels, 0, -1):
        fields = f'{{{beside if each == level else ""}"f:a":{fields}}}'
    entry = {"manager": "tenant", "operation": "Update", "apiVersion": resource.api_version, "fieldsType": "FieldsV1"}
    managed = [{**entry, "fieldsV1": msgspec.Raw(fields.encode())}]
    # The API server ignores an update of managedFields alone.
    return {"metadata": {"managedFields": managed, "labels": {"written": "again"}}}


def dry_patch(api: Api, resource: Resource, patch: Object, subresource: str = "") -> Any:
    return api.request("PATCH", path_of(resource, NAMESPACE, "shop") + subresource, params=DRY, body=patch)


@pytest.mark.parametrize(
    "resource",
    [pytest.param(each, marks=[pytest.mark.gate] * (each in (SERVICES, GATEWAYS)), id=each.plural) for each in SPECS],
)
def test_nothing_is_nested_too_deeply_to_be_listed(tenant: Api, resource: Resource) -> None:
    create(tenant, resource, "whole", NAMESPACE, spec=SPECS[resource])  # with all its fields, it is allowed
    most, denied = (6, TOO_LARGE) if resource.plural in LISTED_BY_METACONTROLLER else (8, TOO_DEEP)
    for levels in (most + 1, 900):
        judge(denied, dry_patch, tenant, resource, with_fields(resource, levels))
    judge(None, dry_patch, tenant, resource, with_fields(resource, most))


def test_many_fields_of_a_gateway_do_not_hide_depth_and_are_not_denied(tenant: Api) -> None:
    """Nested `all` calls would take quadratic time, beyond the API server's cost limit for an expression."""
    judge(None, dry_patch, tenant, GATEWAYS, with_fields(GATEWAYS, 8, leaves=90_000))
    judge(TOO_DEEP, dry_patch, tenant, GATEWAYS, with_fields(GATEWAYS, 9, leaves=90_000))


def with_entries(part: str, field: str, count: int) -> Object:
    if field == "ports":
        return {part: {field: [{"name": f"p{number}", "port": 1 + number} for number in range(count)]}}
    return {part: {field: {f"a{number}": "" for number in range(count)}}}


LABELS, ANNOTATIONS = (partial(with_entries, "metadata", field) for field in ("labels", "annotations"))


@pytest.mark.parametrize(
    ("resource", "subresource", "patch", "most"),
    [
        *((*written, LABELS, 199) for written in ((SERVICES, ""), (SERVICES, "/status"), (INGRESSES, "/status"))),
        *((*written, ANNOTATIONS, 1000) for written in ((SERVICES, ""), (SERVICES, "/status"), (INGRESSES, "/status"))),
        (SERVICES, "", partial(with_entries, "spec", "selector"), 200),
        (SERVICES, "", partial(with_entries, "spec", "ports"), 500),
        *((SERVICES, "", partial(with_fields, SERVICES, level, level), 4980) for level in range(1, 7)),
    ],
)
def test_objects_that_would_fill_the_memory_of_watchers_are_denied(
    tenant: Api, resource: Resource, subresource: str, patch: Callable[[int], Object], most: int
) -> None:
    judge(None, dry_patch, tenant, resource, patch(most), subresource)
    for count in (most + 100, 20_000):
        judge(TOO_LARGE, dry_patch, tenant, resource, patch(count), subresource)
