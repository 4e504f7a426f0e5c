"""The kinds of findings that `audit` reports: one table, from which the docs are made."""

from typing import NamedTuple

from ingress_manager.commands.audit import answers, services
from ingress_manager.commands.audit.answers import of_each
from ingress_manager.commands.audit.claims import claimed_twice
from ingress_manager.commands.audit.seen import Finder, Severity


class Kind(NamedTuple):
    """A kind: what it means, what to do about it, what finds it, and how much it matters."""

    meaning: str
    remedy: str
    find: Finder
    severity: Severity = Severity.ERROR
    by_settings: bool = True
    """Whether nothing can be found without the settings."""


KINDS = {
    "refused": Kind(
        "The hook refuses the Service.",
        "Correct the annotation; docs/refusals.md tells more.",
        services.refused,
    ),
    "name-taken": Kind(
        "Somebody else's object has the name that the Service's object would have.",
        "Adopt that object if it leads to this Service, else use another entrance, such as web.ingress/http.",
        services.name_taken,
    ),
    "forbidden": Kind(
        "The object holds what the settings forbid.",
        "Delete it: it comes back only as the settings allow.",
        services.forbidden,
    ),
    "missing": Kind(
        "What the Service asks for isn't there, or is being deleted.",
        "Remove the obstacle that the sentence names. If none is named, look whether the hook and Metacontroller run.",
        services.missing,
    ),
    "drifted": Kind(
        "The object differs from what the Service and the settings ask for.",
        "As with `missing`. Changed settings take up to six minutes.",
        services.drifted,
    ),
    "unguarded": Kind(
        "An annotation that protects stands on the object alone: once it is made anew, it is open.",
        "Put the annotation onto the Service, which is then refused if its protection would be lost.",
        services.unguarded,
    ),
    "unwanted": Kind(
        "The Service no longer asks for the object.",
        "Delete it: it doesn't come back. Look whether the hook and Metacontroller run.",
        services.unwanted,
    ),
    "detached": Kind(
        "The object has our label or annotation, but lacks its owner, Metacontroller's annotation or its Service.",
        "Attach it if a Service asks for it, else take the label off: it serves on, unless its Service is gone.",
        services.detached,
    ),
    "no-class": Kind(
        "There is no IngressClass of that name, or no default one.",
        "State the class of a controller that runs, by ingress/class or defaults.class.",
        of_each(answers.no_class),
        by_settings=False,
    ),
    "not-accepted": Kind(
        "The Gateway's controller rejects the object, or has said nothing for minutes; or there is no Gateway.",
        "Do as the controller's sentence says. For a Gateway that isn't there, the administrator states another.",
        of_each(answers.not_accepted),
        by_settings=False,
    ),
    "no-endpoints": Kind(
        "The Service has no ready endpoint that serves its port. Its host answers 502 or 503.",
        "Correct the Service's selector or targetPort, or the Pods. Without a selector, it needs an EndpointSlice.",
        of_each(answers.no_endpoints),
        by_settings=False,
    ),
    "certificate": Kind(
        "The Secret isn't there or has no certificate; or that isn't valid now, or isn't for one of the hosts.",
        "Make a Secret of the type kubernetes.io/tls, renew its certificate, or name another by ingress/tls-secret.",
        of_each(answers.certificate),
        by_settings=False,
    ),
    "claimed-twice": Kind(
        "Two objects claim one host and path, or two ListenerSets one host and port. One gets no requests.",
        "Give one of them another host or path; a host has one ListenerSet, whatever its paths.",
        claimed_twice,
        Severity.WARNING,
        by_settings=False,
    ),
    "not-copied": Kind(
        "Annotations look meant for an ingress controller, protect nothing, and are not copied.",
        "Take them off; or the administrator allows them in limits.copyAnnotations.",
        services.not_copied,
        Severity.WARNING,
    ),
    "no-http": Kind(
        "An entrance has annotations, but no `ingress/http`: nothing is made for it.",
        'State ingress/http: "true" to publish the Service; else take the others off.',
        services.no_http,
        Severity.HINT,
        by_settings=False,
    ),
}
"""What each kind means, in the order in which findings are reported."""
