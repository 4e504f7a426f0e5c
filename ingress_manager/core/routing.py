"""The routing: what only HTTPRoutes say."""

from collections.abc import Mapping

import msgspec

from ingress_manager.core.basis import Basis
from ingress_manager.core.errors import Reason
from ingress_manager.core.kubernetes import Object
from ingress_manager.core.policy import Gateway, ListenerSets
from ingress_manager.core.protection import check_said
from ingress_manager.core.redirect import TLS, choose_redirect
from ingress_manager.core.text import quoted

CLASS, SECRET = "ingress/class", "ingress/tls-secret"


class Routing(msgspec.Struct, frozen=True):
    """What only HTTPRoutes say."""

    gateway: Gateway
    listener: str | ListenerSets
    """The listener of the Gateway that serves it, by its section name; or each host has a listener of its own."""

    redirect: str | None
    """The listener of the Gateway that redirects http to https; None: none does."""

    annotations: dict[str, str]
    annotations_of_listeners: dict[str, str]
    """Those of the ListenerSets, where hosts have listeners of their own."""

    filters: tuple[Object, ...]
    timeouts: Object | None

    main_host: str
    """The first host of ingress/host, or the default host; no host need be this. They are named by it."""

    @property
    def places(self) -> list[object]:
        """Return where it is served: at which listeners of Gateways; of a ListenerSet, at which port of which one."""
        gateway, listeners = (self.gateway.namespace, self.gateway.name), [self.listener, self.redirect]
        return [(*gateway, each) for each in listeners if each is not None]


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
    listener: str | ListenerSets | None = gateway.https if basis.tls else gateway.http
    if basis.tls and gateway.listener_sets:
        check_secret(basis, gateway)
        listener = gateway.listener_sets
    if listener is None:
        what, setting, instead = ("with", "https", "false") if basis.tls else ("without", "http", "true")
        sentence = (
            f"{gateway} has no listener for hosts {what} TLS, say the settings (gateway.{setting}); "
            f'state {basis.key(TLS)}: "{instead}"'
        )
        basis.problems.add(sentence, Reason.NOT_IN_HTTPROUTE, basis.key(TLS))
        return None
    return Routing(
        gateway=gateway,
        listener=listener,
        redirect=choose_redirect(basis, gateway, {**copied, **added}, added),
        annotations=annotations,
        annotations_of_listeners=annotations_of_listeners,
        filters=policy.filters,
        timeouts=policy.timeouts,
        main_host=(basis.stated.hosts or [policy.default_host(basis.service.metadata.name)])[0],
    )


def check_secret(basis: Basis, gateway: Gateway) -> None:
    """Add a problem where nothing says which Secret the listeners of a ListenerSet have."""
    if basis.secret is None:
        end = (
            f" is needed: {gateway} serves each host with a certificate of the Service's own; "
            "or the administrator states a name for all (tls.secret)"
        )
        basis.add(SECRET, end, Reason.NOT_IN_HTTPROUTE)


def check_words_of_ingresses_alone(basis: Basis, gateway: Gateway) -> None:
    """Add a problem for each of our annotations that says something of an Ingress, where none is made."""
    ingress_class, secret = basis.stated.ingress_class, basis.stated.tls_secret
    if ingress_class is not None:
        end = (
            f": {quoted(ingress_class)} has no effect: in namespace {basis.policy.namespace} only HTTPRoutes are made, "
            f"which have no class and attach to {gateway}; remove it"
        )
        basis.add(CLASS, end, Reason.NOT_IN_HTTPROUTE)
    if secret is not None and gateway.listener_sets is None:
        instead = f'state {basis.key(TLS)}: "true" in its place' if gateway.https is not None else "remove it"
        end = (
            f": {quoted(secret)} can't be said in an HTTPRoute: "
            f"the certificate belongs to a listener of {gateway}; {instead}"
        )
        basis.add(SECRET, end, Reason.NOT_IN_HTTPROUTE)
