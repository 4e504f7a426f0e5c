"""A reference matcher: given all Ingresses, it returns the Service that serves a host and path.

It follows the Kubernetes API reference (Ingress v1). An exact host precedes a wildcard, which precedes no host; an
Exact path precedes prefixes, and longer prefixes come first; then the oldest object wins. A path of the type
ImplementationSpecific is a prefix. A missing Service or port serves nothing.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

from devcluster.api import Object
from devcluster.standin.children import name_of
from ingress_manager.core.vocabulary import is_for_controllers

Facts = dict[tuple[str, ...], frozenset[Any]]
"""Facts about a cluster: the answers to requests, and existing certificates. A plan must not lose any."""

ISSUER = "cert-manager.io/cluster-issuer"


class Claim(NamedTuple):
    """A path of an Ingress, and its answer: the Service with its port, and the terms of access, such as a password."""

    controller: str
    host: str
    path: str
    kind: str
    answer: frozenset[Any]

    @property
    def prefix(self) -> str:
        return f"{self.path.rstrip('/')}/"


def facts(objects: Iterable[Object], requests: Iterable[tuple[str, ...]]) -> Facts:
    """Return the answer to each request, the certificates of each host, and which ones are renewed."""
    services = {name_of(obj): obj for obj in objects if obj["kind"] == "Service"}
    ingresses = [obj for obj in objects if obj["kind"] == "Ingress"]
    ingresses.sort(key=lambda obj: (obj["metadata"]["creationTimestamp"], name_of(obj)))
    claims = [claim for ingress in ingresses for claim in claims_of(ingress, services)]
    answers = {request: answer(request, claims) for request in requests}
    return answers | dict.fromkeys(certificates(ingresses, services), frozenset())


def requests_for(objects: Iterable[Object]) -> list[tuple[str, str, str]]:
    """Return requests (controller, host, path) for all claims, and for other hosts and paths beside and below them."""
    claims = [claim for obj in objects for claim in claims_of(obj, {})]
    hosts = {"nobody.example.net", *(claim.host.replace("*.", "any.") or "other.example.net" for claim in claims)}
    below = {path for claim in claims for path in (claim.path.rstrip("/") or "/", f"{claim.path.rstrip('/')}/below")}
    paths = {"/", "/below", "/cartoon", *(claim.path for claim in claims), *below}
    return list(product(sorted({claim.controller for claim in claims}), sorted(hosts), sorted(paths)))


def claims_of(ingress: Object, services: dict[str, Object]) -> Iterator[Claim]:
    metadata, spec = ingress["metadata"], ingress["spec"]
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
    """Return the answer to a request. Only paths of the best matching host are considered, as in nginx."""
    controller, host, path = request
    below = f"{path.rstrip('/')}/"
    for named in (host, f"*.{host.partition('.')[2]}", ""):
        if matching := [claim for claim in claims if (claim.controller, claim.host) == (controller, named)]:
            exact = [claim for claim in matching if claim.path == path and claim.kind == "Exact"]
            prefixes = [claim for claim in matching if claim.kind != "Exact" and below.startswith(claim.prefix)]
            fitting = [*exact, *sorted(prefixes, key=lambda claim: -len(claim.prefix))]
            return fitting[0].answer if fitting else frozenset()
    return frozenset()


def certificates(ingresses: Iterable[Object], services: dict[str, Object]) -> Iterator[tuple[str, ...]]:
    """Yield each served host that has TLS, with its Secret, and each Secret that is renewed.

    cert-manager creates one Certificate for a Secret's name, for the oldest Ingress, and ignores later ones. Source:
    its documentation, "Annotated Ingress resource".
    """
    owners: dict[tuple[str, str], Object] = {}
    for ingress in ingresses:
        namespace, entries = ingress["metadata"]["namespace"], ingress["spec"].get("tls", [])
        for claim in claims_of(ingress, services):
            # An entry for the host itself precedes a wildcard, which precedes an entry without hosts.
            around = (claim.host, f"*.{claim.host.partition('.')[2]}", None)
            secrets = [entry["secretName"] for one in around for entry in entries if one in entry.get("hosts", [None])]
            if claim.answer and secrets:
                yield "TLS", claim.controller, claim.host, namespace, secrets[0]
        for entry in entries if ISSUER in ingress["metadata"].get("annotations", {}) else ():
            if owners.setdefault((namespace, entry["secretName"]), ingress) is ingress:
                yield from (("renewed", namespace, entry["secretName"], host) for host in entry.get("hosts", []))
