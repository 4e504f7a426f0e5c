"""The outputs: the Ingress, HTTPRoutes and ListenerSets for an exposure.

Metacontroller replaces a list unless all its items have a key such as name, port or path. In replaced lists, it would
revert the API server's defaults forever, so these are set. It merges listeners by port: of several on one port, only
the last would remain, so each host has its own ListenerSet. Hosts with the same paths share an HTTPRoute. Sources: the
Kubernetes API reference, Ingress v1; the Gateway API reference, HTTPRoute v1 and ListenerSet v1; the CRDs' schemas, for
the limits.
"""

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256

import msgspec

from ingress_manager.core.annotations import PATH_TYPE, ROUTES, SECRET
from ingress_manager.core.basis import Basis
from ingress_manager.core.copying import MANAGED_BY, MANAGED_BY_LABEL
from ingress_manager.core.errors import Reason
from ingress_manager.core.exposure import Exposure
from ingress_manager.core.kubernetes import API_VERSIONS, GATEWAY_API, Attachment, Object
from ingress_manager.core.routing import Listener, ListenerSetPort, Routing
from ingress_manager.core.rules import Path
from ingress_manager.core.syntax import EVERY_HOST, wrong_name
from ingress_manager.core.text import quoted
from ingress_manager.core.vocabulary import OLD_CLASS

MOST_HOSTNAMES = 16
MOST_RULES = 16
MOST_MATCHES = 8
"""The limit per rule before Gateway API 1.2, which allows 64. An HTTPRoute may have 128, more than MOST_ROUTES."""

MATCH_TYPES = {"Prefix": "PathPrefix", "Exact": "Exact"}
"""The path types of an Ingress and their names in an HTTPRoute."""

ISSUERS = frozenset(["cert-manager.io/issuer", "cert-manager.io/cluster-issuer"])
REDIRECT_FILTER = {"type": "RequestRedirect", "requestRedirect": {"scheme": "https", "statusCode": 301}}


def make_objects(exposure: Exposure) -> list[Object]:
    ingresses = [make_ingress(exposure)] if exposure.basis.effective.makes_ingresses else []
    return [*ingresses, *(make_httproutes(exposure, exposure.routing) if exposure.routing else ())]


def build(kind: str, basis: Basis, name: str, annotations: Mapping[str, str], spec: Object) -> Object:
    labels = {MANAGED_BY_LABEL: MANAGED_BY, **basis.effective.labels}
    metadata: Object = {"name": name, "namespace": basis.service.metadata.namespace, "labels": labels}
    if annotations:
        metadata["annotations"] = annotations
    return {"apiVersion": API_VERSIONS[kind], "kind": kind, "metadata": metadata, "spec": spec}


# An Ingress.


def make_ingress(exposure: Exposure) -> Object:
    basis, ingress_class = exposure.basis, exposure.ingress_class
    annotations = exposure.carried.by_kind["Ingress"]
    if ingress_class is None and OLD_CLASS not in annotations:
        # An existing Ingress keeps its class: the API server sets the default only on creation, and no controller
        # serves an Ingress without a class.
        observed = (basis.observed.ingresses or {}).get(f"{basis.service.metadata.namespace}/{basis.object_name}")
        ingress_class = observed.spec.ingress_class_name if observed else None
    spec: Object = {} if ingress_class is None else {"ingressClassName": ingress_class}
    if basis.tls:
        # One entry for the hosts of rules, and one without hosts if a rule matches every host.
        hosts = [host for host in exposure.rules if host != EVERY_HOST]
        secret = {"secretName": basis.secret} if basis.secret else {}
        spec["tls"] = [{"hosts": hosts, **secret}] if hosts else []
        if len(hosts) < len(exposure.rules):
            spec["tls"].append(secret)
    spec["rules"] = []
    for host, paths in exposure.rules.items():
        rule: Object = {} if host == EVERY_HOST else {"host": host}
        spec["rules"].append({**rule, "http": {"paths": [ingress_path(basis, path) for path in paths]}})
    return build("Ingress", basis, basis.object_name, annotations, spec)


def ingress_path(basis: Basis, path: Path) -> Object:
    service = {"name": basis.service.metadata.name, "port": {"number": path.port}}
    return {"path": path.path, "pathType": path.path_type, "backend": {"service": service}}


# HTTPRoutes, and the ListenerSets that they attach to.


def make_httproutes(exposure: Exposure, routing: Routing) -> list[Object]:
    basis, listener = exposure.basis, routing.listener
    objects: list[Object] = []
    check_watched(basis, "HTTPRoute", basis.observed.httproutes)
    if isinstance(listener, ListenerSetPort):
        check_watched(basis, "ListenerSet", basis.observed.listenersets)
        objects += [make_listenerset(exposure, listener, host) for host in exposure.rules]
    for hosts, paths in group_by_paths(exposure.rules):
        rules = service_rules(basis, paths)
        if len(rules) > MOST_RULES:
            sentence = (
                f"{hosts[0]} would need {len(rules)} rules in an HTTPRoute; the limit is {MOST_RULES}. "
                f"Use fewer ports or paths: each rule has one port and at most {MOST_MATCHES} paths"
            )
            basis.problems.add(sentence, Reason.NOT_IN_HTTPROUTE, basis.key(ROUTES))
            break
        name = name_for_hosts(basis, hosts)
        if isinstance(listener, Listener):
            parents = [parent(listener)]
        else:
            reference = {"group": GATEWAY_API, "kind": "ListenerSet", "namespace": basis.service.metadata.namespace}
            parents = [{**reference, "name": name_for_hosts(basis, [host])} for host in hosts]
        annotations = exposure.carried.by_kind["HTTPRoute"]
        objects.append(build("HTTPRoute", basis, name, annotations, httproute_spec(hosts, parents, rules)))
        if routing.redirect:
            spec = httproute_spec(hosts, [parent(routing.redirect)], split_into_rules(paths, filters=[REDIRECT_FILTER]))
            objects.append(build("HTTPRoute", basis, f"{name}.redirect", exposure.carried.by_kind["redirect"], spec))
    return objects


def httproute_spec(hosts: list[str], parents: list[Object], rules: list[Object]) -> Object:
    return {"parentRefs": parents, **({} if hosts == [EVERY_HOST] else {"hostnames": hosts}), "rules": rules}


def check_watched(basis: Basis, kind: str, watched: Mapping[str, Attachment] | None) -> None:
    if watched is None:
        sentence = (
            f"the settings give this Service {kind}s, but Metacontroller doesn't manage {kind}s. "
            f"Ask an administrator to apply metacontroller/{kind.lower()}/"
        )
        basis.problems.add(sentence, Reason.NOT_WATCHED)


def group_by_paths(rules: Mapping[str, Sequence[Path]]) -> Iterator[tuple[list[str], Sequence[Path]]]:
    """Yield (hosts, paths) for each group of at most MOST_HOSTNAMES hosts with the same paths."""
    groups: dict[tuple[bool, frozenset[Path]], list[str]] = {}
    for host, paths in rules.items():
        groups.setdefault((host == EVERY_HOST, frozenset(paths)), []).append(host)
    for hosts in groups.values():
        for start in range(0, len(hosts), MOST_HOSTNAMES):
            yield hosts[start : start + MOST_HOSTNAMES], rules[hosts[0]]


def parent(target: Listener | ListenerSetPort) -> Object:
    section = {"sectionName": target.name} if isinstance(target, Listener) else {}
    return {"group": GATEWAY_API, "kind": "Gateway", "namespace": target.namespace, "name": target.gateway, **section}


def service_rules(basis: Basis, paths: Sequence[Path]) -> list[Object]:
    """Return the rules that route to the Service, grouped by port. Their order doesn't affect matching."""
    by_port: dict[int, list[Path]] = {}
    for path in paths:
        by_port.setdefault(path.port, []).append(path)
    filters = basis.effective.filters
    profile = {"filters": filters, "timeouts": basis.effective.timeouts, "retry": basis.effective.retry}
    fields: Object = {name: msgspec.to_builtins(value) for name, value in profile.items() if value}
    # A filter that replaces a prefix needs a rule with a single PathPrefix.
    most = 1 if any(map(replaces_prefix, filters)) else MOST_MATCHES
    for path in [path for path in paths if most == 1 and path.path_type == "Exact"]:
        end = f'must have path type Prefix, not Exact: profile "{basis.effective.profile}" replaces prefixes (filters)'
        basis.problems.add(f"path {quoted(path.path)} {end}", Reason.NOT_IN_HTTPROUTE, basis.key(PATH_TYPE))
    backend = {"group": "", "kind": "Service", "name": basis.service.metadata.name, "weight": 1}
    is_redirect = any(filter_["type"] == "RequestRedirect" for filter_ in filters)
    rules: list[Object] = []
    for port, paths_of_port in by_port.items():
        backends = {} if is_redirect else {"backendRefs": [{**backend, "port": port}]}
        rules += split_into_rules(paths_of_port, most, **fields, **backends)
    return rules


def replaces_prefix(filter_: Object) -> bool:
    paths = [field.get("path") for field in filter_.values() if isinstance(field, dict)]
    return any(isinstance(path, dict) and path.get("type") == "ReplacePrefixMatch" for path in paths)


def split_into_rules(paths: Sequence[Path], most: int = MOST_MATCHES, **fields: object) -> list[Object]:
    """Distribute the paths among rules, each with at most `most` paths and these `fields`."""
    matches = [{"path": {"type": MATCH_TYPES[path.path_type], "value": path.path}} for path in paths]
    return [{"matches": matches[start : start + most], **fields} for start in range(0, len(matches), most)]


def make_listenerset(exposure: Exposure, listener_set: ListenerSetPort, host: str) -> Object:
    """Return the ListenerSet that serves a host with the Service's own certificate."""
    basis, secret, annotations = exposure.basis, exposure.basis.secret, exposure.carried.by_kind["ListenerSet"]
    name = name_for_hosts(basis, [host])
    # cert-manager issues one certificate for a Secret, so only the main host's ListenerSet uses this Secret.
    if name != basis.object_name and not ISSUERS.isdisjoint(annotations):
        secret = f"{secret}-{sha256(host.encode()).hexdigest()[:8]}"
        if end := wrong_name(secret):
            basis.add(SECRET, f": {quoted(secret)} (with the suffix added for {host}) {end}", Reason.INVALID_VALUE)
    elif basis.effective.makes_ingresses:  # the Ingress requests the certificate
        annotations = {key: value for key, value in annotations.items() if key not in ISSUERS}
    entry = {
        "name": "https",
        **({} if host == EVERY_HOST else {"hostname": host}),
        "port": listener_set.port,
        "protocol": "HTTPS",
        "tls": {"mode": "Terminate", "certificateRefs": [{"group": "", "kind": "Secret", "name": secret}]},
        "allowedRoutes": {"namespaces": {"from": "Same"}},
    }
    return build("ListenerSet", basis, name, annotations, {"parentRef": parent(listener_set), "listeners": [entry]})


def name_for_hosts(basis: Basis, hosts: Sequence[str]) -> str:
    """Return the name of the HTTPRoute or ListenerSet for `hosts`.

    A dot and a hash follow the Ingress's name unless `hosts` include the main host: the first in ingress/host, or else
    the default host, even if no route uses it. So appending to ingress/host renames no object.
    """
    host, *_ = basis.requested.hosts or [basis.effective.default_host(basis.service.metadata.name)]
    return basis.object_name if host in hosts else f"{basis.object_name}.{sha256(hosts[0].encode()).hexdigest()[:32]}"
