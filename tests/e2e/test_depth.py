"""What the policy of depth keeps somebody from who may edit Services, Ingresses or HTTPRoutes, and their status."""

import contextlib
import json
from collections.abc import Iterator
from functools import partial
from typing import Any

import msgspec
import pytest

from devcluster.api import (
    HTTPROUTES,
    INGRESSES,
    NAMESPACES,
    SERVICES,
    Api,
    ApiError,
    Object,
    Resource,
    path_of,
    wait_for,
)
from devcluster.control_plane import ControlPlane
from tests.e2e.tenant import said, tenant_of
from tests.manifests import REPOSITORY

NAMESPACE = "deep"
SPECS: dict[Resource, Object] = {
    SERVICES: {"ports": [{"name": "http", "port": 80}]},
    INGRESSES: {"rules": [{"host": "shop.example.com"}]},
    HTTPROUTES: {"hostnames": ["shop.example.com"]},
}
DENIED = "metadata.managedFields can't have more than six levels"


@pytest.fixture(scope="module")
def tenant(empty_cluster: ControlPlane) -> Iterator[Api]:
    """Yield a client that may do everything to these kinds, on an API server that enforces the policy."""
    plane = empty_cluster
    plane.kubectl("apply", "--filename", str(REPOSITORY / "metacontroller/controller/depth.yaml"))
    plane.api.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    statuses = [each._replace(plural=f"{each.plural}/status") for each in SPECS]
    with contextlib.closing(tenant_of(plane, NAMESPACE, rights=[*SPECS, *statuses])) as api:
        for resource, spec in SPECS.items():
            metadata = {"name": "shop", "namespace": NAMESPACE}
            api.create(
                resource,
                {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata, "spec": spec},
            )
            wait_for(lambda: said(partial(deepen, api, resource, 7)), 30, what=f"the policy of {resource.plural}")  # noqa: B023
        yield api


def deepen(api: Api, resource: Resource, levels: int, subresource: str = "") -> Any:
    """Try to write so many levels into an object's managedFields."""
    fields = msgspec.Raw(('{"f:a":' * levels + "{}" + "}" * levels).encode())
    entry = {"manager": "tenant", "operation": "Update", "apiVersion": resource.api_version, "fieldsType": "FieldsV1"}
    # The API server ignores an update that changes nothing else.
    labels = {"levels": f"{levels}"}
    patch = {"metadata": {"managedFields": [{**entry, "fieldsV1": fields}], "labels": labels}}
    return api.request("PATCH", path_of(resource, NAMESPACE, "shop") + subresource, body=patch)


@pytest.mark.parametrize("resource", SPECS, ids=lambda resource: resource.plural)
def test_nothing_that_metacontroller_lists_can_be_nested_so_deeply_that_a_list_of_it_cannot_be_read(
    tenant: Api, resource: Resource
) -> None:
    for levels in (7, 900):
        assert DENIED in (said(partial(deepen, tenant, resource, levels)) or "it was let through")
    assert said(partial(deepen, tenant, resource, 6)) is None


@pytest.mark.parametrize("resource", SPECS, ids=lambda resource: resource.plural)
def test_a_write_of_the_status_says_nothing_about_managed_fields(tenant: Api, resource: Resource) -> None:
    """So the policy need not look at it, although every ingress controller writes it."""
    with contextlib.suppress(ApiError):
        deepen(tenant, resource, 900, "/status")
    found = tenant.get(resource, "shop", NAMESPACE)
    assert found is not None
    assert json.dumps(found).count("f:a") < 10  # of the test before this one, at most


DEEPEST: dict[Resource, Object] = {
    SERVICES: {"sessionAffinity": "ClientIP", "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 10}}},
    INGRESSES: {"defaultBackend": {"service": {"name": "shop", "port": {"number": 80}}}},
    HTTPROUTES: {"rules": [{"backendRefs": [{"name": "shop", "port": 80}]}]},
}
"""The fields of a spec with the most levels."""


@pytest.mark.parametrize("resource", SPECS, ids=lambda resource: resource.plural)
def test_an_object_can_have_all_its_fields(tenant: Api, resource: Resource) -> None:
    assert said(lambda: tenant.patch(resource, "shop", {"spec": DEEPEST[resource]}, NAMESPACE)) is None
