"""The redirect: whether HTTPRoutes answer http with a redirect to https.

What is nearest to the Service decides: ingress/tls-redirect; else the annotations of controllers that say it of an
Ingress; else the settings' tls.redirect. Without TLS there is none. An Ingress leaves it to its controller.
"""

from collections.abc import Mapping, Sequence

from ingress_manager.core.basis import Basis
from ingress_manager.core.errors import Reason
from ingress_manager.core.policy import Gateway
from ingress_manager.core.protection import NOT_SAID, add_lost
from ingress_manager.core.vocabulary import FORCING, OF_HAPROXY, SSL_REDIRECT

TLS, REDIRECT = "ingress/tls", "ingress/tls-redirect"


def choose_redirect(
    basis: Basis, gateway: Gateway, of_ingress: Mapping[str, str], added: Mapping[str, str]
) -> str | None:
    """Return the listener that redirects http to https, by its section name; None: none does.

    Adds a problem where none can, and for each annotation that asks for none in vain. Of the annotations `of_ingress`,
    the settings have `added` some.
    """
    policy, stated = basis.policy, basis.stated.tls_redirect
    if not basis.tls:
        if stated:
            end = f': "true" has no effect without TLS; state {basis.key(TLS)}: "true", or remove it'
            basis.add(REDIRECT, end, Reason.CONTRADICTION)
        return None
    asking = [key for key in (SSL_REDIRECT, *FORCING) if of_ingress.get(key) == "true"]
    refusing = [key for key in (SSL_REDIRECT, OF_HAPROXY) if of_ingress.get(key) == "false"]
    is_silent = SSL_REDIRECT not in of_ingress and OF_HAPROXY not in of_ingress
    if stated is None and not asking and not gateway.has_one_listener:
        # An Ingress with TLS is served by http as well; an HTTPRoute isn't, but by a listener that is for both.
        for key in refusing:
            add_lost(basis, key, NOT_SAID, value="false", added=key in added)
    is_wanted = stated if stated is not None else bool(asking) or (policy.redirect and is_silent)
    if is_wanted and gateway.redirects:
        return gateway.http
    if is_wanted:
        add_no_redirect(basis, gateway, asking)
    return None


def add_no_redirect(basis: Basis, gateway: Gateway, asking: Sequence[str]) -> None:
    """Add the problem that the Gateway can't redirect, unless only annotations ask for it that may be lost."""
    why = "it has no listener for http alone, say the settings (gateway.http)"
    remedy = f'state {basis.key(REDIRECT)}: "false"'
    if basis.stated.tls_redirect or basis.policy.redirect:
        sentence = f"{gateway} can't redirect: {why}; {remedy}"
        basis.problems.add(sentence, Reason.NOT_IN_HTTPROUTE, basis.key(REDIRECT))
        return
    for key in asking:
        if key not in basis.policy.accepted_losses:
            sentence = (
                f'{key}: "true" asks for a redirect, and {gateway} can\'t: {why}; '
                f"{remedy}, or the administrator accepts the loss (limits.acceptedLosses)"
            )
            basis.problems.add(sentence, Reason.NOT_IN_HTTPROUTE, key)


def check_no_redirect(basis: Basis) -> None:
    """Add a problem for the annotation ingress/tls-redirect, where no HTTPRoute is made."""
    if basis.stated.tls_redirect is not None:
        end = (
            f" can't be said in an Ingress, and in namespace {basis.policy.namespace} no HTTPRoute is made; "
            "remove it: an annotation of the ingress controller decides"
        )
        basis.add(REDIRECT, end, Reason.NOT_IN_INGRESS)
