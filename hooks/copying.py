"""Copying: which of a Service's annotations reach its Ingress, and with which values."""

import re
from collections.abc import Iterable, Mapping

from hooks.annotations import PREFIX
from hooks.errors import MOST_KEPT, Problem, Problems
from hooks.syntax import is_harmless
from hooks.text import listed, quoted

NOT_COPIED = "ingress/not-copied"
"""An annotation of our Ingress. It lists those of the Service that look meant for a controller and weren't copied."""

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
"""Patterns of the part of a key after the slash, and why no wildcard lets such a key in. Only its full name does."""

OTHERS_PREFIXES = (PREFIX, "metacontroller.k8s.io/", "kubectl.kubernetes.io/")
"""How keys begin that belong to ingress-manager, Metacontroller or kubectl."""

OLD_CLASS = "kubernetes.io/ingress.class"

_DANGEROUS = re.compile("|".join(re.escape(pattern.strip("*")) for pattern in NEVER_BY_WILDCARD))

CONTROLLER_PREFIXES = (
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
"""How keys begin that controllers read from an Ingress. (Traefik reads `…/service.*` from the Service itself.)"""


def copied_annotations(annotations: Mapping[str, str], patterns: tuple[str, ...], problems: Problems) -> dict[str, str]:
    """Return the annotations that `patterns`, the setting copyAnnotations, lets through. Adds wrong values to problems.

    A value must not be able to become a part of a controller's configuration (CVE-2021-25746). Only a key that the
    administrator lists by its full name may have any value, unless it is one of DEFAULT_COPIED.
    """
    copied = {key: annotations[key] for key in patterns if key in annotations}
    if prefixes := tuple([pattern[:-1] for pattern in patterns if "*" in pattern]):
        copied |= {
            key: value for key, value in annotations.items() if key.startswith(prefixes) and is_harmless_key(key)
        }
    if not copied:
        return copied
    trusted = set(patterns).difference(DEFAULT_COPIED)
    wrong = [key for key, value in copied.items() if key not in trusted and not is_harmless(value)]
    problems.extend((wrong_value(key, copied[key]) for key in wrong[:MOST_KEPT]), more=len(wrong[MOST_KEPT:]))
    return copied


def is_harmless_key(key: str) -> bool:
    """Return whether a wildcard may let the key through."""
    belongs_to_others = key.startswith(OTHERS_PREFIXES) or key == OLD_CLASS
    return not belongs_to_others and not _DANGEROUS.search(key.rpartition("/")[2])


def wrong_value(key: str, value: str) -> Problem:
    """Return the problem with the value of an annotation that is copied."""
    return Problem(
        f"{key}: {quoted(value)} may hold only one line of ASCII, without quotes, braces, ; $ # \\ < and >",
        annotation=key,
    )


def not_copied(annotations: Iterable[str], copied: Mapping[str, str]) -> dict[str, str]:
    """Return the annotation that names the keys meant for a controller and not copied; {} when there are none."""
    left = [key for key in annotations if key.startswith(CONTROLLER_PREFIXES) and key not in copied]
    return {NOT_COPIED: listed(sorted(left))} if left else {}


def check_key(key: str) -> str:
    """Return `key`, which may be an entry of copyAnnotations. Raises Problem when it may not."""
    if "*" in key.removesuffix("*"):
        raise Problem("may hold * only at its end")
    if "/" not in key:
        raise Problem("must begin with a domain, as in cert-manager.io/issuer")
    if key.startswith(OTHERS_PREFIXES):
        raise Problem("belongs to ingress-manager, Metacontroller or kubectl and can't be copied")
    if key == OLD_CLASS:
        raise Problem("can't be copied beside an IngressClass; ingress/class says the same")
    return key
