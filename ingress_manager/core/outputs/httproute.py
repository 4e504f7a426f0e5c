"""The HTTPRoutes: an exposure written as objects of the Gateway API.

An HTTPRoute has one list of paths for all of its hosts. So the hosts that have the same paths are in one HTTPRoute, and
those with other paths in another.

Source: the Gateway API reference, HTTPRoute v1. Its limits are those of the CRD's schema.
"""

from collections.abc import Iterator, Sequence
from typing import TypeVar

from ingress_manager.core.errors import Reason
from ingress_manager.core.exposure import Exposure
from ingress_manager.core.kubernetes import GATEWAY_API, Object
from ingress_manager.core.outputs.listenerset import make_listenersets
from ingress_manager.core.outputs.metadata import make_metadata, name_of
from ingress_manager.core.routing import Listeners, Parent, Routing
from ingress_manager.core.rules import ROUTES, Path, Rule
from ingress_manager.core.syntax import EVERY_HOST

MOST_HOSTNAMES = 16
MOST_RULES = 16
MOST_MATCHES = 8
"""Of one rule, to CRDs before v1.2; later ones take 64. All rules have 128: more than the 100 routes of a Service."""

T = TypeVar("T")

PATH_TYPES = {"Prefix": "PathPrefix", "Exact": "Exact"}


def make_httproutes(exposure: Exposure) -> list[Object]:
    """Return the HTTPRoutes (gateway.networking.k8s.io/v1) and ListenerSets, with only the fields that we need.

    Every field that the API server would default inside a list is given: Metacontroller replaces a list whole, so a
    default left out would look like drift and be rewritten for ever.

    Adds a problem when an HTTPRoute would have too many rules.
    """
    if exposure.routing is None:
        return []
    routes = make_listenersets(exposure, exposure.routing.parent)
    for hosts, paths in by_paths(exposure):
        to_service = make_rules(exposure.basis.service.metadata.name, exposure.routing, paths)
        if len(to_service) > MOST_RULES:
            per_rule = f"one for each port, or for {MOST_MATCHES} paths of a port; {MOST_RULES} is the most"
            sentence = f"{hosts[0]} would need {len(to_service)} rules in an HTTPRoute, {per_rule}"
            exposure.basis.problems.add(sentence, Reason.NOT_IN_HTTPROUTE, exposure.basis.key(ROUTES))
            break
        name = name_of(exposure, hosts)
        routes.append(make_one(exposure, name, exposure.routing.parent, hosts, to_service))
        if exposure.routing.redirect:
            redirects = make_redirects(paths)
            routes.append(make_one(exposure, f"{name}.redirect", exposure.routing.redirect, hosts, redirects))
    return routes


def make_one(
    exposure: Exposure, name: str, parent: Parent | Listeners, hosts: list[str], rules: list[Object]
) -> Object:
    """Return the HTTPRoute that attaches some hosts, with their rules, to what serves them."""
    hostnames = {} if hosts == [EVERY_HOST] else {"hostnames": hosts}
    return {
        "apiVersion": f"{GATEWAY_API}/v1",
        "kind": "HTTPRoute",
        "metadata": make_metadata(exposure, name, exposure.routing.annotations if exposure.routing else {}),
        "spec": {"parentRefs": parent_refs(exposure, parent, hosts), **hostnames, "rules": rules},
    }


def by_paths(exposure: Exposure) -> Iterator[tuple[list[str], Sequence[Path]]]:
    """Yield hosts that have the same paths, as many as one HTTPRoute may have, and the paths."""
    groups: dict[tuple[bool, frozenset[Path]], list[Rule]] = {}
    for rule in exposure.rules:
        groups.setdefault((rule.host == EVERY_HOST, frozenset(rule.paths)), []).append(rule)
    for rules in groups.values():
        for some in in_parts(rules, MOST_HOSTNAMES):
            yield [rule.host for rule in some], rules[0].paths


def parent_refs(exposure: Exposure, parent: Parent | Listeners, hosts: Sequence[str]) -> list[Object]:
    """Return what an HTTPRoute attaches to: a listener of the Gateway, or the ListenerSet of each host."""
    if isinstance(parent, Parent):
        gateway = {"group": GATEWAY_API, "kind": "Gateway", "namespace": parent.namespace, "name": parent.name}
        return [{**gateway, "sectionName": parent.section}]
    own = {"group": GATEWAY_API, "kind": "ListenerSet", "namespace": exposure.basis.service.metadata.namespace}
    return [{**own, "name": name_of(exposure, [host])} for host in hosts]


def make_rules(service: str, routing: Routing, paths: Sequence[Path]) -> list[Object]:
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


def make_redirects(paths: Sequence[Path]) -> list[Object]:
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
