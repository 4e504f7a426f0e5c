"""The routing: what only HTTPRoutes say."""

from collections.abc import Mapping

import msgspec

from ingress_manager.core.basis import Basis
from ingress_manager.core.errors import Reason
from ingress_manager.core.kubernetes import Object
from ingress_manager.core.policy import Gateway
from ingress_manager.core.protection import asking_redirect, check_http, check_said
from ingress_manager.core.text import quoted
from ingress_manager.core.vocabulary import OF_HAPROXY, SSL_REDIRECT

CLASS, TLS, SECRET, REDIRECT = "ingress/class", "ingress/tls", "ingress/tls-secret", "ingress/tls-redirect"


class Parent(msgspec.Struct, frozen=True):
    """The listener of a Gateway that HTTPRoutes attach to, by its section name."""

    name: str
    namespace: str
    section: str


class Listeners(msgspec.Struct, frozen=True):
    """What the ListenerSets of the hosts say, beside the Secret."""

    gateway: Gateway
    port: int
    annotations: dict[str, str]


class Routing(msgspec.Struct, frozen=True):
    """What only HTTPRoutes say."""

    parent: Parent | Listeners
    """What serves it: a listener of the Gateway, or of the hosts' own ListenerSets."""

    redirect: Parent | None
    """The listener for http, which redirects to https; None: nothing does."""

    annotations: dict[str, str]
    filters: tuple[Object, ...]
    timeouts: Object | None

    main_host: str
    """The first host of ingress/host, or the default host; no host need be this. They are named by it."""

    @property
    def places(self) -> list[object]:
        """Return where it is served: at which listeners of Gateways; of a ListenerSet, at which port of which one."""
        served = (self.parent.gateway, self.parent.port) if isinstance(self.parent, Listeners) else self.parent
        return [served, self.redirect] if self.redirect else [served]


def choose_routing(
    basis: Basis,
    copied: Mapping[str, str],
    added: Mapping[str, str],
    annotations: dict[str, str],
    annotations_of_listeners: dict[str, str],
) -> Routing | None:
    """Return what HTTPRoutes say. Adds a problem for what no HTTPRoute, and no Ingress beside it, can say.

    An Ingress has the annotations that are `copied` and those that the settings have `added`; the HTTPRoutes have
    `annotations`, and ListenerSets those of listeners.
    """
    policy, gateway = basis.policy, basis.policy.gateway
    if gateway is None:
        return None
    if not policy.makes_ingresses:
        check_words_of_ingresses_alone(basis, gateway)
    check_said(basis, copied, added)
    section = gateway.https if basis.tls else gateway.http
    if basis.tls and gateway.listener_sets:
        check_secret(basis, gateway)
        parent: Parent | Listeners = Listeners(gateway, gateway.listener_sets.port, annotations_of_listeners)
    elif section is not None:
        parent = Parent(gateway.name, gateway.namespace, section)
    else:
        what, setting, instead = ("with", "https", "false") if basis.tls else ("without", "http", "true")
        said = f"{gateway} has no listener for hosts {what} TLS, say the settings (gateway.{setting}); state"
        basis.problems.add(f'{said} {basis.key(TLS)}: "{instead}"', Reason.NOT_IN_HTTPROUTE, basis.key(TLS))
        return None
    check_http(basis, gateway, {**copied, **added}, added)
    return Routing(
        parent=parent,
        redirect=choose_redirect(basis, gateway, {**copied, **added}),
        annotations=annotations,
        filters=policy.filters,
        timeouts=policy.timeouts,
        main_host=(basis.stated.hosts or [policy.default_host(basis.service.metadata.name)])[0],
    )


def check_secret(basis: Basis, gateway: Gateway) -> None:
    """Add a problem where nothing says which Secret the listeners of a ListenerSet have."""
    if basis.secret is None:
        end = f" is needed: {gateway} serves each host with a certificate of the Service's own; or the administrator"
        basis.add(SECRET, f"{end} states a name for all (tls.secret)", Reason.NOT_IN_HTTPROUTE)


def check_words_of_ingresses_alone(basis: Basis, gateway: Gateway) -> None:
    """Add a problem for each of our annotations that says something of an Ingress, where none is made."""
    ingress_class, secret = basis.stated.ingress_class, basis.stated.tls_secret
    if ingress_class is not None:
        end = f": {quoted(ingress_class)} has no effect: in namespace {basis.policy.namespace} only HTTPRoutes are made"
        basis.add(CLASS, f"{end}, which have no class and attach to {gateway}; remove it", Reason.NOT_IN_HTTPROUTE)
    if secret is not None and gateway.listener_sets is None:
        instead = f'state {basis.key(TLS)}: "true" in its place' if gateway.https is not None else "remove it"
        end = f": {quoted(secret)} can't be said in an HTTPRoute: the certificate belongs to a listener of {gateway}"
        basis.add(SECRET, f"{end}; {instead}", Reason.NOT_IN_HTTPROUTE)


def choose_redirect(basis: Basis, gateway: Gateway, annotations: Mapping[str, str]) -> Parent | None:
    """Return the listener that redirects http to https; None: none does. Adds a problem where none can.

    The `annotations` of an Ingress ask for it where ingress/tls-redirect is silent, and tls.redirect where both are.
    """
    policy, stated = basis.policy, basis.stated.tls_redirect
    if stated and not basis.tls:
        end = f': "true" has no effect without TLS; state {basis.key(TLS)}: "true", or remove it'
        basis.add(REDIRECT, end, Reason.CONTRADICTION)
    asking = asking_redirect(annotations)
    silent = SSL_REDIRECT not in annotations and OF_HAPROXY not in annotations
    wanted = stated if stated is not None else bool(asking) or (policy.redirect and silent)
    if not (wanted and basis.tls):
        return None
    if gateway.http is not None and gateway.redirects:
        return Parent(gateway.name, gateway.namespace, gateway.http)
    why = "it has no listener for http alone, say the settings (gateway.http)"
    remedy = f'state {basis.key(REDIRECT)}: "false"'
    if stated or policy.redirect:
        sentence = f"{gateway} can't redirect: {why}; {remedy}"
        basis.problems.add(sentence, Reason.NOT_IN_HTTPROUTE, basis.key(REDIRECT))
        return None
    for key in asking:
        if key not in policy.accepted_losses:
            sentence = f'{key}: "true" asks for a redirect, and {gateway} can\'t: {why}; {remedy}, or the administrator'
            basis.problems.add(f"{sentence} accepts the loss (limits.acceptedLosses)", Reason.NOT_IN_HTTPROUTE, key)
    return None
