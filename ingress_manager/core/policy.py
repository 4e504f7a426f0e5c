"""The policy: what the administrator decides, and what of it holds for one Service. `settings` reads it.

`Policy` and the types in it are the settings: docs/settings.md and the schema in the chart are made from them.

There is one rule for all of it: what is nearest to the Service holds. That is its profile, then its namespace, then the
general settings, then what is built in; each field by itself.
"""

from collections.abc import Callable, Container, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cached_property, lru_cache, partial
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import UNSET, Meta, UnsetType

from ingress_manager.core.annotations import PATH_TYPES
from ingress_manager.core.copying import ANY, DEFAULT_COPIED, Limit
from ingress_manager.core.kubernetes import API_VERSIONS, Object
from ingress_manager.core.syntax import LONGEST_LABEL
from ingress_manager.core.text import listed
from ingress_manager.core.vocabulary import OLD_CLASS

MOST_REMEMBERED = 20_000
"""Patterns of hosts, in all that is remembered. That is what holds for a thousand pairs of a namespace and a profile,
or for fewer where the limits list more than twenty patterns."""

NO_NAME = ""
"""Is the name of no profile."""

TEMPLATE_FIELDS = ("{service}", "{namespace}")

INGRESS = "ingress"
HTTPROUTE = "httproute"
KINDS = {INGRESS: "Ingress", HTTPROUTE: "HTTPRoute"}
OUTPUT_NAMES = tuple(KINDS)
"""The kinds of objects that a Service can be given."""

OutputNames = Annotated[
    tuple[Annotated[str, Meta(extra_json_schema={"enum": list(OUTPUT_NAMES)})], ...], Meta(min_length=1)
]


class Tls(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """TLS, where a Service's annotations say nothing about it."""

    enabled: Annotated[bool | UnsetType, Meta(description="Whether hosts are served with TLS.")] = UNSET
    secret: Annotated[
        str | UnsetType | None,
        Meta(
            description="The Secret with the certificate, in each Service's namespace; {service} and {namespace} are "
            "replaced; null: the controller's own certificate.",
        ),
    ] = UNSET
    redirect: Annotated[
        bool | UnsetType,
        Meta(description="Whether http is redirected to https where there is TLS; HTTPRoutes only."),
    ] = UNSET
    annotations: Annotated[
        dict[str, str] | UnsetType,
        Meta(description="Added to every Ingress with TLS, such as the issuer."),
    ] = UNSET


class Gateway(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The Gateway that HTTPRoutes attach to. Source: the Gateway API reference, ParentReference."""

    name: Annotated[str, Meta(description="The name of the Gateway.")]
    namespace: Annotated[str, Meta(description="The namespace of the Gateway.")]
    http: Annotated[
        str | None,
        Meta(description="Its listener for hosts without TLS; null: a Service without TLS is refused."),
    ] = "http"
    https: Annotated[
        str | None,
        Meta(description="Its listener for hosts with TLS; null: a Service with TLS is refused."),
    ] = "https"

    def __str__(self) -> str:
        """Return what to call it to a person."""
        return f"Gateway {self.namespace}/{self.name}"


class _Stated(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What can be stated in general, for a namespace and in a profile."""

    host: Annotated[str | UnsetType, Meta(description="The host; {service} and {namespace} are replaced.")] = UNSET
    ingress_class: Annotated[
        str | UnsetType | None,
        Meta(
            description="The IngressClass; null: a new Ingress gets the cluster's default, and an old one keeps its "
            "own; or kubernetes.io/ingress.class in `annotations` names it."
        ),
    ] = msgspec.field(name="class", default=UNSET)
    tls: Annotated[Tls | UnsetType, Meta(description="TLS. Each of its fields stands alone.")] = UNSET
    annotations: Annotated[
        dict[str, str] | UnsetType,
        Meta(
            description="Added to every Ingress, and to HTTPRoutes if controllers read them there. A Service's own "
            "annotation of such a key is not copied."
        ),
    ] = UNSET
    labels: Annotated[
        dict[str, str] | UnsetType,
        Meta(description="Added to every Ingress and HTTPRoute."),
    ] = UNSET
    outputs: Annotated[
        OutputNames | UnsetType,
        Meta(description="The objects that are made for a Service: an Ingress, HTTPRoutes, or both."),
    ] = UNSET
    gateway: Annotated[
        Gateway | UnsetType | None,
        Meta(description="The Gateway that HTTPRoutes attach to; needed where outputs hold httproute."),
    ] = UNSET


class Defaults(_Stated, frozen=True, forbid_unknown_fields=True):
    """What holds where a Service says nothing."""

    profile: Annotated[
        str | UnsetType | None, Meta(description="The profile of a Service that names none; null: it has none.")
    ] = UNSET


class Profile(_Stated, frozen=True, forbid_unknown_fields=True):
    """What one word on a Service stands for."""

    filters: Annotated[
        tuple[Object, ...] | UnsetType,
        Meta(description="The filters of its HTTPRoutes, as the Gateway API has them, copied into each rule."),
    ] = UNSET
    timeouts: Annotated[
        Object | UnsetType,
        Meta(description="The timeouts of its HTTPRoutes, as the Gateway API has them, copied into each rule."),
    ] = UNSET
    accepted_losses: Annotated[
        tuple[str, ...] | UnsetType,
        Meta(
            description="In the place of `limits.acceptedLosses`: the annotations for which this profile has other "
            "means."
        ),
    ] = msgspec.field(name="acceptedLosses", default=UNSET)


class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a Service may ask for."""

    hosts: Annotated[
        Limit | UnsetType,
        Meta(
            description="The hosts that a Service may claim: names, *.suffix for any depth, and * for a rule without a "
            "host alone; {namespace} is replaced; `any`: every host, and that rule.",
        ),
    ] = UNSET
    classes: Annotated[Limit | UnsetType, Meta(description="The allowed IngressClasses, or `any`.")] = UNSET
    path_types: Annotated[
        Annotated[tuple[Annotated[str, Meta(extra_json_schema={"enum": list(PATH_TYPES)})], ...], Meta(min_length=1)]
        | UnsetType,
        Meta(
            description="The allowed path types; Prefix is always one of them. A path of the type "
            "ImplementationSpecific may be a regular expression."
        ),
    ] = msgspec.field(name="pathTypes", default=UNSET)
    copy_annotations: Annotated[
        dict[str, Limit] | UnsetType,
        Meta(
            description="The annotations of a Service that are copied: full keys, each with a list of allowed values "
            "or `any`.",
        ),
    ] = msgspec.field(name="copyAnnotations", default=UNSET)
    profiles: Annotated[Limit | UnsetType, Meta(description="The allowed profiles, or `any`.")] = UNSET
    accepted_losses: Annotated[
        tuple[str, ...] | UnsetType,
        Meta(
            description="The full keys of annotations that may be lost. With any other annotation that protects a "
            "Service or changes its answer, and would be lost, it is refused.",
        ),
    ] = msgspec.field(name="acceptedLosses", default=UNSET)


class NamespaceSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the settings state for a namespace, or for those of a pattern. A field that is left out is as in general."""

    defaults: Annotated[Defaults | UnsetType, Meta(description="Its own defaults.")] = UNSET
    limits: Annotated[Limits | UnsetType, Meta(description="Its own limits.")] = UNSET
    paused: Annotated[bool | UnsetType, Meta(description="Whether this namespace is paused.")] = UNSET


BUILT_IN_DEFAULTS = Defaults(
    host="example.com",
    ingress_class="nginx",
    tls=Tls(enabled=False, secret=None, redirect=False, annotations={}),
    annotations={},
    labels={},
    outputs=(INGRESS,),
    gateway=None,
    profile=None,
)
BUILT_IN_LIMITS = Limits(
    hosts="any",
    classes="any",
    path_types=("Prefix", "Exact"),
    copy_annotations=DEFAULT_COPIED,
    profiles="any",
    accepted_losses=(),
)


class Admission(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is answered to who changes a Service."""

    deny: Annotated[
        bool,
        Meta(
            description="Whether the webhook of manifests/admission/ denies a change by which a Service becomes "
            "refused; if not, it warns."
        ),
    ] = False


class IngressClass(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is known of the controller of an IngressClass."""

    reads: Annotated[
        tuple[str, ...],
        Meta(description="How the keys of all annotations begin that its controller reads."),
    ]


BUILT_IN_CLASSES = {"ingress-manager": IngressClass(reads=("traefik.ingress.kubernetes.io/",))}
"""That of the folder gateway/."""


class Policy(msgspec.Struct, frozen=True, forbid_unknown_fields=True, dict=True):
    """The settings of ingress-manager. The general defaults and limits are whole: what they leave out is built in."""

    defaults: Annotated[Defaults, Meta(description="The values where a Service says nothing.")] = BUILT_IN_DEFAULTS
    limits: Annotated[Limits, Meta(description="The most that a Service may ask for.")] = BUILT_IN_LIMITS
    profiles: Annotated[dict[str, Profile], Meta(description="The meaning of each value of `ingress/profile`.")] = {}
    namespaces: Annotated[
        dict[str, NamespaceSettings],
        Meta(description="The defaults and limits of a namespace, by its name or a pattern with one *."),
    ] = {}
    paused: Annotated[
        bool,
        Meta(
            description="While true, nothing is made or changed. Objects that these settings forbid are removed even "
            "then.",
        ),
    ] = False
    admission: Annotated[Admission, Meta(description="The answer to `kubectl apply` of a Service.")] = Admission()
    ingress_classes: Annotated[
        dict[str, IngressClass],
        Meta(
            description="The annotations that the controller of an IngressClass reads, by its name: in `reads`, how "
            "all their keys begin. A Service of that class is refused if another annotation protects it."
        ),
    ] = msgspec.field(name="ingressClasses", default_factory=dict)

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "ingress_classes", BUILT_IN_CLASSES | self.ingress_classes)
        msgspec.structs.force_setattr(self, "defaults", overlay(self.defaults, BUILT_IN_DEFAULTS))
        msgspec.structs.force_setattr(self, "limits", overlay(self.limits, BUILT_IN_LIMITS))

    @cached_property
    def resolved(self) -> Callable[[str, str | None], "NamespacePolicy"]:
        """Return `resolve` of these settings, which remembers what it returned last."""
        limits = [self.limits, *[entry.limits or NO_LIMITS for entry in self.namespaces.values()]]
        patterns = max([len(each.hosts or ()) for each in limits])
        return lru_cache(1 + MOST_REMEMBERED // max(20, patterns))(partial(resolve, self))

    @cached_property
    def versions(self) -> dict[str, str]:
        """Return the kinds of objects that are made somewhere, and the version of each."""
        own = [entry.defaults or NO_DEFAULTS for entry in self.namespaces.values()]
        outputs = {name for each in (self.defaults, *own, *self.profiles.values()) for name in each.outputs or ()}
        return {KINDS[name]: API_VERSIONS[KINDS[name]] for name in outputs}

    @cached_property
    def patterns(self) -> list[str]:
        """Return the patterns of namespaces: the longest first, and of equal ones the first in alphabetical order."""
        return sorted([name for name in self.namespaces if "*" in name], key=lambda name: (-len(name), name))

    def entry_of(self, namespace: str) -> NamespaceSettings:
        """Return what the settings state for a namespace: the entry of its name, else of the longest pattern."""
        if namespace in self.namespaces:
            return self.namespaces[namespace]
        fitting = (pattern for pattern in self.patterns if fnmatchcase(namespace, pattern))
        return self.namespaces.get(next(fitting, ""), NOTHING_STATED)

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
        namespaces = {
            name: entry if entry.paused is UNSET else msgspec.structs.replace(entry, paused=UNSET)
            for name, entry in self.namespaces.items()
        }
        return msgspec.structs.replace(self, paused=False, namespaces=namespaces)


NOTHING_STATED = NamespaceSettings()
NO_DEFAULTS, NO_LIMITS, NO_PROFILE = Defaults(), Limits(), Profile()

T = TypeVar("T", Defaults, Limits, Tls)


def overlay(near: T | Profile | UnsetType, far: T) -> T:
    """Return `far` with what `near` states in its place, field by field."""
    if near is UNSET or near is far:
        return far
    fields = {}
    for name in far.__struct_fields__:
        value, beyond = getattr(near, name, UNSET), getattr(far, name)
        fields[name] = beyond if value is UNSET else overlay(value, beyond) if isinstance(value, Tls) else value
    return type(far)(**fields)


class NamespacePolicy(msgspec.Struct, frozen=True, gc=False):
    """What holds for a Service in one namespace, with the profile that it has."""

    namespace: str

    hosts: tuple[str, ...] | None
    """Patterns of the hosts that may be claimed; None: every host."""

    suffixes: tuple[str, ...]
    """What the hosts end in that a pattern with a wildcard allows: .example.com for *.example.com."""

    classes: tuple[str, ...] | None
    """The IngressClasses that may be used; None: every one."""

    path_types: tuple[str, ...]
    copy_annotations: Mapping[str, Limit]
    allowed_profiles: tuple[str, ...] | None
    """The profiles that may be asked for; None: every one."""

    accepted_losses: tuple[str, ...]
    """The annotations that protect and may be lost."""

    ingress_classes: Mapping[str, IngressClass]
    """What is known of IngressClasses, by name."""

    profiles: Mapping[str, Profile]
    """All profiles there are."""

    default_profile: str | None
    """The name of the profile of a Service that asks for none."""

    profile: str | None
    """The name of the profile that holds; None: none does."""

    host: str
    """The template of the default host."""

    ingress_class: str | None
    tls: bool
    tls_secret: str | None
    """The template of the Secret's name; None: the controller's own certificate."""

    redirect: bool
    """Whether http is answered with a redirect, where there is TLS."""

    annotations: Mapping[str, str]
    """Those that the administrator adds to every Ingress, and to every HTTPRoute those that are read there, too."""

    added_with_tls: Mapping[str, str]
    """All that the administrator adds to an Ingress with TLS. Their keys are never copied from a Service."""

    said_by_filters: Container[str]
    """The keys of those that the profile itself states beside filters, which say the same of HTTPRoutes."""

    labels: Mapping[str, str]
    """Those that the administrator adds."""

    outputs: tuple[str, ...]
    """Which objects are made: some of OUTPUT_NAMES."""

    makes_ingresses: bool
    """Whether a Service is given an Ingress."""

    makes_httproutes: bool
    """Whether a Service is given HTTPRoutes."""

    default_outputs: tuple[str, ...]
    """The same without a profile."""

    gateway: Gateway | None
    """The Gateway that HTTPRoutes attach to; stated wherever `outputs` has httproute."""

    default_gateway: Gateway | None
    """The same without a profile."""

    filters: tuple[Object, ...]
    timeouts: Object | None

    def default_host(self, service: str) -> str:
        """Return the default host of a Service; whether it is a valid one depends on the Service's name."""
        return fill_in(self.host, service, self.namespace)

    def default_secret(self, ingress: str) -> str | None:
        """Return the Secret of an Ingress whose Service names none; None: the controller's certificate.

        An Ingress is called as its Service; that of another entrance has its name, too.
        """
        return None if self.tls_secret is None else fill_in(self.tls_secret, ingress, self.namespace)

    def allows_host(self, host: str) -> bool:
        """Return whether `host`, and every host that it matches when it is a wildcard, may be claimed."""
        if self.hosts is None or host in self.hosts:
            return True
        # All hosts that the wildcard *.a.b matches end in .a.b. They are allowed if .a.b ends in a pattern's suffix.
        name = host.removeprefix("*")
        return name.endswith(self.suffixes)

    @property
    def default_class(self) -> str | None:
        """Return the class where a Service asks for none; it may be that of an annotation."""
        return self.ingress_class or self.annotations.get(OLD_CLASS)

    def allows_class(self, ingress_class: str | None) -> bool:
        """Return whether an Ingress may have this class; None stands for the cluster's default."""
        return self.classes is None or ingress_class in self.classes

    def allows_profile(self, profile: str) -> bool:
        """Return whether a Service may have this profile; there need be none of this name."""
        return self.allowed_profiles is None or profile in self.allowed_profiles

    def usable_profiles(self) -> list[str]:
        """Return the names of the profiles that a Service may have."""
        names = self.profiles if self.allowed_profiles is None else set(self.allowed_profiles)
        return [name for name in self.profiles if name in names]

    @property
    def requires_profile(self) -> bool:
        """Return whether no Service can be without a profile: there is a default, and a list of those allowed."""
        return self.default_profile is not None and self.allowed_profiles is not None

    @property
    def allows_httproutes(self) -> bool:
        """Return whether some profile that a Service may have, or none where it may have none, makes HTTPRoutes."""
        if self.makes_httproutes and (self.profile or not self.default_profile):
            return True  # nearly always
        made = [self.profiles[name].outputs or self.default_outputs for name in self.usable_profiles()]
        return any(
            HTTPROUTE in outputs for outputs in (made if self.default_profile else [*made, self.default_outputs])
        )

    def allows_listener(self, namespace: str, gateway: str, section: str) -> bool:
        """Return whether an HTTPRoute may attach to this listener: some profile, or none, has to lead to it."""
        return any(
            (namespace, gateway) == (stated.namespace, stated.name) and section in {stated.http, stated.https}
            for stated in self._gateways()
        )

    def _gateways(self) -> Iterator[Gateway]:
        # Nearly always it is one of these two. There can be many profiles.
        for each in (self.gateway, self.default_gateway):
            if each:
                yield each
        for name in self.usable_profiles():
            gateway = self.profiles[name].gateway
            if isinstance(gateway, Gateway):
                yield gateway


def in_namespace(policy: Policy, namespace: str, profile: str | None = None) -> NamespacePolicy:
    """Return what holds in `namespace` for a Service that asks for `profile`, or for none.

    A profile that doesn't exist, or isn't allowed, has no effect.
    """
    # A tenant may name any profile, and whoever reaches the hook's port any namespace: neither is remembered.
    asked_for = profile if profile is None or profile in policy.profiles else NO_NAME
    if len(namespace) > LONGEST_LABEL:
        return resolve(policy, namespace, asked_for)
    return policy.resolved(namespace, asked_for)


def resolve(policy: Policy, namespace: str, asked_for: str | None) -> NamespacePolicy:
    """Return what holds in a namespace for a Service that asks for a profile, or for none.

    The nearest that is stated holds: the profile's, the namespace's, the general one.
    """
    own = policy.entry_of(namespace)
    # Each of these is whole: none of its fields is UNSET.
    defaults: Any = overlay(own.defaults, policy.defaults)
    limits: Any = overlay(own.limits, policy.limits)
    profiles = unless_any(limits.profiles)
    name = defaults.profile if asked_for is None else asked_for
    chosen = policy.profiles.get(name) if profiles is None or name in profiles else None
    profile: Any = chosen or NO_PROFILE
    stated: Any = overlay(profile, defaults)
    beside_filters: Any = {**(profile.annotations or {}), **((profile.tls and profile.tls.annotations) or {})}
    hosts = unless_any(limits.hosts)
    if hosts is not None:
        hosts = tuple([fill_in(pattern, "", namespace) for pattern in hosts])
    return NamespacePolicy(
        namespace=namespace,
        hosts=hosts,
        suffixes=tuple([pattern[1:] for pattern in hosts or () if pattern.startswith("*.")]),
        classes=unless_any(limits.classes),
        path_types=limits.path_types,
        copy_annotations=limits.copy_annotations,
        allowed_profiles=profiles,
        accepted_losses=limits.accepted_losses if profile.accepted_losses is UNSET else profile.accepted_losses,
        ingress_classes=policy.ingress_classes,
        profiles=policy.profiles,
        default_profile=defaults.profile,
        profile=name if chosen else None,
        host=stated.host,
        ingress_class=stated.ingress_class,
        tls=stated.tls.enabled,
        tls_secret=stated.tls.secret,
        redirect=stated.tls.redirect,
        annotations=stated.annotations,
        added_with_tls={**stated.annotations, **stated.tls.annotations},
        said_by_filters=beside_filters.keys() if profile.filters else (),
        labels=stated.labels,
        outputs=stated.outputs,
        makes_ingresses=INGRESS in stated.outputs,
        makes_httproutes=HTTPROUTE in stated.outputs,
        default_outputs=defaults.outputs,
        gateway=stated.gateway,
        default_gateway=defaults.gateway,
        filters=profile.filters or (),
        timeouts=profile.timeouts or None,
    )


def unless_any(limit: Any) -> Any:
    """Return a limit; None where it is lifted."""
    return None if limit == ANY else limit


def fill_in(template: str, service: str, namespace: str) -> str:
    """Return the template with the names of one Service in it."""
    if "{" not in template:
        return template  # as most hosts are
    return template.replace("{service}", service).replace("{namespace}", namespace)
