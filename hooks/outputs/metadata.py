"""The metadata of all that is made for a Service."""

from typing import Any

from hooks.exposure import Exposure
from hooks.kubernetes import Object

MANAGED_BY_LABEL = "app.kubernetes.io/managed-by"
MANAGED_BY = "ingress-manager"


def make_metadata(exposure: Exposure, name: str, output: str) -> Object:
    """Return the metadata of an object of that name, with the annotations of its output."""
    metadata: dict[str, Any] = {
        "name": name,
        "namespace": exposure.namespace,
        "labels": {MANAGED_BY_LABEL: MANAGED_BY},
    }
    if annotations := exposure.annotations[output]:
        metadata["annotations"] = annotations
    return metadata
