"""Builds the requests that Metacontroller sends to the hook, from a test's objects."""

import json
from typing import Any

from ingress_manager.core.kubernetes import DECORATOR, LAST_APPLIED

Object = dict[str, Any]
NAME = "ingress-manager"
INGRESSES = "Ingress.networking.k8s.io/v1"
HTTPROUTES, LISTENERSETS = (f"{kind}.gateway.networking.k8s.io/v1" for kind in ("HTTPRoute", "ListenerSet"))


def service(annotations: dict[str, str] | None = None, **spec: Any) -> Object:
    """Return the Service team-a/shop with these annotations. Without `spec` fields, it has one port, 80."""
    metadata: Object = {"name": "shop", "namespace": "team-a", "uid": "11111111-2222-3333-4444-555555555555"}
    if annotations is not None:
        metadata["annotations"] = annotations
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec or {"ports": [{"port": 80}]}}


def sync_request(parent: Object, *, attached: list[Object] | None = None, httproutes: bool = True) -> Object:
    """Return the body of POST /sync for the Service `parent` and its observed attachments.

    `httproutes` is whether the DecoratorController also manages HTTPRoutes and ListenerSets.
    """
    kinds = {"Ingress": INGRESSES} | ({"HTTPRoute": HTTPROUTES, "ListenerSet": LISTENERSETS} if httproutes else {})
    of_kinds: Object = {key: {} for key in kinds.values()}
    for obj in attached or []:
        if obj["kind"] in kinds:
            of_kinds[kinds[obj["kind"]]][f"{obj['metadata']['namespace']}/{obj['metadata']['name']}"] = obj
    controller = {"apiVersion": "metacontroller.k8s.io/v1alpha1", "metadata": {"name": NAME}}
    request = {"controller": controller, "object": parent, "attachments": of_kinds}
    return request | {"related": {}, "finalizing": False}


def owner_reference(parent: Object) -> Object:
    """Return the owner reference that Metacontroller adds to an attachment of `parent`."""
    reference = {"apiVersion": parent["apiVersion"], "kind": parent["kind"], "name": parent["metadata"]["name"]}
    return reference | {"uid": parent["metadata"]["uid"], "controller": True, "blockOwnerDeletion": True}


def as_created(desired: Object, parent: Object) -> Object:
    """Return `desired` as observed after Metacontroller and the API server have created it."""
    annotations = {**desired["metadata"].get("annotations", {}), DECORATOR: NAME}
    applied = {**desired, "metadata": {**desired["metadata"], "annotations": annotations}}
    metadata = {
        **desired["metadata"],
        "uid": "99999999-2222-3333-4444-555555555555",
        "resourceVersion": "42",
        "annotations": {**annotations, LAST_APPLIED: json.dumps(applied)},
        "ownerReferences": [owner_reference(parent)],
    }
    return {**desired, "metadata": metadata, "status": {"loadBalancer": {}}}


def body(request: Object) -> bytes:
    """Return the request encoded as JSON."""
    return json.dumps(request).encode()
