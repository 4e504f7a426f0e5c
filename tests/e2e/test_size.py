"""What the policies of size and depth keep somebody from who may edit what Metacontroller and Traefik list."""

import contextlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from devcluster.api import (
    HTTPROUTES,
    INGRESSES,
    LISTENERSETS,
    NAMESPACES,
    SERVICES,
    Api,
    Object,
    Resource,
    path_of,
    wait_for,
)
from devcluster.build import REPOSITORY
from devcluster.control_plane import ControlPlane
from tests.e2e.objects import GATEWAYS, create
from tests.e2e.people import said, tenant_of

NAMESPACE = "deep"
KINDS = yaml.safe_load(Path(__file__).with_name("size.yaml").read_text(encoding="utf-8"))
SPECS: dict[Resource, Object] = {
    Resource(stated["apiVersion"], plural, stated["kind"]): stated["spec"] for plural, stated in KINDS.items()
}
LISTED_BY_METACONTROLLER = (SERVICES, INGRESSES, HTTPROUTES, LISTENERSETS)
OF_EACH_POLICY = (SERVICES, GATEWAYS)
TOO_LARGE = "more than 200 labels"
DRY = {"dryRun": "All"}


@pytest.fixture(scope="module")
def tenant(empty_cluster: ControlPlane) -> Iterator[Api]:
    """Yield a client that may do everything to these kinds, on an API server that enforces the policy."""
    plane = empty_cluster
    for policy in ("metacontroller/controller/size.yaml", "gateway/gateway-api/depth.yaml"):
        plane.kubectl("apply", "--filename", str(REPOSITORY / policy))
    create(plane.api, NAMESPACES, NAMESPACE)
    with contextlib.closing(tenant_of(plane, NAMESPACE, rights=[*SPECS])) as api:
        for resource, spec in SPECS.items():
            create(api, resource, "shop", NAMESPACE, spec=spec)
            deep = partial(deepen, api, resource, 9, leaves=1)
            wait_for(lambda: said(deep), 30, what=f"the policy of {resource.plural}")  # noqa: B023
        yield api


def deepen(api: Api, resource: Resource, levels: int, *, leaves: int = 0) -> Any:
    """Try to write so many levels, at least six, into an object's managedFields; the sixth has so many leaves more.

    With leaves it's a dry run, so that the object stays a small one.
    """
    beside = "".join(f'"f:{number:05}":{{}},' for number in range(leaves))
    nested = '{"f:a":' * 5 + f'{{{beside}"f:a":' + '{"f:a":' * (levels - 6) + "{}" + "}" * levels
    # The API server ignores an update that changes nothing else.
    labels = {"levels": f"{levels}"}
    patch = {"metadata": {"managedFields": [managed(resource, nested)], "labels": labels}}
    params = DRY if leaves else {}
    return api.request("PATCH", path_of(resource, NAMESPACE, "shop"), params=params, body=patch)


def managed(resource: Resource, fields: str) -> Object:
    """Return an entry of managedFields."""
    entry = {"manager": "tenant", "operation": "Update", "apiVersion": resource.api_version, "fieldsType": "FieldsV1"}
    return {**entry, "fieldsV1": msgspec.Raw(fields.encode())}


@pytest.mark.parametrize(
    "resource",
    [pytest.param(each, marks=[pytest.mark.gate] * (each in OF_EACH_POLICY), id=each.plural) for each in SPECS],
)
def test_nothing_that_is_listed_can_be_nested_so_deeply_that_a_list_of_it_cannot_be_read(
    tenant: Api, resource: Resource
) -> None:
    create(tenant, resource, "whole", NAMESPACE, spec=SPECS[resource])  # with all its fields, it is let through
    most = 6 if resource in LISTED_BY_METACONTROLLER else 8
    denied = TOO_LARGE if resource in LISTED_BY_METACONTROLLER else "can't have more than eight levels"
    for levels in (most + 1, 900):
        assert denied in (said(partial(deepen, tenant, resource, levels)) or "it was let through")
    assert said(partial(deepen, tenant, resource, most)) is None


def test_many_fields_of_a_gateway_hide_no_depth_and_are_not_denied(tenant: Api) -> None:
    """One `all` in another would take quadratic time for them, and more than the API server lets an expression cost."""
    assert said(partial(deepen, tenant, GATEWAYS, 8, leaves=90_000)) is None
    denied = said(partial(deepen, tenant, GATEWAYS, 9, leaves=90_000)) or "it was let through"
    assert "metadata.managedFields can't have more than" in denied


def with_entries(field: str, count: int) -> Object:
    """Return a patch that gives a field of a Service, or of its managedFields, so many entries."""
    if field.startswith("level"):
        levels = int(field.removeprefix("level "))
        fields = '{"f:a":' * (levels - 1) + "{" + ",".join(f'"f:{n}":{{}}' for n in range(count)) + "}" * levels
        return {"metadata": {"managedFields": [managed(SERVICES, fields)], "labels": {"a": "b"}}}
    if field == "ports":
        return {"spec": {"ports": [{"name": f"p{n}", "port": 1 + n} for n in range(count)]}}
    entries: Object = {f"a{n}": "" for n in range(count)}
    return {"spec": {"selector": entries}} if field == "selector" else {"metadata": {field: entries}}


@pytest.mark.parametrize(
    ("field", "most"),
    [("labels", 199), ("selector", 200), ("ports", 500), ("annotations", 1000)]
    + [(f"level {level}", 4980) for level in (1, 2, 3, 4, 5, 6)],
)
def test_what_fills_the_memory_of_all_that_watch_services_is_denied(tenant: Api, field: str, most: int) -> None:
    def write(count: int) -> Any:
        return tenant.request(
            "PATCH", path_of(SERVICES, NAMESPACE, "shop"), params=DRY, body=with_entries(field, count)
        )

    assert said(partial(write, most)) is None
    for count in (most + 100, 20_000):
        assert TOO_LARGE in (said(partial(write, count)) or "it was let through")
