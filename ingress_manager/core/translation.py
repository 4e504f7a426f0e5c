"""Translation: what HTTPRoutes say in the place of annotations that are read from an Ingress alone.

An HTTPRoute that answers otherwise than the Ingress would is no translation: what changes the answer is said exactly,
or refused. Sources: ingress-nginx's, HAProxy's and Traefik's pages on annotations; Gateway API reference, HTTPRoute v1.
"""

from collections.abc import Container, Iterator, Mapping

from ingress_manager.core import refusals
from ingress_manager.core.copying import changes_ingresses_alone, is_for_ingresses_alone
from ingress_manager.core.effects import NGINX, protects
from ingress_manager.core.errors import Problem

SSL_REDIRECT = f"{NGINX}ssl-redirect"
OF_HAPROXY = "haproxy.org/ssl-redirect"
REWRITE = f"{NGINX}rewrite-target"
FORCING = (f"{NGINX}force-ssl-redirect", OF_HAPROXY)
"""What redirects to https even where the Ingress has no TLS."""

ALWAYS, WITH_TLS, WITHOUT_TLS, NEVER = map(frozenset[bool], ([True, False], [True], [False], []))

SAID: dict[tuple[str, str], frozenset[bool]] = {
    **{(key, "true"): WITH_TLS for key in FORCING},
    **{(key, "false"): ALWAYS for key in FORCING},
    (SSL_REDIRECT, "true"): ALWAYS,
    (SSL_REDIRECT, "false"): ALWAYS,
    ("traefik.ingress.kubernetes.io/router.tls", "true"): WITH_TLS,
    ("traefik.ingress.kubernetes.io/router.tls", "false"): WITHOUT_TLS,
    (f"{NGINX}backend-protocol", "HTTP"): ALWAYS,
    (REWRITE, "/"): ALWAYS,
    **{
        (f"{NGINX}{name}", "false"): ALWAYS
        for name in ("canary", "enable-cors", "from-to-www-redirect", "ssl-passthrough", "use-regex")
    },
}
"""The annotations and their values that HTTPRoutes say, or that ask for what HTTPRoutes do anyway: for which of a
Service's with and without TLS."""


def asking_redirect(copied: Mapping[str, str]) -> list[str]:
    """Return the keys of the annotations that ask for a redirect to https: in vain where there is no TLS."""
    return [key for key in (SSL_REDIRECT, *FORCING) if copied.get(key) == "true"]


def asks_redirect(copied: Mapping[str, str], *, otherwise: bool) -> bool:
    """Return whether the annotations that are copied ask for a redirect to https; `otherwise`: they say nothing."""
    says = any(key in copied for key in (SSL_REDIRECT, OF_HAPROXY))
    return bool(asking_redirect(copied)) or (otherwise and not says)


def asking_http(copied: Mapping[str, str]) -> list[str]:
    """Return the keys of the annotations that have an Ingress with TLS served by http as well."""
    return [] if asking_redirect(copied) else [key for key in (SSL_REDIRECT, OF_HAPROXY) if copied.get(key) == "false"]


def unsaid(
    copied: Mapping[str, str], added: Mapping[str, str], accepted: Container[str], *, tls: bool, at_root: bool
) -> Iterator[Problem]:
    """Yield a problem for what an Ingress says and HTTPRoutes with, or without, TLS can't say.

    That is what changes the answer, `copied` from the Service or `added` by the settings; of what is added, what
    protects, too: an owner's is told of where it is lost. Those `accepted` may be lost. `at_root` says that the path is
    / alone.
    """
    for key, value in {**copied, **added}.items():
        if key in accepted or not is_for_ingresses_alone(key):
            continue
        if key in added and protects(key):
            yield refusals.added_protection_of_httproutes(key)
        elif changes_ingresses_alone(key) and not is_said(key, value, tls=tls, at_root=at_root):
            by_tls = not tls and is_said(key, value, tls=True, at_root=at_root)
            yield lost(key, value, added, by_tls=by_tls)


def lost(key: str, value: str, added: Container[str], *, by_tls: bool) -> Problem:
    """Return the problem of what would be lost, with the remedy of who says it: the settings or the owner."""
    if key in added:
        return refusals.added_annotation_of_httproutes(key)
    return refusals.annotation_of_httproutes(key, value, by_tls=by_tls)


def is_said(key: str, value: str, *, tls: bool, at_root: bool) -> bool:
    """Return whether HTTPRoutes with, or without, TLS say what the annotation says."""
    # To rewrite a path as itself is nothing. ingress-nginx rewrites each other one, and takes it for a pattern.
    return tls in SAID.get((key, value), NEVER) and (at_root or key != REWRITE)
