"""The metadata of all that is made for a Service."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from ingress_manager.core.copying import MANAGED_BY, MANAGED_BY_LABEL
from ingress_manager.core.exposure import Exposure
from ingress_manager.core.kubernetes import Object


def make_metadata(exposure: Exposure, name: str, annotations: Mapping[str, str]) -> Object:
    """Return the metadata of an object that we make."""
    labels = {MANAGED_BY_LABEL: MANAGED_BY, **exposure.basis.policy.labels}
    metadata: dict[str, Any] = {"name": name, "namespace": exposure.basis.service.metadata.namespace, "labels": labels}
    if annotations:
        metadata["annotations"] = annotations
    return metadata


def name_of(exposure: Exposure, hosts: Sequence[str]) -> str:
    """Return the name of an HTTPRoute or a ListenerSet for these hosts: the exposure's, if the main host is in it.

    Another one is named by its first host. So no two of a kind have the same name, and none is renamed, and gone for a
    moment, because a host is added behind the others. No Service's name has a dot, so none of another Service has it.
    """
    if exposure.routing is None or exposure.routing.main_host in hosts:
        return exposure.basis.name
    return f"{exposure.basis.name}.{sha256(hosts[0].encode()).hexdigest()[:32]}"
