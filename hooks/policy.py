"""The policy: what the administrator decides. `hooks.settings` reads it from a file.

The types below are the settings: docs/settings.md and docs/settings.schema.json are made from them.
"""

from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from hooks import syntax
from hooks.answers import quoted

ALL_OTHERS = "*"
PLACEHOLDERS = ("{service}", "{namespace}")

DEFAULT_COPIED = {
    "cert-manager.io/cluster-issuer": "which ClusterIssuer makes the certificate",
    "cert-manager.io/issuer": "which Issuer of the namespace makes it",
    "kubernetes.io/tls-acme": "the older way to ask for a certificate",
    "nginx.ingress.kubernetes.io/proxy-body-size": "how large an upload may be",
    "nginx.ingress.kubernetes.io/proxy-read-timeout": "how long a slow answer may take",
    "nginx.ingress.kubernetes.io/ssl-redirect": "whether http is answered with a redirect to https of the same host",
    "traefik.ingress.kubernetes.io/router.tls.certresolver": "which of Traefik's resolvers makes the certificate",
}
"""The keys copied by default, and what each is for. None runs code, and none can send traffic past its Service."""

NEVER_BY_WILDCARD = {
    "*snippet*": "is code that the controller runs, with the controller's rights (CVE-2021-25742)",
    "*modsecurity*": "takes code too, in its snippet",
    "*config*": "is raw configuration for some controllers",
    "*auth*": "sends each request to a URL first, turns a check off, or reads Secrets (CVE-2025-1097, CVE-2025-24514)",
    "*jwt*": "turns a check off, or reads Secrets",
    "*secret*": "reads Secrets, for some controllers from any namespace",
    "*cert*": "reads certificates and keys",
    "*-ca*": "reads certificates",
    "*-crt*": "reads certificates",
    "*proxy-ssl-*": "reads Secrets",
    "*fastcgi*": "reads ConfigMaps, and speaks to the Service as no route says",
    "*mirror*": "sends a copy of each request elsewhere (CVE-2025-1098)",
    "*redirect*": "sends clients elsewhere (CVE-2023-5044)",
    "*rewrite*": "asks the Service for another path than the one that was allowed",
    "*host*": "asks for another host than the one that was allowed",
    "*header*": "speaks in the controller's name",
    "*alias*": "claims hosts that no rule names",
    "*passthrough*": "takes a whole host, with all of its paths",
    "*regex*": "changes how the paths of every Ingress of the host are read",
    "*priority*": "puts its routes before those of others",
    "*canary*": "takes a share of another Service's requests",
    "*mergeable*": "takes over the paths of another Ingress",
    "*group*": "takes over the listener of another Ingress",
    "*backend*": "sends requests to another Service",
    "*action*": "sends requests elsewhere",
    "*condition*": "takes requests that no rule names",
    "*acl*": "takes requests that no rule names",
    "*custom-http-errors*": "sends failed requests to the default backend",
    "*middleware*": "can do all of the above",
    "*plugin*": "can do all of the above",
    "*polic*": "can do all of the above",
    "*entrypoint*": "publishes it where the administrator may not want it",
    "*listen*": "publishes it where the administrator may not want it",
    "*scheme*": "publishes it where the administrator may not want it",
}
"""Patterns of the part behind the slash that only a full name lets in, and why."""

CONTROLLERS = (
    "acme.cert-manager.io/",
    "alb.ingress.kubernetes.io/",
    "appgw.ingress.kubernetes.io/",
    "cert-manager.io/",
    "haproxy-ingress.github.io/",
    "haproxy.org/",
    "ingress.cilium.io/",
    "ingress.gcp.kubernetes.io/",
    "ingress.kubernetes.io/",
    "konghq.com/",
    "kubernetes.io/ingress.",
    "nginx.com/",
    "nginx.ingress.kubernetes.io/",
    "nginx.org/",
    "projectcontour.io/",
    "traefik.ingress.kubernetes.io/router.",
)
"""How keys begin that are read from an Ingress. Traefik reads `…/service.*` from the Service, so that isn't here."""


class Tls(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """TLS, where a Service's annotations say nothing about it."""

    enabled: Annotated[bool, Meta(description="Whether hosts are served with TLS.")] = False
    secret: Annotated[
        str | None,
        Meta(description="The Secret with the certificate, in each Service's namespace; null: the controller's own."),
    ] = None


class NamespacePolicy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What holds in one namespace."""

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
        dict[str, NamespacePolicy],
        Meta(description='What holds in a namespace, by its name; "*": in every namespace that has no entry.'),
    ] = {}
    paused: Annotated[
        bool,
        Meta(description="While true, nothing changes: every sync is answered 429."),
    ] = False


class Here(msgspec.Struct, frozen=True):
    """What holds in the namespace of one Service."""

    hosts: tuple[str, ...] | None
    host: str
    ingress_class: str | None


def in_namespace(policy: Policy, namespace: str) -> Here:
    """Return what holds in `namespace`: its own entry, else that of "*", with what they leave out filled in."""
    others = policy.namespaces.get(ALL_OTHERS, NamespacePolicy())
    own = policy.namespaces.get(namespace, others)
    # A limit that an entry does not mention is not lifted by it, while a default may be the general one.
    hosts = others.hosts if own.hosts is UNSET else own.hosts
    return Here(
        hosts=None if hosts is UNSET else hosts,
        host=policy.host if own.host is None else own.host,
        ingress_class=policy.ingress_class if own.ingress_class is UNSET else own.ingress_class,
    )


def host_for(template: str, service: str, namespace: str) -> str:
    """Return the host that a template makes for one Service."""
    return template.replace("{service}", service).replace("{namespace}", namespace)


def allows(patterns: tuple[str, ...] | None, host: str) -> bool:
    """Return whether `host`, and every host that it matches when it is a wildcard, is one of `patterns`."""
    if patterns is None:
        return True
    name = host.removeprefix("*")  # *.a.b matches what ends in .a.b, all of which is below b
    return any(host == pattern or (pattern.startswith("*.") and name.endswith(pattern[1:])) for pattern in patterns)


def copies(policy: Policy, key: str) -> bool:
    """Return whether the annotation `key` of a Service is copied to its Ingress."""
    if key in policy.copied:
        return True
    if key.startswith("ingress/"):  # known to be refused below, and looked at for every Service
        return False
    behind_the_slash = key.rpartition("/")[2]
    return (
        any(pattern.endswith("*") and key.startswith(pattern[:-1]) for pattern in policy.copied)
        and copied_problem(key) is None
        and not any(fnmatchcase(behind_the_slash, pattern) for pattern in NEVER_BY_WILDCARD)
    )


def copy_problems(policy: Policy, key: str, value: str) -> Iterator[str]:
    """Yield what is wrong with the value of an annotation that is copied.

    A key that the administrator lists by its full name may have any value; what comes by the defaults or by a wildcard
    must not be able to end a word of a controller's configuration (CVE-2021-25746).
    """
    trusted = key in policy.copied and key not in DEFAULT_COPIED
    if not trusted and (problem := syntax.value_problem(value)):
        yield f"{key}: {quoted(value)} {problem}"


def meant_for_a_controller(key: str) -> bool:
    """Return whether the annotation `key` looks as if an ingress controller should have read it."""
    return key.startswith(CONTROLLERS)


def problems(policy: Policy) -> Iterator[str]:
    """Yield what is wrong with the settings beyond their types: the field's path, its value, what would be right."""
    yield from _named("host", policy.host, template_problem)
    yield from _named("class", policy.ingress_class, syntax.name_problem)
    yield from _named("tls.secret", policy.tls.secret, syntax.name_problem)
    for number, key in enumerate(policy.copied):
        yield from _named(f"copyAnnotations[{number}]", key, copied_problem)
    for name, own in policy.namespaces.items():
        if name != ALL_OTHERS:
            yield from _named(f"namespaces.{name}", name, syntax.name_problem)
        yield from _named(f"namespaces.{name}.host", own.host, template_problem)
        if own.ingress_class is not UNSET:
            yield from _named(f"namespaces.{name}.class", own.ingress_class, syntax.name_problem)
        for number, pattern in enumerate((own.hosts is not UNSET and own.hosts) or ()):
            yield from _named(f"namespaces.{name}.hosts[{number}]", pattern, syntax.host_problem)


def _named(path: str, value: str | None, check: Callable[[str], str | None]) -> Iterator[str]:
    if value is not None and (problem := check(value)):
        yield f"{path}: {quoted(value)} {problem}"


def template_problem(template: str) -> str | None:
    """Return what is wrong with a host template, as far as that can be known before a Service is."""
    if problem := syntax.host_problem(host_for(template, "a", "a")):
        if "{" in template.replace("{service}", "").replace("{namespace}", ""):
            return f"may hold only {' and '.join(PLACEHOLDERS)} in braces"
        return problem
    return None


def copied_problem(key: str) -> str | None:
    """Return what is wrong with an entry of copyAnnotations."""
    if "*" in key.removesuffix("*"):
        return "may hold * only at its end"
    if "/" not in key:
        return "must begin with a domain, as in cert-manager.io/issuer"
    if key.startswith(("ingress/", "metacontroller.k8s.io/", "kubectl.kubernetes.io/")):
        return "belongs to ingress-manager, Metacontroller or kubectl and can't be copied"
    if key == "kubernetes.io/ingress.class":
        return "can't be copied beside an IngressClass; ingress/class says the same"
    return None
