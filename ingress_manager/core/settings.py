"""The types of the settings. `settings_parser` reads them; `effective` resolves them for a namespace and profile.

The type of a field holds the check of its value, and the text below a field is its meaning: docs/settings.md and the
chart's schema are generated from both.
"""

import re
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from functools import cached_property, lru_cache, partial
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from ingress_manager.core import copying
from ingress_manager.core.annotations import LONGEST_ENTRANCE, PATH_TYPES, ingress_of, wrong_path_type
from ingress_manager.core.copying import ANY, DEFAULT_COPIED, NOT_EMPTY, Limit
from ingress_manager.core.kubernetes import Object
from ingress_manager.core.shape import Check, must, parts_of
from ingress_manager.core.syntax import LONGEST_LABEL, wrong_host, wrong_label_value, wrong_name, wrong_namespace
from ingress_manager.core.text import listed
from ingress_manager.core.vocabulary import OLD_CLASS

MOST_REMEMBERED = 1000
"""Effective settings, each of a namespace and a profile."""

TEMPLATE_FIELDS = ("{service}", "{namespace}")
STAR_FIELD = "{*}"
"""In the entry of a namespace pattern: the part of the name that its star matches."""

INGRESS, HTTPROUTE = "ingress", "httproute"
OUTPUT_NAMES = (INGRESS, HTTPROUTE)


def fill_in(template: str, service: str, namespace: str, star: str) -> str:
    return template.replace("{service}", service).replace("{namespace}", namespace).replace(STAR_FIELD, star)


def wrong_template(check: Check, placeholders: Sequence[str], service: str, namespace: str, text: str) -> str:
    """Check a template with these names filled in."""
    filled_in = fill_in(text, service, namespace, namespace)
    return f"may hold only {' and '.join(placeholders)} in braces" if "{" in filled_in else check(filled_in)


_LONGEST = "a" * LONGEST_LABEL
_LONGEST_INGRESS = ingress_of("a" * LONGEST_ENTRANCE, _LONGEST)

# The rules of HTTPRoutes' CRD. Source: its schema and x-kubernetes-validations (1.7); GEP-2257, durations.

ONCE = (("CORS",), ("RequestHeaderModifier",), ("ResponseHeaderModifier",), ("RequestRedirect", "URLRewrite"))
"""Groups of filter types. A rule may have one filter of each group."""

_DURATION = re.compile(r"([0-9]{1,5}(h|m|s|ms)){1,4}")
_SECONDS = {"h": 3600, "m": 60, "s": 1, "ms": 0.001}


def wrong_filter(filter_: Object) -> str:
    if not isinstance(type_ := filter_.get("type"), str):
        return "must set type, as text"
    own = {key.lower(): value for key, value in filter_.items()}.get(type_.lower())
    return "" if isinstance(own, dict) else "must hold the field of its type, as requestRedirect"


def wrong_filters(filters: Sequence[Object]) -> str:
    types = [filter_.get("type") for filter_ in filters]
    repeated = [" or ".join(group) for group in ONCE if sum(map(types.count, group)) > 1]
    return f"must hold only one {repeated[0]}" if repeated else ""


def seconds_of(duration: str | None) -> float:
    """Return the length of a duration; 0 without one."""
    parts = re.findall(r"([0-9]{1,5})(ms|[hms])", duration or "")
    return sum(int(number) * _SECONDS[unit] for number, unit in parts)


# The types of values, each with its checks.

Name = Annotated[str, wrong_name]
ProfileName = Annotated[str, lambda name: name and wrong_name(name)]  # "" names none, as null does
Namespace = Annotated[str, wrong_namespace]
NamespacePattern = Annotated[
    str,
    must(lambda pattern: pattern.count("*") < 2, "be a namespace's name, or a pattern with one *"),
    lambda pattern: wrong_namespace(pattern.replace("*", "a")),
]
Port = Annotated[int, must(range(1, 65536).__contains__, "be a port, from 1 to 65535")]
Host = Annotated[str, partial(wrong_template, wrong_host, TEMPLATE_FIELDS, "a", "a")]
AllowedHost = Annotated[str, partial(wrong_template, wrong_host, TEMPLATE_FIELDS[1:], TEMPLATE_FIELDS[0], "a")]
Secret = Annotated[str, partial(wrong_template, wrong_name, TEMPLATE_FIELDS, _LONGEST_INGRESS, _LONGEST)]
LabelKey = Annotated[str, copying.wrong_configured_label]
LabelValue = Annotated[str, wrong_label_value]
ConfiguredKey = Annotated[str, copying.wrong_configured_key]
TlsKey = Annotated[
    ConfiguredKey,
    must(lambda key: key != OLD_CLASS, "be in annotations, with class: null beside them; it can't depend on TLS"),
]
CopiedKey = Annotated[str, copying.wrong_copied_key]
LossKey = Annotated[str, copying.wrong_loss]
KeyPrefix = Annotated[str, copying.wrong_prefix]
Filter = Annotated[Object, wrong_filter]
Filters = Annotated[tuple[Filter, ...], wrong_filters]
TimeoutName = Annotated[str, must(("request", "backendRequest").__contains__, "be request or backendRequest")]
Duration = Annotated[str, must(_DURATION.fullmatch, "be a duration such as 1h, 1m30s or 500ms")]
Timeouts = Annotated[
    dict[TimeoutName, Duration],
    must(
        lambda timeouts: not 0 < seconds_of(timeouts.get("request")) < seconds_of(timeouts.get("backendRequest")),
        "have a backendRequest that is no longer than request",
    ),
]
StatusCode = Annotated[int, must(range(400, 600).__contains__, "be a status code, from 400 to 599")]
EACH_ONCE = must(lambda values: len(values) == len({*values}), "list each value only once")
PathType = Annotated[str, Meta(extra_json_schema={"enum": list(PATH_TYPES)}), wrong_path_type]
PathTypes = Annotated[
    tuple[PathType, ...], NOT_EMPTY, must(lambda names: "Prefix" in names, "hold Prefix, which is the default")
]
Output = Annotated[
    str,
    Meta(extra_json_schema={"enum": list(OUTPUT_NAMES)}),
    must(OUTPUT_NAMES.__contains__, "be ingress or httproute"),
]
Outputs = Annotated[tuple[Output, ...], NOT_EMPTY, EACH_ONCE]
AnyText = str
"""The value of an annotation. One that may be copied is checked with its key."""


class Tls(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """TLS of Services whose annotations leave it open."""

    enabled: bool = False
    """Whether hosts have TLS."""
    secret: Secret | None = None
    """The Secret with the certificate; {service} and {namespace} are replaced. null: the controller's own."""
    redirect: bool = False
    """Whether http redirects to https where there is TLS; HTTPRoutes only."""
    annotations: dict[TlsKey, AnyText] = {}
    """Added to every Ingress with TLS, such as the issuer."""


class ListenerSets(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The listeners that a Service with TLS gets, each with the Service's own certificate."""

    port: Port
    """The port of these listeners, such as 443."""


class Gateway(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The Gateway that HTTPRoutes attach to. Source: the Gateway API reference, ParentReference."""

    name: Name
    """Its name."""
    namespace: Namespace
    """Its namespace."""
    http: Name | None = "http"
    """Its listener for hosts without TLS. null: a Service without TLS is refused."""
    https: Name | None = "https"
    """Its listener for hosts with TLS. null: without `listenerSets`, a Service with TLS is refused."""
    listener_sets: ListenerSets | None = msgspec.field(name="listenerSets", default=None)
    """Gives each Service with TLS a ListenerSet with its own certificate. null: `https` serves it."""

    @property
    def has_one_listener(self) -> bool:
        return self.http == self.https and self.listener_sets is None

    @property
    def redirects(self) -> bool:
        """Return whether it can redirect: it has a listener for http alone."""
        return self.http is not None and not self.has_one_listener

    def __str__(self) -> str:
        return f"Gateway {self.namespace}/{self.name}"


class Retry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """When a request is sent to the Service again. Source: the Gateway API reference, HTTPRouteRetry."""

    attempts: Annotated[int, must(lambda number: number >= 0, "be 0 or more")]
    """How often, after the first request; 0: never."""
    codes: Annotated[tuple[StatusCode, ...], EACH_ONCE] = ()
    """The answers after which it is sent again. Without any: only where no connection was made."""
    backoff: Duration | None = None
    """The least time between two attempts; controllers may lengthen it."""


PlainProfile = Annotated[Object, Meta(extra_json_schema={"$ref": "#/$defs/Profile"})]
"""The fields that a profile leaves out come from the namespace."""


class _Common(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The fields that defaults and profiles have in common."""

    host: Host = "example.com"
    """The host; {service} and {namespace} are replaced."""
    ingress_class: Name | None = msgspec.field(name="class", default="nginx")
    """The IngressClass. null: a new Ingress gets the cluster's default, an old one keeps its own."""
    tls: Tls = Tls()
    """TLS. Each field has its own default."""
    annotations: dict[ConfiguredKey, AnyText] = {}
    """Added to every Ingress, and to HTTPRoutes if controllers read them there. A Service's own annotation of the same
    key isn't copied."""
    labels: dict[LabelKey, LabelValue] = {}
    """Added to every Ingress and HTTPRoute."""
    outputs: Outputs = (INGRESS,)
    """The objects that serve a Service: an Ingress, HTTPRoutes, or both."""
    gateway: Gateway | None = None
    """The Gateway of HTTPRoutes; needed where `outputs` hold httproute."""


class Defaults(_Common, frozen=True, forbid_unknown_fields=True):
    """The values of what a Service leaves out."""

    profile: ProfileName | None = None
    """The profile of a Service that names none."""


class Profile(_Common, rename="camel", frozen=True, forbid_unknown_fields=True):
    """A named set of values that a Service can request."""

    filters: Filters = ()
    """Filters of the Gateway API, for each rule of its HTTPRoutes. With RequestRedirect, a rule has no backend."""
    timeouts: Timeouts = {}
    """Timeouts, likewise. CRDs of the Gateway API before 1.2 drop them in silence."""
    retry: Retry | None = None
    """Retries, likewise, as {attempts: 2, codes: [502, 503], backoff: 100ms}. CRDs before 1.7 drop them in silence, but
    for the experimental channel since 1.2."""
    accepted_losses: tuple[LossKey, ...] = ()
    """Takes the place of `limits.acceptedLosses`, where the profile has other means."""


class Limits(msgspec.Struct, rename="camel", frozen=True, forbid_unknown_fields=True):
    """The most that a Service may request."""

    hosts: Limit[AllowedHost] = ANY
    """The hosts that a Service may claim; {namespace} is replaced. `*.suffix` allows every host below it, but not the
    suffix itself. `*` allows only rules without a host. `any` allows all."""
    classes: Limit[Name] = ANY
    """The allowed IngressClasses, or `any`."""
    path_types: PathTypes = PATH_TYPES[:2]
    """The allowed path types; Prefix must be one. With ImplementationSpecific, a path may be a regular expression."""
    copy_annotations: dict[CopiedKey, Limit[AnyText]] = msgspec.field(default_factory=lambda: DEFAULT_COPIED)
    """The annotations that are copied from a Service: full keys, each with a list of values or `any`."""
    profiles: Limit[Name] = ANY
    """The allowed profiles, or `any`."""
    accepted_losses: tuple[LossKey, ...] = ()
    """Full keys of annotations that may be lost, though they protect a Service or change its answer."""


class NamespaceSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The settings of a namespace, or of those that match a pattern. A field left out has its general value."""

    defaults: Defaults = Defaults()
    """The values of what a Service leaves out."""
    limits: Limits = Limits()
    """The most that a Service may request."""
    paused: bool = False
    """While true, nothing is made, changed or removed, but with its Service."""


class Admission(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The webhook's answer to a change of a Service."""

    deny: bool = False
    """Whether the webhook of manifests/admission/ denies a change that adds a mistake; else it warns."""


class IngressClass(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Facts about the controller of an IngressClass."""

    reads: tuple[KeyPrefix, ...]
    """Prefixes of the keys of all annotations that its controller reads."""


BUILT_IN_CLASSES = {"ingress-manager": IngressClass(reads=("traefik.ingress.kubernetes.io/",))}  # that of gateway/


class Settings(NamespaceSettings, rename="camel", frozen=True, forbid_unknown_fields=True, dict=True):
    """The settings of ingress-manager. A field left out has its built-in default."""

    profiles: dict[Name, PlainProfile] = {}
    """The meaning of each value of `ingress/profile`."""
    namespaces: dict[NamespacePattern, NamespaceSettings] = {}
    """Defaults, limits and a pause of a namespace, by its name or a pattern with one *. In a pattern's entry, {*} in
    `host`, `hosts` and `secret` is the part of the name that the * matches."""
    admission: Admission = Admission()
    """The answer to `kubectl apply` of a Service."""
    ingress_classes: dict[Name, IngressClass] = msgspec.field(default_factory=lambda: BUILT_IN_CLASSES)
    """The annotations that the controller of an IngressClass reads: `reads` has the prefixes of their keys."""

    @cached_property
    def remember(self) -> Callable[..., Any]:
        """Return a function that calls another with these settings and more arguments, and remembers the results."""
        return lru_cache(MOST_REMEMBERED)(lambda make, *arguments: make(self, *arguments))

    @cached_property
    def namespace_patterns(self) -> list[str]:
        """Return the patterns of namespaces, the longest first, then in alphabetical order."""
        return sorted([name for name in self.namespaces if "*" in name], key=lambda name: (-len(name), name))

    def key_of(self, namespace: str) -> str | None:
        """Return the key of a namespace's entry: its name, else the longest pattern; None: the general settings."""
        if namespace in self.namespaces:
            return namespace
        return next((pattern for pattern in self.namespace_patterns if fnmatchcase(namespace, pattern)), None)

    def entry_of(self, namespace: str) -> NamespaceSettings:
        """Return the entry of a namespace, or the general settings."""
        key = self.key_of(namespace)
        return self if key is None else self.namespaces[key]

    @property
    def pauses(self) -> str:
        """Return the paused namespaces, for messages; "" for none."""
        if self.paused:
            running = [name for name, entry in self.namespaces.items() if not entry.paused]
            return f"every namespace{f' but {listed(running)}' if running else ''}"
        return listed([name for name, entry in self.namespaces.items() if entry.paused])

    def without_pause(self) -> "Settings":
        namespaces = {name: msgspec.structs.replace(entry, paused=False) for name, entry in self.namespaces.items()}
        return msgspec.structs.replace(self, paused=False, namespaces=namespaces)


def overlay(base: Object, overrides: Object, type_: Any) -> Object:
    """Merge plain settings of a type, field by field, also in the structs inside."""
    fields = parts_of(type_)[dict].fields.items()
    structs = [(key, inner) for key, inner in fields if isinstance(inner, msgspec.StructMeta)]
    return {
        **base,
        **overrides,
        **{key: overlay(base.get(key, {}), overrides.get(key, {}), inner) for key, inner in structs},
    }
