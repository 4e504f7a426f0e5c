"""What the API server accepts as an Ingress, rewritten from its source, so that answers are checked without a server.

The types are networking.k8s.io/v1 as far as we use it, with nothing else allowed; `rules_broken` are the checks of
pkg/apis/networking/validation and apimachinery's validation of metadata (Kubernetes 1.36). The end-to-end tests send
Ingresses to a real API server too, and would show a mistake here.
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
    if not path.path.startswith("/"):
        yield f"path {path.path!r} is not absolute"
    for sequence in ("//", "/./", "/../", "%2f", "%2F"):
        if sequence in path.path:
            yield f"path {path.path!r} holds {sequence}"
    if path.path.endswith(("/..", "/.")):
        yield f"path {path.path!r} ends with dots"
    if not 1 <= path.backend.service.port.number <= 65535:
        yield f"port {path.backend.service.port.number}"


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
