"""The routing: which listeners serve the HTTPRoutes of an entrance, and which one redirects http to https.

The first of these that is set decides whether HTTPRoutes redirect: ingress/tls-redirect, an ingress controller's
annotation, tls.redirect in the settings. An Ingress's redirect is left to its controller.
"""

from typing import NamedTuple

import msgspec

from ingress_manager.core.annotations import REDIRECT, SECRET, TLS
from ingress_manager.core.basis import Basis
from ingress_manager.core.carried import Carried
from ingress_manager.core.errors import Reason
from ingress_manager.core.protection import NOT_EXPRESSED, add_loss
from ingress_manager.core.settings import Gateway
from ingress_manager.core.vocabulary import FORCING, HAPROXY_SSL_REDIRECT, SSL_REDIRECT


class Listener(msgspec.Struct, frozen=True):
    namespace: str
    gateway: str
    name: str


class ListenerSetPort(msgspec.Struct, frozen=True):
    """A Gateway's port on which each host has a listener in its own ListenerSet."""

    namespace: str
    gateway: str
    port: int


class Routing(NamedTuple):
    listener: Listener | ListenerSetPort
    redirect: Listener | None


def choose_routing(basis: Basis, gateway: Gateway, carried: Carried) -> Routing | None:
    """Return the listeners for HTTPRoutes, or None if none fits. Add problems with the listener, Secret or redirect."""
    gateway_key, name = (gateway.namespace, gateway.name), gateway.https if basis.tls else gateway.http
    listener: Listener | ListenerSetPort | None = Listener(*gateway_key, name) if name else None
    if basis.tls and gateway.listener_sets:
        listener = ListenerSetPort(*gateway_key, gateway.listener_sets.port)
        if basis.secret is None and not basis.is_invalid(SECRET):
            end = (
                f" is needed: {gateway} serves each host with the Service's own certificate. "
                "Set this annotation, or ask an administrator to set a default (tls.secret)"
            )
            basis.add(SECRET, end, Reason.NOT_IN_HTTPROUTE)
    if listener is None:
        start = f"the settings name no {'HTTPS' if basis.tls else 'HTTP'} listener of {gateway}"
        end = f'Set {basis.key(TLS)}: "true", or ask an administrator to name a listener (gateway.http)'
        reason = Reason.NOT_IN_HTTPROUTE
        if basis.tls:  # never advise turning TLS off
            end = "Ask an administrator to name one (gateway.https) or to remove httproute from outputs"
            reason = Reason.SETTINGS_CONFLICT
        basis.problems.add(f"{start}. {end}", reason, basis.key(TLS))
        return None
    redirecting = choose_redirect(basis, gateway, carried)
    return Routing(listener, Listener(*gateway_key, redirecting) if redirecting else None)


def choose_redirect(basis: Basis, gateway: Gateway, carried: Carried) -> str | None:
    """Return the name of the listener that redirects http to https, if any.

    Add a problem if a redirect is wanted, but the Gateway can't redirect. If controllers' annotations turn it off, add
    a problem for each, unless one listener serves http and https: an Ingress with the annotation serves plain HTTP, but
    HTTPRoutes on https don't.
    """
    if not basis.tls:
        return None
    requested, by_default = basis.requested.tls_redirect, basis.effective.tls.redirect
    values = carried.for_ingress
    turned_on = [key for key in (SSL_REDIRECT, *FORCING) if values.get(key) == "true"]
    turned_off = [key for key in (SSL_REDIRECT, HAPROXY_SSL_REDIRECT) if values.get(key, "true") != "true"]
    is_wanted = (bool(turned_on) or (by_default and not turned_off)) if requested is None else requested
    if not is_wanted:
        for key in turned_off if requested is None and not gateway.has_one_listener else ():
            add_loss(basis, key, NOT_EXPRESSED, carried.configured)
        return None
    if gateway.can_redirect:
        return gateway.http
    if requested or by_default:
        start = f"redirects to https need a separate HTTP listener of {gateway}, but the settings name none"
        end = f'Set {basis.key(REDIRECT)}: "false", or ask an administrator to name one (gateway.http)'
        reason = Reason.NOT_IN_HTTPROUTE
        if by_default:  # the Service need not have requested the redirect
            end = "Ask an administrator to name one (gateway.http) or to turn off the redirect (tls.redirect)"
            reason = Reason.SETTINGS_CONFLICT
        basis.problems.add(f"{start}. {end}", reason, basis.key(REDIRECT))
    else:
        for key in turned_on:
            add_loss(basis, key, NOT_EXPRESSED, carried.configured)
    return None
