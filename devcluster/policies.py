"""The admission policies: the API server takes a moment to load them, and until then lets everything in.

For each, a write that it must deny is tried, as a dry run, until it is denied.
"""

import functools
from typing import Any

from devcluster import overlay
from devcluster.api import INGRESSES, SERVICES, Api, ApiError, Object, path_of, wait_for
from ingress_manager.core.kubernetes import DECORATOR

SERVICE, OWNED = "policy-probe", "policy-probe-owned"
"""A Service, and an Ingress that a Service owns."""

OURS = {"annotations": {DECORATOR: overlay.CONTROLLER}, "labels": {"app.kubernetes.io/managed-by": "ingress-manager"}}
OPTED_IN = {"annotations": {"ingress/http": "true"}}
DEEP = functools.reduce(lambda inner, _: {"f:a": inner}, range(9), dict[str, Any]())


def ingress(name: str, metadata: Object) -> Object:
    """Return an Ingress."""
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
        "metadata": {"name": name, "namespace": "default"} | metadata,
        "spec": {"rules": [{"host": "example.com"}]},
    }


DENIED: dict[str, tuple[str, str, Object]] = {
    "Services": (
        "POST",
        path_of(SERVICES, "default"),
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": SERVICE, "finalizers": ["orphan"]} | OPTED_IN,
            "spec": {"ports": [{"port": 80}]},
        },
    ),
    "ExternalNames": (
        "POST",
        path_of(SERVICES, "default"),
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": OWNED},
            "spec": {"type": "ExternalName", "externalName": "example.com"},
        },
    ),
    "the size of Services": (
        "PATCH",
        path_of(SERVICES, "default", "kubernetes"),
        {
            "metadata": {
                "labels": {"probe": "deep"},
                "managedFields": [
                    {
                        "manager": "probe",
                        "operation": "Update",
                        "apiVersion": "v1",
                        "fieldsType": "FieldsV1",
                        "fieldsV1": DEEP,
                    }
                ],
            }
        },
    ),
    "the owners of Ingresses": (
        "PATCH",
        path_of(INGRESSES, "default", OWNED),
        {"metadata": {"ownerReferences": None}},
    ),
}
"""What each policy must deny: the method, the path and the body."""


def wait_for_policies(api: Api) -> None:
    """Return once the API server enforces each policy. Raises NotReady."""
    kubernetes = api.get(SERVICES, "kubernetes", "default") or {}
    owner = {"apiVersion": "v1", "kind": "Service", "name": "kubernetes", "uid": kubernetes["metadata"]["uid"]}
    api.create(INGRESSES, ingress(OWNED, OURS | {"ownerReferences": [owner]}))
    try:
        for what, (method, path, body) in DENIED.items():
            wait_for(functools.partial(is_denied, api, method, path, body), 30, what=f"the policy of {what}")
    finally:
        api.delete(INGRESSES, OWNED, "default")


def is_denied(api: Api, method: str, path: str, body: Object) -> bool:
    """Return whether a policy denies a write."""
    try:
        api.request(method, path, params={"dryRun": "All"}, body=body)
    except ApiError as error:
        return error.status == 403
    return False
