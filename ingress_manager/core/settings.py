"""The types of the settings. `settings_parser` reads the settings; `effective` resolves them for one Service.

A field's type includes a check of its value, and the string below a field describes it. docs/settings.md and the
chart's schema are generated from these types and strings.
"""

import re
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from functools import cached_property, lru_cache, partial
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from ingress_manager.core import copying
from ingress_manager.core.annotations import LONGEST_ENTRANCE, PATH_TYPES, object_name, wrong_path_type
from ingress_manager.core.copying import ANY, DEFAULT_COPY_LIMITS, NOT_EMPTY, Limit
from ingress_manager.core.kubernetes import Object
from ingress_manager.core.shape import Check, must, parts_of
from ingress_manager.core.syntax import LONGEST_LABEL, check, wrong_host, wrong_label_value, wrong_name, wrong_namespace
from ingress_manager.core.text import listed
from ingress_manager.core.vocabulary import OLD_CLASS

MOST_REMEMBERED = 1000  # effective settings that are cached

TEMPLATE_FIELDS = ("{service}", "{namespace}")
STAR_FIELD = "{*}"
"""The placeholder, in a namespace pattern's entry, for the part of the name that the * matches."""

INGRESS, HTTPROUTE = "ingress", "httproute"
OUTPUT_NAMES = (INGRESS, HTTPROUTE)


def fill_in(template: str, service: str, namespace: str, star: str) -> str:
    return template.replace("{service}", service).replace("{namespace}", namespace).replace(STAR_FIELD, star)


def wrong_template(wrong: Check, placeholders: Sequence[str], service: str, namespace: str, text: str) -> str:
    """Return the mistake in a template, or "": an unknown placeholder, or what `wrong` finds after filling it in."""
    filled_in = fill_in(text, service, namespace, namespace)
    if "{" in filled_in:
        return f"may contain no placeholders other than {' and '.join(placeholders)}"
    end = wrong(filled_in)
    return f"(with its placeholders replaced) {end}" if end and filled_in != text else end


_LONGEST = "a" * LONGEST_LABEL
_LONGEST_INGRESS = object_name("a" * LONGEST_ENTRANCE, _LONGEST)

# The rules of the HTTPRoute CRD. Sources: the CRD's schema and x-kubernetes-validations (1.7); GEP-2257, durations.

EXCLUSIVE = (("CORS",), ("RequestHeaderModifier",), ("ResponseHeaderModifier",), ("RequestRedirect", "URLRewrite"))
"""Groups of filter types: a rule may have only one filter from each group."""

_DURATION = re.compile(r"([0-9]{1,5}(h|m|s|ms)){1,4}")
_SECONDS = {"h": 3600, "m": 60, "s": 1, "ms": 0.001}


def wrong_filter(filter_: Object) -> str:
    if not isinstance(type_ := filter_.get("type"), str):
        return "must set type to a filter's name, such as RequestRedirect"
    details = {key.lower(): value for key, value in filter_.items()}.get(type_.lower())
    return "" if isinstance(details, dict) else "must also set the field named after its type, such as requestRedirect"


def wrong_filters(filters: Sequence[Object]) -> str:
    types = [filter_.get("type") for filter_ in filters]
    repeated = [" or ".join(group) for group in EXCLUSIVE if sum(map(types.count, group)) > 1]
    return f"must contain at most one filter of type {repeated[0]}" if repeated else ""


def seconds_of(duration: str | None) -> float:
    parts = re.findall(r"([0-9]{1,5})(ms|[hms])", duration or "")
    return sum(int(number) * _SECONDS[unit] for number, unit in parts)


# The types of values, with their checks. A host template is checked with the shortest names (`choose_hosts` refuses a
# host that is too long), a Secret's with the longest names. In an allowed host, {service} stands for itself and fails.

Name = Annotated[str, wrong_name]
ProfileName = Annotated[str, lambda name: name and wrong_name(name)]  # "" names none, as null does
Namespace = Annotated[str, wrong_namespace]
NamespacePattern = Annotated[
    str,
    must(lambda pattern: pattern.count("*") < 2, "be a namespace name, or a pattern with one *"),
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
    must(lambda key: key != OLD_CLASS, "be in annotations, not in tls.annotations; also set class to null"),
]
CopiedKey = Annotated[str, copying.wrong_copied_key]
LossKey = Annotated[str, copying.wrong_loss_key]
KeyPrefix = Annotated[str, copying.wrong_key_prefix]
Filter = Annotated[Object, wrong_filter]
Filters = Annotated[tuple[Filter, ...], wrong_filters]
TimeoutName = Annotated[str, must(("request", "backendRequest").__contains__, "be request or backendRequest")]
Duration = Annotated[str, must(_DURATION.fullmatch, "be a duration such as 1h, 1m30s or 500ms")]
Timeouts = Annotated[
    dict[TimeoutName, Duration],
    must(
        lambda timeouts: not 0 < seconds_of(timeouts.get("request")) < seconds_of(timeouts.get("backendRequest")),
        "not have a backendRequest timeout longer than the request timeout",
    ),
]
StatusCode = Annotated[int, must(range(400, 600).__contains__, "be a status code, from 400 to 599")]
EACH_ONCE = must(lambda values: len(values) == len({*values}), "list each value only once")
PathType = Annotated[str, Meta(extra_json_schema={"enum": list(PATH_TYPES)}), wrong_path_type]
PathTypes = Annotated[
    tuple[PathType, ...], NOT_EMPTY, must(lambda names: "Prefix" in names, "include Prefix, the default")
]
Output = Annotated[
    str,
    Meta(extra_json_schema={"enum": list(OUTPUT_NAMES)}),
    check((lambda name: name not in OUTPUT_NAMES, "is not ingress or httproute")),
]
Outputs = Annotated[tuple[Output, ...], NOT_EMPTY, EACH_ONCE]
AnyText = str
"""An annotation's value. `settings_parser` checks those that limits.copyAnnotations lists."""


class Tls(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    enabled: bool = False
    """Whether hosts are served with TLS."""
    secret: Secret | None = None
    """The certificate's Secret; {service} becomes the Ingress's name. With null, the controller's default is used."""
    redirect: bool = False
    """Whether HTTPRoutes redirect http to https for hosts with TLS."""
    annotations: dict[TlsKey, AnyText] = {}
    """Added to every Ingress with TLS, for example cert-manager's issuer. Also added to HTTPRoutes and ListenerSets if
    controllers read them there."""


class ListenerSets(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    port: Port
    """The port for listeners in ListenerSets, such as 443."""


class Gateway(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The Gateway that HTTPRoutes attach to. Source: the Gateway API reference, ParentReference."""

    name: Name
    """The Gateway's name."""
    namespace: Namespace
    """The Gateway's namespace."""
    http: Name | None = "http"
    """The Gateway's listener for hosts without TLS. With null, a Service without TLS is refused."""
    https: Name | None = "https"
    """The Gateway's listener for hosts with TLS. With null and no `listenerSets`, a Service with TLS is refused."""
    listener_sets: ListenerSets | None = msgspec.field(name="listenerSets", default=None)
    """With `{port: 443}`, ListenerSets with the Service's certificate replace the listener `https`."""

    @property
    def has_one_listener(self) -> bool:
        return self.http == self.https and self.listener_sets is None

    @property
    def can_redirect(self) -> bool:
        """Return whether the Gateway has a separate listener for http, which can redirect to https."""
        return self.http is not None and not self.has_one_listener

    def __str__(self) -> str:
        return f"Gateway {self.namespace}/{self.name}"


class Retry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """When a failed request is retried. Source: the Gateway API reference, HTTPRouteRetry."""

    attempts: Annotated[int, must(lambda number: number >= 0, "be 0 or more")]
    """The maximum number of retries for a request; 0 disables them."""
    codes: Annotated[tuple[StatusCode, ...], EACH_ONCE] = ()
    """The status codes that cause a retry. If empty, only connection errors cause one."""
    backoff: Duration | None = None
    """The minimum time between two attempts; controllers may wait longer."""


PlainProfile = Annotated[Object, Meta(extra_json_schema={"$ref": "#/$defs/Profile"})]
"""A profile as read from YAML. It isn't a `Profile` yet, because omitted fields inherit the namespace's values."""


class _Common(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    host: Host = "example.com"
    """The host; {service} and {namespace} are replaced with the names of the Service and its namespace."""
    ingress_class: Name | None = msgspec.field(name="class", default="nginx")
    """The IngressClass. With null, a new Ingress gets the cluster's default class; an existing one keeps its class."""
    tls: Tls = Tls()
    """TLS for Services whose annotations don't configure it. Omitted fields are inherited one by one."""
    annotations: dict[ConfiguredKey, AnyText] = {}
    """Added to every Ingress, and to HTTPRoutes if controllers read them there. A Service's annotation with the same
    key isn't copied."""
    labels: dict[LabelKey, LabelValue] = {}
    """Added to every Ingress, HTTPRoute and ListenerSet."""
    outputs: Outputs = (INGRESS,)
    """The objects that serve a Service: an Ingress, HTTPRoutes, or both."""
    gateway: Gateway | None = None
    """The Gateway for HTTPRoutes; required if `outputs` includes httproute."""


class Defaults(_Common, frozen=True, forbid_unknown_fields=True):
    profile: ProfileName | None = None
    """The profile for Services that request none."""


class Profile(_Common, rename="camel", frozen=True, forbid_unknown_fields=True):
    """A named set of values that a Service can request."""

    filters: Filters = ()
    """Gateway API filters for each rule of HTTPRoutes. With RequestRedirect, the rules have no backend."""
    timeouts: Timeouts = {}
    """Timeouts for each rule of HTTPRoutes. Gateway API CRDs before 1.2 silently drop them."""
    retry: Retry | None = None
    """Retries for each rule of HTTPRoutes, as in {attempts: 2, codes: [502, 503], backoff: 100ms}. Gateway API CRDs
    before 1.7 (in the experimental channel, before 1.2) silently drop them."""
    accepted_losses: tuple[LossKey, ...] = ()
    """Replaces `limits.acceptedLosses`, for example to add annotations that the filters make unnecessary."""


class Limits(msgspec.Struct, rename="camel", frozen=True, forbid_unknown_fields=True):
    hosts: Limit[AllowedHost] = ANY
    """The hosts that a Service may claim; {namespace} is replaced with its namespace. `*.suffix` allows every host
    below the suffix, but not the suffix itself. `*` allows rules without a host, but no named host."""
    classes: Limit[Name] = ANY
    """The allowed IngressClasses, or `any`."""
    path_types: PathTypes = PATH_TYPES[:2]
    """The allowed path types; must include Prefix. With ImplementationSpecific, a path may be a regular expression."""
    copy_annotations: dict[CopiedKey, Limit[AnyText]] = msgspec.field(default_factory=lambda: DEFAULT_COPY_LIMITS)
    """The annotations to copy from Services: full keys, each with a list of allowed values or `any`."""
    profiles: Limit[Name] = ANY
    """The allowed profiles, or `any`."""
    accepted_losses: tuple[LossKey, ...] = ()
    """Full keys of annotations that protect a Service or change its responses, but that its objects may lack."""


class NamespaceSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The settings for namespaces that match a name or pattern. Omitted fields inherit the general settings."""

    defaults: Defaults = Defaults()
    """The values that apply where neither a Service's annotations nor its profile set one."""
    limits: Limits = Limits()
    """Limits on what a Service may request."""
    paused: bool = False
    """While true, no object is created, changed or removed, but deleting a Service still removes its objects."""


class Admission(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    deny: bool = False
    """Whether the webhook in manifests/admission/ denies a change that adds a mistake. If false, it only warns."""


class IngressClass(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    reads: tuple[KeyPrefix, ...]
    """The prefixes of all annotations that the controller reads."""


BUILT_IN_CLASSES = {"ingress-manager": IngressClass(reads=("traefik.ingress.kubernetes.io/",))}  # the class of gateway/


class Settings(NamespaceSettings, rename="camel", frozen=True, forbid_unknown_fields=True, dict=True):
    """The settings of ingress-manager. Omitted fields have built-in defaults."""

    profiles: dict[Name, PlainProfile] = {}
    """The profiles that `ingress/profile` can name."""
    namespaces: dict[NamespacePattern, NamespaceSettings] = {}
    """Settings for namespaces, by name or by a pattern with one *. In a pattern's entry, {*} in `host`, `hosts` and
    `secret` is replaced with the part of the name that the * matches."""
    admission: Admission = Admission()
    """How the admission webhook responds to a changed Service."""
    ingress_classes: dict[Name, IngressClass] = msgspec.field(default_factory=lambda: BUILT_IN_CLASSES)
    """The annotations that each IngressClass's controller reads; `reads` lists their prefixes."""

    @cached_property
    def cached_call(self) -> Callable[..., Any]:
        """Return a function f that caches results: f(make, *arguments) returns make(self, *arguments)."""
        return lru_cache(MOST_REMEMBERED)(lambda make, *arguments: make(self, *arguments))

    @cached_property
    def namespace_patterns(self) -> list[str]:
        return sorted([name for name in self.namespaces if "*" in name], key=lambda name: (-len(name), name))

    def entry_key(self, namespace: str) -> str | None:
        """Return the key of a namespace's entry: its exact name, or else the longest matching pattern, or None."""
        if namespace in self.namespaces:
            return namespace
        return next((pattern for pattern in self.namespace_patterns if fnmatchcase(namespace, pattern)), None)

    def entry_for(self, namespace: str) -> NamespaceSettings:
        """Return a namespace's entry, or the general settings if it has none."""
        key = self.entry_key(namespace)
        return self if key is None else self.namespaces[key]

    @property
    def pauses(self) -> str:
        """Describe the paused namespaces, or return "" if there are none."""
        if self.paused:
            running = [name for name, entry in self.namespaces.items() if not entry.paused]
            return f"every namespace{f' but {listed(running)}' if running else ''}"
        return listed([name for name, entry in self.namespaces.items() if entry.paused])

    def without_pause(self) -> "Settings":
        namespaces = {name: msgspec.structs.replace(entry, paused=False) for name, entry in self.namespaces.items()}
        return msgspec.structs.replace(self, paused=False, namespaces=namespaces)


def overlay(base: Object, overrides: Object, type_: Any) -> Object:
    """Merge plain settings field by field, including nested types such as `tls`; fields in `overrides` win."""
    fields = parts_of(type_)[dict].fields.items()
    structs = [(key, inner) for key, inner in fields if isinstance(inner, msgspec.StructMeta)]
    nested = {key: overlay(base.get(key, {}), overrides.get(key, {}), inner) for key, inner in structs}
    return {**base, **overrides, **nested}
