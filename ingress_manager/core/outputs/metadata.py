"""The metadata of all that is made for a Service."""

from typing import Any

from ingress_manager.core.kubernetes import Object

MANAGED_BY_LABEL = "app.kubernetes.io/managed-by"
MANAGED_BY = "ingress-manager"


def make_metadata(name: str, namespace: str, annotations: dict[str, str]) -> Object:
    """Return the metadata of an object that we make."""
    metadata: dict[str, Any] = {"name": name, "namespace": namespace, "labels": {MANAGED_BY_LABEL: MANAGED_BY}}
    if annotations:
        metadata["annotations"] = annotations
    return metadata
