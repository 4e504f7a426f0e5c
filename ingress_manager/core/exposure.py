"""The exposure: how a Service is reached, decided from what its annotations state, its ports and the policy."""

from collections.abc import Container, Mapping, Sequence
from itertools import starmap

import msgspec

from ingress_manager.core import refusals
from ingress_manager.core.annotations import ONE_ROUTE, PROFILE, Certificate, Route, Stated
from ingress_manager.core.copying import (
    ADDED,
    COPIED_LABELS,
    NOT_COPIED,
    OLD_CLASS,
    check_copied,
    check_copied_label,
    copied,
    for_httproutes,
    is_for_ingresses_alone,
    keys_not_copied,
    protection_lost,
)
from ingress_manager.core.entrances import ingress_of
from ingress_manager.core.errors import Problem, Problems, Refused
from ingress_manager.core.filters import Filters, Timeouts
from ingress_manager.core.kubernetes import Service, ServicePort
from ingress_manager.core.policy import Gateway, NamespacePolicy
from ingress_manager.core.ports import by_target, choose_ports, tcp_ports
from ingress_manager.core.syntax import EVERY_HOST, check_host, check_path_of_type
from ingress_manager.core.text import listed, quoted
from ingress_manager.core.translation import asking_redirect, asks_redirect, unsaid

MOST_PATHS = 1000
"""Paths of one Ingress. One with more would be refused for its size anyway, but only after it was made."""


MOST_LEFT = 500
"""Annotations meant for a controller that what we make may lack: whether each protects is looked up."""

NOTHING_LEFT: Sequence[str] = ()


class Path(msgspec.Struct, frozen=True, gc=False):
    """One path of a host, and the number of the Service's port that it leads to."""

    path: str
    path_type: str
    port: int


class Rule(msgspec.Struct, frozen=True, gc=False):
    """One host with its paths."""

    host: str
    paths: Sequence[Path]


class Parent(msgspec.Struct, frozen=True, gc=False):
    """The listener of a Gateway that HTTPRoutes attach to, by its section name."""

    name: str
    namespace: str
    section: str


class Redirect(msgspec.Struct, frozen=True, gc=False):
    """A redirect to https: the listener that answers with it, and the status."""

    parent: Parent
    status_code: int


class Routing(msgspec.Struct, frozen=True, gc=False):
    """What only HTTPRoutes say."""

    parent: Parent
    redirect: Redirect | None
    """What answers on http; None: nothing does, or the same as on https."""

    annotations: dict[str, str]
    filters: Filters
    timeouts: Timeouts | None
    profile: str | None
    """Whose filters and timeouts these are."""

    main_host: str
    """The first host of ingress/host, or the default host; no host need be this. They are named by it."""

    standing: Container[str] = ()
    """The HTTPRoutes that were made for the Service and are there now, as namespace/name."""


class Exposure(msgspec.Struct, frozen=True, gc=False):
    """How a Service is reached."""

    name: str
    """That of what is made: the Service's, and for another entrance, its name behind a dot."""

    namespace: str
    service: str
    labels: Mapping[str, str]
    """Those copied from the Service, and those that the settings add."""

    annotations: dict[str, str]
    """Those of an Ingress."""

    ingress_class: str | None
    rules: tuple[Rule, ...]
    """One for each host, in the order in which the hosts were first stated."""

    tls: Sequence[Certificate]
    """The certificates; none: no TLS."""

    default_port: int | None
    """The port of the Service that answers what no rule matches; None: it doesn't."""

    routing: Routing | None
    """None: no HTTPRoute is made."""


def expose(service: Service, stated: Stated, policy: NamespacePolicy, entrance: str = "") -> Exposure:
    """Return how the Service is to be reached by one entrance.

    Raises Refused (422) with all that is wrong: with the annotations themselves, then with what they lead to.
    """
    name = ingress_of(entrance, service.metadata.name)
    problems = Problems()
    if service.spec.type == "ExternalName":
        problems.add(refusals.external_name())
    if stated.problems:
        problems.extend(stated.problems, stated.more_problems)
    if contradicting := contradictions(stated):
        problems.extend(contradicting)
    if problems.kept or stated.profile != policy.profile:
        check_profile(service, stated, policy, problems)
    ingress_class = choose_class(stated, policy, problems)
    tls = stated.tls
    if tls is None:
        tls = stated.tls_secret is not None or stated.certificates is not None or policy.tls
    present = service.metadata.annotations or {}
    from_service = copied(present, policy.copied, policy.added_with_tls, check_copied, problems)
    labels, records = choose_labels(service, policy, problems)
    added = policy.added_with_tls if tls else policy.annotations
    annotations, left = with_added(from_service, added, present, records)
    routing, left_of_httproutes = None, NOTHING_LEFT
    if policy.makes_httproutes:
        on_routes, left_of_httproutes = with_added(for_httproutes(from_service), policy.annotations, present, records)
        routing = choose_routing(service, stated, policy, tls, from_service, on_routes, problems)
    elif stated.tls_redirect is not None:
        problems.add(refusals.redirect_of_ingress(policy.namespace))
    check_protection(left, left_of_httproutes, policy, problems)
    rules = choose_rules(service, stated, policy, problems)
    default_port = choose_default_port(service, stated, policy, problems) if stated.default_backend else None
    certificates = choose_certificates(name, stated, policy, problems) if tls else ()
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
        labels=labels,
        annotations=annotations,
        ingress_class=ingress_class,
        rules=rules,
        tls=certificates,
        default_port=default_port,
        routing=routing,
    )


def contradictions(stated: Stated) -> list[Problem]:
    """Return a problem for each annotation that would be ignored."""
    found = []
    if stated.tls is False and stated.tls_secret is not None:
        found.append(refusals.tls_contradiction(f"ingress/tls-secret: {quoted(stated.tls_secret)}"))
    if stated.certificates is not None:
        if stated.tls is False:
            found.append(refusals.tls_contradiction("ingress/certificates, which turn TLS on"))
        if stated.tls_secret is not None:
            found.append(refusals.two_certificates(stated.tls_secret))
    if stated.routes is not ONE_ROUTE:
        found += [
            refusals.no_effect(annotation)
            for annotation, shared, field in (
                ("ingress/host", stated.hosts, "host"),
                ("ingress/path", stated.path, "path"),
                ("ingress/path-type", stated.path_type, "path_type"),
                ("ingress/port", stated.port, "port"),
            )
            if shared
            and all(getattr(route, field) is not None for route in stated.routes)
            and not (field == "port" and stated.default_backend)
        ]
    return found


def states_no_rule(stated: Stated) -> bool:
    """Return whether nothing is stated that only a rule can say."""
    return stated.routes is ONE_ROUTE and not (stated.hosts or stated.path or stated.path_type)


def choose_default_port(service: Service, stated: Stated, policy: NamespacePolicy, problems: Problems) -> int | None:
    """Return the port that answers what no rule matches. Adds a problem where that isn't allowed."""
    if not policy.allows_host(EVERY_HOST):
        problems.add(
            refusals.host_not_allowed(
                "ingress/default-backend answers every host:",
                "ingress/default-backend",
                [EVERY_HOST],
                policy.namespace,
                policy.hosts or (),
            )
        )
    # The routes may have ports of their own. This one is shared.
    return choose_ports(service, msgspec.structs.replace(stated, routes=ONE_ROUTE), problems).get(None)


def choose_certificates(
    name: str, stated: Stated, policy: NamespacePolicy, problems: Problems
) -> Sequence[Certificate]:
    """Return the certificates. Adds a problem for hosts that may not be claimed: an issuer makes what is asked for.

    `name` is that of the Ingress: each entrance has a Secret of its own, because an issuer's Secret has one owner.
    """
    if stated.certificates is None:
        return (Certificate(None, stated.tls_secret or policy.default_secret(name)),)
    for certificate in stated.certificates:
        if certificate.hosts is not None:
            origin = (
                "ingress/certificates: hosts" if certificate.hosts else "ingress/certificates: hosts: [] is every host:"
            )
            allowed_hosts(certificate.hosts or (EVERY_HOST,), origin, "ingress/certificates", policy, problems)
    return stated.certificates


def check_profile(service: Service, stated: Stated, policy: NamespacePolicy, problems: Problems) -> None:
    """Raise Refused (422) when the Service can't have its profile, with all that is wrong whatever its profile is."""
    if stated.profile is not None and policy.profile is None:
        problems.add(no_profile(stated.profile, policy))
    if not any(problem.annotation == PROFILE for problem in problems.kept):
        return
    # Limits hold with every profile. What else the annotations lead to depends on it.
    allowed_hosts(stated.hosts or (), "ingress/host:", "ingress/host", policy, problems)
    if stated.ingress_class is not None and not policy.allows_class(stated.ingress_class):
        origin = "ingress/class:", "ingress/class", stated.ingress_class
        problems.add(refusals.class_not_allowed(*origin, policy.namespace, policy.classes or ()))
    choose_ports(service, stated, problems)
    raise Refused(422, problems.kept, more=problems.more)


def no_profile(name: str, policy: NamespacePolicy) -> Problem:
    """Return why a Service can't have the profile that it asks for."""
    usable = policy.usable_profiles()
    if name in policy.profiles:
        return refusals.profile_not_allowed(f"{PROFILE}:", PROFILE, name, policy.namespace, usable)
    return refusals.unknown_profile(name, policy.namespace, usable)


def choose_class(stated: Stated, policy: NamespacePolicy, problems: Problems) -> str | None:
    """Return the IngressClass. Adds a problem when the policy doesn't allow it."""
    chosen = policy.ingress_class if stated.ingress_class is None else stated.ingress_class
    twice = chosen is not None and OLD_CLASS in policy.annotations
    effective = chosen or policy.default_class
    if twice or not policy.allows_class(effective):
        origin = "ingress/class:", "ingress/class"
        if stated.ingress_class is None:
            origin = f"the class of the profile {policy.profile}", PROFILE
        if twice:
            problems.add(refusals.class_by_annotation(*origin, effective, policy.annotations[OLD_CLASS]))
        else:
            problems.add(refusals.class_not_allowed(*origin, effective, policy.namespace, policy.classes or ()))
    return chosen


def choose_routing(  # noqa: PLR0913, PLR0917 - each has a say in it
    service: Service,
    stated: Stated,
    policy: NamespacePolicy,
    tls: bool,
    from_service: Mapping[str, str],
    annotations: dict[str, str],
    problems: Problems,
) -> Routing | None:
    """Return what HTTPRoutes say. Adds a problem for what no HTTPRoute, and no Ingress beside it, can say.

    `from_service` are the annotations that an Ingress copies, `annotations` those of the HTTPRoutes.
    """
    gateway = policy.gateway
    if gateway is None:
        return None
    if not policy.makes_ingresses:
        if stated.ingress_class is not None:
            problems.add(refusals.class_of_httproutes(stated.ingress_class, policy.namespace, str(gateway)))
        for annotation, stated_there in (
            (f"ingress/tls-secret: {quoted(stated.tls_secret or '')}", stated.tls_secret),
            ("ingress/certificates", stated.certificates),
        ):
            if stated_there is not None:
                problems.add(refusals.secret_of_httproutes(annotation, str(gateway), tls=gateway.https is not None))
    problems.extend(unsaid(from_service, policy.accepted_losses, tls=tls))
    section = gateway.https if tls else gateway.http
    if section is None:
        problems.add(refusals.no_listener(tls, str(gateway)))
        return None
    return Routing(
        parent=Parent(name=gateway.name, namespace=gateway.namespace, section=section),
        redirect=choose_redirect(stated, policy, gateway, tls, from_service, problems),
        annotations=annotations,
        filters=policy.filters,
        timeouts=policy.timeouts,
        profile=policy.profile,
        main_host=choose_main_host(service, stated, policy),
    )


def choose_main_host(service: Service, stated: Stated, policy: NamespacePolicy) -> str:
    """Return the host by which HTTPRoutes are named; no rule need have it."""
    if stated.hosts:
        return stated.hosts[0]
    if stated.default_backend and states_no_rule(stated):
        return EVERY_HOST
    return policy.default_host(service.metadata.name)


def choose_redirect(  # noqa: PLR0913, PLR0917 - each has a say in it
    stated: Stated,
    policy: NamespacePolicy,
    gateway: Gateway,
    tls: bool,
    from_service: Mapping[str, str],
    problems: Problems,
) -> Redirect | None:
    """Return what answers on http with a redirect to https; None: nothing. Adds a problem where that can't be done.

    `from_service` are the annotations that an Ingress copies: they ask for it where ingress/tls-redirect is silent.
    """
    wanted = stated.tls_redirect
    if wanted and not tls:
        problems.add(refusals.redirect_without_tls())
    if wanted is None:
        wanted = asks_redirect(from_service, otherwise=policy.redirect)
    if not (wanted and tls):
        return None
    if gateway.http in {None, gateway.https}:
        if stated.tls_redirect or policy.redirect:
            problems.add(refusals.no_redirect(str(gateway)))
            return None
        for key in asking_redirect(from_service):
            if key not in policy.accepted_losses:
                problems.add(refusals.no_redirect_of_annotation(key, str(gateway)))
        return None
    parent = Parent(name=gateway.name, namespace=gateway.namespace, section=gateway.http)
    return Redirect(parent, policy.redirect_status_code)


def choose_labels(
    service: Service, policy: NamespacePolicy, problems: Problems
) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Return the labels of what is made, and the annotations that record the profile and the labels that are copied.

    Adds a problem for each label that may not be copied with its value.
    """
    records = {} if policy.profile is None else {PROFILE: policy.profile}
    if not policy.copied_labels:
        return policy.labels, records
    found = copied(service.metadata.labels or {}, policy.copied_labels, policy.labels, check_copied_label, problems)
    if found:
        records[COPIED_LABELS] = ", ".join(sorted(found))
    return {**found, **policy.labels}, records


def with_added(
    from_service: Mapping[str, str], added: Mapping[str, str], present: Mapping[str, str], records: Mapping[str, str]
) -> tuple[dict[str, str], Sequence[str]]:
    """Return the annotations of what we make: those `from_service`, those `added` by the settings, two that
    tell of both, and `records`; and the keys of a controller's that they lack.

    `present` are all that the Service has.
    """
    annotations = {**from_service, **added, **records}
    if left := keys_not_copied(present, annotations):
        annotations[NOT_COPIED] = listed(left)
    if added:
        annotations[ADDED] = ", ".join(sorted(added))
    return annotations, left


def check_protection(
    left: Sequence[str], left_of_httproutes: Sequence[str], policy: NamespacePolicy, problems: Problems
) -> None:
    """Add a problem for each annotation that protects the Service, and wouldn't reach all that is made for it.

    `left` are the keys that an Ingress would lack, `left_of_httproutes` those that an HTTPRoute would.
    """
    if not (left or left_of_httproutes):
        return  # nearly every Service has none of a controller's annotations
    if (count := max(len(left), len(left_of_httproutes))) > MOST_LEFT:
        problems.add(refusals.too_many_not_copied(count, MOST_LEFT))
        return
    accepted = policy.accepted_losses
    lost = protection_lost(left, accepted, of_httproutes=False) if policy.makes_ingresses else []
    lost_of_httproutes = protection_lost(left_of_httproutes, accepted, of_httproutes=True)
    for key in sorted({*lost, *lost_of_httproutes}):
        if key in lost_of_httproutes and is_for_ingresses_alone(key):
            problems.add(refusals.protection_of_httproutes(key))
        elif key in policy.added_with_tls:
            problems.add(refusals.protection_overruled(key))
        else:
            problems.add(refusals.protection_not_copied(key))


def choose_rules(service: Service, stated: Stated, policy: NamespacePolicy, problems: Problems) -> tuple[Rule, ...]:
    """Return the rules of all routes. Adds what is wrong to `problems`; the rules are then incomplete."""
    if stated.has_wrong("ingress/routes") or (stated.default_backend and states_no_rule(stated)):
        return ()
    routes = stated.routes
    if routes is ONE_ROUTE:
        # Nearly every Service has one path. For it, what follows would find the same, in more time.
        return choose_one_path(service, stated, policy, problems)
    without_host = [route.host for route in routes].count(None)
    shared_hosts = choose_shared_hosts(service, stated, policy, problems) if without_host else ()
    ports = choose_ports(service, stated, problems)
    if (count := without_host * len(shared_hosts) + len(routes) - without_host) > MOST_PATHS:
        problems.add(refusals.too_many_paths(count, MOST_PATHS))
        return ()
    paths: dict[str, list[Path]] = {}
    seen: dict[tuple[str, str, bool], str] = {}
    targets: dict[str, ServicePort] | None = None
    for route in routes:
        path, path_type = choose_path(route, stated, policy, problems)
        hosts = shared_hosts
        if route.host is not None:
            hosts = allowed_hosts((route.host,), "ingress/routes: host", "ingress/routes", policy, problems)
        port = ports.get(route.port)
        if port is None and route.port is not None:
            targets = by_target(tcp_ports(service)) if targets is None else targets
            problems.add(
                refusals.unknown_port("ingress/routes: port", "ingress/routes", route.port, service.ports, targets)
            )
        for host in hosts:
            shown = f"{host}{path} ({path_type})"
            if (known := seen.setdefault(location(host, path, path_type), shown)) is not shown:
                problems.add(refusals.duplicate_route(known, shown))
            if port is not None:
                paths.setdefault(host, []).append(Path(written(path, path_type), path_type, port))
    return tuple(starmap(Rule, paths.items()))


def choose_one_path(service: Service, stated: Stated, policy: NamespacePolicy, problems: Problems) -> tuple[Rule, ...]:
    """Return the rules of a Service without ingress/routes: the same path for each host."""
    hosts = choose_shared_hosts(service, stated, policy, problems)
    port = choose_ports(service, stated, problems).get(None)
    path, path_type = choose_path(ONE_ROUTE[0], stated, policy, problems)
    if port is None:
        return ()
    paths = [Path(written(path, path_type), path_type, port)]
    return tuple([Rule(host, paths) for host in hosts])


def choose_path(route: Route, stated: Stated, policy: NamespacePolicy, problems: Problems) -> tuple[str, str]:
    """Return the path and the path type of a route. Adds what the policy doesn't allow to `problems`."""
    path, path_type = route.path or stated.path or "/", route.path_type or stated.path_type or "Prefix"
    allowed = path_type in policy.path_types
    if not allowed or (path_type == "ImplementationSpecific" and policy.makes_httproutes):
        origin = origin_of("pathType" if route.path_type else None, "ingress/path-type")
        if not allowed:
            problems.add(refusals.path_type_not_allowed(*origin, path_type, policy.namespace, policy.path_types))
            return path, path_type
        problems.add(refusals.path_type_of_httproutes(*origin, path_type))
    try:
        if path != "/":  # as it nearly always is
            check_path_of_type(path, path_type, patterns=policy.paths is None)
    except Problem as problem:
        begin, annotation = origin_of("path" if route.path else None, "ingress/path")
        if policy.paths is None and path_type != "ImplementationSpecific":
            problem = Problem(f"{problem.sentence}; a regular expression must be ImplementationSpecific")
        problems.add(problem.about(f"{begin} {quoted(path)}", annotation))
    return path, path_type


def origin_of(field: str | None, annotation: str) -> tuple[str, str]:
    """Return how a sentence about a value begins, and the annotation that states it: a field of a route, or its own."""
    return (f"ingress/routes: {field}", "ingress/routes") if field else (f"{annotation}:", annotation)


def written(path: str, path_type: str) -> str:
    """Return a path as the objects have it."""
    return as_prefix(path) if path_type == "Prefix" else path


def as_prefix(path: str) -> str:
    """Return a prefix as all its spellings are written: a slash at its end makes no difference.

    Two spellings, in one Service or in two, would be one location that ingress-nginx writes twice. nginx would then
    refuse its whole configuration: those of other tenants, too.
    """
    return path.rstrip("/") or "/"


def location(host: str, path: str, path_type: str) -> tuple[str, str, bool]:
    """Return what is the same for two routes that are one to ingress controllers.

    ImplementationSpecific counts as Prefix.
    """
    return (host, path, True) if path_type == "Exact" else (host, as_prefix(path), False)


def choose_shared_hosts(service: Service, stated: Stated, policy: NamespacePolicy, problems: Problems) -> Sequence[str]:
    """Return the hosts of the routes that state none: those of ingress/host, or the default of the settings."""
    if stated.has_wrong("ingress/host"):
        return ()
    if stated.hosts is not None:
        return allowed_hosts(stated.hosts, "ingress/host:", "ingress/host", policy, problems)
    default = policy.default_host(service.metadata.name)
    try:
        check_host(default)
    except Problem as problem:
        problems.add(refusals.invalid_default_host(default, problem))
        return ()
    return allowed_hosts((default,), "ingress/host is needed: the default", "ingress/host", policy, problems)


def allowed_hosts(
    hosts: Sequence[str], origin: str, annotation: str, policy: NamespacePolicy, problems: Problems
) -> Sequence[str]:
    """Return the hosts if the policy allows them all; else return none, and add a problem that begins with `origin`."""
    if policy.hosts is None:
        return hosts
    refused = [host for host in hosts if not policy.allows_host(host)]
    if not refused:
        return hosts
    problems.add(refusals.host_not_allowed(origin, annotation, refused, policy.namespace, policy.hosts))
    return ()
