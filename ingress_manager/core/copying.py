"""Copying: which of a Service's annotations reach its Ingress and HTTPRoutes, and with which values.

An Ingress can tell its controller far more than the owner of a Service should be able to. So an annotation is copied
only when the settings name its full key and allow its value.
"""

import re
from collections.abc import Container, Mapping, Sequence
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from ingress_manager.core import refusals
from ingress_manager.core.annotations import PREFIX
from ingress_manager.core.effects import CHANGES, effect_of, protects
from ingress_manager.core.errors import Problem, Problems
from ingress_manager.core.read_from_services import is_read_from_services
from ingress_manager.core.syntax import check_annotation_key, check_label_key
from ingress_manager.core.text import quoted

NOT_COPIED = "ingress/not-copied"
"""An annotation of what we make. It lists those of the Service that look meant for a controller and weren't copied."""

ADDED = "ingress/added-by-settings"
"""An annotation of what we make. It lists those that the administrator's settings have added."""

ANY: Literal["any"] = "any"
"""The word that lifts a limit."""

Limit = Literal["any"] | Annotated[tuple[str, ...], Meta(min_length=1)]
"""The values that are allowed. A list is never empty: a list that somebody has yet to write must not lift a limit."""


class KnownKey(msgspec.Struct, frozen=True):
    """A key whose values we know: what can be no such value is refused, whatever the settings allow."""

    purpose: str
    """What it is for, for the docs."""

    pattern: str
    """A regular expression of the values that can't break a controller's configuration."""

    right: str
    """The end of a sentence that says what would be right."""

    by_default: bool = False
    """Whether it is copied where the settings say nothing: it can harm nobody, whichever controller reads it."""


# Each is a pattern, and the end of a sentence that says what would be right.
SWITCH = ("true|false", 'must be "true" or "false"')
TOGGLE = ("on|off", 'must be "on" or "off"')
SECONDS = ("[0-9]{1,6}", "must be a number of seconds, of one to six digits")
SIZE = ("[0-9]{1,6}[kKmMgG]?", "must be one to six digits, perhaps with k, m or g behind them")
RATE = ("[1-9][0-9]{0,5}", "must be a number of one to six digits, from 1")
NAME = ("[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?", "must be a name of lower-case letters, digits, - and .")

KNOWN = {
    "nginx.ingress.kubernetes.io/ssl-redirect": KnownKey(
        "whether http is redirected to https", *SWITCH, by_default=True
    ),
    "nginx.ingress.kubernetes.io/force-ssl-redirect": KnownKey(
        "whether http is redirected to https, also without TLS", *SWITCH, by_default=True
    ),
    "nginx.ingress.kubernetes.io/proxy-read-timeout": KnownKey(
        "how long the Service may be silent", *SECONDS, by_default=True
    ),
    "nginx.ingress.kubernetes.io/proxy-send-timeout": KnownKey(
        "how long the Service may read nothing of a request", *SECONDS, by_default=True
    ),
    "nginx.ingress.kubernetes.io/proxy-connect-timeout": KnownKey(
        "how long connecting to the Service may take", *SECONDS, by_default=True
    ),
    "nginx.ingress.kubernetes.io/proxy-http-version": KnownKey(
        "which HTTP the pods are sent", r"1\.[01]", 'must be "1.0" or "1.1"', by_default=True
    ),
    "traefik.ingress.kubernetes.io/router.tls": KnownKey("whether its hosts have TLS alone", *SWITCH, by_default=True),
    "konghq.com/strip-path": KnownKey(
        "whether the pods get the path without its matched part", *SWITCH, by_default=True
    ),
    "konghq.com/preserve-host": KnownKey("whether the pods get the host of the request", *SWITCH, by_default=True),
    "nginx.ingress.kubernetes.io/proxy-body-size": KnownKey(
        "how large an upload may be; uploads wait on the controller's disk, which all share", *SIZE
    ),
    "nginx.ingress.kubernetes.io/proxy-request-buffering": KnownKey(
        "whether an upload waits until it is complete", *TOGGLE
    ),
    "nginx.ingress.kubernetes.io/proxy-buffering": KnownKey(
        "whether answers to slow clients wait on the controller's disk", *TOGGLE
    ),
    "nginx.ingress.kubernetes.io/proxy-buffer-size": KnownKey(
        "how long the headers of an answer may be; a request takes five times as much of the controller's memory",
        "[1-9][0-9]{0,5}[kK]?|[1-9][0-9]{0,2}[mM]",
        "must be one to six digits, from 1, perhaps with k behind them, or one to three with m",
    ),
    "nginx.ingress.kubernetes.io/proxy-next-upstream-tries": KnownKey(
        "how many pods are tried; 0: all", "[0-9]{1,3}", "must be a number of one to three digits"
    ),
    "nginx.ingress.kubernetes.io/backend-protocol": KnownKey(
        "what the pods speak; HTTPS makes nginx read its configuration slowly",
        "HTTPS?|GRPCS?",
        "must be HTTP, HTTPS, GRPC or GRPCS",
    ),
    "nginx.ingress.kubernetes.io/service-upstream": KnownKey("whether requests go to the Service's address", *SWITCH),
    "nginx.ingress.kubernetes.io/affinity": KnownKey(
        "whether a client keeps coming to the same pod", "cookie", 'must be "cookie"'
    ),
    "nginx.ingress.kubernetes.io/limit-rps": KnownKey(
        "requests a second from one address; takes 5 MB of the controller's memory", *RATE
    ),
    "nginx.ingress.kubernetes.io/limit-rpm": KnownKey(
        "requests a minute from one address; takes 5 MB of the controller's memory", *RATE
    ),
    "nginx.ingress.kubernetes.io/limit-connections": KnownKey(
        "connections at once from one address; takes 5 MB of the controller's memory",
        "[1-9][0-9]{0,3}",
        "must be a number from 1 to 9999",
    ),
    "cert-manager.io/cluster-issuer": KnownKey("which ClusterIssuer makes the certificate", *NAME),
    "cert-manager.io/issuer": KnownKey("which Issuer of the namespace makes the certificate", *NAME),
    "kubernetes.io/tls-acme": KnownKey("whether cert-manager's default issuer makes the certificate", *SWITCH),
    "traefik.ingress.kubernetes.io/router.tls.certresolver": KnownKey(
        "which of Traefik's resolvers makes the certificate",
        "[A-Za-z0-9][-_A-Za-z0-9]{0,62}",
        "must be a name of letters, digits, - and _",
    ),
    "haproxy.org/ssl-redirect": KnownKey("whether http is redirected to https", *SWITCH),
    "nginx.org/proxy-read-timeout": KnownKey(
        "how long the Service may be silent", "[0-9]{1,6}s", "must be one to six digits with s behind them"
    ),
    "nginx.org/client-max-body-size": KnownKey("how large an upload may be", *SIZE),
}
"""The keys that we know. The patterns follow from what each controller's source does with a value: many are written
into the configuration as they are, and nginx refuses the whole of it for a number that is too large (-1, too)."""

DEFAULT_COPIED: dict[str, Limit] = {key: ANY for key, known in KNOWN.items() if known.by_default}
"""What is copied where the settings say nothing: keys that can harm nobody, whichever controller reads them."""

_PATTERNS = {key: re.compile(known.pattern) for key, known in KNOWN.items()}

OTHERS_PREFIXES = (PREFIX, "metacontroller.k8s.io/", "kubectl.kubernetes.io/")
"""How keys begin that belong to ingress-manager, Metacontroller or kubectl."""

MANAGED_BY_LABEL = "app.kubernetes.io/managed-by"
MANAGED_BY = "ingress-manager"
"""The label of all that we make. The admission policies select by it."""

OLD_CLASS = "kubernetes.io/ingress.class"

INGRESS_PREFIXES = (
    "acme.cert-manager.io/",
    "alb.ingress.kubernetes.io/",
    "appgw.ingress.kubernetes.io/",
    "appprotect.f5.com/",
    "appprotectdos.f5.com/",
    "beta.cloud.google.com/backend-config",
    "cert-manager.io/",
    "cloud.google.com/backend-config",
    "haproxy-ingress.github.io/",
    "haproxy.org/",
    "higress.io/",
    "ingress.cilium.io/",
    "ingress.gcp.kubernetes.io/",
    "ingress.kubernetes.io/",
    "ingress.pomerium.io/",
    "k8s.apisix.apache.org/",
    "kubernetes.io/ingress.",
    "kubernetes.io/tls-acme",
    "mse.ingress.kubernetes.io/",
    "nginx.com/",
    "nginx.ingress.kubernetes.io/",
    "nginx.org/",
    "projectcontour.io/",
    "traefik.ingress.kubernetes.io/router.",
    "zalando.org/skipper-",
)
"""How keys begin that controllers read for an Ingress alone. (Traefik reads `…/service.*` from the Service itself.)"""

CONTROLLER_PREFIXES = (
    *INGRESS_PREFIXES,
    "external-dns.alpha.kubernetes.io/",
    "external-dns.kubernetes.io/",
    "konghq.com/",
)
"""How all keys begin that controllers read. The last three are read from an HTTPRoute as well."""


def copy(
    present: Mapping[str, str],
    limits: Mapping[str, Limit],
    added: Container[str],
    problems: Problems,
) -> dict[str, str]:
    """Return those of a Service's annotations that the limits let through. Adds a problem for each with a wrong value.

    The keys in `added` are those that the settings add. They are not copied.
    """
    if not limits or present.keys().isdisjoint(limits):  # which is nearly always so
        return {}
    found = {key: present[key] for key in limits if key in present and key not in added}
    for key, value in found.items():
        try:
            check_copied(key, value, limits)
        except Problem as problem:
            problems.add(problem)
    return found


def check_copied(key: str, value: str, limits: Mapping[str, Limit]) -> None:
    """Raise Problem unless `limits`, those of copyAnnotations, allow the annotation."""
    if key not in limits:
        raise refusals.annotation_not_copied(key)
    try:
        check_value(key, value)
    except Problem as problem:
        raise problem.about(f"{key}: {quoted(value)}", key) from None
    limit = limits[key]
    if isinstance(limit, tuple) and value not in limit:
        raise refusals.value_not_allowed(key, value, limit)


def check_own_label_key(key: str) -> str:
    """Return `key`, which may be a label of what we make. Raises Problem when it may not."""
    if key == MANAGED_BY_LABEL or key.startswith(OTHERS_PREFIXES):
        raise Problem("belongs to ingress-manager, Metacontroller or kubectl")
    return check_label_key(key)


def check_value(key: str, value: str) -> str:
    """Return the value that an annotation is to be copied with. Raises Problem when the key can't have it."""
    if key in KNOWN and not _PATTERNS[key].fullmatch(value):
        raise Problem(KNOWN[key].right)
    return value


def for_httproutes(annotations: Mapping[str, str]) -> dict[str, str]:
    """Return the annotations that have a meaning in an HTTPRoute: all but those that are read from an Ingress alone."""
    return {key: value for key, value in annotations.items() if not is_for_ingresses_alone(key)}


def is_for_ingresses_alone(key: str) -> bool:
    """Return whether no controller reads the annotation from an HTTPRoute."""
    return key.lower().startswith(INGRESS_PREFIXES)


def changes_ingresses_alone(key: str) -> bool:
    """Return whether the annotation changes the answer, and no controller reads it from an HTTPRoute."""
    return is_for_ingresses_alone(key) and effect_of(key) is CHANGES


def is_for_controllers(key: str) -> bool:
    """Return whether the annotation is one that a controller reads."""
    # In lower case, because Traefik reads its keys so. To look for our own first takes half the time.
    return not key.startswith(PREFIX) and key.lower().startswith(CONTROLLER_PREFIXES)


def keys_not_copied(annotations: Mapping[str, str], ours: Mapping[str, str]) -> list[str]:
    """Return the keys meant for a controller that `ours`, the annotations of what we make, lack or overrule; sorted."""
    left = [key for key in annotations if is_for_controllers(key) and ours.get(key) != annotations[key]]
    return sorted(left) if left else left


def protection_lost(left: Sequence[str], accepted: Container[str], *, of_httproutes: bool) -> list[str]:
    """Return those of the keys `left`, which what we make lacks, that protect a Service and would be lost.

    Those `accepted` may be lost, and those that are read from the Service aren't.
    """
    return [
        key
        for key in left
        if protects(key) and key not in accepted and not is_read_from_services(key, of_httproutes=of_httproutes)
    ]


def check_loss(key: str) -> str:
    """Return `key`, which may be an annotation for whose loss a Service is refused. Raises Problem when it may not."""
    check_own_key(key)
    if not (protects(key) or changes_ingresses_alone(key)):
        raise Problem("is no annotation for whose loss a Service is refused: take it out")
    return key


def check_key(key: str) -> str:
    """Return `key`, which may be an annotation that we copy. Raises Problem when it may not."""
    if key == OLD_CLASS:
        raise Problem("can't be copied from a Service; ingress/class says the same")
    return check_own_key(key)


def check_own_key(key: str) -> str:
    """Return `key`, which may be an annotation of what we make. Raises Problem when it may not."""
    if "*" in key:
        raise Problem("must be the full key of an annotation, without *")
    if key.startswith(OTHERS_PREFIXES):
        raise Problem("belongs to ingress-manager, Metacontroller or kubectl")
    return check_annotation_key(key)


def check_prefix(prefix: str) -> str:
    """Return `prefix`, with which the keys of annotations may begin. Raises Problem when none can."""
    try:
        check_annotation_key(f"{prefix}x")
    except Problem:
        prefix = ""
    if "/" not in prefix or prefix != prefix.lower():
        raise Problem("must be how keys begin, in lower case and with a slash, as in nginx.ingress.kubernetes.io/")
    return prefix
