"""The policy: what the administrator decides. `settings` reads it; what of it holds where, `namespace_policy` says.

`Policy` and the types in it are the settings: docs/settings.md and the schema in the chart are made from them, and from
what stands below their fields.
"""

from collections.abc import Callable
from fnmatch import fnmatchcase
from functools import cached_property, lru_cache
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from ingress_manager.core.annotations import PATH_TYPES
from ingress_manager.core.copying import ANY, DEFAULT_COPIED, Limit
from ingress_manager.core.kubernetes import Object
from ingress_manager.core.text import listed

NO_NAME = ""  # is the name of no profile

MOST_REMEMBERED = 1000
"""Pairs of a namespace and a profile, for which what holds is remembered."""

TEMPLATE_FIELDS = ("{service}", "{namespace}")

INGRESS, HTTPROUTE = "ingress", "httproute"
OUTPUT_NAMES = (INGRESS, HTTPROUTE)
"""The kinds of objects that a Service can be given."""

_OutputName = Annotated[str, Meta(extra_json_schema={"enum": list(OUTPUT_NAMES)})]
_PathType = Annotated[str, Meta(extra_json_schema={"enum": list(PATH_TYPES)})]


class Tls(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """TLS, where a Service's annotations say nothing about it."""

    enabled: bool = False
    """Whether hosts have TLS."""
    secret: str | None = None
    """The Secret with the certificate; {service} and {namespace} are replaced. null: the controller's own."""
    redirect: bool = False
    """Whether http redirects to https where there is TLS; HTTPRoutes only."""
    annotations: dict[str, str] = {}
    """Added to every Ingress with TLS, such as the issuer."""


class ListenerSets(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The listeners that a Service with TLS gets, each with the Service's own certificate."""

    port: int
    """The port of these listeners, such as 443."""


class Gateway(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The Gateway that HTTPRoutes attach to. Source: the Gateway API reference, ParentReference."""

    name: str
    """Its name."""
    namespace: str
    """Its namespace."""
    http: str | None = "http"
    """Its listener for hosts without TLS. null: a Service without TLS is refused."""
    https: str | None = "https"
    """Its listener for hosts with TLS. null: without `listenerSets`, a Service with TLS is refused."""
    listener_sets: ListenerSets | None = msgspec.field(name="listenerSets", default=None)
    """Gives each Service with TLS a ListenerSet with its own certificate. null: `https` serves it."""

    @property
    def has_one_listener(self) -> bool:
        """Return whether one listener serves hosts with and without TLS."""
        return self.http == self.https and self.listener_sets is None

    @property
    def redirects(self) -> bool:
        """Return whether it has a listener for http alone, which can answer with a redirect."""
        return self.http is not None and not self.has_one_listener

    def __str__(self) -> str:
        """Return what to call it to a person."""
        return f"Gateway {self.namespace}/{self.name}"


AsStated = Annotated[Object, Meta(extra_json_schema={"$ref": "#/$defs/Profile"})]
"""A profile as it is stated, in plain values: what it leaves out is that of a namespace."""


class _Stated(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What can be stated in general, for a namespace and in a profile."""

    host: str = "example.com"
    """The host; {service} and {namespace} are replaced."""
    ingress_class: str | None = msgspec.field(name="class", default="nginx")
    """The IngressClass. null: a new Ingress gets the cluster's default, an old one keeps its own."""
    tls: Tls = Tls()
    """TLS. Each field stands alone."""
    annotations: dict[str, str] = {}
    """Added to every Ingress, and to HTTPRoutes if controllers read them there. A Service's own annotation of the same
    key isn't copied."""
    labels: dict[str, str] = {}
    """Added to every Ingress and HTTPRoute."""
    outputs: Annotated[tuple[_OutputName, ...], Meta(min_length=1)] = (INGRESS,)
    """What is made for a Service: an Ingress, HTTPRoutes, or both."""
    gateway: Gateway | None = None
    """The Gateway of HTTPRoutes; needed where `outputs` hold httproute."""


class Defaults(_Stated, frozen=True, forbid_unknown_fields=True):
    """What holds where a Service says nothing."""

    profile: str | None = None
    """The profile of a Service that names none."""


class Profile(_Stated, rename="camel", frozen=True, forbid_unknown_fields=True):
    """What one word on a Service stands for."""

    filters: tuple[Object, ...] = ()
    """Filters of the Gateway API, for each rule of its HTTPRoutes."""
    timeouts: Object = {}
    """Timeouts, likewise."""
    accepted_losses: tuple[str, ...] = ()
    """Takes the place of `limits.acceptedLosses`, where the profile has other means."""


class Limits(msgspec.Struct, rename="camel", frozen=True, forbid_unknown_fields=True):
    """What a Service may ask for."""

    hosts: Limit = ANY
    """The hosts that a Service may claim; {namespace} is replaced. `*.suffix` allows every host below it, but not the
    suffix itself. `*` allows only rules without a host. `any` allows all."""
    classes: Limit = ANY
    """The allowed IngressClasses, or `any`."""
    path_types: Annotated[tuple[_PathType, ...], Meta(min_length=1)] = PATH_TYPES[:2]
    """The allowed path types; Prefix must be one. With ImplementationSpecific, a path may be a regular expression."""
    copy_annotations: dict[str, Limit] = msgspec.field(default_factory=lambda: DEFAULT_COPIED)
    """The annotations that are copied from a Service: full keys, each with a list of values or `any`."""
    profiles: Limit = ANY
    """The allowed profiles, or `any`."""
    accepted_losses: tuple[str, ...] = ()
    """Full keys of annotations that may be lost, though they protect a Service or change its answer."""


class NamespaceSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What holds in a namespace, or in those of a pattern. A field that is left out is as in general."""

    defaults: Defaults = Defaults()
    """What holds where a Service says nothing."""
    limits: Limits = Limits()
    """The most that a Service may ask for."""
    paused: bool = False
    """While true, nothing is made, changed or removed, but with its Service."""


class Admission(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is answered to who changes a Service."""

    deny: bool = False
    """Whether the webhook of manifests/admission/ denies a change that adds a mistake; else it warns."""


class IngressClass(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is known of the controller of an IngressClass."""

    reads: tuple[str, ...]
    """How the keys of all annotations begin that its controller reads."""


BUILT_IN_CLASSES = {"ingress-manager": IngressClass(reads=("traefik.ingress.kubernetes.io/",))}  # that of gateway/


class Policy(NamespaceSettings, rename="camel", frozen=True, forbid_unknown_fields=True, dict=True):
    """The settings of ingress-manager. What they leave out is built in."""

    profiles: dict[str, AsStated] = {}
    """The meaning of each value of `ingress/profile`."""
    namespaces: dict[str, NamespaceSettings] = {}
    """Defaults, limits and a pause of a namespace, by its name or a pattern with one *."""
    admission: Admission = Admission()
    """The answer to `kubectl apply` of a Service."""
    ingress_classes: dict[str, IngressClass] = msgspec.field(default_factory=lambda: BUILT_IN_CLASSES)
    """What the controller of an IngressClass reads: in `reads`, how the keys of its annotations begin."""

    @cached_property
    def remember(self) -> Callable[..., Any]:
        """Return what calls a function with these settings and more arguments, and remembers what it returned."""
        return lru_cache(MOST_REMEMBERED)(lambda make, *arguments: make(self, *arguments))

    @cached_property
    def patterns(self) -> list[str]:
        """Return the patterns of namespaces: the longest first, and of equal ones the first in alphabetical order."""
        return sorted([name for name in self.namespaces if "*" in name], key=lambda name: (-len(name), name))

    def entry_of(self, namespace: str) -> NamespaceSettings:
        """Return what holds in a namespace: the entry of its name, else of the longest pattern that fits."""
        if namespace in self.namespaces:
            return self.namespaces[namespace]
        fitting = [pattern for pattern in self.patterns if fnmatchcase(namespace, pattern)]
        return self.namespaces[fitting[0]] if fitting else self

    @property
    def pauses(self) -> str:
        """Return what is paused, as a person would say it; "" for nothing."""
        if self.paused:
            running = [name for name, entry in self.namespaces.items() if not entry.paused]
            return f"every namespace{f' but {listed(running)}' if running else ''}"
        return listed([name for name, entry in self.namespaces.items() if entry.paused])

    def without_pause(self) -> "Policy":
        """Return the same policy, with nothing paused."""
        namespaces = {name: msgspec.structs.replace(each, paused=False) for name, each in self.namespaces.items()}
        return msgspec.structs.replace(self, paused=False, namespaces=namespaces)


def overlaid(far: Object, near: Object) -> Object:
    """Return what plain defaults, or a profile, state over others: each field alone, and each of TLS."""
    return {**far, **near, "tls": {**far.get("tls", {}), **near.get("tls", {})}}
