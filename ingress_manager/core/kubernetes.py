"""Types for the fields of Kubernetes objects that decisions depend on. All other fields are ignored.

These types must accept everything that the API server stores: one field that can't be decoded would leave the Service
without a decision.

Sources: the Kubernetes API reference (Service v1 core, Ingress v1 networking.k8s.io), the Gateway API reference
(HTTPRoute v1, ListenerSet v1).
"""

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, Literal

import msgspec

Object = dict[str, Any]
"""A JSON object, such as a complete Kubernetes object."""

LAST_APPLIED = "metacontroller.k8s.io/last-applied-configuration"
"""The annotation in which Metacontroller records the object that the hook last returned, as JSON."""

DECORATOR = "metacontroller.k8s.io/decorator-controller"
"""The annotation that names the DecoratorController. The JSON in LAST_APPLIED also contains it."""


class ManagedFieldsEntry(msgspec.Struct, frozen=True):
    time: str | None = None


class ObjectMeta(msgspec.Struct, rename="camel", frozen=True):
    name: str
    namespace: str
    uid: str
    resource_version: str = ""
    annotations: dict[str, str] | None = None
    creation_timestamp: str | None = None
    managed_fields: tuple[ManagedFieldsEntry, ...] | None = None

    def age(self, now: float) -> float:
        """Return the seconds since the object was created or last changed, or `now` if no time is valid.

        Users can write any times: invalid ones are ignored, and 5 s in the future counts as 5 s ago.
        """
        latest = 0.0
        for text in (self.creation_timestamp, *[entry.time for entry in self.managed_fields or ()]):
            with suppress(ValueError, OverflowError):
                latest = max(latest, datetime.fromisoformat(text or "").timestamp())
        return abs(now - latest)


class ServicePort(msgspec.Struct, rename="camel", frozen=True):
    port: int
    name: str | None = None
    protocol: str = "TCP"
    app_protocol: str | None = None
    target_port: int | str | None = None


class ServiceSpec(msgspec.Struct, frozen=True):
    type: str = "ClusterIP"
    ports: list[ServicePort] | None = None


class Service(msgspec.Struct, rename="camel", frozen=True):
    api_version: Literal["v1"]
    kind: Literal["Service"]
    metadata: ObjectMeta
    spec: ServiceSpec

    @property
    def ports(self) -> Sequence[ServicePort]:
        return self.spec.ports or ()


class AttachmentMeta(msgspec.Struct, frozen=True):
    annotations: dict[str, str] | None = None


class IngressPath(msgspec.Struct, rename="camel", frozen=True):
    path_type: str = ""
    path: str = ""


class IngressPaths(msgspec.Struct, frozen=True):
    paths: tuple[IngressPath, ...] = ()


class RoutePath(msgspec.Struct, frozen=True):
    type: str = "PathPrefix"
    value: str = "/"


class RouteMatch(msgspec.Struct, frozen=True):
    path: RoutePath = RoutePath()


class ObservedRule(msgspec.Struct, frozen=True):
    """A rule of an Ingress (`host` and `http`) or an HTTPRoute (`matches`, where None matches every path)."""

    host: str = ""
    http: IngressPaths | None = None
    matches: tuple[RouteMatch, ...] | None = None


class IngressTls(msgspec.Struct, frozen=True):
    hosts: tuple[str, ...] | None = None


class ListenerEntry(msgspec.Struct, frozen=True):
    host: str | None = msgspec.field(name="hostname", default=None)


class ParentRef(msgspec.Struct, rename="camel", frozen=True):
    name: str = ""
    kind: str | None = None
    namespace: str | None = None
    section_name: str | None = None


class Spec(msgspec.Struct, rename="camel", frozen=True):
    """The fields of Ingresses, HTTPRoutes and ListenerSets, in this order. Ingresses and HTTPRoutes share `rules`."""

    ingress_class_name: str | None = None
    default_backend: Any = None
    tls: tuple[IngressTls, ...] | None = None
    rules: tuple[ObservedRule, ...] | None = None
    hosts: tuple[str, ...] | None = msgspec.field(name="hostnames", default=None)
    parent_refs: tuple[ParentRef, ...] | None = None
    parent_ref: ParentRef | None = None
    listeners: tuple[ListenerEntry, ...] | None = None


class Attachment(msgspec.Struct, frozen=True):
    kind: str
    metadata: AttachmentMeta
    spec: Spec = Spec()

    @property
    def hosts(self) -> list[str]:
        """Return the hosts in the spec; "" means every host."""
        if self.kind == "HTTPRoute":
            return [*(self.spec.hosts or ("",))]
        hosts = [rule.host for rule in self.spec.rules or ()] + ([] if self.spec.default_backend is None else [""])
        hosts += [host for entry in self.spec.tls or () for host in entry.hosts or ("",)]
        return [*hosts, *(listener.host or "" for listener in self.spec.listeners or ())]

    @property
    def paths(self) -> list[tuple[str, str]]:
        """Return (path, path type) pairs. An HTTPRoute's PathPrefix becomes Prefix, as in an Ingress."""
        rules = self.spec.rules or (ObservedRule(),)
        if self.kind == "HTTPRoute":
            matched = [match.path for rule in rules for match in rule.matches or (RouteMatch(),)]
            return [(path.value, path.type.removeprefix("Path")) for path in matched]
        return [(path.path or "/", path.path_type) for rule in rules if rule.http for path in rule.http.paths]

    @property
    def parents(self) -> Sequence[ParentRef]:
        return self.spec.parent_refs or ((self.spec.parent_ref,) if self.spec.parent_ref else ())


GATEWAY_API = "gateway.networking.k8s.io"
API_VERSIONS = {"Ingress": "networking.k8s.io/v1", "HTTPRoute": f"{GATEWAY_API}/v1", "ListenerSet": f"{GATEWAY_API}/v1"}

Key = tuple[str, str]
"""An object's kind and its NAMESPACE/NAME."""


def key_of(desired: Object) -> Key:
    return desired["kind"], f"{desired['metadata']['namespace']}/{desired['metadata']['name']}"


class Observed(msgspec.Struct, frozen=True):
    """A Service's existing objects of each kind, by NAMESPACE/NAME; None if Metacontroller doesn't watch the kind."""

    ingresses: dict[str, Attachment] | None = msgspec.field(name="Ingress.networking.k8s.io/v1", default=None)
    httproutes: dict[str, Attachment] | None = msgspec.field(name=f"HTTPRoute.{GATEWAY_API}/v1", default=None)
    listenersets: dict[str, Attachment] | None = msgspec.field(name=f"ListenerSet.{GATEWAY_API}/v1", default=None)

    def all(self) -> dict[Key, Attachment]:
        kinds = ("Ingress", self.ingresses), ("HTTPRoute", self.httproutes), ("ListenerSet", self.listenersets)
        return {(kind, name): item for kind, objects in kinds if objects for name, item in objects.items()}


NOTHING_OBSERVED = Observed({}, {}, {})
"""No objects exist, and every kind is watched."""
