"""The routing: what only HTTPRoutes say, such as their listener of the Gateway, and whether http redirects to https.

What is nearest to the Service decides about the redirect: ingress/tls-redirect; else the annotations of controllers
that say it of an Ingress; else the settings' tls.redirect. An Ingress leaves it to its controller.
"""

from collections.abc import Hashable, Mapping
from typing import NamedTuple

from ingress_manager.core.annotations import REDIRECT, SECRET, TLS
from ingress_manager.core.basis import Basis
from ingress_manager.core.errors import Reason
from ingress_manager.core.policy import Gateway, ListenerSets
from ingress_manager.core.protection import NOT_SAID, add_lost, check_said
from ingress_manager.core.vocabulary import FORCING, OF_HAPROXY, SSL_REDIRECT


class Routing(NamedTuple):
    """What only HTTPRoutes say: by what they are served."""

    gateway: Gateway
    listener: str | ListenerSets
    """The listener of the Gateway that serves them, by its section name; or each host has a listener of its own."""

    redirect: str | None
    """The listener of the Gateway that redirects http to https; None: none does."""

    @property
    def places(self) -> list[tuple[Hashable, ...]]:
        """Return where it is served: at which listeners of Gateways; of a ListenerSet, at which port of which one."""
        listeners = filter(None, [self.listener, self.redirect])
        return [(self.gateway.namespace, self.gateway.name, each) for each in listeners]


def choose_routing(
    basis: Basis, gateway: Gateway, copied: Mapping[str, str], added: Mapping[str, str]
) -> Routing | None:
    """Return what HTTPRoutes say. Adds a problem for what no HTTPRoute, and no Ingress beside it, can say.

    An Ingress has the annotations that are `copied` and those that the settings have `added`.
    """
    check_said(basis, copied, added)
    listener: str | ListenerSets | None = gateway.https if basis.tls else gateway.http
    if basis.tls and gateway.listener_sets:
        listener = gateway.listener_sets
        if basis.secret is None:
            end = (
                f" is needed: {gateway} serves each host with a certificate of the Service's own; "
                "or the administrator states a name for all (tls.secret)"
            )
            basis.add(SECRET, end, Reason.NOT_IN_HTTPROUTE)
    if listener is None:
        what, setting, instead = ("with", "https", "false") if basis.tls else ("without", "http", "true")
        sentence = (
            f"{gateway} has no listener for hosts {what} TLS, say the settings (gateway.{setting}); "
            f'state {basis.key(TLS)}: "{instead}"'
        )
        basis.problems.add(sentence, Reason.NOT_IN_HTTPROUTE, basis.key(TLS))
        return None
    return Routing(gateway, listener, choose_redirect(basis, gateway, {**copied, **added}, added))


def choose_redirect(
    basis: Basis, gateway: Gateway, of_ingress: Mapping[str, str], added: Mapping[str, str]
) -> str | None:
    """Return the listener that redirects http to https, by its section name; None: none does.

    Adds a problem where none can, and for each annotation that asks for it, or for none, in vain. Of the annotations
    `of_ingress`, the settings have `added` some.
    """
    is_wanted, by_default = basis.stated.tls_redirect, basis.policy.tls.redirect
    if not basis.tls:
        return None
    asking = [key for key in (SSL_REDIRECT, *FORCING) if of_ingress.get(key) == "true"]
    said = [key for key in (SSL_REDIRECT, OF_HAPROXY) if key in of_ingress]
    if is_wanted is None:
        is_wanted = bool(asking) or (by_default and not said)
        if not (is_wanted or gateway.has_one_listener):
            # An Ingress with TLS is served by http as well; an HTTPRoute isn't, but by a listener that is for both.
            for key in said:
                add_lost(basis, key, NOT_SAID, added)
    if not is_wanted:
        return None
    if not gateway.redirects:
        if basis.stated.tls_redirect or by_default:
            sentence = (
                f"{gateway} can't redirect: it has no listener for http alone, say the settings (gateway.http); "
                f'state {basis.key(REDIRECT)}: "false"'
            )
            basis.problems.add(sentence, Reason.NOT_IN_HTTPROUTE, basis.key(REDIRECT))
        else:
            for key in asking:
                add_lost(basis, key, NOT_SAID, added)
        return None
    return gateway.http
