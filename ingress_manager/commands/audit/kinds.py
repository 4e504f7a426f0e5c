"""The kinds of findings that `audit` reports: one table, from which `explain` and the docs are made."""

from enum import StrEnum
from typing import NamedTuple

from ingress_manager.commands.reading.kinds import HTTPROUTE, INGRESS, SERVICE
from ingress_manager.commands.view.look import SETTINGS
from ingress_manager.commands.view.surroundings import CERTIFICATES, CLASS, GATEWAY, POLICY, SECRET, SLICE

OBJECTS = (INGRESS, HTTPROUTE)
MADE = (SETTINGS, SERVICE, *OBJECTS)
"""What a finding needs to know that compares what was made for a Service with what should be."""


class Severity(StrEnum):
    """How much a finding matters."""

    ERROR = "error"
    """Something isn't as the Service and the settings say, or it can't answer."""

    WARNING = "warning"
    """All is as they say, and somebody may not have meant it."""

    HINT = "hint"
    """It may well be as it should; it is worth a look where nothing answers. It doesn't make the exit status 1."""


class FindingKind(StrEnum):
    """What a finding is about. KINDS says what each means."""

    REFUSED = "refused"
    NAME_TAKEN = "name-taken"
    FORBIDDEN = "forbidden"
    MISSING = "missing"
    DRIFTED = "drifted"
    UNWANTED = "unwanted"
    DETACHED = "detached"
    HELD = "held"
    UPSTREAM_COLLISION = "upstream-collision"
    NO_CLASS = "no-class"
    NO_GATEWAY = "no-gateway"
    NO_LISTENER = "no-listener"
    NOT_ACCEPTED = "not-accepted"
    NO_ENDPOINTS = "no-endpoints"
    PORT_UNSERVED = "port-unserved"
    NO_CERTIFICATE = "no-certificate"
    WRONG_CERTIFICATE = "wrong-certificate"
    HEADLESS = "headless"
    CLAIMED_TWICE = "claimed-twice"
    NOT_COPIED = "not-copied"
    PLACEHOLDER_HOST = "placeholder-host"
    CLASS_UNSERVED = "class-unserved"
    CERTIFICATE_AWAITED = "certificate-awaited"
    NETWORK_POLICY = "network-policy"


class Row(NamedTuple):
    """A kind: how much it matters, what it means, what to do about it, and what has to be known to say so."""

    severity: Severity
    meaning: str
    remedy: str

    needs: tuple[str, ...]
    """The kinds of objects, and the settings, that it rests on. It isn't made where one of them could not be read; of
    Ingresses and HTTPRoutes it needs those alone that it is about."""


KINDS = {
    FindingKind.REFUSED: Row(
        Severity.ERROR,
        "The Service's annotations or ports are refused: nothing is made, and what stands stays as it is.",
        "Correct the annotation, as the sentence says; `ingress-manager explain` tells more of each reason.",
        (SERVICE,),
    ),
    FindingKind.NAME_TAKEN: Row(
        Severity.ERROR,
        "The Service can't be given its Ingress or HTTPRoute, because somebody else's has the name.",
        "If it leads to this Service, `ingress-manager adopt` makes it ingress-manager's while it serves. If it leads "
        "elsewhere, leave it there, and use another entrance, such as web.ingress/http. Delete it only if it leads "
        "nowhere.",
        MADE,
    ),
    FindingKind.FORBIDDEN: Row(
        Severity.ERROR,
        "It stands, and holds what the settings don't allow.",
        "Delete it. It is made again only as the settings allow it. The hook removes it with the next sync of its "
        "Service, unless the Service is being deleted.",
        MADE,
    ),
    FindingKind.MISSING: Row(
        Severity.ERROR,
        "The Service asks for it, and it isn't there.",
        "Mend what the sentence says is in the way. Metacontroller tries again within 1,000 seconds, and at once when "
        "anything of the Service changes. If no Event says why, the hook or Metacontroller doesn't run, or the change "
        "is seconds old.",
        MADE,
    ),
    FindingKind.DRIFTED: Row(
        Severity.ERROR,
        "It differs from what the Service and the settings ask for. What others have added to it doesn't count.",
        "As with `missing`. Changed settings take up to six minutes to reach it.",
        MADE,
    ),
    FindingKind.UNWANTED: Row(
        Severity.ERROR,
        "ingress-manager made it, and its Service doesn't ask for it any more.",
        "Delete it: it isn't made again. Metacontroller would have deleted it, if it and the hook ran.",
        MADE,
    ),
    FindingKind.DETACHED: Row(
        Severity.ERROR,
        "It carries ingress-manager's label or annotation, and ingress-manager doesn't look after it: it lacks its "
        "owner or Metacontroller's annotation, or its Service is gone.",
        "Attach it again, if a Service asks for it. If none does, and it leads to one, take the label off: it serves "
        "on, and is nobody's. Delete it only if it leads to nothing.",
        (SERVICE, *OBJECTS),
    ),
    FindingKind.HELD: Row(
        Severity.ERROR,
        "It is being deleted, and finalizers hold it; or it has a finalizer of Metacontroller's, which nothing should "
        "have. Meanwhile nothing about it changes.",
        "Let the program that has set the finalizers take them off. Do it by hand only if that one is gone for good, "
        "or if they are Metacontroller's.",
        (SERVICE, *OBJECTS),
    ),
    FindingKind.UPSTREAM_COLLISION: Row(
        Severity.ERROR,
        "Two Services, routes or certificates have one name in an ingress controller, such as namespace-service-port "
        "in ingress-nginx and Traefik. In ingress-nginx a Service may get the other's settings, in Traefik the "
        "other's requests; of two routes or certificates Traefik drops one.",
        "Give one of the two another name, the Service's port another number, or the Ingress another host.",
        (SERVICE, INGRESS),
    ),
    FindingKind.NO_CLASS: Row(
        Severity.ERROR,
        "No IngressClass has the name that the Ingress states; or it states none, and the cluster has no default.",
        "State the class of an ingress controller that runs: ingress/class, or the setting defaults.class.",
        (SERVICE, INGRESS, CLASS),
    ),
    FindingKind.NO_GATEWAY: Row(
        Severity.ERROR,
        "The Gateway that the HTTPRoute names isn't there.",
        "The administrator states a Gateway that is there, in the setting defaults.gateway or in the profile.",
        (SERVICE, HTTPROUTE, GATEWAY),
    ),
    FindingKind.NO_LISTENER: Row(
        Severity.ERROR,
        "The Gateway has no listener of the name that the HTTPRoute states; or that one takes no HTTPRoutes from this "
        "namespace, or for one of the hosts.",
        "The administrator states another listener, or changes the Gateway; or ingress/host states a host that fits.",
        (SERVICE, HTTPROUTE, GATEWAY),
    ),
    FindingKind.NOT_ACCEPTED: Row(
        Severity.ERROR,
        "The Gateway's controller doesn't accept the HTTPRoute, or can't resolve what it refers to; or it has said "
        "nothing for minutes.",
        "Do as the controller's sentence says.",
        (SERVICE, HTTPROUTE, GATEWAY),
    ),
    FindingKind.NO_ENDPOINTS: Row(
        Severity.ERROR,
        "Nothing is ready behind the Service: its host answers 502 or 503.",
        "Correct the Service's selector, or the Pods; a Service without a selector needs an EndpointSlice.",
        (SERVICE, *OBJECTS, SLICE),
    ),
    FindingKind.PORT_UNSERVED: Row(
        Severity.ERROR,
        "Something is ready behind the Service, but not at the port to which the Ingress or HTTPRoute leads.",
        "Correct the Service's targetPort or the name of the container's port; or state another ingress/port.",
        (SERVICE, *OBJECTS, SLICE),
    ),
    FindingKind.NO_CERTIFICATE: Row(
        Severity.ERROR,
        "The Secret that the Ingress names for its certificate isn't there, or lacks tls.crt or tls.key.",
        "Make the Secret, of the type kubernetes.io/tls; or let ingress/tls-secret name another.",
        (SERVICE, INGRESS, SECRET),
    ),
    FindingKind.WRONG_CERTIFICATE: Row(
        Severity.ERROR,
        "The certificate in the Secret has expired, isn't for one of the hosts, or isn't one: browsers warn.",
        "Renew the certificate, or have one made for these hosts.",
        (SERVICE, INGRESS, SECRET, CERTIFICATES),
    ),
    FindingKind.HEADLESS: Row(
        Severity.WARNING,
        "The Service is headless. Controllers that send requests to its Pods serve it. GKE, and Traefik with "
        "nativeLB, send them to the Service's address, and there is none.",
        "Expose a Service with an address beside it, which has the same selector.",
        (SERVICE, *OBJECTS),
    ),
    FindingKind.CLAIMED_TWICE: Row(
        Severity.WARNING,
        "Two Ingresses of a class, or two HTTPRoutes of a listener, claim a host and a path. One of them gets no "
        "requests: with ingress-nginx and in the Gateway API the younger one.",
        "Give one of the two another host or path.",
        OBJECTS,
    ),
    FindingKind.NOT_COPIED: Row(
        Severity.WARNING,
        "Annotations of the Service look meant for an ingress controller, protect nothing, and are not copied.",
        "Take them off. Or the administrator allows them in the setting limits.copyAnnotations.",
        (SETTINGS, SERVICE),
    ),
    FindingKind.PLACEHOLDER_HOST: Row(
        Severity.WARNING,
        "The host is example.com, the built-in defaults.host. Nobody reaches the Service.",
        "State ingress/host. Or the administrator states the setting defaults.host, for example with {service}.",
        (SETTINGS, SERVICE),
    ),
    FindingKind.CLASS_UNSERVED: Row(
        Severity.HINT,
        "None of the IngressClass's Ingresses in any namespace has an address. Perhaps no controller runs for it; "
        "some write no address.",
        "Look whether the controller that the IngressClass names runs. It is told once, and only where all namespaces "
        "are read.",
        (SERVICE, INGRESS, CLASS),
    ),
    FindingKind.CERTIFICATE_AWAITED: Row(
        Severity.HINT,
        "The Secret of the certificate isn't there yet, and an annotation asks cert-manager to make it.",
        "Wait; if it doesn't come, cert-manager's Certificate of the same name says why.",
        (SERVICE, INGRESS, SECRET),
    ),
    FindingKind.NETWORK_POLICY: Row(
        Severity.HINT,
        "A NetworkPolicy selects the Service's Pods, and none lets anybody of another namespace, or from outside, in.",
        "Where the host answers 502 or 504: add a NetworkPolicy that admits the ingress controller's namespace.",
        (SERVICE, *OBJECTS, POLICY),
    ),
}
"""What each kind means, in the order in which findings are reported."""


class Effect(StrEnum):
    """What other settings would do."""

    REMOVED = "removed"
    REFUSED = "refused"
    CHANGED = "changed"
    CREATED = "created"
