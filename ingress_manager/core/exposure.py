"""Decides an entrance's exposure: how it is served, given the Service's annotations and ports, and the settings."""

from collections.abc import Hashable, Mapping, Sequence
from itertools import product

import msgspec

from ingress_manager.core.annotations import CLASS, HTTP, ONE_ROUTE, PROFILE, REDIRECT, ROUTES, SECRET, SINGLE_KIND, TLS
from ingress_manager.core.basis import Basis
from ingress_manager.core.carried import Carried, carry
from ingress_manager.core.copying import ANY
from ingress_manager.core.errors import Reason
from ingress_manager.core.protection import check_class_reads, check_httproutes_express, check_left_behind
from ingress_manager.core.routing import ListenerSetPort, Routing, choose_routing
from ingress_manager.core.rules import Path, check_overridden, choose_rules, claim_key
from ingress_manager.core.text import quoted
from ingress_manager.core.vocabulary import EDIT_IN_PLACE, OLD_CLASS

EXTERNAL_NAME = "a Service of type ExternalName isn't served: it can point outside its namespace (CVE-2021-25740)"
CLASSES_WITHOUT_DOTS = {"gce": "GKE", "gce-internal": "GKE", "cilium": "Cilium", "tailscale": "Tailscale"}
"""Classes whose controllers can't serve an Ingress with a dot in its name, because they name a Service or load
balancer after the Ingress, such as cilium-ingress-NAME or ts-NAME-…. Sources: kubernetes/ingress-gce, issue 614;
Cilium, operator/pkg/ingress; Tailscale, cmd/k8s-operator."""


class Exposure(msgspec.Struct, frozen=True):
    basis: Basis
    carried: Carried
    ingress_class: str | None
    rules: Mapping[str, Sequence[Path]]
    routing: Routing | None
    """None if the entrance has no HTTPRoutes."""


def expose(basis: Basis, for_controllers: Mapping[str, str]) -> Exposure | None:
    """Return how an entrance is served, or None if there are problems.

    `for_controllers` contains the Service's annotations for controllers, collected once for all entrances.
    """
    service, requested, effective, problems = basis.service, basis.requested, basis.effective, basis.problems
    if service.spec.type == "ExternalName":
        problems.add(EXTERNAL_NAME, Reason.EXTERNAL_NAME)
    problems.extend(requested.problems.kept, requested.problems.more)
    if not check_profile(basis):
        return None
    check_ignored(basis)
    ingress_class = choose_class(basis)
    carried = carry(basis, for_controllers)
    routing = None
    if gateway := effective.httproute_gateway:
        check_httproutes_express(basis, carried)
        routing = choose_routing(basis, gateway, carried)
    check_left_behind(basis, carried)
    if effective.makes_ingresses:
        check_class_reads(basis, ingress_class or effective.default_class, carried)
    rules = choose_rules(basis)
    return None if problems.kept else Exposure(basis, carried, ingress_class, rules, routing)


def check_ignored(basis: Basis) -> None:
    """Add a problem for each valid ingress/… annotation with no effect, and EDIT_IN_PLACE, which blocks renewals."""
    requested, effective, gateway = basis.requested, basis.effective, basis.effective.httproute_gateway
    if requested.tls_secret and requested.tls is False:
        basis.add_ignored(SECRET, f'because of {basis.key(TLS)}: "false"')
    if requested.tls_redirect and gateway and not (basis.tls or basis.is_invalid(TLS)):
        basis.add_ignored(REDIRECT, f'without {basis.key(TLS)}: "true"', f"add that, or remove {basis.key(REDIRECT)}")
    absent = {} if gateway else {"HTTPRoute": "no HTTPRoutes"}
    if not effective.makes_ingresses:
        absent["Ingress"] = "only HTTPRoutes"
    for key, row in SINGLE_KIND.items():
        if row.only in absent and getattr(requested, row.field) is not None:
            basis.add_ignored(key, f"because the settings enable {absent[row.only]} for this Service")
    if requested.tls_secret and not effective.makes_ingresses and gateway and not gateway.listener_sets:
        why = f"on HTTPRoutes, which use the certificate of {gateway}"
        basis.add_ignored(SECRET, why, f'replace {basis.key(SECRET)} with {basis.key(TLS)}: "true"')
    if (basis.service.metadata.annotations or {}).get(EDIT_IN_PLACE) == "true":
        end = "must be removed: an Ingress with this annotation would keep cert-manager from renewing the certificate"
        basis.problems.add(f'{EDIT_IN_PLACE}: "true" {end}', Reason.CONTRADICTION, EDIT_IN_PLACE)
    if requested.routes is not ONE_ROUTE:
        check_overridden(basis)


def check_profile(basis: Basis) -> bool:
    """Return whether the requested profile, if any, can be used. Add a problem if it is unknown or not allowed."""
    requested, effective = basis.requested.profile, basis.effective
    if requested is None or effective.profile is not None:
        return not basis.is_invalid(PROFILE)
    if effective.limits.profiles == ANY:
        usable = effective.allowed(effective.usable_profiles)
        end = f": {quoted(requested)} is not defined in the settings; {usable}"
        basis.add(PROFILE, end, Reason.UNKNOWN_PROFILE)
    else:  # don't reveal whether the profile exists
        end = f": {effective.why_not_allowed(requested, effective.limits.profiles)}"
        basis.add(PROFILE, end, Reason.PROFILE_NOT_ALLOWED)
    return False


def choose_class(basis: Basis) -> str | None:
    """Return the IngressClass to set, if any. Add a problem if the class isn't allowed or can't be used."""
    requested, effective = basis.requested.ingress_class, basis.effective
    annotated = effective.annotations.get(OLD_CLASS)
    chosen = effective.ingress_class if requested is None else requested
    served_class = annotated if chosen is None else chosen
    end, reason = effective.why_not_allowed(served_class, effective.limits.classes), Reason.CLASS_NOT_ALLOWED
    if chosen is not None and annotated is not None:
        other = f"{OLD_CLASS}: {quoted(annotated)}, which the settings add"
        remedy, reason = f"remove {basis.key(CLASS)}, or choose another profile", Reason.CONTRADICTION
        if requested is None:
            remedy, reason = "ask an administrator to remove one of the two", Reason.SETTINGS_CONFLICT
        end = f"{quoted(chosen)} can't be combined with {other}; {remedy}"
    if end and requested is None:  # a profile's class: the parser has checked the defaults'
        basis.problems.add(f"profile {quoted(str(effective.profile))}: class {end}", reason, basis.key(PROFILE))
    elif end:
        basis.add(CLASS, f": {end}", reason)
    if effective.makes_ingresses:
        check_served_class(basis, served_class)
    return chosen


def check_served_class(basis: Basis, served_class: str | None) -> None:
    """Add a problem if the class can't serve the entrance, or contradicts the Service's kubernetes.io/ingress.class."""
    on_service = (basis.service.metadata.annotations or {}).get(OLD_CLASS, served_class)
    if on_service != served_class:
        named = "the cluster's default class" if served_class is None else f"the class {quoted(served_class)}"
        why = f"{quoted(str(on_service))} has no effect on a Service, so {named} would apply"
        end = f"{why}; replace the annotation with {basis.key(CLASS)}, or remove it"
        basis.problems.add(f"{OLD_CLASS}: {end}", Reason.CONTRADICTION, OLD_CLASS)
    if served_class in CLASSES_WITHOUT_DOTS and "." in basis.object_name:
        why = f"{CLASSES_WITHOUT_DOTS[served_class]} (class {quoted(served_class)}) can't serve named entrances"
        end = f": {why}, because their Ingress names have a dot; set another class, or use {HTTP} on another Service"
        basis.add(HTTP, end, Reason.CONTRADICTION)


class IngressScope(msgspec.Struct, frozen=True):
    """Ingresses may claim the same path only if any of this differs: Traefik, for example, routes TLS separately."""

    ingress_class: str | None
    tls: bool
    annotations: frozenset[tuple[str, str]]
    labels: frozenset[tuple[str, str]]


def check_claims(exposure: Exposure, claims: dict[Hashable, tuple[Basis, str]]) -> None:
    """Record each host and path, and each ListenerSet's host, in `claims`. Add a problem at the first duplicate."""
    basis, routing = exposure.basis, exposure.routing
    scopes: list[Hashable] = [listener for listener in routing or () if listener]
    if basis.effective.makes_ingresses:
        annotations, labels = exposure.carried.for_ingress.items(), basis.effective.labels.items()
        scopes.append(IngressScope(exposure.ingress_class, basis.tls, frozenset(annotations), frozenset(labels)))
    for scope, (host, paths) in product(scopes, exposure.rules.items()):
        claimed = list[tuple[Hashable, str]]()
        claimed += [(claim_key(host, path.path, path.path_type), f"{host}{path}") for path in paths]
        if isinstance(scope, ListenerSetPort):  # a Gateway accepts one listener per host and port
            claimed.append((host, host))
        for claim, shown in claimed:
            if (scope, claim) not in claims:
                claims[scope, claim] = basis, shown
                continue
            holder, first = claims[scope, claim]
            if holder is basis:
                alike = "is listed twice" if shown == first else f"is the same as {first} to ingress controllers"
                basis.add(ROUTES, f": {shown} {alike}; remove one", Reason.DUPLICATE_ROUTE)
            else:
                end = f": {shown} is already claimed by another entrance of this Service ({holder.key(HTTP)})"
                basis.add(HTTP, f"{end}; set another host, path, class or profile", Reason.DUPLICATE_ROUTE)
            return  # one is enough
