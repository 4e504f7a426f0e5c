"""What the API server accepts as an Ingress or an HTTPRoute, rewritten, so that answers are checked without a server.

The types are networking.k8s.io/v1 as far as we use it, with nothing else allowed; `rules_broken` are the checks of
pkg/apis/networking/validation and apimachinery's validation of metadata (Kubernetes 1.36). For an HTTPRoute they are
the schema of its CRD (Gateway API 1.6), but for the filters and timeouts of a profile. The end-to-end tests send both
to a real API server too, and would show a mistake here.
"""

import ipaddress
import re
from collections.abc import Iterator
from typing import Any, Literal

import msgspec

SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
QUALIFIED = re.compile(r"([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
BAD_PATH = re.compile(r"//|/\.\.?(/|$)|%2[fF]")
LABEL_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")
REDIRECT = {"type": "RequestRedirect", "requestRedirect": {"scheme": "https", "statusCode": 301}}
OLD_CLASS = "kubernetes.io/ingress.class"
MOST_ANNOTATION_BYTES = 256 * 1024


def strict(kind: str = "", /, **fields: Any) -> Any:
    """Return a type with these fields and no other; a field with a default is a pair. `kind`: of a whole object."""
    stated = [(name, *(each if isinstance(each, tuple) else (each,))) for name, each in fields.items()]
    tag: dict[str, Any] = {"tag_field": "kind", "tag": kind} if kind else {}
    return msgspec.defstruct(kind or "Strict", stated, rename="camel", forbid_unknown_fields=True, kw_only=True, **tag)


def many(item: Any) -> Any:
    """Return the type of a list of items of a type."""
    return list.__class_getitem__(item)


METADATA = strict(name=str, namespace=str, labels=dict[str, str], annotations=(dict[str, str], {}))
BACKEND = strict(service=strict(name=str, port=strict(number=int)))
PATH = strict(path=str, path_type=Literal["Prefix", "Exact", "ImplementationSpecific"], backend=BACKEND)
RULE = strict(http=strict(paths=many(PATH)), host=(str | None, None))
TLS = strict(hosts=(list[str], []), secret_name=(str | None, None))
INGRESS = strict(
    rules=(many(RULE), []),
    default_backend=(BACKEND | None, None),
    ingress_class_name=(str | None, None),
    tls=(many(TLS), []),
)
Ingress = strict("Ingress", api_version=Literal["networking.k8s.io/v1"], metadata=METADATA, spec=INGRESS)

GATEWAY = Literal["gateway.networking.k8s.io"]
PARENT = strict(group=GATEWAY, kind=Literal["Gateway"], namespace=str, name=str, section_name=str)
MATCH = strict(path=strict(type=Literal["PathPrefix", "Exact"], value=str))
SERVICE = strict(group=Literal[""], kind=Literal["Service"], name=str, port=int, weight=Literal[1])
ROUTE_RULE = strict(
    matches=many(MATCH),
    backend_refs=(many(SERVICE), []),
    filters=(list[dict[str, Any]], []),
    timeouts=(dict[str, Any] | None, None),
)
HTTPROUTE = strict(parent_refs=many(PARENT), rules=many(ROUTE_RULE), hostnames=(list[str], []))
HTTPRoute = strict("HTTPRoute", api_version=Literal["gateway.networking.k8s.io/v1"], metadata=METADATA, spec=HTTPROUTE)


def rules_broken(made: Any) -> Iterator[str]:
    """Yield what the API server would complain of."""
    for key in made.metadata.annotations:
        if not QUALIFIED.fullmatch(key.lower()):
            yield f"annotation {key!r}"
    for key, value in made.metadata.labels.items():
        if not QUALIFIED.fullmatch(key) or not LABEL_VALUE.fullmatch(value):
            yield f"label {key!r}: {value!r}"
    spec = made.spec
    if isinstance(spec, INGRESS):
        names = [spec.ingress_class_name, *(tls.secret_name for tls in spec.tls)]
        hosts = [rule.host for rule in spec.rules if rule.host is not None]
        hosts += [host for tls in spec.tls for host in tls.hosts]
        stated = [path for rule in spec.rules for path in rule.http.paths]
        # Which characters a path of this type may have is left to the controller.
        paths = [path.path for path in stated if path.path_type != "ImplementationSpecific"]
        yield from (f"path {path.path!r}" for path in stated if not path.path.startswith("/"))
        backends = [path.backend for path in stated] + ([spec.default_backend] if spec.default_backend else [])
        ports = [backend.service.port.number for backend in backends]
        counts = [(min(1, count), 1) for count in (len(backends), *(len(rule.http.paths) for rule in spec.rules))]
        if spec.ingress_class_name is not None and OLD_CLASS in made.metadata.annotations:
            yield f"a class, and the annotation {OLD_CLASS}"
    else:
        names = [name for parent in spec.parent_refs for name in (parent.name, parent.section_name)]
        hosts = spec.hostnames
        paths = [match.path.value for rule in spec.rules for match in rule.matches]
        ports = [backend.port for rule in spec.rules for backend in rule.backend_refs]
        counts = [(len(spec.parent_refs), 32), (len(hosts) or 1, 16), (len(spec.rules), 16), (len(paths), 128)]
        counts += [(len(rule.matches), 8) for rule in spec.rules]
        for rule in spec.rules:
            if len(rule.backend_refs) != (0 if REDIRECT in rule.filters else 1):
                yield f"{len(rule.backend_refs)} backends beside {rule.filters}"
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
