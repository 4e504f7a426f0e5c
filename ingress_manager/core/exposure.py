"""The exposure: how a Service is reached, decided from what its annotations state, its ports and the policy."""

from collections.abc import Mapping

import msgspec

from ingress_manager.core.annotations import ONE_ROUTE, PROFILE
from ingress_manager.core.basis import Basis
from ingress_manager.core.copying import COPIED, NOT_COPIED, copy, not_copied
from ingress_manager.core.errors import Reason
from ingress_manager.core.ports import PORT, choose_shared_port
from ingress_manager.core.protection import MOST_LEFT, check_protection, check_reader
from ingress_manager.core.redirect import TLS, check_no_redirect
from ingress_manager.core.routing import CLASS, SECRET, Routing, choose_routing
from ingress_manager.core.rules import HOST, PATH, PATH_TYPE, ROUTES, Rule, allowed_hosts, choose_rules
from ingress_manager.core.text import did_you_mean, listed, quoted
from ingress_manager.core.vocabulary import (
    EDIT_IN_PLACE,
    OLD_CLASS,
    READ_FROM,
    is_read_from_services,
)

EXTERNAL_NAME = "a Service of type ExternalName reaches outside its namespace and gets no Ingress (CVE-2021-25740)"
CLASSES_OF_GKE = ("gce", "gce-internal")
"""Of no Ingress with a dot in its name a load balancer can be made. Source: kubernetes/ingress-gce, issue 614."""

FINGERPRINT = "ingress/profile-fingerprint"
"""An annotation of what we make: which filters and annotations its profile gave it."""


class Exposure(msgspec.Struct, frozen=True):
    """How a Service is reached by one entrance."""

    basis: Basis
    annotations: dict[str, str]
    """Those of an Ingress."""

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
    problems.extend(stated.problems, stated.more_problems)
    check_contradictions(basis)
    if not has_profile(basis):
        return None
    ingress_class = choose_class(basis)
    present, effective = service.metadata.annotations or {}, ingress_class or policy.default_class
    check_words_of_ingresses(basis, present, effective)
    copied = copy(present, policy.copy_annotations, policy.added_with_tls, problems)
    added = policy.added_with_tls if basis.tls else policy.annotations
    annotations, left = annotate("Ingress", basis, for_controllers, copied, added)
    routing, left_of_httproutes = None, list[str]()
    if policy.makes_httproutes:
        of_listeners = dict[str, str]()
        if basis.tls and policy.gateway and policy.gateway.listener_sets:
            of_listeners, _ = annotate("ListenerSet", basis, {}, copied, added)
        elsewhere = {key: value for key, value in for_controllers.items() if key not in of_listeners}
        of_routes, left_of_httproutes = annotate("HTTPRoute", basis, elsewhere, copied, policy.annotations)
        routing = choose_routing(basis, copied, added, of_routes, of_listeners)
    else:
        check_no_redirect(basis)
    check_protection(basis, left, left_of_httproutes)
    if policy.makes_ingresses:
        of_service = [*copied, *(key for key in left[:MOST_LEFT] if is_read_from_services(key))]
        check_reader(basis, effective, of_service, added)
    rules = choose_rules(basis)
    if problems.kept and left:
        # It refuses nothing by itself. But it may be why there is no Ingress: an annotation that isn't copied any more
        # is forbidden in an Ingress that is observed.
        about = {problem.annotation for problem in problems.kept}
        if others := [key for key in left if key not in about]:
            problems.extend([not_copied(listed(others))])
    return Exposure(basis, annotations, ingress_class, rules, routing)


def check_contradictions(basis: Basis) -> None:
    """Add a problem for each annotation that would be ignored."""
    stated = basis.stated
    if stated.tls is False and stated.tls_secret is not None:
        end = f': "false" contradicts {basis.key(SECRET)}: {quoted(stated.tls_secret)}; remove one of them'
        basis.add(TLS, end, Reason.CONTRADICTION)
    if stated.routes is ONE_ROUTE:
        return
    for annotation, field in ((HOST, "host"), (PATH, "path"), (PATH_TYPE, "path_type"), (PORT, "port")):
        shared = stated.hosts if field == "host" else getattr(stated, field)
        if shared and all(getattr(route, field) is not None for route in stated.routes):
            end = f" has no effect, because every one of {basis.key(ROUTES)} states its own; remove it"
            basis.add(annotation, end, Reason.CONTRADICTION)


def has_profile(basis: Basis) -> bool:
    """Return whether the Service can have its profile. If not, adds why, and what is wrong whatever its profile is."""
    stated, policy = basis.stated, basis.policy
    if stated.profile is not None and policy.profile is None:
        # With limits, it isn't told whether others may have it.
        reason = Reason.UNKNOWN_PROFILE if policy.allowed_profiles is None else Reason.PROFILE_NOT_ALLOWED
        usable = policy.usable_profiles()
        end = policy.profile_not_allowed(stated.profile) or (
            f"{quoted(stated.profile)} is not a profile of the settings{did_you_mean(stated.profile, usable)}; "
            f"{policy.allowed(usable)}"
        )
        basis.add(PROFILE, f": {end}", reason)
    elif not basis.has_wrong(PROFILE):
        return True
    # Limits hold with every profile. What else the annotations lead to depends on it.
    allowed_hosts(basis, stated.hosts or (), HOST, ":")
    if stated.ingress_class is not None and (end := policy.class_not_allowed(stated.ingress_class)):
        basis.add(CLASS, f": {end}", Reason.CLASS_NOT_ALLOWED)
    if any(route.port is None for route in stated.routes):
        choose_shared_port(basis)
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
    if basis.policy.makes_ingresses:
        if present.get(OLD_CLASS, ingress_class) != ingress_class:
            named = "the cluster's default class" if ingress_class is None else f"the class {quoted(ingress_class)}"
            sentence = (
                f"{OLD_CLASS}: {quoted(present[OLD_CLASS])} has no effect on a Service, which would get {named}: "
                f"state {basis.key(CLASS)}, or take it off"
            )
            basis.problems.add(sentence, Reason.CONTRADICTION, OLD_CLASS)
        if ingress_class in CLASSES_OF_GKE and "." in basis.name:
            end = (
                f": with the class {quoted(ingress_class)}, GKE serves no Ingress with a dot in its name, "
                "as that of an entrance with a name; use another class, or another Service for it"
            )
            basis.add("ingress/http", end, Reason.NOT_IN_INGRESS)
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
    is_read = READ_FROM[kind]
    copied = {key: value for key, value in copied.items() if is_read(key)}
    annotations = {**copied, **{key: value for key, value in added.items() if is_read(key)}}
    if basis.policy.profile is not None:
        annotations[PROFILE] = basis.policy.profile
    if basis.policy.fingerprint:
        annotations[FINGERPRINT] = basis.policy.fingerprint
    left = sorted([key for key, value in for_controllers.items() if annotations.get(key) != value])
    if left:
        annotations[NOT_COPIED] = listed(left)
    if copied:
        annotations[COPIED] = ", ".join(sorted(copied))
    return annotations, left
