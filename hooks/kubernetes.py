"""The fields of Kubernetes objects on which a decision depends, as types.

Any other field is skipped, so a field that a later Kubernetes adds changes nothing. Source: the Kubernetes API
reference (Service v1 core, Ingress v1 networking.k8s.io).

gc=False here and elsewhere: these objects can't form cycles, so Python's garbage collector need not look at them.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec

Object = dict[str, Any]
"""A whole Kubernetes object, as its JSON."""


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


class IngressMeta(msgspec.Struct, frozen=True, gc=False):
    annotations: dict[str, str] | None = None


class IngressPath(msgspec.Struct, rename="camel", frozen=True, gc=False):
    path_type: str
    path: str = "/"


class IngressPaths(msgspec.Struct, frozen=True, gc=False):
    paths: list[IngressPath]


class IngressRule(msgspec.Struct, frozen=True, gc=False):
    host: str = ""
    http: IngressPaths | None = None


class IngressTls(msgspec.Struct, frozen=True, gc=False):
    hosts: list[str] | None = None


class IngressSpec(msgspec.Struct, rename="camel", frozen=True, gc=False):
    ingress_class_name: str | None = None
    rules: list[IngressRule] | None = None
    tls: list[IngressTls] | None = None


class Ingress(msgspec.Struct, frozen=True, gc=False):
    metadata: IngressMeta
    spec: IngressSpec


class Observed(msgspec.Struct, frozen=True, gc=False):
    """The objects that were made for a Service and are there now, by namespace/name."""

    ingresses: dict[str, Ingress] = msgspec.field(name="Ingress.networking.k8s.io/v1", default_factory=dict)
