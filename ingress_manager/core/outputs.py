"""The outputs: an exposure written as an Ingress, as HTTPRoutes, and as ListenerSets. Hardly anything is decided here.

Every field that the API server would default inside a list is given: Metacontroller replaces a list whole, so a default
left out would look like drift and be rewritten for ever.

An HTTPRoute has one list of paths for all of its hosts. So the hosts that have the same paths are in one HTTPRoute, and
those with other paths in another. There is a ListenerSet for each host: Metacontroller takes the items of a list that
all have a port for those of a map by their ports, so that of several listeners at one port the last one would be left.

Sources: the Kubernetes API reference, Ingress v1; the Gateway API reference, HTTPRoute v1 and ListenerSet v1. The
limits are those of the CRDs' schemas.
"""

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import TypeVar

from ingress_manager.core.copying import MANAGED_BY, MANAGED_BY_LABEL
from ingress_manager.core.errors import Reason
from ingress_manager.core.exposure import Exposure
from ingress_manager.core.kubernetes import API_VERSIONS, GATEWAY_API, Object
from ingress_manager.core.policy import Gateway, ListenerSets
from ingress_manager.core.routing import SECRET, Routing
from ingress_manager.core.rules import ROUTES, Path, Rule
from ingress_manager.core.syntax import EVERY_HOST, wrong_name
from ingress_manager.core.text import quoted

MOST_HOSTNAMES = 16
MOST_RULES = 16
MOST_MATCHES = 8
"""Of one rule, to CRDs before v1.2; later ones take 64. All rules have 128: more than the 100 routes of a Service."""

PATH_TYPES = {"Prefix": "PathPrefix", "Exact": "Exact"}
"""What an HTTPRoute calls the path types of an Ingress."""

ISSUERS = frozenset(["cert-manager.io/issuer", "cert-manager.io/cluster-issuer"])
"""The annotations by which cert-manager makes the certificates."""

T = TypeVar("T")


# An Ingress.


def make_ingress(exposure: Exposure) -> Object:
    """Return the Ingress, with only the fields that we care about."""
    spec: Object = {}
    if exposure.ingress_class is not None:
        spec["ingressClassName"] = exposure.ingress_class
    if exposure.basis.tls:
        spec["tls"] = list(tls_entries(exposure))
    spec["rules"] = [ingress_rule(exposure.basis.service.metadata.name, rule) for rule in exposure.rules]
    return make("Ingress", exposure, exposure.basis.name, exposure.annotations["Ingress"], spec)


def ingress_rule(service: str, rule: Rule) -> Object:
    """Return one rule; that of every host states none."""
    paths = [
        {
            "path": path.path,
            "pathType": path.path_type,
            "backend": {"service": {"name": service, "port": {"number": path.port}}},
        }
        for path in rule.paths
    ]
    return {"http": {"paths": paths}} if rule.host == EVERY_HOST else {"host": rule.host, "http": {"paths": paths}}


def tls_entries(exposure: Exposure) -> Iterator[Object]:
    """Yield the entry of the rules' hosts, and one without hosts if there is a rule of every host."""
    named = [rule.host for rule in exposure.rules if rule.host != EVERY_HOST]
    secret = {"secretName": exposure.basis.secret} if exposure.basis.secret else {}
    if named:
        yield {"hosts": named, **secret}
    if len(named) < len(exposure.rules):
        yield secret


# HTTPRoutes, and the ListenerSets that they attach to.


def make_httproutes(exposure: Exposure, routing: Routing) -> list[Object]:
    """Return the ListenerSets and the HTTPRoutes. Adds a problem when an HTTPRoute would have too many rules."""
    made: list[Object] = []
    if isinstance(routing.listener, ListenerSets):
        made += [make_listenerset(exposure, routing, routing.listener, rule.host) for rule in exposure.rules]
    for hosts, paths in by_paths(exposure):
        to_service = rules_to_service(exposure.basis.service.metadata.name, routing, paths)
        if len(to_service) > MOST_RULES:
            sentence = (
                f"{hosts[0]} would need {len(to_service)} rules in an HTTPRoute, "
                f"one for each port, or for {MOST_MATCHES} paths of a port; {MOST_RULES} is the most"
            )
            exposure.basis.problems.add(sentence, Reason.NOT_IN_HTTPROUTE, exposure.basis.key(ROUTES))
            break
        name = name_of(exposure, routing, hosts)
        hostnames = {} if hosts == [EVERY_HOST] else {"hostnames": hosts}
        spec = {"parentRefs": parent_refs(exposure, routing, hosts), **hostnames, "rules": to_service}
        made.append(make("HTTPRoute", exposure, name, exposure.annotations["HTTPRoute"], spec))
        if routing.redirect:
            parents = [ref_to_gateway(routing.gateway, sectionName=routing.redirect)]
            spec = {"parentRefs": parents, **hostnames, "rules": redirecting_rules(paths)}
            made.append(make("HTTPRoute", exposure, f"{name}.redirect", exposure.annotations["HTTPRoute"], spec))
    return made


def by_paths(exposure: Exposure) -> Iterator[tuple[list[str], Sequence[Path]]]:
    """Yield hosts that have the same paths, as many as one HTTPRoute may have, and the paths."""
    groups: dict[tuple[bool, frozenset[Path]], list[Rule]] = {}
    for rule in exposure.rules:
        groups.setdefault((rule.host == EVERY_HOST, frozenset(rule.paths)), []).append(rule)
    for rules in groups.values():
        for some in in_parts(rules, MOST_HOSTNAMES):
            yield [rule.host for rule in some], rules[0].paths


def parent_refs(exposure: Exposure, routing: Routing, hosts: Sequence[str]) -> list[Object]:
    """Return what an HTTPRoute attaches to: a listener of the Gateway, or the ListenerSet of each host."""
    if isinstance(routing.listener, str):
        return [ref_to_gateway(routing.gateway, sectionName=routing.listener)]
    own = {"group": GATEWAY_API, "kind": "ListenerSet", "namespace": exposure.basis.service.metadata.namespace}
    return [{**own, "name": name_of(exposure, routing, [host])} for host in hosts]


def ref_to_gateway(gateway: Gateway, **section: str) -> Object:
    """Return the reference to a Gateway, or to a listener of it."""
    of_gateway = {"group": GATEWAY_API, "kind": "Gateway", "namespace": gateway.namespace, "name": gateway.name}
    return {**of_gateway, **section}


def rules_to_service(service: str, routing: Routing, paths: Sequence[Path]) -> list[Object]:
    """Return the rules that lead these paths to the Service: one for each port, or more where a port has many paths.

    Which path wins doesn't depend on the rules.
    """
    of_port: dict[int, list[Path]] = {}
    for path in paths:
        of_port.setdefault(path.port, []).append(path)
    more: Object = {"filters": list(routing.filters)} if routing.filters else {}
    if routing.timeouts:
        more["timeouts"] = routing.timeouts
    backend = {"group": "", "kind": "Service", "name": service}
    return [
        {"matches": matches_of(some), **more, "backendRefs": [{**backend, "port": port, "weight": 1}]}
        for port, of_one in of_port.items()
        for some in in_parts(of_one, MOST_MATCHES)
    ]


def redirecting_rules(paths: Sequence[Path]) -> list[Object]:
    """Return the rules that answer these paths with a redirect to https."""
    redirect = {"type": "RequestRedirect", "requestRedirect": {"scheme": "https", "statusCode": 301}}
    return [{"matches": matches_of(some), "filters": [redirect]} for some in in_parts(paths, MOST_MATCHES)]


def matches_of(paths: Sequence[Path]) -> list[Object]:
    """Return what a rule says of its paths."""
    return [{"path": {"type": PATH_TYPES[path.path_type], "value": path.path}} for path in paths]


def in_parts(items: Sequence[T], most: int) -> Iterator[Sequence[T]]:
    """Yield the items in parts of at most `most`."""
    for start in range(0, len(items), most):
        yield items[start : start + most]


def make_listenerset(exposure: Exposure, routing: Routing, listeners: ListenerSets, host: str) -> Object:
    """Return the ListenerSet of a host: a listener of the Gateway with the Service's own certificate."""
    secret, annotations = exposure.basis.secret, exposure.annotations["ListenerSet"]
    name = name_of(exposure, routing, [host])
    # cert-manager makes one certificate for a Secret: of the hosts of an Ingress, or of one ListenerSet.
    if name != exposure.basis.name and not ISSUERS.isdisjoint(annotations):
        secret = f"{secret}-{sha256(host.encode()).hexdigest()[:8]}"
        if end := wrong_name(secret):
            exposure.basis.add(SECRET, f": {quoted(secret)}, that of {host}, {end}", Reason.INVALID_VALUE)
    elif exposure.basis.policy.makes_ingresses:
        annotations = {key: value for key, value in annotations.items() if key not in ISSUERS}
    listener = {
        "name": "https",
        **({} if host == EVERY_HOST else {"hostname": host}),
        "port": listeners.port,
        "protocol": "HTTPS",
        "tls": {"mode": "Terminate", "certificateRefs": [{"group": "", "kind": "Secret", "name": secret}]},
        "allowedRoutes": {"namespaces": {"from": "Same"}},
    }
    spec = {"parentRef": ref_to_gateway(routing.gateway), "listeners": [listener]}
    return make("ListenerSet", exposure, name, annotations, spec)


def name_of(exposure: Exposure, routing: Routing, hosts: Sequence[str]) -> str:
    """Return the name of an HTTPRoute or a ListenerSet for these hosts: the exposure's, if the main host is in it.

    Another one is named by its first host. So no two of a kind have the same name, and none is renamed, and gone for a
    moment, because a host is added behind the others. No Service's name has a dot, so none of another Service has it.
    """
    if routing.main_host in hosts:
        return exposure.basis.name
    return f"{exposure.basis.name}.{sha256(hosts[0].encode()).hexdigest()[:32]}"


# All of them.


def make_objects(exposure: Exposure) -> list[Object]:
    """Return all that is made for an entrance. Adds what is wrong."""
    ingresses = [make_ingress(exposure)] if exposure.basis.policy.makes_ingresses else []
    return [*ingresses, *(make_httproutes(exposure, exposure.routing) if exposure.routing else ())]


def make(kind: str, exposure: Exposure, name: str, annotations: Mapping[str, str], spec: Object) -> Object:
    """Return an object of a kind."""
    labels = {MANAGED_BY_LABEL: MANAGED_BY, **exposure.basis.policy.labels}
    metadata: Object = {"name": name, "namespace": exposure.basis.service.metadata.namespace, "labels": labels}
    if annotations:
        metadata["annotations"] = annotations
    return {"apiVersion": API_VERSIONS[kind], "kind": kind, "metadata": metadata, "spec": spec}
