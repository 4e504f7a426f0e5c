"""The policy: what the administrator decides, and what of it holds in one namespace. `hooks.settings` reads it.

`Policy` and the types in it are the settings: docs/settings.md and docs/settings.schema.json are made from them.
"""

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from hooks.copying import DEFAULT_COPIED

ALL_OTHERS = "*"
PLACEHOLDERS = ("{service}", "{namespace}")


class Tls(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """TLS, where a Service's annotations say nothing about it."""

    enabled: Annotated[bool, Meta(description="Whether hosts are served with TLS.")] = False
    secret: Annotated[
        str | None,
        Meta(description="The Secret with the certificate, in each Service's namespace; null: the controller's own."),
    ] = None


class NamespaceSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the settings state for one namespace."""

    hosts: Annotated[
        tuple[str, ...] | UnsetType | None,
        Meta(
            description="The hosts that may be claimed: exact, or *.suffix for any depth below it; null: every host; "
            'left out: those of "*".',
        ),
    ] = UNSET
    host: Annotated[str | None, Meta(description="Its own default host; null: the general one.")] = None
    ingress_class: Annotated[
        str | UnsetType | None,
        Meta(description="Its own default IngressClass; null: the cluster's default; left out: the general one."),
    ] = msgspec.field(name="class", default=UNSET)


class Policy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The settings of ingress-manager. With no file, the defaults hold."""

    host: Annotated[
        str,
        Meta(description="The default host: a name in which {service} and {namespace} are replaced."),
    ] = "example.com"
    ingress_class: Annotated[
        str | None,
        Meta(description="The default IngressClass; null: the cluster's default."),
    ] = msgspec.field(name="class", default="nginx")
    tls: Annotated[Tls, Meta(description="TLS, where annotations say nothing about it.")] = Tls()
    copied: Annotated[
        tuple[str, ...],
        Meta(
            description="The keys of a Service's annotations that are copied to its Ingress; a trailing * is a prefix, "
            "which never lets in keys that run code or redirect traffic: those must be named in full.",
        ),
    ] = msgspec.field(name="copyAnnotations", default=tuple(DEFAULT_COPIED))
    namespaces: Annotated[
        dict[str, NamespaceSettings],
        Meta(description='What holds in a namespace, by its name; "*": in every namespace that has no entry.'),
    ] = {}
    paused: Annotated[
        bool,
        Meta(description="While true, nothing changes: a Service that wants or has an Ingress is answered 429."),
    ] = False


class NamespacePolicy(msgspec.Struct, frozen=True, gc=False):
    """What holds in one namespace."""

    namespace: str
    hosts: tuple[str, ...] | None
    """Patterns of the hosts that may be claimed; None: every host."""

    suffixes: tuple[str, ...]
    """What the hosts end in that a pattern with a wildcard allows: .example.com for *.example.com."""

    host: str
    """The template of the default host."""

    ingress_class: str | None
    tls: Tls
    copied: tuple[str, ...]
    outputs: tuple[str, ...] = ("ingress",)
    """Which objects are made, by their names in hooks.outputs."""

    def default_host(self, service: str) -> str:
        """Return the default host of a Service; whether it is a valid one depends on the Service's name."""
        return fill_in(self.host, service, self.namespace)

    def allows(self, host: str) -> bool:
        """Return whether `host`, and every host that it matches when it is a wildcard, may be claimed."""
        if self.hosts is None or host in self.hosts:
            return True
        # All hosts that the wildcard *.a.b matches end in .a.b. They are allowed if .a.b ends in a pattern's suffix.
        name = host.removeprefix("*")
        return name.endswith(self.suffixes)


def in_namespace(policy: Policy, namespace: str) -> NamespacePolicy:
    """Return what holds in `namespace`: its own entry, else that of "*", with what they leave out filled in."""
    others = policy.namespaces.get(ALL_OTHERS, NamespaceSettings())
    stated = policy.namespaces.get(namespace, others)
    # An entry that leaves out `hosts` keeps the limit of "*". An entry that leaves out `host` or `class` has the
    # general default, not that of "*".
    stated_hosts = others.hosts if stated.hosts is UNSET else stated.hosts
    hosts = None if stated_hosts is UNSET else stated_hosts
    return NamespacePolicy(
        namespace=namespace,
        hosts=hosts,
        suffixes=tuple([pattern[1:] for pattern in hosts if pattern.startswith("*.")]) if hosts else (),
        host=policy.host if stated.host is None else stated.host,
        ingress_class=policy.ingress_class if stated.ingress_class is UNSET else stated.ingress_class,
        tls=policy.tls,
        copied=policy.copied,
    )


def fill_in(template: str, service: str, namespace: str) -> str:
    """Return the template with the names of one Service in it."""
    return template.replace("{service}", service).replace("{namespace}", namespace)
