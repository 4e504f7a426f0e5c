"""The parts of Kubernetes objects that decide something, as types.

A field that isn't named here is skipped, so one that a later Kubernetes adds changes nothing. Source: the Kubernetes
API reference (ServiceSpec v1 core, ObjectMeta v1 meta).

gc=False here and elsewhere: Python's garbage collector needs not look for cycles among objects that can't have any.
"""

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

Object = dict[str, Any]
"""A whole Kubernetes object, as its JSON."""

Observed = Mapping[str, Mapping[str, object]]
"""The objects that were made for a Service and are there now: by Kind.group/version, then by namespace/name."""


class ObjectMeta(msgspec.Struct, frozen=True, gc=False):
    name: str
    namespace: str
    uid: str
    annotations: dict[str, str] | None = None


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
