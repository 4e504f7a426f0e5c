"""The exposure: how a Service is reached, decided from what its annotations state, its ports and the policy."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from ingress_manager.core import refusals
from ingress_manager.core.annotations import ONE_ROUTE, PREFIX, PROFILE, Stated
from ingress_manager.core.basis import Basis
from ingress_manager.core.copying import ADDED, NOT_COPIED, copy
from ingress_manager.core.entrances import ingress_of
from ingress_manager.core.errors import Problem, Problems, Refused
from ingress_manager.core.kubernetes import Service
from ingress_manager.core.policy import NamespacePolicy
from ingress_manager.core.ports import choose_ports
from ingress_manager.core.routing import Routing, choose_routing
from ingress_manager.core.rules import Rule, allowed_hosts, choose_rules, location
from ingress_manager.core.text import listed
from ingress_manager.core.vocabulary import (
    EDIT_IN_PLACE,
    OLD_CLASS,
    is_for_ingresses_alone,
    is_read_from_services,
    protects,
)

MOST_LEFT = 500
"""Annotations meant for a controller that what we make may lack: whether each protects is looked up."""

CLASSES_OF_GKE = ("gce", "gce-internal")
"""Of no Ingress with a dot in its name a load balancer can be made. Source: kubernetes/ingress-gce, issue 614."""


class Exposure(msgspec.Struct, frozen=True, gc=False):
    """How a Service is reached."""

    name: str
    """That of what is made: the Service's, and for another entrance, its name behind a dot."""

    namespace: str
    service: str
    labels: Mapping[str, str]
    """Those that the settings add."""

    annotations: dict[str, str]
    """Those of an Ingress."""

    ingress_class: str | None
    rules: tuple[Rule, ...]
    """One for each host, in the order in which the hosts were first stated."""

    tls: bool
    """Whether its hosts are served with TLS."""

    secret: str | None
    """The Secret with the certificate for them; None: the ingress controller's own certificate."""

    routing: Routing | None
    """None: no HTTPRoute is made."""

    def claims(self, *, by_ingress: bool) -> Iterator[tuple[Any, str]]:
        """Yield what no other entrance of the Service may claim, and a name for each; `by_ingress`: an Ingress is made.

        That is a host and path at a listener, or of Ingresses that nothing could lead to different places.
        """
        places: list[Any] = [self.routing.parent, self.routing.redirect] if self.routing else []
        if by_ingress:
            others = {key: value for key, value in self.annotations.items() if not key.startswith(PREFIX)}
            places.append((self.ingress_class, self.tls, frozenset(others.items()), frozenset(self.labels.items())))
        for place in filter(None, places):
            for rule in self.rules:
                for path in rule.paths:
                    shown = f"{rule.host}{path.path} ({path.path_type})"
                    yield (place, location(rule.host, path.path, path.path_type)), shown


def expose(
    service: Service,
    stated: Stated,
    policy: NamespacePolicy,
    for_controllers: Mapping[str, str],
    entrance: str = "",
) -> Exposure:
    """Return how the Service is to be reached by one entrance.

    `for_controllers` are those of its annotations that controllers read: they are looked for once for all entrances.

    Raises Refused (422) with all that is wrong: with the annotations themselves, then with what they lead to.
    """
    problems = Problems()
    name = ingress_of(entrance, service.metadata.name)
    basis = Basis(service, stated, policy, name, has_tls(stated, policy), problems)
    if service.spec.type == "ExternalName":
        problems.add(refusals.external_name())
    if stated.problems:
        problems.extend(stated.problems, stated.more_problems)
    check_contradictions(stated, problems)
    if problems.kept or stated.profile != policy.profile:
        require_profile(basis)
    ingress_class = choose_class(basis)
    present = service.metadata.annotations or {}
    effective = ingress_class or policy.default_class
    check_words_of_ingresses(basis, present, effective)
    copied = copy(present, policy.copy_annotations, policy.added_with_tls, problems)
    records = {} if policy.profile is None else {PROFILE: policy.profile}
    added = policy.added_with_tls if basis.tls else policy.annotations
    annotations, left = annotate(for_controllers, copied, added, records)
    routing, left_of_httproutes = None, list[str]()
    if policy.makes_httproutes:
        added_to_routes = for_httproutes(policy.annotations)
        on_routes, left_of_httproutes = annotate(for_controllers, for_httproutes(copied), added_to_routes, records)
        routing = choose_routing(basis, copied, added, on_routes)
    elif stated.tls_redirect is not None:
        problems.add(refusals.redirect_of_ingress(policy.namespace))
    check_protection(basis, left, left_of_httproutes)
    if (left or copied or added) and policy.makes_ingresses:
        of_service = [*copied, *(key for key in left[:MOST_LEFT] if is_read_from_services(key))]
        check_reader(basis, effective, of_service, added)
    rules = choose_rules(basis)
    if problems.kept:
        if left and (others := problems.without_those_about(left)):
            # It refuses nothing by itself. But it may be why there is no Ingress: an annotation that isn't copied any
            # more is forbidden in an Ingress that is observed.
            problems.add(refusals.annotation_not_copied(listed(others)))
        raise Refused(422, problems.kept, more=problems.more)
    return Exposure(
        name=name,
        namespace=service.metadata.namespace,
        service=service.metadata.name,
        labels=policy.labels,
        annotations=annotations,
        ingress_class=ingress_class,
        rules=rules,
        tls=basis.tls,
        secret=stated.tls_secret or policy.default_secret(name),
        routing=routing,
    )


def has_tls(stated: Stated, policy: NamespacePolicy) -> bool:
    """Return whether the hosts are served with TLS.

    ingress/tls turns it on or off. Where it says nothing, a Secret that is named turns it on; else the settings decide.
    """
    if stated.tls is not None:
        return stated.tls
    return stated.tls_secret is not None or policy.tls


def check_contradictions(stated: Stated, problems: Problems) -> None:
    """Add a problem for each annotation that would be ignored."""
    if stated.tls is False and stated.tls_secret is not None:
        problems.add(refusals.tls_contradiction(stated.tls_secret))
    if stated.routes is ONE_ROUTE:
        return
    for annotation, shared, field in (
        ("ingress/host", stated.hosts, "host"),
        ("ingress/path", stated.path, "path"),
        ("ingress/path-type", stated.path_type, "path_type"),
        ("ingress/port", stated.port, "port"),
    ):
        if shared and all(getattr(route, field) is not None for route in stated.routes):
            problems.add(refusals.no_effect(annotation))


def require_profile(basis: Basis) -> None:
    """Raise Refused (422) when the Service can't have its profile, with all that is wrong whatever its profile is."""
    stated, policy, problems = basis.stated, basis.policy, basis.problems
    if stated.profile is not None and policy.profile is None:
        problems.add(no_profile(stated.profile, policy))
    if not any(problem.annotation == PROFILE for problem in problems.kept):
        return
    # Limits hold with every profile. What else the annotations lead to depends on it.
    allowed_hosts(basis, stated.hosts or (), "ingress/host:", "ingress/host")
    if stated.ingress_class is not None and not policy.allows_class(stated.ingress_class):
        origin = "ingress/class:", "ingress/class", stated.ingress_class
        problems.add(refusals.class_not_allowed(*origin, policy.namespace, policy.classes or ()))
    choose_ports(basis.service, stated, problems)
    raise Refused(422, problems.kept, more=problems.more)


def no_profile(name: str, policy: NamespacePolicy) -> Problem:
    """Return why a Service can't have the profile that it asks for; with limits, not whether others may have it."""
    usable = policy.usable_profiles()
    if policy.allowed_profiles is not None:
        return refusals.profile_not_allowed(f"{PROFILE}:", PROFILE, name, policy.namespace, usable)
    return refusals.unknown_profile(name, policy.namespace, usable)


def choose_class(basis: Basis) -> str | None:
    """Return the IngressClass; None: none is stated."""
    stated, policy, problems = basis.stated.ingress_class, basis.policy, basis.problems
    chosen = policy.ingress_class if stated is None else stated
    twice = chosen is not None and OLD_CLASS in policy.annotations
    effective = chosen or policy.default_class
    if twice or not policy.allows_class(effective):
        origin = "ingress/class:", "ingress/class"
        if stated is None:
            origin = f"the class of the profile {policy.profile}", PROFILE
        if twice:
            problems.add(refusals.class_by_annotation(*origin, effective, policy.annotations[OLD_CLASS]))
        else:
            problems.add(refusals.class_not_allowed(*origin, effective, policy.namespace, policy.classes or ()))
    return chosen


def check_words_of_ingresses(basis: Basis, present: Mapping[str, str], ingress_class: str | None) -> None:
    """Add a problem for each annotation that says of an Ingress what none of this Service, of this class, will be."""
    if basis.policy.makes_ingresses:
        if present.get(OLD_CLASS, ingress_class) != ingress_class:
            basis.problems.add(refusals.old_class(present[OLD_CLASS], ingress_class))
        if ingress_class in CLASSES_OF_GKE and "." in basis.name:
            basis.problems.add(refusals.entrance_of_gke(ingress_class))
    if present.get(EDIT_IN_PLACE) == "true":
        basis.problems.add(refusals.edited_in_place())


def annotate(
    for_controllers: Mapping[str, str],
    copied: Mapping[str, str],
    added: Mapping[str, str],
    records: Mapping[str, str],
) -> tuple[dict[str, str], list[str]]:
    """Return the annotations of what we make, and the keys of a controller's that they lack.

    Those of the Service are told where they aren't `copied`, or the settings have `added` them otherwise. The `records`
    say by which profile an object is made.
    """
    annotations = {**copied, **added, **records}
    left = sorted([key for key, value in for_controllers.items() if annotations.get(key) != value])
    if left:
        annotations[NOT_COPIED] = listed(left)
    if added:
        annotations[ADDED] = ", ".join(sorted(added))
    return annotations, left


def for_httproutes(annotations: Mapping[str, str]) -> dict[str, str]:
    """Return the annotations that have a meaning in an HTTPRoute: all but those that are read from an Ingress alone."""
    return {key: value for key, value in annotations.items() if not is_for_ingresses_alone(key)}


def check_protection(basis: Basis, left: Sequence[str], left_of_httproutes: Sequence[str]) -> None:
    """Add a problem for each annotation that protects the Service, and wouldn't reach all that is made for it.

    `left` are the keys that an Ingress would lack, `left_of_httproutes` those that an HTTPRoute would.
    """
    policy, problems = basis.policy, basis.problems
    if (count := max(len(left), len(left_of_httproutes))) > MOST_LEFT:
        problems.add(refusals.too_many_not_copied(count, MOST_LEFT))
        return
    for key in sorted({*left, *left_of_httproutes}):
        if not protects(key) or key in policy.accepted_losses:
            continue
        is_lost = policy.makes_ingresses and key in left and not is_read_from_services(key)
        is_lost_there = key in left_of_httproutes and not is_read_from_services(key, of_httproutes=True)
        if is_lost_there and is_for_ingresses_alone(key):
            problems.add(refusals.lost(key, "", refusals.NOT_SAID))
        elif is_lost or is_lost_there:
            overruled = key in policy.added_with_tls
            problems.add(refusals.lost(key, "", refusals.OVERRULED if overruled else refusals.UNCOPIED))


def check_reader(basis: Basis, ingress_class: str | None, of_service: Sequence[str], added: Mapping[str, str]) -> None:
    """Add a problem for each annotation that protects, and that the controller of the Ingress's class doesn't read.

    Those `of_service` are copied to the Ingress, or read from the Service itself; the settings have `added` others.
    """
    policy = basis.policy
    known = policy.ingress_classes.get(ingress_class or "")
    if ingress_class is None or known is None:
        return
    for key in dict.fromkeys([*of_service, *added]):
        # In lower case, because Traefik reads its keys so.
        if protects(key) and not key.lower().startswith(known.reads) and key not in policy.accepted_losses:
            basis.problems.add(refusals.lost(key, "", refusals.not_read(ingress_class), added=key in added))
