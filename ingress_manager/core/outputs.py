"""The outputs: an exposure written as an Ingress, as HTTPRoutes, and as ListenerSets.

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

from ingress_manager.core.annotations import ROUTES, SECRET, TABLE
from ingress_manager.core.basis import Basis
from ingress_manager.core.copying import MANAGED_BY, MANAGED_BY_LABEL
from ingress_manager.core.errors import Reason
from ingress_manager.core.exposure import Exposure
from ingress_manager.core.kubernetes import API_VERSIONS, GATEWAY_API, Attachment, Object
from ingress_manager.core.policy import Gateway, ListenerSets
from ingress_manager.core.routing import Routing
from ingress_manager.core.rules import Path
from ingress_manager.core.syntax import EVERY_HOST, wrong_name
from ingress_manager.core.text import quoted
from ingress_manager.core.vocabulary import OLD_CLASS

MOST_HOSTNAMES = 16
MOST_RULES = 16
MOST_MATCHES = 8
"""Of one rule, to CRDs before v1.2; later ones take 64. All rules have 128: more than the 100 routes of a Service."""

PATH_TYPES = {"Prefix": "PathPrefix", "Exact": "Exact"}
"""What an HTTPRoute calls the path types of an Ingress."""

ISSUERS = frozenset(["cert-manager.io/issuer", "cert-manager.io/cluster-issuer"])
"""The annotations by which cert-manager makes the certificates."""

REDIRECT = {"type": "RequestRedirect", "requestRedirect": {"scheme": "https", "statusCode": 301}}
"""The filter that answers with a redirect to https."""


def make_objects(exposure: Exposure) -> list[Object]:
    """Return all that is made for an entrance. Adds what is wrong."""
    ingresses = [make_ingress(exposure)] if exposure.basis.policy.makes_ingresses else []
    return [*ingresses, *(make_httproutes(exposure, exposure.routing) if exposure.routing else ())]


def make(kind: str, basis: Basis, name: str, annotations: Mapping[str, str], spec: Object) -> Object:
    """Return an object of a kind."""
    labels = {MANAGED_BY_LABEL: MANAGED_BY, **basis.policy.labels}
    metadata: Object = {"name": name, "namespace": basis.service.metadata.namespace, "labels": labels}
    if annotations:
        metadata["annotations"] = annotations
    return {"apiVersion": API_VERSIONS[kind], "kind": kind, "metadata": metadata, "spec": spec}


# An Ingress.


def make_ingress(exposure: Exposure) -> Object:
    """Return the Ingress, with only the fields that we care about.

    Where no class is stated, it keeps the one that it has: the API server gives it the cluster's default class only
    when it is created. One that lost its class later would be served by nobody.
    """
    basis, annotations, ingress_class = exposure.basis, exposure.annotations["Ingress"], exposure.ingress_class
    if ingress_class is None and OLD_CLASS not in annotations:
        standing = basis.observed.ingresses.get(f"{basis.service.metadata.namespace}/{basis.name}")
        ingress_class = standing.spec.ingress_class_name if standing else None
    spec: Object = {} if ingress_class is None else {"ingressClassName": ingress_class}
    if basis.tls:
        # The entry of the rules' hosts, and one without hosts if there is a rule of every host.
        named = [host for host in exposure.rules if host != EVERY_HOST]
        secret = {"secretName": basis.secret} if basis.secret else {}
        spec["tls"] = [{"hosts": named, **secret}] if named else []
        if len(named) < len(exposure.rules):
            spec["tls"].append(secret)
    spec["rules"] = []
    for host, paths in exposure.rules.items():  # that of every host states none
        stated = {} if host == EVERY_HOST else {"host": host}
        spec["rules"].append({**stated, "http": {"paths": [ingress_path(basis, path) for path in paths]}})
    return make("Ingress", basis, basis.name, annotations, spec)


def ingress_path(basis: Basis, path: Path) -> Object:
    """Return a path of an Ingress, which leads to the Service."""
    service = {"name": basis.service.metadata.name, "port": {"number": path.port}}
    return {"path": path.path, "pathType": path.path_type, "backend": {"service": service}}


# HTTPRoutes, and the ListenerSets that they attach to.


def make_httproutes(exposure: Exposure, routing: Routing) -> list[Object]:
    """Return the ListenerSets and the HTTPRoutes. Adds a problem when an HTTPRoute would have too many rules."""
    basis, annotations = exposure.basis, exposure.annotations["HTTPRoute"]
    made: list[Object] = []
    check_watched(basis, "HTTPRoute", basis.observed.httproutes)
    if isinstance(routing.listener, ListenerSets):
        check_watched(basis, "ListenerSet", basis.observed.listenersets)
        made += [make_listenerset(exposure, routing.gateway, routing.listener.port, host) for host in exposure.rules]
    for hosts, paths in by_paths(exposure.rules):
        to_service = rules_to_service(basis, paths)
        if len(to_service) > MOST_RULES:
            sentence = (
                f"{hosts[0]} would need {len(to_service)} rules in an HTTPRoute, "
                f"one for each port, or for {MOST_MATCHES} paths of a port; {MOST_RULES} is the most"
            )
            basis.problems.add(sentence, Reason.NOT_IN_HTTPROUTE, basis.key(ROUTES))
            break
        name = name_of(basis, hosts)
        if isinstance(routing.listener, str):
            parents = [parent(routing.gateway, routing.listener)]
        else:
            own = {"group": GATEWAY_API, "kind": "ListenerSet", "namespace": basis.service.metadata.namespace}
            parents = [{**own, "name": name_of(basis, [host])} for host in hosts]
        hostnames = {} if hosts == [EVERY_HOST] else {"hostnames": hosts}
        spec = {"parentRefs": parents, **hostnames, "rules": to_service}
        made.append(make("HTTPRoute", basis, name, annotations, spec))
        if routing.redirect:
            rules = rules_of(paths, filters=[REDIRECT])
            spec = {"parentRefs": [parent(routing.gateway, routing.redirect)], **hostnames, "rules": rules}
            made.append(make("HTTPRoute", basis, f"{name}.redirect", annotations, spec))
    return made


def check_watched(basis: Basis, kind: str, watched: Mapping[str, Attachment] | None) -> None:
    """Add the problem that Metacontroller doesn't look after a kind of objects, if so."""
    if watched is None:
        sentence = (
            f"the settings give this Service an object of the kind {kind}, but Metacontroller doesn't look after "
            f"{kind}s: the administrator has to apply metacontroller/{kind.lower()}/"
        )
        basis.problems.add(sentence, Reason.NOT_WATCHED)


def by_paths(rules: Mapping[str, Sequence[Path]]) -> Iterator[tuple[list[str], Sequence[Path]]]:
    """Yield hosts that have the same paths, as many as one HTTPRoute may have, and the paths."""
    groups: dict[tuple[bool, frozenset[Path]], list[str]] = {}
    for host, paths in rules.items():
        groups.setdefault((host == EVERY_HOST, frozenset(paths)), []).append(host)
    for hosts in groups.values():
        for start in range(0, len(hosts), MOST_HOSTNAMES):
            yield hosts[start : start + MOST_HOSTNAMES], rules[hosts[0]]


def parent(gateway: Gateway, listener: str | None = None) -> Object:
    """Return the reference to a Gateway, or to a listener of it."""
    section = {} if listener is None else {"sectionName": listener}
    return {"group": GATEWAY_API, "kind": "Gateway", "namespace": gateway.namespace, "name": gateway.name, **section}


def rules_to_service(basis: Basis, paths: Sequence[Path]) -> list[Object]:
    """Return the rules that lead these paths to the Service: some for each port.

    Which path wins doesn't depend on the rules.
    """
    of_port: dict[int, list[Path]] = {}
    for path in paths:
        of_port.setdefault(path.port, []).append(path)
    then: Object = {"filters": [*basis.policy.filters]} if basis.policy.filters else {}
    if basis.policy.timeouts:
        then["timeouts"] = basis.policy.timeouts
    for row in TABLE.values():
        if row.rule and (value := getattr(basis.stated, row.field)) is not None:
            then |= {name: {**then.get(name, {}), **added} for name, added in row.rule(value).items()}
    backend = {"group": "", "kind": "Service", "name": basis.service.metadata.name}
    return [
        rule
        for port, some in of_port.items()
        for rule in rules_of(some, **then, backendRefs=[{**backend, "port": port, "weight": 1}])
    ]


def rules_of(paths: Sequence[Path], **then: object) -> list[Object]:
    """Return rules that do the same with these paths: one, or more where there are many paths."""
    matches = [{"path": {"type": PATH_TYPES[path.path_type], "value": path.path}} for path in paths]
    starts = range(0, len(matches), MOST_MATCHES)
    return [{"matches": matches[start : start + MOST_MATCHES], **then} for start in starts]


def make_listenerset(exposure: Exposure, gateway: Gateway, port: int, host: str) -> Object:
    """Return the ListenerSet of a host: a listener of the Gateway with the Service's own certificate."""
    basis, secret, annotations = exposure.basis, exposure.basis.secret, exposure.annotations["ListenerSet"]
    name = name_of(basis, [host])
    # cert-manager makes one certificate for a Secret: of the hosts of an Ingress, or of one ListenerSet.
    if name != basis.name and not ISSUERS.isdisjoint(annotations):
        secret = f"{secret}-{sha256(host.encode()).hexdigest()[:8]}"
        if end := wrong_name(secret):
            basis.add(SECRET, f": {quoted(secret)}, that of {host}, {end}", Reason.INVALID_VALUE)
    elif basis.policy.makes_ingresses:
        annotations = {key: value for key, value in annotations.items() if key not in ISSUERS}
    listener = {
        "name": "https",
        **({} if host == EVERY_HOST else {"hostname": host}),
        "port": port,
        "protocol": "HTTPS",
        "tls": {"mode": "Terminate", "certificateRefs": [{"group": "", "kind": "Secret", "name": secret}]},
        "allowedRoutes": {"namespaces": {"from": "Same"}},
    }
    return make("ListenerSet", basis, name, annotations, {"parentRef": parent(gateway), "listeners": [listener]})


def name_of(basis: Basis, hosts: Sequence[str]) -> str:
    """Return the name of an HTTPRoute or a ListenerSet for these hosts: the Ingress's, if the main host is in it.

    That is the first one of ingress/host, or the default host; no host need be this. Another object is named by its
    first host. So no two of a kind have the same name, and none is renamed, and gone for a moment, because a host is
    added behind the others. No Service's name has a dot, so none of another Service has it.
    """
    main, *_ = basis.stated.hosts or [basis.policy.default_host(basis.service.metadata.name)]
    return basis.name if main in hosts else f"{basis.name}.{sha256(hosts[0].encode()).hexdigest()[:32]}"
