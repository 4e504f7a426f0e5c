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
BAD_PATH = re.compile(r"//|/\.\.?(/|$)|%2[fF]")
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


class Ingress(Strict, tag_field="kind", tag="Ingress"):
    api_version: Literal["networking.k8s.io/v1"]
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


class HTTPRoute(Strict, tag_field="kind", tag="HTTPRoute"):
    api_version: Literal["gateway.networking.k8s.io/v1"]
    metadata: Metadata
    spec: RouteSpec


def rules_broken(made: Ingress | HTTPRoute) -> Iterator[str]:
    """Yield what the API server would complain of."""
    for key in made.metadata.annotations:
        if not QUALIFIED.fullmatch(key.lower()):
            yield f"annotation {key!r}"
    spec = made.spec
    if isinstance(spec, Spec):
        names = [spec.ingress_class_name, *(tls.secret_name for tls in spec.tls)]
        hosts = [rule.host for rule in spec.rules] + [host for tls in spec.tls for host in tls.hosts]
        paths = [path.path for rule in spec.rules for path in rule.http.paths]
        ports = [path.backend.service.port.number for rule in spec.rules for path in rule.http.paths]
        counts = [(min(1, count), 1) for count in (len(spec.rules), *(len(rule.http.paths) for rule in spec.rules))]
    else:
        names = [name for parent in spec.parent_refs for name in (parent.name, parent.section_name)]
        hosts = spec.hostnames
        paths = [match.path.value for rule in spec.rules for match in rule.matches]
        ports = [backend.port for rule in spec.rules for backend in rule.backend_refs]
        counts = [(len(spec.parent_refs), 32), (len(hosts), 16), (len(spec.rules), 16), (len(paths), 128)]
        counts += [(len(rule.matches), 64) for rule in spec.rules]
        counts += [(len(rule.backend_refs), 16) for rule in spec.rules]
        yield from (f"path {path!r}" for path in paths if len(path) > 1024 or "#" in path)
    yield from (
        f"name {name!r}" for name in (made.metadata.name, *names) if name is not None and not is_subdomain(name)
    )
    yield from (f"{count} items, not 1 to {most}" for count, most in counts if not 1 <= count <= most)
    yield from (f"host {host!r}" for host in hosts if not is_host(host))
    yield from (f"path {path!r}" for path in paths if not path.startswith("/") or BAD_PATH.search(path))
    yield from (f"port {port}" for port in ports if not 1 <= port <= 65535)


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
