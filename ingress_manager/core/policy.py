"""The policy: what the administrator decides, and what of it holds for one Service. `settings` reads it.

`Policy` and the types in it are the settings: docs/settings.md and the schema in the chart are made from them, and from
what stands below their fields.

There is one rule for all of it: what is nearest to the Service holds. That is its profile, then its namespace, then the
general settings, then what is built in; each field by itself.
"""

from collections.abc import Callable, Container, Mapping
from fnmatch import fnmatchcase
from functools import cached_property, lru_cache, partial
from hashlib import sha256
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType

from ingress_manager.core.annotations import PATH_TYPES
from ingress_manager.core.copying import ANY, DEFAULT_COPIED, Limit
from ingress_manager.core.kubernetes import API_VERSIONS, Object
from ingress_manager.core.syntax import LONGEST_LABEL
from ingress_manager.core.text import listed
from ingress_manager.core.vocabulary import OLD_CLASS

MOST_REMEMBERED = 1000
"""Pairs of a namespace and a profile, for which what holds is remembered."""

NO_NAME = ""  # is the name of no profile

TEMPLATE_FIELDS = ("{service}", "{namespace}")

INGRESS, HTTPROUTE = "ingress", "httproute"
KINDS = {INGRESS: "Ingress", HTTPROUTE: "HTTPRoute"}
OUTPUT_NAMES = tuple(KINDS)
"""The kinds of objects that a Service can be given."""

_OutputName = Annotated[str, Meta(extra_json_schema={"enum": list(OUTPUT_NAMES)})]
_PathType = Annotated[str, Meta(extra_json_schema={"enum": list(PATH_TYPES)})]


class Tls(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """TLS, where a Service's annotations say nothing about it."""

    enabled: bool | UnsetType = UNSET
    """Whether hosts are served with TLS."""
    secret: str | UnsetType | None = UNSET
    """The Secret with the certificate, in each Service's namespace; {service} and {namespace} are replaced; null: the
    controller's own certificate."""
    redirect: bool | UnsetType = UNSET
    """Whether http is redirected to https where there is TLS; HTTPRoutes only."""
    annotations: dict[str, str] | UnsetType = UNSET
    """Added to every Ingress with TLS, such as the issuer."""


class ListenerSets(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The listeners that a Service with TLS gets, each with the Service's own certificate."""

    port: int
    """The port of these listeners, such as 443."""


class Gateway(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The Gateway that HTTPRoutes attach to. Source: the Gateway API reference, ParentReference."""

    name: str
    """The name of the Gateway."""
    namespace: str
    """The namespace of the Gateway."""
    http: str | None = "http"
    """Its listener for hosts without TLS; null: a Service without TLS is refused."""
    https: str | None = "https"
    """Its listener for hosts with TLS; null: a Service with TLS is refused, unless `listenerSets` are stated."""
    listener_sets: ListenerSets | None = msgspec.field(name="listenerSets", default=None)
    """A Service with TLS gets a ListenerSet with its own certificate, which the Gateway has to allow; null: `https`
    serves it."""

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


class _Stated(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What can be stated in general, for a namespace and in a profile."""

    host: str | UnsetType = UNSET
    """The host; {service} and {namespace} are replaced."""
    ingress_class: str | UnsetType | None = msgspec.field(name="class", default=UNSET)
    """The IngressClass; null: a new Ingress gets the cluster's default, and an old one keeps its own; or
    kubernetes.io/ingress.class in `annotations` names it."""
    tls: Tls | UnsetType = UNSET
    """TLS. Each of its fields stands alone."""
    annotations: dict[str, str] | UnsetType = UNSET
    """Added to every Ingress, and to HTTPRoutes if controllers read them there. A Service's own annotation of such a
    key is not copied."""
    labels: dict[str, str] | UnsetType = UNSET
    """Added to every Ingress and HTTPRoute."""
    outputs: Annotated[tuple[_OutputName, ...], Meta(min_length=1)] | UnsetType = UNSET
    """The objects that are made for a Service: an Ingress, HTTPRoutes, or both."""
    gateway: Gateway | UnsetType | None = UNSET
    """The Gateway that HTTPRoutes attach to; needed where outputs hold httproute."""


class Defaults(_Stated, frozen=True, forbid_unknown_fields=True):
    """What holds where a Service says nothing."""

    profile: str | UnsetType | None = UNSET
    """The profile of a Service that names none; null: it has none."""


class Profile(_Stated, rename="camel", frozen=True, forbid_unknown_fields=True):
    """What one word on a Service stands for."""

    filters: tuple[Object, ...] | UnsetType = UNSET
    """The filters of its HTTPRoutes, as the Gateway API has them, copied into each rule."""
    timeouts: Object | UnsetType = UNSET
    """The timeouts of its HTTPRoutes, as the Gateway API has them, copied into each rule."""
    accepted_losses: tuple[str, ...] | UnsetType = UNSET
    """In the place of `limits.acceptedLosses`: the annotations for which this profile has other means."""


class Limits(msgspec.Struct, rename="camel", frozen=True, forbid_unknown_fields=True):
    """What a Service may ask for."""

    hosts: Limit | UnsetType = UNSET
    """The hosts that a Service may claim: names, *.suffix for any depth, and * for a rule without a host alone;
    {namespace} is replaced; `any`: every host, and that rule."""
    classes: Limit | UnsetType = UNSET
    """The allowed IngressClasses, or `any`."""
    path_types: Annotated[tuple[_PathType, ...], Meta(min_length=1)] | UnsetType = UNSET
    """The allowed path types; Prefix is always one of them. A path of the type ImplementationSpecific may be a regular
    expression."""
    copy_annotations: dict[str, Limit] | UnsetType = UNSET
    """The annotations of a Service that are copied: full keys, each with a list of allowed values or `any`."""
    profiles: Limit | UnsetType = UNSET
    """The allowed profiles, or `any`."""
    accepted_losses: tuple[str, ...] | UnsetType = UNSET
    """The full keys of annotations that may be lost. With any other annotation that protects a Service or changes its
    answer, and would be lost, it is refused."""


class NamespaceSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the settings state for a namespace, or for those of a pattern. A field that is left out is as in general."""

    defaults: Defaults | UnsetType = UNSET
    """Its own defaults."""
    limits: Limits | UnsetType = UNSET
    """Its own limits."""
    paused: bool | UnsetType = UNSET
    """Whether this namespace is paused."""


NO_TLS = Tls(enabled=False, secret=None, redirect=False, annotations={})
BUILT_IN_DEFAULTS = Defaults(
    "example.com", "nginx", NO_TLS, annotations={}, labels={}, outputs=(INGRESS,), gateway=None, profile=None
)
BUILT_IN_LIMITS = Limits(
    hosts=ANY, classes=ANY, path_types=PATH_TYPES[:2], copy_annotations=DEFAULT_COPIED, profiles=ANY, accepted_losses=()
)


class Admission(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is answered to who changes a Service."""

    deny: bool = False
    """Whether the webhook of manifests/admission/ denies a change by which a Service becomes refused; if not, it
    warns."""


class IngressClass(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is known of the controller of an IngressClass."""

    reads: tuple[str, ...]
    """How the keys of all annotations begin that its controller reads."""


BUILT_IN_CLASSES = {"ingress-manager": IngressClass(reads=("traefik.ingress.kubernetes.io/",))}  # that of gateway/


class Policy(msgspec.Struct, rename="camel", frozen=True, forbid_unknown_fields=True, dict=True):
    """The settings of ingress-manager. The general defaults and limits are whole: what they leave out is built in."""

    defaults: Defaults = BUILT_IN_DEFAULTS
    """The values where a Service says nothing."""
    limits: Limits = BUILT_IN_LIMITS
    """The most that a Service may ask for."""
    profiles: dict[str, Profile] = {}
    """The meaning of each value of `ingress/profile`."""
    namespaces: dict[str, NamespaceSettings] = {}
    """The defaults and limits of a namespace, by its name or a pattern with one *."""
    paused: bool = False
    """While true, nothing is made, changed or removed."""
    admission: Admission = Admission()
    """The answer to `kubectl apply` of a Service."""
    ingress_classes: dict[str, IngressClass] = {}
    """The annotations that the controller of an IngressClass reads, by its name: in `reads`, how all their keys begin.
    A Service of that class is refused if another annotation protects it."""

    @cached_property
    def whole(self) -> "Policy":
        """Return the same settings, with what is built in where they state nothing."""
        defaults, limits = overlay(self.defaults, BUILT_IN_DEFAULTS), overlay(self.limits, BUILT_IN_LIMITS)
        classes = BUILT_IN_CLASSES | self.ingress_classes
        return msgspec.structs.replace(self, defaults=defaults, limits=limits, ingress_classes=classes)

    @cached_property
    def resolved(self) -> Callable[[str, str | None], "NamespacePolicy"]:
        """Return `resolve` of these settings, which remembers what it returned last."""
        return lru_cache(MOST_REMEMBERED)(partial(resolve, self.whole))

    @cached_property
    def versions(self) -> dict[str, str]:
        """Return the kinds of objects that are made somewhere, and the version of each."""
        own = [entry.defaults for entry in self.namespaces.values() if entry.defaults]
        stated = self.whole.defaults, *own, *self.profiles.values()
        kinds = {KINDS[name] for each in stated for name in each.outputs or ()}
        if any(each.gateway and each.gateway.listener_sets for each in stated):
            kinds.add("ListenerSet")
        return {kind: API_VERSIONS[kind] for kind in kinds}

    @cached_property
    def patterns(self) -> list[str]:
        """Return the patterns of namespaces: the longest first, and of equal ones the first in alphabetical order."""
        return sorted([name for name in self.namespaces if "*" in name], key=lambda name: (-len(name), name))

    def entry_of(self, namespace: str) -> NamespaceSettings:
        """Return what the settings state for a namespace: the entry of its name, else of the longest pattern."""
        fitting = (pattern for pattern in self.patterns if fnmatchcase(namespace, pattern))
        name = namespace if namespace in self.namespaces else next(fitting, "")
        return self.namespaces.get(name, NOTHING_STATED)

    def paused_in(self, namespace: str) -> bool:
        """Return whether nothing is to change in a namespace."""
        stated = self.entry_of(namespace).paused
        return self.paused if stated is UNSET else stated

    @property
    def pauses(self) -> str:
        """Return what is paused, as a person would say it; "" for nothing."""
        if self.paused:
            running = [name for name, entry in self.namespaces.items() if entry.paused is False]
            return f"every namespace{f' but {listed(running)}' if running else ''}"
        return listed([name for name, entry in self.namespaces.items() if entry.paused])

    def without_pause(self) -> "Policy":
        """Return the same policy, with nothing paused."""
        namespaces = {name: msgspec.structs.replace(each, paused=UNSET) for name, each in self.namespaces.items()}
        return msgspec.structs.replace(self, paused=False, namespaces=namespaces)


NOTHING_STATED, NO_DEFAULTS, NO_LIMITS, NO_PROFILE = NamespaceSettings(), Defaults(), Limits(), Profile()


def overlay(near: msgspec.Struct, far: Any) -> Any:
    """Return a struct, with what another one states in its place."""
    return type(far)(**merged(msgspec.structs.asdict(far), near))


def merged(far: Mapping[str, Any], *nearer: msgspec.Struct | UnsetType) -> dict[str, Any]:
    """Return fields with what these state in their place, field by field: the last one's is the nearest."""
    found = {**far}
    for each in nearer:
        for name, value in () if each is UNSET else msgspec.structs.asdict(each).items():
            if value is not UNSET:
                found[name] = overlay(value, found[name]) if isinstance(value, Tls) and name in found else value
    return found


class NamespacePolicy(msgspec.Struct, frozen=True, dict=True):
    """What holds for a Service in one namespace, with the profile that it has."""

    namespace: str
    hosts: tuple[str, ...] | None
    """The patterns of the hosts that may be claimed; None, here and below: every one."""
    classes: tuple[str, ...] | None
    path_types: tuple[str, ...]
    copy_annotations: Mapping[str, Limit]
    allowed_profiles: tuple[str, ...] | None
    accepted_losses: tuple[str, ...]
    ingress_classes: Mapping[str, IngressClass]
    profiles: Mapping[str, Profile]
    default_profile: str | None
    """The name of the profile of a Service that asks for none."""
    profile: str | None
    """The name of the profile that holds; None: none does."""
    host: str
    """The template of the default host, as `tls_secret` is that of the Secret's name."""
    ingress_class: str | None
    tls: bool
    tls_secret: str | None
    redirect: bool
    """Whether http is answered with a redirect, where there is TLS."""
    annotations: Mapping[str, str]
    """Those that the administrator adds to every Ingress, and to every HTTPRoute those that are read there, too."""
    added_with_tls: Mapping[str, str]
    """All that the administrator adds to an Ingress with TLS. Their keys are never copied from a Service."""
    said_by_filters: Container[str]
    """The keys of those that the profile itself states beside filters, which say the same of HTTPRoutes."""
    labels: Mapping[str, str]
    outputs: tuple[str, ...]
    """Which objects are made: some of OUTPUT_NAMES."""
    makes_ingresses: bool
    makes_httproutes: bool
    gateway: Gateway | None
    """The Gateway that HTTPRoutes attach to; stated wherever `outputs` has httproute."""
    filters: tuple[Object, ...] = ()
    timeouts: Object | None = None

    @cached_property
    def fingerprint(self) -> str:
        """Return 16 digits that tell what the profile does to a request, as an earlier one need not; "": nothing."""
        profile = self.profiles.get(self.profile or NO_NAME, NO_PROFILE)
        annotations = profile.annotations or {}, (profile.tls and profile.tls.annotations) or {}
        if not (profile.filters or any(annotations)):
            return ""
        return sha256(msgspec.json.encode([profile.filters or (), *annotations], order="sorted")).hexdigest()[:16]

    def default_host(self, service: str) -> str:
        """Return the default host of a Service; whether it is a valid one depends on the Service's name."""
        return fill_in(self.host, service, self.namespace)

    def default_secret(self, ingress: str) -> str | None:
        """Return the Secret of an Ingress whose Service names none; None: the controller's certificate."""
        return None if self.tls_secret is None else fill_in(self.tls_secret, ingress, self.namespace)

    def allows_host(self, host: str) -> bool:
        """Return whether `host`, and every host that it matches when it is a wildcard, may be claimed."""
        if self.hosts is None or host in self.hosts:
            return True
        # All hosts that the wildcard *.a.b matches end in .a.b. They are allowed if .a.b ends as such a pattern does.
        return host.removeprefix("*").endswith(tuple([each[1:] for each in self.hosts if each.startswith("*.")]))

    @property
    def default_class(self) -> str | None:
        """Return the class where a Service asks for none; it may be that of an annotation."""
        return self.ingress_class or self.annotations.get(OLD_CLASS)

    def allows_class(self, ingress_class: str | None) -> bool:
        """Return whether an Ingress may have this class; None stands for the cluster's default."""
        return self.classes is None or ingress_class in self.classes

    def usable_profiles(self) -> list[str]:
        """Return the names of the profiles that a Service may have."""
        allowed = self.profiles if self.allowed_profiles is None else set(self.allowed_profiles)
        return [name for name in self.profiles if name in allowed]


def in_namespace(policy: Policy, namespace: str, profile: str | None = None) -> NamespacePolicy:
    """Return what holds in `namespace` for a Service that asks for `profile`, or for none.

    A profile that doesn't exist, or isn't allowed, has no effect.
    """
    # A tenant may name any profile, and whoever reaches the hook's port any namespace: neither is remembered.
    asked_for = profile if profile is None or profile in policy.profiles else NO_NAME
    is_real = len(namespace) <= LONGEST_LABEL
    return policy.resolved(namespace, asked_for) if is_real else resolve(policy.whole, namespace, asked_for)


def resolve(policy: Policy, namespace: str, asked_for: str | None) -> NamespacePolicy:
    """Return what holds in a namespace for a Service that asks for a profile, or for none, by whole settings."""
    own = policy.entry_of(namespace)
    general = merged({}, policy.limits, own.limits, policy.defaults, own.defaults)
    limits = [general.pop(name) for name in ("hosts", "classes", "profiles")]
    hosts, classes, allowed = (None if limit == ANY else limit for limit in limits)
    default = general.pop("profile")
    name = default if asked_for is None else asked_for
    chosen = policy.profiles.get(name) if allowed is None or name in allowed else None
    profile = chosen or NO_PROFILE
    stated = merged(general, profile)
    tls, outputs = stated.pop("tls"), stated["outputs"]
    beside_filters = (profile.annotations or {}) | ((profile.tls and profile.tls.annotations) or {})
    return NamespacePolicy(
        namespace=namespace,
        hosts=None if hosts is None else tuple([fill_in(pattern, "", namespace) for pattern in hosts]),
        classes=classes,
        allowed_profiles=allowed,
        ingress_classes=policy.ingress_classes,
        profiles=policy.profiles,
        default_profile=default,
        profile=name if chosen else None,
        tls=tls.enabled,
        tls_secret=tls.secret,
        redirect=tls.redirect,
        added_with_tls={**stated["annotations"], **tls.annotations},
        said_by_filters=beside_filters if profile.filters else (),
        makes_ingresses=INGRESS in outputs,
        makes_httproutes=HTTPROUTE in outputs,
        timeouts=stated.pop("timeouts", None) or None,
        **stated,
    )


def fill_in(template: str, service: str, namespace: str) -> str:
    """Return the template with the names of one Service in it."""
    return template.replace("{service}", service).replace("{namespace}", namespace)
