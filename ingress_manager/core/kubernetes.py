"""The fields of Kubernetes objects on which a decision, or what a command says, depends, as types.

Any other field is skipped, so a field that a later Kubernetes adds changes nothing. Sources: the Kubernetes API
reference (Service v1 core, Ingress v1 networking.k8s.io), the Gateway API reference (HTTPRoute v1, ListenerSet v1).
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec

Object = dict[str, Any]
"""A whole Kubernetes object, as its JSON."""


METACONTROLLER = "metacontroller.k8s.io/"
LAST_APPLIED = f"{METACONTROLLER}last-applied-configuration"
"""An annotation that Metacontroller adds: the object as the hook answered with it, as JSON."""

DECORATOR = f"{METACONTROLLER}decorator-controller"
"""An annotation that Metacontroller adds: the name of its DecoratorController. It is in the record, too."""


class ObjectMeta(msgspec.Struct, rename="camel", frozen=True):
    name: str
    namespace: str
    uid: str
    resource_version: str = ""
    annotations: dict[str, str] | None = None
    labels: dict[str, str] | None = None
    creation_timestamp: Annotated[datetime, msgspec.Meta(tz=True)] | None = None


class ServicePort(msgspec.Struct, rename="camel", frozen=True):
    port: int
    name: str | None = None
    protocol: str = "TCP"
    app_protocol: str | None = None


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
        """Return the ports of the Service; an ExternalName may have none."""
        return self.spec.ports or ()


class AttachmentMeta(msgspec.Struct, frozen=True):
    annotations: dict[str, str] | None = None
    labels: dict[str, str] | None = None


class BackendPort(msgspec.Struct, frozen=True, omit_defaults=True):
    name: str | None = None
    number: int | None = None

    def __str__(self) -> str:
        """Return what the annotation ingress/port says of it."""
        return self.name or str(self.number)


class ServiceBackend(msgspec.Struct, frozen=True, omit_defaults=True):
    name: str
    port: BackendPort = BackendPort()


class Backend(msgspec.Struct, frozen=True, omit_defaults=True):
    service: ServiceBackend | None = None
    resource: Object | None = None


class IngressPath(msgspec.Struct, rename="camel", frozen=True, omit_defaults=True):
    path_type: str
    backend: Backend
    path: str = ""


class IngressPaths(msgspec.Struct, frozen=True):
    paths: list[IngressPath]


class IngressRule(msgspec.Struct, frozen=True, omit_defaults=True):
    host: str = ""
    http: IngressPaths | None = None


class IngressTls(msgspec.Struct, rename="camel", frozen=True, omit_defaults=True):
    hosts: list[str] | None = None
    secret_name: str | None = None


class IngressSpec(msgspec.Struct, rename="camel", frozen=True, omit_defaults=True):
    ingress_class_name: str | None = None
    default_backend: Backend | None = None
    rules: list[IngressRule] | None = None
    tls: list[IngressTls] | None = None

    def paths(self) -> Iterator[tuple[str, IngressPath]]:
        """Yield the host and each path of the rules; the host "" stands for every host."""
        for rule in self.rules or ():
            for path in rule.http.paths if rule.http else ():
                yield rule.host, path


class Ingress(msgspec.Struct, frozen=True):
    metadata: AttachmentMeta
    spec: IngressSpec

    def hosts(self) -> Iterator[str]:
        """Yield the hosts; "" stands for every host."""
        for rule in self.spec.rules or ():
            yield rule.host
        if self.spec.default_backend:
            yield ""
        for entry in self.spec.tls or ():
            yield from entry.hosts or ("",)

    def paths(self) -> Iterator[tuple[str, str]]:
        """Yield each path and its type."""
        for _, path in self.spec.paths():
            yield path.path or "/", path.path_type


class ParentRef(msgspec.Struct, rename="camel", frozen=True, omit_defaults=True):
    name: str
    group: str | None = None
    kind: str | None = None
    namespace: str | None = None
    section_name: str | None = None
    port: int | None = None


class RoutePath(msgspec.Struct, frozen=True):
    type: str = "PathPrefix"
    value: str = "/"


class RouteMatch(msgspec.Struct, rename="camel", frozen=True, omit_defaults=True):
    path: RoutePath = RoutePath()
    headers: list[Any] | None = None
    query_params: list[Any] | None = None
    method: str | None = None


class RouteRule(msgspec.Struct, rename="camel", frozen=True, omit_defaults=True):
    matches: list[RouteMatch] | None = None


class RouteSpec(msgspec.Struct, rename="camel", frozen=True, omit_defaults=True):
    parent_refs: list[ParentRef] | None = None
    hostnames: list[str] | None = None
    rules: list[RouteRule] | None = None


class HTTPRoute(msgspec.Struct, frozen=True):
    metadata: AttachmentMeta
    spec: RouteSpec

    def hosts(self) -> Iterator[str]:
        """Yield the hosts; "" stands for every host."""
        yield from self.spec.hostnames or [""]

    def paths(self) -> Iterator[tuple[str, str]]:
        """Yield each path and its type, by the name that an Ingress has for it."""
        for rule in self.spec.rules or [RouteRule()]:
            for match in rule.matches or [RouteMatch()]:
                yield match.path.value, match.path.type.removeprefix("Path")


class ListenerEntry(msgspec.Struct, rename="camel", frozen=True, omit_defaults=True):
    name: str
    hostname: str | None = None
    port: int | None = None


class ListenerSetSpec(msgspec.Struct, rename="camel", frozen=True, omit_defaults=True):
    parent_ref: ParentRef
    listeners: list[ListenerEntry] | None = None


class ListenerSet(msgspec.Struct, frozen=True):
    metadata: AttachmentMeta
    spec: ListenerSetSpec

    def hosts(self) -> Iterator[str]:
        """Yield the hosts; "" stands for every host."""
        for listener in self.spec.listeners or ():
            yield listener.hostname or ""

    def paths(self) -> Iterator[tuple[str, str]]:
        """Yield nothing: it has no paths."""
        return iter(())


Attachment = Ingress | HTTPRoute | ListenerSet
"""An object that is made for a Service."""

GATEWAY_API = "gateway.networking.k8s.io"
API_VERSIONS = {"Ingress": "networking.k8s.io/v1", "HTTPRoute": f"{GATEWAY_API}/v1", "ListenerSet": f"{GATEWAY_API}/v1"}
"""The kinds of these objects, and the version of each in which it is read and written."""

Key = tuple[str, str]
"""The kind and namespace/name of an object that is made for a Service."""


def key_of(desired: Object) -> Key:
    """Return the kind and namespace/name of an object that the hook answers with."""
    return desired["kind"], f"{desired['metadata']['namespace']}/{desired['metadata']['name']}"


class Observed(msgspec.Struct, frozen=True):
    """The objects that were made for a Service and are there now, by namespace/name."""

    ingresses: dict[str, Ingress] = msgspec.field(name="Ingress.networking.k8s.io/v1", default_factory=dict)
    httproutes: dict[str, HTTPRoute] | None = msgspec.field(name="HTTPRoute.gateway.networking.k8s.io/v1", default=None)
    """None: Metacontroller doesn't look after HTTPRoutes."""

    listenersets: dict[str, ListenerSet] | None = msgspec.field(name=f"ListenerSet.{GATEWAY_API}/v1", default=None)
    """None: nor after ListenerSets."""

    def all(self) -> dict[Key, Attachment]:
        """Return all of them."""
        kinds = ("Ingress", self.ingresses), ("HTTPRoute", self.httproutes), ("ListenerSet", self.listenersets)
        return {(kind, name): each for kind, objects in kinds if objects for name, each in objects.items()}


NOTHING = Observed(httproutes={}, listenersets={})
"""Nothing was made for a Service yet, and all can be made."""
