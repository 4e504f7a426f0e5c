"""The routing: which listeners serve the HTTPRoutes of an entrance, and which one redirects http to https.

The redirect is decided by ingress/tls-redirect; else by controllers' annotations that request it of an Ingress; else by
the settings' tls.redirect. An Ingress leaves it to its controller.
"""

from typing import NamedTuple

import msgspec

from ingress_manager.core.annotations import REDIRECT, SECRET, TLS
from ingress_manager.core.basis import Basis
from ingress_manager.core.carried import Carried
from ingress_manager.core.errors import Reason
from ingress_manager.core.protection import NOT_EXPRESSED, add_lost, check_expressed
from ingress_manager.core.settings import Gateway
from ingress_manager.core.vocabulary import FORCING, HAPROXY_SSL_REDIRECT, SSL_REDIRECT


class Listener(msgspec.Struct, frozen=True):
    namespace: str
    gateway: str
    name: str


class ListenerSetPort(msgspec.Struct, frozen=True):
    """A port of a Gateway at which each host has its own listener, in a ListenerSet."""

    namespace: str
    gateway: str
    port: int


class Routing(NamedTuple):
    listener: Listener | ListenerSetPort
    redirect: Listener | None


def choose_routing(basis: Basis, gateway: Gateway, carried: Carried) -> Routing | None:
    """Return the routing of HTTPRoutes. Adds a problem if no listener fits, or annotations have no effect on them."""
    check_expressed(basis, carried)
    at, name = (gateway.namespace, gateway.name), gateway.https if basis.tls else gateway.http
    listener: Listener | ListenerSetPort | None = Listener(*at, name) if name else None
    if basis.tls and gateway.listener_sets:
        listener = ListenerSetPort(*at, gateway.listener_sets.port)
        if basis.secret is None:
            end = (
                f" is needed: {gateway} serves each host with a certificate of the Service's own; "
                "or the administrator sets a name for all (tls.secret)"
            )
            basis.add(SECRET, end, Reason.NOT_IN_HTTPROUTE)
    if listener is None:
        begin = f"{gateway} has no listener for hosts {'with' if basis.tls else 'without'} TLS"
        end = f'set {basis.key(TLS)}: "true", or the administrator names one (gateway.http)'
        reason = Reason.NOT_IN_HTTPROUTE
        if basis.tls:  # never advise to turn TLS off
            end = "the administrator names one (gateway.https), or makes no HTTPRoutes (outputs)"
            reason = Reason.SETTINGS_CONFLICT
        basis.problems.add(f"{begin}: {end}", reason, basis.key(TLS))
        return None
    redirecting = choose_redirect(basis, gateway, carried)
    return Routing(listener, Listener(*at, redirecting) if redirecting else None)


def choose_redirect(basis: Basis, gateway: Gateway, carried: Carried) -> str | None:
    """Return the name of the listener that redirects http to https, if any.

    Adds a problem if a redirect is requested that no listener can do, and for each annotation that turns it off where
    nothing else would serve http.
    """
    is_wanted, by_default = basis.requested.tls_redirect, basis.effective.tls.redirect
    if not basis.tls:
        return None
    of_ingress = carried.of_ingress
    asking = [key for key in (SSL_REDIRECT, *FORCING) if of_ingress.get(key) == "true"]
    if is_wanted is None:
        deciding = [key for key in (SSL_REDIRECT, HAPROXY_SSL_REDIRECT) if key in of_ingress]
        is_wanted = bool(asking) or (by_default and not deciding)
        if not (is_wanted or gateway.has_one_listener):
            # An Ingress with TLS is also served by http; an HTTPRoute only if one listener is for both.
            for key in deciding:
                add_lost(basis, key, NOT_EXPRESSED, carried.configured)
    if not is_wanted or gateway.redirects:
        return gateway.http if is_wanted else None
    if basis.requested.tls_redirect or by_default:
        begin = f"{gateway} can't redirect without a listener for http alone"
        end = f'set {basis.key(REDIRECT)}: "false", or the administrator names one (gateway.http)'
        reason = Reason.NOT_IN_HTTPROUTE
        if by_default:  # the Service need not have requested it
            end = "the administrator names one (gateway.http), or turns the redirect off (tls.redirect)"
            reason = Reason.SETTINGS_CONFLICT
        basis.problems.add(f"{begin}: {end}", reason, basis.key(REDIRECT))
    else:
        for key in asking:
            add_lost(basis, key, NOT_EXPRESSED, carried.configured)
    return None
