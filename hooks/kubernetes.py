"""The fields of Kubernetes objects on which a decision depends, as types.

Any other field is skipped, so a field that a later Kubernetes adds changes nothing. Source: the Kubernetes API
reference (ServiceSpec v1 core, ObjectMeta v1 meta).

gc=False here and elsewhere: these objects can't form cycles, so Python's garbage collector need not look at them.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec

Object = dict[str, Any]
"""A whole Kubernetes object, as its JSON."""

Observed = Mapping[str, Mapping[str, object]]
"""The objects that were made for a Service and are there now: by Kind.group/version, then by namespace/name."""


class ObjectMeta(msgspec.Struct, rename="camel", frozen=True, gc=False):
    name: str
    namespace: str
    uid: str
    annotations: dict[str, str] | None = None
    creation_timestamp: Annotated[datetime, msgspec.Meta(tz=True)] | None = None


class ServicePort(msgspec.Struct, rename="camel", frozen=True, gc=False):
    port: int
    name: str | None = None
    protocol: str = "TCP"
    app_protocol: str | None = None


class ServiceSpec(msgspec.Struct, frozen=True, gc=False):
    type: str = "ClusterIP"
    ports: list[ServicePort] | None = None


class Service(msgspec.Struct, rename="camel", frozen=True, gc=False):
    api_version: Literal["v1"]
    kind: Literal["Service"]
    metadata: ObjectMeta
    spec: ServiceSpec

    @property
    def ports(self) -> Sequence[ServicePort]:
        """Return the ports of the Service; an ExternalName may have none."""
        return self.spec.ports or ()
