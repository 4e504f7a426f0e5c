"""The exposure: how a Service is reached, decided from what its annotations state, its ports and the policy."""

from collections.abc import Mapping

import msgspec

from ingress_manager.core.annotations import ONE_ROUTE, PREFIX, PROFILE
from ingress_manager.core.basis import Basis
from ingress_manager.core.bounds import MOST_LEFT
from ingress_manager.core.copying import ANY, COPIED, NOT_COPIED, copy
from ingress_manager.core.errors import Reason
from ingress_manager.core.protection import check_protection, check_reader
from ingress_manager.core.routing import CLASS, REDIRECT, SECRET, TLS, Routing, choose_routing
from ingress_manager.core.rules import HOST, PATH, PATH_TYPE, PORT, ROUTES, Place, Rule, check_claims, choose_rules
from ingress_manager.core.text import listed, quoted
from ingress_manager.core.vocabulary import EDIT_IN_PLACE, OLD_CLASS, is_read_from, is_read_from_services

EXTERNAL_NAME = "a Service of type ExternalName reaches outside its namespace and gets no Ingress (CVE-2021-25740)"
CLASSES_OF_GKE = ("gce", "gce-internal")
"""Of no Ingress with a dot in its name a load balancer can be made. Source: kubernetes/ingress-gce, issue 614."""

FINGERPRINT = "ingress/profile-fingerprint"
"""An annotation of what we make: which filters and annotations its profile gave it."""


class Exposure(msgspec.Struct, frozen=True):
    """How a Service is reached by one entrance."""

    basis: Basis
    annotations: dict[str, dict[str, str]]
    """Those of an object, by its kind."""

    ingress_class: str | None
    rules: tuple[Rule, ...]
    """One for each host, in the order in which the hosts were first stated."""

    routing: Routing | None
    """None: no HTTPRoute is made."""


def expose(basis: Basis, for_controllers: Mapping[str, str]) -> Exposure | None:
    """Return how the Service is to be reached by one entrance; None: nothing can be said, because of its problems.

    `for_controllers` are those of its annotations that controllers read: they are looked for once for all entrances.

    Adds all that is wrong: with the annotations themselves, then with what they lead to.
    """
    service, stated, policy, problems = basis.service, basis.stated, basis.policy, basis.problems
    if service.spec.type == "ExternalName":
        problems.add(EXTERNAL_NAME, Reason.EXTERNAL_NAME)
    problems.extend(stated.problems.kept, stated.problems.more)
    if not has_profile(basis):
        return None
    check_ignored(basis)
    ingress_class = choose_class(basis)
    present, effective = service.metadata.annotations or {}, ingress_class or policy.default_class
    check_words_of_ingresses(basis, present, effective)
    copied = copy(present, policy.copy_annotations, policy.added_with_tls, problems)
    added = policy.added_with_tls if basis.tls else policy.annotations
    annotations: dict[str, dict[str, str]] = {}
    annotations["Ingress"], left = annotate("Ingress", basis, for_controllers, copied, added)
    routing: Routing | None = None
    left_of_httproutes: list[str] = []
    if gateway := policy.gateway_of_httproutes:
        elsewhere = for_controllers
        if gateway.listener_sets and basis.tls:
            annotations["ListenerSet"], _ = annotate("ListenerSet", basis, {}, copied, added)
            elsewhere = {key: value for key, value in elsewhere.items() if key not in annotations["ListenerSet"]}
        annotations["HTTPRoute"], left_of_httproutes = annotate(
            "HTTPRoute", basis, elsewhere, copied, policy.annotations
        )
        routing = choose_routing(basis, gateway, copied, added)
    check_protection(basis, left, left_of_httproutes)
    if policy.makes_ingresses:
        of_service = [*copied, *(key for key in left[:MOST_LEFT] if is_read_from_services(key))]
        check_reader(basis, effective, of_service, added)
    rules = choose_rules(basis)
    if not problems.kept:
        places: list[Place] = routing.places if routing else []
        if policy.makes_ingresses:
            # Two Ingresses that nothing could lead to different places.
            others = {key: value for key, value in annotations["Ingress"].items() if not key.startswith(PREFIX)}
            places.append((ingress_class, basis.tls, frozenset(others.items()), frozenset(policy.labels.items())))
        check_claims(basis, places, rules)
    return Exposure(basis, annotations, ingress_class, rules, routing)


def check_ignored(basis: Basis) -> None:
    """Add a problem for each of our annotations that would be ignored."""
    stated, policy, gateway = basis.stated, basis.policy, basis.policy.gateway_of_httproutes
    ignored: list[tuple[str, str]] = []
    if stated.tls_secret and stated.tls is False:
        ignored.append((SECRET, f'because of {basis.key(TLS)}: "false"'))
    if stated.tls_redirect and gateway and not basis.tls:
        ignored.append((REDIRECT, f'without {basis.key(TLS)}: "true"'))
    if stated.tls_redirect is not None and not gateway:
        ignored.append((REDIRECT, f"where no HTTPRoute is made, as in namespace {policy.namespace}"))
    if stated.ingress_class and not policy.makes_ingresses:
        ignored.append((CLASS, f"where only HTTPRoutes are made, as in namespace {policy.namespace}"))
    if stated.tls_secret and not policy.makes_ingresses and gateway and not gateway.listener_sets:
        why = f'on HTTPRoutes: the certificate is that of {gateway}, for which {basis.key(TLS)}: "true" is enough'
        ignored.append((SECRET, why))
    if stated.routes is not ONE_ROUTE:
        for annotation, field in ((HOST, "host"), (PATH, "path"), (PATH_TYPE, "path_type"), (PORT, "port")):
            shared = stated.hosts if field == "host" else getattr(stated, field)
            if shared and all(getattr(each, field) is not None for each in stated.routes):
                ignored.append((annotation, f"because every one of {basis.key(ROUTES)} states its own"))
    for annotation, why in ignored:
        value = quoted((basis.service.metadata.annotations or {})[basis.key(annotation)])
        basis.add(annotation, f": {value} has no effect {why}; remove it", Reason.CONTRADICTION)


def has_profile(basis: Basis) -> bool:
    """Return whether the Service has its profile, on which all else depends; if not, adds why."""
    asked, policy = basis.stated.profile, basis.policy
    if asked is None or policy.profile is not None:
        return not basis.has_wrong(PROFILE)
    end, reason = policy.profile_not_allowed(asked), Reason.PROFILE_NOT_ALLOWED
    if policy.profiles == ANY:  # with limits, it isn't told whether others may have it
        reason = Reason.UNKNOWN_PROFILE
        end = f"{quoted(asked)} is not a profile of the settings; {policy.allowed(policy.usable_profiles())}"
    basis.add(PROFILE, f": {end}", reason)
    return False


def choose_class(basis: Basis) -> str | None:
    """Return the IngressClass; None: none is stated."""
    stated, policy = basis.stated.ingress_class, basis.policy
    chosen = policy.ingress_class if stated is None else stated
    twice = chosen is not None and OLD_CLASS in policy.annotations
    effective = chosen or policy.default_class
    end, reason = policy.class_not_allowed(effective), Reason.CLASS_NOT_ALLOWED
    if twice:
        reason = Reason.CONTRADICTION
        end = (
            f"{quoted(chosen or '')} can't stand beside the annotation by which the settings name the class, "
            f"{quoted(policy.annotations[OLD_CLASS])}; remove it, or choose another profile"
        )
    if end and stated is None:
        basis.problems.add(f"the class of the profile {policy.profile} {end}", reason, basis.key(PROFILE))
    elif end:
        basis.add(CLASS, f": {end}", reason)
    return chosen


def check_words_of_ingresses(basis: Basis, present: Mapping[str, str], ingress_class: str | None) -> None:
    """Add a problem for each annotation that says of an Ingress what none of this Service, of this class, will be."""
    if basis.policy.makes_ingresses and present.get(OLD_CLASS, ingress_class) != ingress_class:
        named = "the cluster's default class" if ingress_class is None else f"the class {quoted(ingress_class)}"
        sentence = (
            f"{OLD_CLASS}: {quoted(present[OLD_CLASS])} has no effect on a Service, which would get {named}: "
            f"state {basis.key(CLASS)}, or take it off"
        )
        basis.problems.add(sentence, Reason.CONTRADICTION, OLD_CLASS)
    if basis.policy.makes_ingresses and ingress_class in CLASSES_OF_GKE and "." in basis.name:
        end = (
            f": with the class {quoted(ingress_class)}, GKE serves no Ingress with a dot in its name, "
            "as that of an entrance with a name; use another class, or another Service for it"
        )
        basis.add("ingress/http", end, Reason.CONTRADICTION)
    if present.get(EDIT_IN_PLACE) == "true":
        sentence = (
            f'{EDIT_IN_PLACE}: "true" has no effect on a Service, '
            "and would keep cert-manager from renewing the certificate: take it off"
        )
        basis.problems.add(sentence, Reason.CONTRADICTION, EDIT_IN_PLACE)


def annotate(
    kind: str,
    basis: Basis,
    for_controllers: Mapping[str, str],
    copied: Mapping[str, str],
    added: Mapping[str, str],
) -> tuple[dict[str, str], list[str]]:
    """Return the annotations of an object of this kind, and the keys of a controller's that it lacks.

    It has those of what is `copied`, or `added` by the settings, that are read from such an object. The Service's own
    are told where they aren't copied, or the settings have added them otherwise.
    """
    annotations = {key: value for key, value in {**copied, **added}.items() if is_read_from(kind, key)}
    of_service = sorted(annotations.keys() & copied.keys())
    if basis.policy.profile is not None:
        annotations[PROFILE] = basis.policy.profile
    if basis.policy.fingerprint:
        annotations[FINGERPRINT] = basis.policy.fingerprint
    left = sorted([key for key, value in for_controllers.items() if annotations.get(key) != value])
    if left:
        annotations[NOT_COPIED] = listed(left)
    if of_service:
        annotations[COPIED] = ", ".join(of_service)
    return annotations, left
