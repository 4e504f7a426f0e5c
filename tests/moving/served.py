"""A reference matcher: which Service answers for a host and a path, by all Ingresses that stand.

It is written from the Kubernetes API reference (Ingress v1). The host itself goes before a wildcard, and that before
none; an Exact path before a prefix, and the longest first; then the oldest object. A path of the type
ImplementationSpecific is a prefix. A Service or a port that isn't there answers nothing.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

from devcluster.api import Object
from devcluster.standin.children import name_of
from ingress_manager.core.vocabulary import is_for_controllers

Facts = dict[tuple[str, ...], frozenset[Any]]
"""What holds: of requests, what answers, and of certificates, that they are there. A plan takes nothing of it away."""

ISSUER = "cert-manager.io/cluster-issuer"


class Claim(NamedTuple):
    """One path of an Ingress, and what answers it: the Service with its port, and the terms, such as a password."""

    controller: str
    host: str
    path: str
    kind: str
    answer: frozenset[Any]

    @property
    def prefix(self) -> str:
        return f"{self.path.rstrip('/')}/"


def facts(objects: Iterable[Object], requests: Iterable[tuple[str, ...]]) -> Facts:
    """Return what is served: what answers each request, the certificates of each host, and who renews them."""
    services = {name_of(each): each for each in objects if each["kind"] == "Service"}
    ingresses = [each for each in objects if each["kind"] == "Ingress"]
    ingresses.sort(key=lambda each: (each["metadata"]["creationTimestamp"], name_of(each)))
    claims = [claim for each in ingresses for claim in claims_of(each, services)]
    found = {request: answer(request, claims) for request in requests}
    return found | dict.fromkeys(certificates(ingresses, services), frozenset())


def requests_for(objects: Iterable[Object]) -> list[tuple[str, str, str]]:
    """Return requests, each a controller, a host and a path: for all that is named, and for some beside and below."""
    claims = [claim for each in objects for claim in claims_of(each, {})]
    hosts = {"nobody.example.net", *(each.host.replace("*.", "any.") or "other.example.net" for each in claims)}
    below = {path for each in claims for path in (each.path.rstrip("/") or "/", f"{each.path.rstrip('/')}/below")}
    paths = {"/", "/below", "/cartoon", *(each.path for each in claims), *below}
    return list(product(sorted({each.controller for each in claims}), sorted(hosts), sorted(paths)))


def claims_of(each: Object, services: dict[str, Object]) -> Iterator[Claim]:
    """Yield each path of an Ingress."""
    metadata, spec = each["metadata"], each["spec"]
    annotations = metadata.get("annotations", {}).items()
    terms = {(key, value) for key, value in annotations if is_for_controllers(key) and key != ISSUER}
    rules = [(rule.get("host", ""), path) for rule in spec.get("rules", []) for path in rule["http"]["paths"]]
    for host, path in rules:
        backend = path["backend"]["service"]
        name, asked = f"{metadata['namespace']}/{backend['name']}", {*backend["port"].values()}
        ports = services[name]["spec"]["ports"] if name in services else []
        leads = [f"{name}:{port['port']}" for port in ports if asked & {port["port"], port["name"]}]
        answered = frozenset([*leads, *terms] if leads else ())
        yield Claim(spec.get("ingressClassName", ""), host, path["path"], path["pathType"], answered)


def answer(request: tuple[str, ...], claims: Sequence[Claim]) -> frozenset[Any]:
    """Return what answers a request; the path is looked for only under the host that fits best, as nginx does."""
    controller, host, path = request
    below = f"{path.rstrip('/')}/"
    for named in (host, f"*.{host.partition('.')[2]}", ""):
        if found := [claim for claim in claims if (claim.controller, claim.host) == (controller, named)]:
            exact = [claim for claim in found if claim.path == path and claim.kind == "Exact"]
            prefixes = [claim for claim in found if claim.kind != "Exact" and below.startswith(claim.prefix)]
            fitting = [*exact, *sorted(prefixes, key=lambda claim: -len(claim.prefix))]
            return fitting[0].answer if fitting else frozenset()
    return frozenset()


def certificates(ingresses: Iterable[Object], services: dict[str, Object]) -> Iterator[tuple[str, ...]]:
    """Yield each host that has TLS with its Secret, of what leads anywhere, and each Secret that is renewed.

    cert-manager makes one Certificate of a Secret's name, for the Ingress that came first, and leaves those alone that
    come later. Source: its documentation, "Annotated Ingress resource".
    """
    owners: dict[tuple[str, str], Object] = {}
    for each in ingresses:
        namespace, entries = each["metadata"]["namespace"], each["spec"].get("tls", [])
        for claim in claims_of(each, services):
            # An entry for the host itself goes before a wildcard, and that before one without hosts.
            around = (claim.host, f"*.{claim.host.partition('.')[2]}", None)
            found = [entry["secretName"] for one in around for entry in entries if one in entry.get("hosts", [None])]
            if claim.answer and found:
                yield "TLS", claim.controller, claim.host, namespace, found[0]
        for entry in entries if ISSUER in each["metadata"].get("annotations", {}) else ():
            if owners.setdefault((namespace, entry["secretName"]), each) is each:
                yield from (("renewed", namespace, entry["secretName"], host) for host in entry.get("hosts", []))
