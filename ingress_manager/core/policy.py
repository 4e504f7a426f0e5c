"""The policy: what the administrator decides, and what of it holds in one namespace. `settings` reads it.

`Policy` and the types in it are the settings: docs/settings.md and docs/settings.schema.json are made from them.
"""

from collections.abc import Mapping
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from ingress_manager.core.annotations import PATH_TYPES
from ingress_manager.core.copying import DEFAULT_COPIED, Limit

ALL_OTHERS = "*"
PLACEHOLDERS = ("{service}", "{namespace}")

INGRESS = "ingress"
HTTPROUTE = "httproute"
OUTPUT_NAMES = (INGRESS, HTTPROUTE)
"""The kinds of objects that a Service can be given."""

OutputNames = Annotated[
    tuple[Annotated[str, Meta(extra_json_schema={"enum": list(OUTPUT_NAMES)})], ...], Meta(min_length=1)
]


class Tls(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """TLS, where a Service's annotations say nothing about it."""

    enabled: Annotated[bool, Meta(description="Whether hosts are served with TLS.")] = False
    secret: Annotated[
        str | None,
        Meta(
            description="The Secret with the certificate, in each Service's namespace: a name in which {service} and "
            "{namespace} are replaced; null: the controller's own certificate.",
        ),
    ] = None
    annotations: Annotated[
        dict[str, str],
        Meta(description="Added to every Ingress with TLS, as `annotations` are: here the issuer belongs."),
    ] = {}


class NamespaceTls(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """TLS in one namespace. What is left out is as in the general `tls`."""

    enabled: Annotated[bool | UnsetType, Meta(description="Whether hosts are served with TLS.")] = UNSET
    secret: Annotated[str | UnsetType | None, Meta(description="Its own Secret, as in the general `tls`.")] = UNSET
    annotations: Annotated[
        dict[str, str] | UnsetType,
        Meta(description="Its own annotations for Ingresses with TLS, in the place of the general ones."),
    ] = UNSET


class Gateway(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The Gateway that HTTPRoutes attach to. Source: the Gateway API reference, ParentReference."""

    name: Annotated[str, Meta(description="The name of the Gateway.")]
    namespace: Annotated[str, Meta(description="The namespace of the Gateway.")]
    http: Annotated[
        str | None,
        Meta(description="Its listener for hosts without TLS; null: it has none, and such a Service is refused."),
    ] = "http"
    https: Annotated[
        str | None,
        Meta(description="Its listener for hosts with TLS; null: it has none, and such a Service is refused."),
    ] = "https"

    def __str__(self) -> str:
        """Return what to call it to a person."""
        return f"Gateway {self.namespace}/{self.name}"


class NamespaceSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the settings state for one namespace."""

    hosts: Annotated[
        Limit | UnsetType,
        Meta(
            description="The hosts that may be claimed: exact, or *.suffix for any depth below it, in which "
            '{namespace} is replaced; `any`: every host; left out: those of "*".',
        ),
    ] = UNSET
    classes: Annotated[
        Limit | UnsetType,
        Meta(description='The IngressClasses that may be asked for; `any`: every one; left out: those of "*".'),
    ] = UNSET
    host: Annotated[str | None, Meta(description="Its own default host; null: the general one.")] = None
    ingress_class: Annotated[
        str | UnsetType | None,
        Meta(description="Its own default IngressClass; null: the cluster's default; left out: the general one."),
    ] = msgspec.field(name="class", default=UNSET)
    tls: Annotated[NamespaceTls | UnsetType, Meta(description="What is different about TLS.")] = UNSET
    annotations: Annotated[
        dict[str, str] | UnsetType,
        Meta(description="Its own annotations for every Ingress and HTTPRoute; left out: the general ones."),
    ] = UNSET
    outputs: Annotated[
        OutputNames | UnsetType, Meta(description="What is made in this namespace; left out: the general outputs.")
    ] = UNSET


class Policy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The settings of ingress-manager. With no file, the defaults hold."""

    host: Annotated[
        str,
        Meta(description="The default host: a name in which {service} and {namespace} are replaced."),
    ] = "example.com"
    ingress_class: Annotated[
        str | None,
        Meta(
            description="The default IngressClass; null: the cluster's default, for new Ingresses; others keep theirs.",
        ),
    ] = msgspec.field(name="class", default="nginx")
    tls: Annotated[Tls, Meta(description="TLS, where annotations say nothing about it.")] = Tls()
    annotations: Annotated[
        dict[str, str],
        Meta(description="Added to every Ingress and HTTPRoute. What a Service says of the same key is not copied."),
    ] = {}
    copied: Annotated[
        dict[str, Limit],
        Meta(
            description="Which of a Service's annotations are copied to its Ingress: a mapping from the full key to "
            "the list of the values that are allowed, or to `any`.",
        ),
    ] = msgspec.field(name="copyAnnotations", default_factory=lambda: dict(DEFAULT_COPIED))
    path_types: Annotated[
        tuple[Annotated[str, Meta(extra_json_schema={"enum": list(PATH_TYPES)})], ...],
        Meta(description="The path types that may be asked for; Prefix is always one of them.", min_length=1),
    ] = msgspec.field(name="pathTypes", default=("Prefix", "Exact"))
    namespaces: Annotated[
        dict[str, NamespaceSettings],
        Meta(description='What holds in a namespace, by its name; "*": in every namespace that has no entry.'),
    ] = {}
    outputs: Annotated[
        OutputNames, Meta(description="What is made for a Service: an Ingress, HTTPRoutes, or both.")
    ] = (INGRESS,)
    gateway: Annotated[
        Gateway | None, Meta(description="The Gateway that HTTPRoutes attach to; needed where outputs has httproute.")
    ] = None
    paused: Annotated[
        bool,
        Meta(
            description="While true, nothing changes: a Service that wants or has an Ingress is answered 429. "
            "What these settings forbid is removed even then.",
        ),
    ] = False


NOTHING_STATED = NamespaceSettings()


class NamespacePolicy(msgspec.Struct, frozen=True, gc=False):
    """What holds in one namespace."""

    namespace: str
    hosts: tuple[str, ...] | None
    """Patterns of the hosts that may be claimed; None: every host."""

    suffixes: tuple[str, ...]
    """What the hosts end in that a pattern with a wildcard allows: .example.com for *.example.com."""

    host: str
    """The template of the default host."""

    classes: tuple[str, ...] | None
    """The IngressClasses that may be used; None: every one. The default is always one of them."""

    ingress_class: str | None
    path_types: tuple[str, ...]
    tls: Tls
    annotations: Mapping[str, str]
    """Those that the administrator adds to every Ingress and HTTPRoute."""

    added_with_tls: Mapping[str, str]
    """Those that the administrator adds to an Ingress with TLS. Their keys are never copied from a Service."""

    copied: Mapping[str, Limit]
    outputs: tuple[str, ...]
    """Which objects are made: some of OUTPUT_NAMES."""

    gateway: Gateway | None
    """The Gateway that HTTPRoutes attach to; stated wherever `outputs` has httproute."""

    @property
    def makes_ingresses(self) -> bool:
        """Return whether a Service is given an Ingress."""
        return INGRESS in self.outputs

    @property
    def makes_httproutes(self) -> bool:
        """Return whether a Service is given HTTPRoutes."""
        return HTTPROUTE in self.outputs

    def default_host(self, service: str) -> str:
        """Return the default host of a Service; whether it is a valid one depends on the Service's name."""
        return fill_in(self.host, service, self.namespace)

    def default_secret(self, service: str) -> str | None:
        """Return the Secret with the certificate of a Service that names none; None: the controller's certificate."""
        return None if self.tls.secret is None else fill_in(self.tls.secret, service, self.namespace)

    def allows_host(self, host: str) -> bool:
        """Return whether `host`, and every host that it matches when it is a wildcard, may be claimed."""
        if self.hosts is None or host in self.hosts:
            return True
        # All hosts that the wildcard *.a.b matches end in .a.b. They are allowed if .a.b ends in a pattern's suffix.
        name = host.removeprefix("*")
        return name.endswith(self.suffixes)

    def allows_class(self, ingress_class: str | None) -> bool:
        """Return whether an Ingress may have this class; None stands for the cluster's default."""
        return self.classes is None or ingress_class in self.classes

    def allows_listener(self, namespace: str, gateway: str, section: str) -> bool:
        """Return whether an HTTPRoute may attach to this listener; every one, where no Gateway is stated."""
        stated = self.gateway
        return stated is None or (
            (namespace, gateway) == (stated.namespace, stated.name) and section in {stated.http, stated.https}
        )


def in_namespace(policy: Policy, namespace: str) -> NamespacePolicy:
    """Return what holds in `namespace`: its own entry, else that of "*", with what they leave out filled in."""
    others = policy.namespaces.get(ALL_OTHERS, NOTHING_STATED)
    stated = policy.namespaces.get(namespace, others)
    # An entry that leaves out a limit keeps that of "*". An entry that leaves out a default has the general one, not
    # that of "*".
    hosts = allowed(stated.hosts, others.hosts)
    if hosts is not None:
        hosts = tuple([fill_in(pattern, "", namespace) for pattern in hosts])
    tls = policy.tls if stated.tls is UNSET else tls_of(policy.tls, stated.tls)
    annotations = policy.annotations if stated.annotations is UNSET else stated.annotations
    return NamespacePolicy(
        namespace=namespace,
        hosts=hosts,
        suffixes=tuple([pattern[1:] for pattern in hosts if pattern.startswith("*.")]) if hosts else (),
        host=policy.host if stated.host is None else stated.host,
        classes=allowed(stated.classes, others.classes),
        ingress_class=policy.ingress_class if stated.ingress_class is UNSET else stated.ingress_class,
        path_types=policy.path_types,
        tls=tls,
        annotations=annotations,
        added_with_tls={**annotations, **tls.annotations},
        copied=policy.copied,
        outputs=policy.outputs if stated.outputs is UNSET else stated.outputs,
        gateway=policy.gateway,
    )


def allowed(stated: Limit | UnsetType, others: Limit | UnsetType) -> tuple[str, ...] | None:
    """Return the values that a limit allows, None when that is every one. `others` holds where nothing is stated."""
    limit = others if stated is UNSET else stated
    return limit if isinstance(limit, tuple) else None


def tls_of(general: Tls, stated: NamespaceTls) -> Tls:
    """Return the general TLS settings with what is stated for a namespace in their place."""
    return Tls(
        enabled=general.enabled if stated.enabled is UNSET else stated.enabled,
        secret=general.secret if stated.secret is UNSET else stated.secret,
        annotations=general.annotations if stated.annotations is UNSET else stated.annotations,
    )


def fill_in(template: str, service: str, namespace: str) -> str:
    """Return the template with the names of one Service in it."""
    return template.replace("{service}", service).replace("{namespace}", namespace)
