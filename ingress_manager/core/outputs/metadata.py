"""The metadata of all that is made for a Service."""

from collections.abc import Mapping
from typing import Any

from ingress_manager.core.copying import MANAGED_BY, MANAGED_BY_LABEL
from ingress_manager.core.exposure import Exposure
from ingress_manager.core.kubernetes import Object


def make_metadata(exposure: Exposure, name: str, annotations: Mapping[str, str]) -> Object:
    """Return the metadata of an object that we make."""
    labels = {MANAGED_BY_LABEL: MANAGED_BY, **exposure.labels}
    metadata: dict[str, Any] = {"name": name, "namespace": exposure.namespace, "labels": labels}
    if annotations:
        metadata["annotations"] = annotations
    return metadata
