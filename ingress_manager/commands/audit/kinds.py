"""The kinds of findings that `audit` reports: one table, from which `explain` and the docs are made."""

from enum import StrEnum
from typing import NamedTuple


class Severity(StrEnum):
    """How much a finding matters."""

    ERROR = "error"
    """Something isn't as the Service and the settings say."""

    WARNING = "warning"
    """All is as they say, and somebody may not have meant it."""


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
    CLAIMED_TWICE = "claimed-twice"
    NOT_COPIED = "not-copied"
    PLACEHOLDER_HOST = "placeholder-host"


class Row(NamedTuple):
    """A kind: how much it matters, what it means, and what to do about it."""

    severity: Severity
    meaning: str
    remedy: str


KINDS = {
    FindingKind.REFUSED: Row(
        Severity.ERROR,
        "The Service's annotations or ports are refused: nothing is made, and what stands stays as it is.",
        "Correct the annotation, as the sentence says; `ingress-manager explain` tells more of each reason.",
    ),
    FindingKind.NAME_TAKEN: Row(
        Severity.ERROR,
        "The Service can't be given its Ingress or HTTPRoute, because somebody else's has the name.",
        "Delete the other one, make it ingress-manager's with `ingress-manager adopt`, or turn the Service off.",
    ),
    FindingKind.FORBIDDEN: Row(
        Severity.ERROR,
        "It stands, and holds what the settings don't allow.",
        "Delete it: it is made again only as the settings allow it. The hook removes it with the next sync of its "
        "Service; there is none while the Service is being deleted.",
    ),
    FindingKind.MISSING: Row(
        Severity.ERROR,
        "The Service asks for it, and it isn't there.",
        "Look at the Events of the Service: a quota or an admission webhook can be in the way. Where there are none, "
        "the hook or Metacontroller doesn't run, or a change is seconds old. Metacontroller syncs all when it starts.",
    ),
    FindingKind.DRIFTED: Row(
        Severity.ERROR,
        "It differs from what the Service and the settings ask for. What others have added to it doesn't count.",
        "As with `missing`. Changed settings take up to six minutes to reach it.",
    ),
    FindingKind.UNWANTED: Row(
        Severity.ERROR,
        "ingress-manager made it, and its Service doesn't ask for it any more.",
        "Delete it: it isn't made again. Metacontroller would have, if it and the hook ran.",
    ),
    FindingKind.DETACHED: Row(
        Severity.ERROR,
        "It carries ingress-manager's label or annotation, and ingress-manager doesn't look after it: it lacks its "
        "owner or Metacontroller's annotation, or its Service is gone. It stays as it is, whatever the Service says.",
        "Attach it again, if its Service asks for it; or delete it. If it is somebody else's, take the label off.",
    ),
    FindingKind.HELD: Row(
        Severity.ERROR,
        "It is being deleted, and finalizers hold it; or it has a finalizer of Metacontroller's, which nothing should "
        "have. Meanwhile nothing about it changes, and the Ingress of a Service that is held goes on serving.",
        "Let whoever has set the finalizers do its work and take them off. By hand, only if that one is gone for good, "
        "or if it is Metacontroller's.",
    ),
    FindingKind.UPSTREAM_COLLISION: Row(
        Severity.ERROR,
        "Two Services, routes of Ingresses or Secrets have one name in an ingress controller. ingress-nginx calls a "
        "Service namespace-service-port, and Traefik, too, but it takes repeated - for one; it calls a route "
        "namespace-ingress-host-path, and a certificate namespace-secret. In ingress-nginx a Service may get the "
        "other's settings, in Traefik the other's requests; of two routes or certificates Traefik drops one. Each "
        "class is compared as if either controller served it.",
        "Give one of the two another name, the Service's port another number, or the Ingress another host.",
    ),
    FindingKind.CLAIMED_TWICE: Row(
        Severity.WARNING,
        "Two Ingresses of a class, or two HTTPRoutes of a listener, claim a host and a path. One of them gets no "
        "requests there: with ingress-nginx and in the Gateway API that is the younger one.",
        "Give one of the two another host or path.",
    ),
    FindingKind.NOT_COPIED: Row(
        Severity.WARNING,
        "Annotations of the Service look meant for an ingress controller, and are not copied.",
        "Take them off. Or the administrator allows them in the setting limits.copyAnnotations.",
    ),
    FindingKind.PLACEHOLDER_HOST: Row(
        Severity.WARNING,
        "The host is example.com, which the setting defaults.host has until somebody changes it. Nobody reaches the "
        "Service.",
        "State ingress/host. Or the administrator states the setting defaults.host, for example with {service}.",
    ),
}
"""What each kind means, in the order in which findings are reported."""


class Effect(StrEnum):
    """What other settings would do."""

    REMOVED = "removed"
    REFUSED = "refused"
    CHANGED = "changed"
    CREATED = "created"
