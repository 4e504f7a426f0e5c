"""What the policies of depth keep somebody from who may edit what Metacontroller and Traefik list, and its status."""

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
from devcluster.build import REPOSITORY
from devcluster.control_plane import ControlPlane
from tests.e2e.objects import backend, create
from tests.e2e.people import said, tenant_of

NAMESPACE = "deep"
BACKEND_TLS_POLICIES, GATEWAYS, GRPCROUTES, REFERENCE_GRANTS, TLSROUTES = (
    Resource(HTTPROUTES.api_version, plural, kind)
    for plural, kind in (
        ("backendtlspolicies", "BackendTLSPolicy"),
        ("gateways", "Gateway"),
        ("grpcroutes", "GRPCRoute"),
        ("referencegrants", "ReferenceGrant"),
        ("tlsroutes", "TLSRoute"),
    )
)
AUTHORITY = {"validation": {"caCertificateRefs": [{"group": "", "kind": "ConfigMap", "name": "authority"}]}}
BACKENDS = {"rules": [{"backendRefs": [{"name": "shop", "port": 80}]}]}
SPECS: dict[Resource, Object] = {
    SERVICES: {
        "ports": [{"name": "http", "port": 80}],
        "sessionAffinity": "ClientIP",
        "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 10}},
    },
    INGRESSES: {"defaultBackend": backend("shop", 80), "rules": [{"host": "shop.example.com"}]},
    HTTPROUTES: BACKENDS,
    BACKEND_TLS_POLICIES: {
        "targetRefs": [{"group": "", "kind": "Service", "name": "shop"}],
        "validation": {"hostname": "shop.example.com", "wellKnownCACertificates": "System"},
    },
    GATEWAYS: {
        "gatewayClassName": "any",
        "listeners": [{"name": "http", "port": 80, "protocol": "HTTP"}],
        "tls": {"frontend": {"default": AUTHORITY, "perPort": [{"port": 443, "tls": AUTHORITY}]}},
    },
    GRPCROUTES: BACKENDS,
    REFERENCE_GRANTS: {
        "from": [{"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "namespace": "team-a"}],
        "to": [{"group": "", "kind": "Service"}],
    },
    TLSROUTES: {"hostnames": ["shop.example.com"], **BACKENDS},
}
"""Specs with the fields that have the most levels."""

LISTED_BY_METACONTROLLER = (SERVICES, INGRESSES, HTTPROUTES)
OF_EACH_POLICY = (SERVICES, GATEWAYS)


@pytest.fixture(scope="module")
def tenant(empty_cluster: ControlPlane) -> Iterator[Api]:
    """Yield a client that may do everything to these kinds, on an API server that enforces the policy."""
    plane = empty_cluster
    for policy in ("metacontroller/controller/depth.yaml", "gateway/gateway-api/depth.yaml"):
        plane.kubectl("apply", "--filename", str(REPOSITORY / policy))
    create(plane.api, NAMESPACES, NAMESPACE)
    statuses = [each._replace(plural=f"{each.plural}/status") for each in SPECS]
    with contextlib.closing(tenant_of(plane, NAMESPACE, rights=[*SPECS, *statuses])) as api:
        for resource, spec in SPECS.items():
            create(api, resource, "shop", NAMESPACE, spec=spec)
            wait_for(lambda: said(partial(deepen, api, resource, 9)), 30, what=f"the policy of {resource.plural}")  # noqa: B023
        yield api


def deepen(api: Api, resource: Resource, levels: int, subresource: str = "", *, leaves: int = 0) -> Any:
    """Try to write so many levels, at least six, into an object's managedFields; the sixth has so many leaves more.

    With leaves it's a dry run, so that the object stays a small one.
    """
    beside = "".join(f'"f:{number:05}":{{}},' for number in range(leaves))
    nested = '{"f:a":' * 5 + f'{{{beside}"f:a":' + '{"f:a":' * (levels - 6) + "{}" + "}" * levels
    fields = msgspec.Raw(nested.encode())
    entry = {"manager": "tenant", "operation": "Update", "apiVersion": resource.api_version, "fieldsType": "FieldsV1"}
    # The API server ignores an update that changes nothing else.
    labels = {"levels": f"{levels}"}
    patch = {"metadata": {"managedFields": [{**entry, "fieldsV1": fields}], "labels": labels}}
    params = {"dryRun": "All"} if leaves else {}
    return api.request("PATCH", path_of(resource, NAMESPACE, "shop") + subresource, params=params, body=patch)


@pytest.mark.parametrize(
    "resource",
    [pytest.param(each, marks=[pytest.mark.gate] * (each in OF_EACH_POLICY), id=each.plural) for each in SPECS],
)
def test_nothing_that_is_listed_can_be_nested_so_deeply_that_a_list_of_it_cannot_be_read(
    tenant: Api, resource: Resource
) -> None:
    most, word = (6, "six") if resource in LISTED_BY_METACONTROLLER else (8, "eight")
    denied = f"metadata.managedFields can't have more than {word} levels"
    for levels in (most + 1, 900):
        assert denied in (said(partial(deepen, tenant, resource, levels)) or "it was let through")
    assert said(partial(deepen, tenant, resource, most)) is None


@pytest.mark.parametrize("resource", [SERVICES, GATEWAYS], ids=lambda resource: resource.plural)
def test_many_fields_hide_no_depth_and_are_not_denied(tenant: Api, resource: Resource) -> None:
    """One `all` in another would take quadratic time for them, and more than the API server lets an expression cost."""
    most = 6 if resource == SERVICES else 8
    assert said(partial(deepen, tenant, resource, most, leaves=90_000)) is None
    denied = said(partial(deepen, tenant, resource, most + 1, leaves=90_000)) or "it was let through"
    assert "metadata.managedFields can't have more than" in denied


@pytest.mark.parametrize("resource", [each for each in SPECS if each != REFERENCE_GRANTS], ids=lambda each: each.plural)
def test_a_write_of_the_status_says_nothing_about_managed_fields(tenant: Api, resource: Resource) -> None:
    """So the policy need not look at it, although every ingress controller writes it."""
    with contextlib.suppress(ApiError):
        deepen(tenant, resource, 900, "/status")
    found = tenant.get(resource, "shop", NAMESPACE)
    assert found is not None
    assert json.dumps(found).count("f:a") < 10  # of the test before this one, at most


@pytest.mark.parametrize("resource", SPECS, ids=lambda resource: resource.plural)
def test_an_object_can_have_all_its_fields(tenant: Api, resource: Resource) -> None:
    create(tenant, resource, "whole", NAMESPACE, spec=SPECS[resource])
    assert said(lambda: tenant.patch(resource, "whole", {"metadata": {"labels": {"team": "a"}}}, NAMESPACE)) is None
