"""The routing: what only HTTPRoutes say, and what they say in the place of an Ingress."""

from collections.abc import Container, Iterator, Mapping

import msgspec

from ingress_manager.core import refusals
from ingress_manager.core.annotations import Stated
from ingress_manager.core.basis import Basis
from ingress_manager.core.errors import Problem
from ingress_manager.core.kubernetes import Object
from ingress_manager.core.policy import Gateway
from ingress_manager.core.rules import path_of
from ingress_manager.core.vocabulary import (
    FORCING,
    OF_HAPROXY,
    SSL_REDIRECT,
    changes,
    is_for_ingresses_alone,
    is_said,
    protects,
)


class Parent(msgspec.Struct, frozen=True, gc=False):
    """The listener of a Gateway that HTTPRoutes attach to, by its section name."""

    name: str
    namespace: str
    section: str


class Routing(msgspec.Struct, frozen=True, gc=False):
    """What only HTTPRoutes say."""

    parent: Parent
    """The listener that serves it."""

    redirect: Parent | None
    """The listener for http, which redirects to https; None: nothing does."""

    annotations: dict[str, str]
    filters: tuple[Object, ...]
    timeouts: Object | None

    main_host: str
    """The first host of ingress/host, or the default host; no host need be this. They are named by it."""


def choose_routing(
    basis: Basis, copied: Mapping[str, str], added: Mapping[str, str], annotations: dict[str, str]
) -> Routing | None:
    """Return what HTTPRoutes say. Adds a problem for what no HTTPRoute, and no Ingress beside it, can say.

    An Ingress has the annotations that are `copied` and those that the settings have `added`; the HTTPRoutes have
    `annotations`.
    """
    policy, problems, gateway = basis.policy, basis.problems, basis.policy.gateway
    if gateway is None:
        return None
    if not policy.makes_ingresses:
        problems.extend(of_ingresses_alone(basis.stated, policy.namespace, gateway))
    if copied or added:  # nearly always there is neither
        by_settings = {key: value for key, value in added.items() if key not in policy.said_by_filters}
        problems.extend(unsaid(basis, copied, by_settings))
    section = gateway.https if basis.tls else gateway.http
    if section is None:
        problems.add(refusals.no_listener(basis.tls, str(gateway)))
        return None
    said = {**copied, **added}
    check_http(basis, gateway, said, added)
    return Routing(
        parent=Parent(gateway.name, gateway.namespace, section),
        redirect=choose_redirect(basis, gateway, said),
        annotations=annotations,
        filters=policy.filters,
        timeouts=policy.timeouts,
        main_host=choose_main_host(basis),
    )


def unsaid(basis: Basis, copied: Mapping[str, str], added: Mapping[str, str]) -> Iterator[Problem]:
    """Yield a problem for each annotation that an Ingress has, and whose effect HTTPRoutes would lack.

    That is what changes the answer, `copied` from the Service or `added` by the settings; of what is added, what
    protects, too: an owner's is told of where it is lost.
    """
    at_root = all(path_of(basis.stated, route) == ("/", "Prefix") for route in basis.stated.routes)
    for key, value in {**copied, **added}.items():
        if key in basis.policy.accepted_losses or not is_for_ingresses_alone(key):
            continue
        of_settings = key in added
        if of_settings and protects(key):
            yield refusals.lost(key, value, refusals.NOT_SAID, added=True)
        elif changes(key) and not is_said(key, value, tls=basis.tls, at_root=at_root):
            by_tls = not (of_settings or basis.tls) and is_said(key, value, tls=True, at_root=at_root)
            yield refusals.lost(key, value, refusals.NOT_SAID, added=of_settings, by_tls=by_tls)


def asking_redirect(said: Mapping[str, str]) -> list[str]:
    """Return the keys of the annotations that ask for a redirect to https: in vain where there is no TLS."""
    return [key for key in (SSL_REDIRECT, *FORCING) if said.get(key) == "true"]


def check_http(basis: Basis, gateway: Gateway, said: Mapping[str, str], added: Container[str]) -> None:
    """Add a problem for each annotation by which an Ingress with TLS is served by http as well: an HTTPRoute isn't.

    But it is where one listener is for both; and ingress/tls-redirect says what HTTPRoutes do. The settings have
    `added` some of what is `said`.
    """
    if not basis.tls or basis.stated.tls_redirect is not None or gateway.http == gateway.https:
        return
    for key in (SSL_REDIRECT, OF_HAPROXY):
        if said.get(key) == "false" and not asking_redirect(said) and key not in basis.policy.accepted_losses:
            basis.problems.add(refusals.lost(key, "false", refusals.NOT_SAID, added=key in added))


def of_ingresses_alone(stated: Stated, namespace: str, gateway: Gateway) -> Iterator[Problem]:
    """Yield a problem for each of our annotations that says something of an Ingress, where none is made."""
    if stated.ingress_class is not None:
        yield refusals.class_of_httproutes(stated.ingress_class, namespace, str(gateway))
    if stated.tls_secret is not None:
        yield refusals.secret_of_httproutes(stated.tls_secret, str(gateway), tls=gateway.https is not None)


def choose_main_host(basis: Basis) -> str:
    """Return the host by which HTTPRoutes are named; no rule need have it."""
    if basis.stated.hosts:
        return basis.stated.hosts[0]
    return basis.policy.default_host(basis.service.metadata.name)


def choose_redirect(basis: Basis, gateway: Gateway, annotations: Mapping[str, str]) -> Parent | None:
    """Return the listener that redirects http to https; None: none does. Adds a problem where none can.

    The `annotations` of an Ingress ask for it where ingress/tls-redirect is silent, and tls.redirect where both are.
    """
    policy, problems, stated = basis.policy, basis.problems, basis.stated.tls_redirect
    if stated and not basis.tls:
        problems.add(refusals.redirect_without_tls())
    wanted = stated
    if stated is None:
        silent = SSL_REDIRECT not in annotations and OF_HAPROXY not in annotations
        wanted = bool(asking_redirect(annotations)) or (policy.redirect and silent)
    if not (wanted and basis.tls):
        return None
    if gateway.http is not None and gateway.http != gateway.https:
        return Parent(gateway.name, gateway.namespace, gateway.http)
    why = "it has no listener for http alone, say the settings (gateway.http)"
    if stated or policy.redirect:
        problems.add(refusals.no_redirect(str(gateway), why))
    else:
        not_accepted = [key for key in asking_redirect(annotations) if key not in policy.accepted_losses]
        problems.extend([refusals.no_redirect_of_annotation(key, str(gateway), why) for key in not_accepted])
    return None
