"""The exposure: how a Service is reached, decided from what its annotations state, its ports and the policy."""

from collections.abc import Hashable, Mapping, Sequence
from itertools import product

import msgspec

from ingress_manager.core.annotations import (
    CLASS,
    HTTP,
    OF_ONE_KIND,
    ONE_ROUTE,
    PREFIX,
    PROFILE,
    REDIRECT,
    ROUTES,
    SECRET,
    TLS,
)
from ingress_manager.core.basis import Basis
from ingress_manager.core.copying import ANY, COPIED, FINGERPRINT, NOT_COPIED, copy
from ingress_manager.core.errors import Reason
from ingress_manager.core.policy import ListenerSets
from ingress_manager.core.protection import check_protection, check_reader
from ingress_manager.core.routing import Routing, choose_routing
from ingress_manager.core.rules import Path, check_shared, choose_rules, location
from ingress_manager.core.text import listed, quoted
from ingress_manager.core.vocabulary import EDIT_IN_PLACE, OLD_CLASS, is_read_from

EXTERNAL_NAME = "a Service of type ExternalName reaches outside its namespace and gets no Ingress (CVE-2021-25740)"
CLASSES_OF_GKE = ("gce", "gce-internal")
"""Of no Ingress with a dot in its name a load balancer can be made. Source: kubernetes/ingress-gce, issue 614."""


class Exposure(msgspec.Struct, frozen=True):
    """How a Service is reached by one entrance."""

    basis: Basis
    annotations: dict[str, dict[str, str]]
    """Those of an object, by its kind."""

    ingress_class: str | None
    rules: Mapping[str, Sequence[Path]]
    """The paths of each host."""

    routing: Routing | None
    """None: no HTTPRoute is made."""


def expose(basis: Basis, for_controllers: Mapping[str, str]) -> Exposure | None:
    """Return how the Service is to be reached by one entrance; None: not at all, because of its problems.

    Adds all that is wrong: with the annotations themselves, then with what they lead to. `for_controllers` are those of
    the Service's annotations that controllers read: they are looked for once for all entrances.
    """
    service, stated, policy, problems = basis.service, basis.stated, basis.policy, basis.problems
    if service.spec.type == "ExternalName":
        problems.add(EXTERNAL_NAME, Reason.EXTERNAL_NAME)
    problems.extend(stated.problems.kept, stated.problems.more)
    if not has_profile(basis):
        return None
    check_ignored(basis)
    ingress_class = choose_class(basis)
    copied = copy(service.metadata.annotations or {}, policy.limits.copy_annotations, policy.added_with_tls, problems)
    added = policy.added_with_tls if basis.tls else policy.annotations
    annotations, left = annotate(basis, for_controllers, copied, added)
    gateway = policy.gateway_of_httproutes
    routing = choose_routing(basis, gateway, copied, added) if gateway else None
    check_protection(basis, left)
    if policy.makes_ingresses:
        check_reader(basis, ingress_class or policy.default_class, copied, left["Ingress"], added)
    rules = choose_rules(basis)
    return None if problems.kept else Exposure(basis, annotations, ingress_class, rules, routing)


def check_ignored(basis: Basis) -> None:
    """Add a problem for each of our annotations that would be ignored."""
    stated, policy, gateway = basis.stated, basis.policy, basis.policy.gateway_of_httproutes
    if stated.tls_secret and stated.tls is False:
        basis.add_ignored(SECRET, f'because of {basis.key(TLS)}: "false"')
    if stated.tls_redirect and gateway and not basis.tls:
        basis.add_ignored(REDIRECT, f'without {basis.key(TLS)}: "true"')
    absent = {} if gateway else {"HTTPRoute": "where no HTTPRoute is made"}
    if not policy.makes_ingresses:
        absent["Ingress"] = "where only HTTPRoutes are made"
    for key, row in OF_ONE_KIND.items():
        if row.only in absent and getattr(stated, row.field) is not None:
            basis.add_ignored(key, f"{absent[row.only]}, as in namespace {policy.namespace}")
    if stated.tls_secret and not policy.makes_ingresses and gateway and not gateway.listener_sets:
        why = f'on HTTPRoutes: the certificate is that of {gateway}, for which {basis.key(TLS)}: "true" is enough'
        basis.add_ignored(SECRET, why)
    if (basis.service.metadata.annotations or {}).get(EDIT_IN_PLACE) == "true":
        end = "has no effect on a Service, and would keep cert-manager from renewing the certificate: take it off"
        basis.problems.add(f'{EDIT_IN_PLACE}: "true" {end}', Reason.CONTRADICTION, EDIT_IN_PLACE)
    if stated.routes is not ONE_ROUTE:
        check_shared(basis)


def has_profile(basis: Basis) -> bool:
    """Return whether the Service has its profile, on which all else depends; if not, adds why."""
    asked, policy = basis.stated.profile, basis.policy
    if asked is None or policy.profile is not None:
        return not basis.has_wrong(PROFILE)
    if policy.limits.profiles == ANY:
        end = f": {quoted(asked)} is not a profile of the settings; {policy.allowed(policy.usable_profiles)}"
        basis.add(PROFILE, end, Reason.UNKNOWN_PROFILE)
    else:  # it isn't told whether others may have it
        basis.add(PROFILE, f": {policy.not_allowed(asked, policy.limits.profiles)}", Reason.PROFILE_NOT_ALLOWED)
    return False


def choose_class(basis: Basis) -> str | None:
    """Return the IngressClass; None: none is stated. Adds a problem where it can't be this."""
    stated, policy, old = basis.stated.ingress_class, basis.policy, basis.policy.annotations.get(OLD_CLASS)
    chosen = policy.ingress_class if stated is None else stated
    effective = old if chosen is None else chosen
    end, reason = policy.not_allowed(effective, policy.limits.classes), Reason.CLASS_NOT_ALLOWED
    if chosen is not None and old is not None:
        other = f"the annotation by which the settings name the class, {quoted(old)}"
        end = f"{quoted(chosen)} can't stand beside {other}; remove it, or choose another profile"
        reason = Reason.CONTRADICTION
    if end and stated is None:
        basis.problems.add(f"the class of the profile {policy.profile} {end}", reason, basis.key(PROFILE))
    elif end:
        basis.add(CLASS, f": {end}", reason)
    on_service = (basis.service.metadata.annotations or {}).get(OLD_CLASS, effective)
    if policy.makes_ingresses and on_service != effective:
        named = "the cluster's default class" if effective is None else f"the class {quoted(effective)}"
        end = f"has no effect on a Service, which would get {named}: state {basis.key(CLASS)}, or take it off"
        basis.problems.add(f"{OLD_CLASS}: {quoted(str(on_service))} {end}", Reason.CONTRADICTION, OLD_CLASS)
    if policy.makes_ingresses and effective in CLASSES_OF_GKE and "." in basis.name:
        why = "GKE serves no Ingress with a dot in its name, as that of an entrance with a name"
        end = f": with the class {quoted(effective)}, {why}; use another class, or another Service for it"
        basis.add(HTTP, end, Reason.CONTRADICTION)
    return chosen


def annotate(
    basis: Basis, for_controllers: Mapping[str, str], copied: Mapping[str, str], added: Mapping[str, str]
) -> tuple[dict[str, dict[str, str]], dict[str, list[str]]]:
    """Return the annotations of what is made, by its kind, and likewise the keys of a controller's that it lacks.

    It has those of what is `copied`, or `added` by the settings, that are read from such an object. The Service's own
    are told where they aren't copied, or the settings have added them otherwise.
    """
    policy, gateway = basis.policy, basis.policy.gateway_of_httproutes
    kinds = {"Ingress": added} if policy.makes_ingresses else {}
    if gateway and gateway.listener_sets and basis.tls:
        kinds["ListenerSet"] = added
    if gateway:
        kinds["HTTPRoute"] = policy.annotations
    annotations: dict[str, dict[str, str]] = {}
    left: dict[str, list[str]] = {}
    for kind, of_settings in kinds.items():
        own = {key: value for key, value in {**copied, **of_settings}.items() if is_read_from(kind, key)}
        of_service = sorted(own.keys() & copied.keys())
        elsewhere = annotations.get("ListenerSet", {})  # of which its HTTPRoutes come after it
        lacks = [key for key, value in for_controllers.items() if value not in (own.get(key), elsewhere.get(key))]
        left[kind] = [] if kind == "ListenerSet" else sorted(lacks)
        if policy.profile is not None:
            own[PROFILE] = policy.profile
        if policy.fingerprint:
            own[FINGERPRINT] = policy.fingerprint
        if left[kind]:
            own[NOT_COPIED] = listed(left[kind])
        if of_service:
            own[COPIED] = ", ".join(of_service)
        annotations[kind] = own
    return annotations, left


def check_claims(exposure: Exposure, claims: dict[Hashable, tuple[Basis, str]]) -> None:
    """Remember what an entrance claims: hosts and paths at places. Adds a problem for what was claimed before.

    By the same entrance, or by another one of the Service; what two Services claim is compared by `audit`.
    """
    basis, places = exposure.basis, exposure.routing.places if exposure.routing else []
    if basis.policy.makes_ingresses:
        # Two Ingresses that nothing could lead to different places.
        others = {key: value for key, value in exposure.annotations["Ingress"].items() if not key.startswith(PREFIX)}
        labels = frozenset(basis.policy.labels.items())
        places.append((exposure.ingress_class, basis.tls, frozenset(others.items()), labels))
    for place, (host, paths) in product(places, exposure.rules.items()):
        own: list[tuple[Hashable, str]] = [(location(host, way.path, way.path_type), f"{host}{way}") for way in paths]
        if isinstance(place[-1], ListenerSets):  # a Gateway takes one listener for a host at a port
            own.append((host, host))
        for claim, shown in own:
            if (place, claim) not in claims:
                claims[place, claim] = basis, shown
                continue
            other, first = claims[place, claim]
            begin = f": {shown} is the same to ingress controllers as"
            if other is basis:
                basis.add(ROUTES, f"{begin} {first}; remove one", Reason.DUPLICATE_ROUTE)
            else:
                end = f'{begin} that of "{other.key(HTTP)}"; state another host, path, class or profile'
                basis.add(HTTP, end, Reason.DUPLICATE_ROUTE)
            return
