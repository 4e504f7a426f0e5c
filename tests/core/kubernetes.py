"""What the API server accepts as an Ingress or an HTTPRoute, rewritten, so that answers are checked without a server.

The types are networking.k8s.io/v1 as far as we use it, with nothing else allowed; `rules_broken` are the checks of
pkg/apis/networking/validation and apimachinery's validation of metadata (Kubernetes 1.36). For an HTTPRoute they are
the schema of its CRD (Gateway API 1.6). The end-to-end tests send both to a real API server too, and would show a
mistake here.
"""

import ipaddress
import re
from collections.abc import Iterator
from typing import Literal

import msgspec

SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
QUALIFIED = re.compile(r"([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
MOST_ANNOTATION_BYTES = 256 * 1024


class Strict(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """A type that takes no field but its own."""


class Port(Strict):
    number: int


class BackendService(Strict):
    name: str
    port: Port


class Backend(Strict):
    service: BackendService


class Path(Strict):
    path: str
    path_type: Literal["Prefix", "Exact", "ImplementationSpecific"]
    backend: Backend


class Http(Strict):
    paths: list[Path]


class Rule(Strict):
    host: str
    http: Http


class Tls(Strict):
    hosts: list[str]
    secret_name: str | None = None


class Spec(Strict):
    rules: list[Rule]
    ingress_class_name: str | None = None
    tls: list[Tls] = []


class Metadata(Strict):
    name: str
    namespace: str
    labels: dict[str, str]
    annotations: dict[str, str] = {}


class Ingress(Strict):
    api_version: Literal["networking.k8s.io/v1"]
    kind: Literal["Ingress"]
    metadata: Metadata
    spec: Spec


class ParentRef(Strict):
    group: Literal["gateway.networking.k8s.io"]
    kind: Literal["Gateway"]
    namespace: str
    name: str
    section_name: str


class RoutePath(Strict):
    type: Literal["PathPrefix", "Exact"]
    value: str


class RouteMatch(Strict):
    path: RoutePath


class BackendRef(Strict):
    group: Literal[""]
    kind: Literal["Service"]
    name: str
    port: int
    weight: Literal[1]


class RouteRule(Strict):
    matches: list[RouteMatch]
    backend_refs: list[BackendRef]


class RouteSpec(Strict):
    parent_refs: list[ParentRef]
    hostnames: list[str]
    rules: list[RouteRule]


class HTTPRoute(Strict):
    api_version: Literal["gateway.networking.k8s.io/v1"]
    kind: Literal["HTTPRoute"]
    metadata: Metadata
    spec: RouteSpec


def route_rules_broken(route: HTTPRoute) -> Iterator[str]:
    """Yield what the API server would complain of in an HTTPRoute."""
    names = [route.metadata.name, *[parent.name for parent in route.spec.parent_refs]]
    names += [parent.section_name for parent in route.spec.parent_refs]
    yield from (f"name {name!r}" for name in names if not is_subdomain(name))
    counts = [
        (len(route.spec.parent_refs), 32),
        (len(route.spec.hostnames), 16),
        (len(route.spec.rules), 16),
        *[(len(rule.matches), 64) for rule in route.spec.rules],
        *[(len(rule.backend_refs), 16) for rule in route.spec.rules],
        (sum(len(rule.matches) for rule in route.spec.rules), 128),
    ]
    yield from (f"{count} items, not 1 to {most}" for count, most in counts if not 1 <= count <= most)
    yield from (f"host {host!r}" for host in route.spec.hostnames if not is_host(host))
    for rule in route.spec.rules:
        for backend in rule.backend_refs:
            if not 1 <= backend.port <= 65535:
                yield f"port {backend.port}"
        for match in rule.matches:
            yield from path_text_broken(match.path.value)
            if len(match.path.value) > 1024 or "#" in match.path.value:
                yield f"path {match.path.value!r}"


def rules_broken(ingress: Ingress) -> Iterator[str]:
    """Yield what the API server would complain of."""
    names = [ingress.metadata.name, *(tls.secret_name for tls in ingress.spec.tls if tls.secret_name is not None)]
    if ingress.spec.ingress_class_name is not None:
        names.append(ingress.spec.ingress_class_name)
    yield from (f"name {name!r}" for name in names if not is_subdomain(name))
    for key in ingress.metadata.annotations:
        if not QUALIFIED.fullmatch(key.lower()):
            yield f"annotation {key!r}"
    if sum(len(k.encode()) + len(v.encode()) for k, v in ingress.metadata.annotations.items()) > MOST_ANNOTATION_BYTES:
        yield "annotations too long"
    if not ingress.spec.rules:
        yield "no rules and no default backend"
    for host in [rule.host for rule in ingress.spec.rules] + [host for tls in ingress.spec.tls for host in tls.hosts]:
        if not is_host(host):
            yield f"host {host!r}"
    yield from (f"no paths for {rule.host}" for rule in ingress.spec.rules if not rule.http.paths)
    for path in (path for rule in ingress.spec.rules for path in rule.http.paths):
        yield from path_rules_broken(path)


def path_rules_broken(path: Path) -> Iterator[str]:
    """Yield what the API server would complain of in one path."""
    yield from path_text_broken(path.path)
    if not 1 <= path.backend.service.port.number <= 65535:
        yield f"port {path.backend.service.port.number}"


def path_text_broken(path: str) -> Iterator[str]:
    """Yield what the API server would complain of in the text of a path, of an Ingress or of an HTTPRoute."""
    if not path.startswith("/"):
        yield f"path {path!r} is not absolute"
    for sequence in ("//", "/./", "/../", "%2f", "%2F"):
        if sequence in path:
            yield f"path {path!r} holds {sequence}"
    if path.endswith(("/..", "/.")):
        yield f"path {path!r} ends with dots"


def is_subdomain(name: str) -> bool:
    """Return whether `name` is a DNS-1123 subdomain, as IsDNS1123Subdomain has it."""
    return len(name) <= 253 and SUBDOMAIN.fullmatch(name) is not None


def is_host(host: str) -> bool:
    """Return whether `host` may stand in a rule: a DNS-1123 subdomain, perhaps after `*.`, and no IP address."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return len(host) <= 253 and SUBDOMAIN.fullmatch(host.removeprefix("*.")) is not None
    return False
