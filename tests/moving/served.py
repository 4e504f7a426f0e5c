"""A reference matcher: which Service answers for a host and a path, by all Ingresses that stand.

It is written from the Kubernetes API reference (Ingress v1). The host itself goes before a wildcard, and that before
none; an Exact path before a prefix, and the longest first; then the oldest object. A path of the type
ImplementationSpecific is a prefix. Default backends come last. A Service or a port that isn't there answers nothing.
"""

from collections.abc import Iterable, Iterator
from itertools import islice, product
from typing import Any, NamedTuple

from ingress_manager.core.copying import OLD_CLASS, is_for_controllers

Object = dict[str, Any]
Facts = dict[tuple[str, ...], frozenset[Any]]
"""What holds of each request, host and Secret. A plan may add to it, and takes nothing away."""

RENEWERS = ("cert-manager.io/cluster-issuer", "cert-manager.io/issuer")


class Claim(NamedTuple):
    """One path of an Ingress, and what answers it: the Service with its port, and the terms, such as a password."""

    controller: str
    host: str
    path: str
    is_exact: bool
    is_default: bool
    answer: frozenset[Any]

    def fits(self, path: str) -> bool:
        """Return whether a path is that of the claim, or below it, element by element."""
        if self.is_exact:
            return path == self.path
        return f"{path.rstrip('/')}/".startswith(f"{self.path.rstrip('/')}/")


def facts(objects: Iterable[Object], requests: Iterable[tuple[str, ...]], *, host_first: bool) -> Facts:
    """Return what is served: what answers each request, the certificates of each host, and who renews them."""
    services = {name_of(each): each for each in objects if each["kind"] == "Service"}
    ingresses = sorted(of(objects), key=lambda each: (each["metadata"]["creationTimestamp"], name_of(each)))
    claims = [claim for each in ingresses for claim in claims_of(each, services)]
    found = {request: answer(request, claims, host_first=host_first) for request in requests}
    for key, value in certificates(ingresses, services):
        found[key] = found.get(key, frozenset()) | {value}
    return found


def lost(before: Facts, after: Facts) -> list[str]:
    """Return a line for each fact that holds no more."""
    return [
        f"{key}: {sorted(map(str, was))} became {sorted(map(str, after.get(key, ())))}"
        for key, was in before.items()
        if not was <= after.get(key, frozenset())
    ]


def requests_for(objects: Iterable[Object]) -> list[tuple[str, str, str]]:
    """Return requests, each a controller, a host and a path: for all that is named, and for some beside and below."""
    hosts, paths, controllers = {"nobody.example.net"}, {"/", "/below", "/cartoon"}, set()
    for each in of(objects):
        controllers.add(controller_of(each))
        hosts |= {host.replace("*.", "any.") or "other.example.net" for host in hosts_of(each)}
        for _, path in paths_of(each):
            whole = path.get("path", "/").rstrip("/")
            paths |= {path.get("path", "/"), whole or "/", f"{whole}/below"}
    return list(product(sorted(controllers), sorted(hosts), sorted(paths)))


def of(objects: Iterable[Object]) -> list[Object]:
    """Return the Ingresses among objects."""
    return [each for each in objects if each["kind"] == "Ingress"]


def name_of(each: Object) -> tuple[str, str]:
    """Return the namespace and the name of an object."""
    return each["metadata"]["namespace"], each["metadata"]["name"]


def controller_of(each: Object) -> str:
    """Return who serves an Ingress: its class."""
    annotations = each["metadata"].get("annotations", {})
    return str(each["spec"].get("ingressClassName") or annotations.get(OLD_CLASS, ""))


def paths_of(each: Object) -> list[tuple[str, Object]]:
    """Return the host and the whole of each path."""
    rules = each["spec"].get("rules", [])
    return [(rule.get("host", ""), path) for rule in rules for path in rule["http"]["paths"]]


def hosts_of(each: Object) -> set[str]:
    """Return the hosts of the rules and of TLS."""
    entries = each["spec"].get("tls", [])
    return {host for host, _ in paths_of(each)} | {host for entry in entries for host in entry.get("hosts", [])}


def claims_of(each: Object, services: dict[tuple[str, str], Object]) -> Iterator[Claim]:
    """Yield each path of an Ingress, the default backend, too."""
    controller, metadata = controller_of(each), each["metadata"]
    kept = {key: value for key, value in metadata.get("annotations", {}).items() if is_for_controllers(key)}
    terms = {(key, value) for key, value in kept.items() if key not in {OLD_CLASS, *RENEWERS}}

    def leads(backend: Object) -> frozenset[Any]:
        service = services.get((metadata["namespace"], backend["service"]["name"]))
        asked = {*backend["service"]["port"].values()}
        for port in service["spec"].get("ports", []) if service else []:
            if asked & {port["port"], port.get("name")}:
                return frozenset({f"{metadata['namespace']}/{backend['service']['name']}:{port['port']}", *terms})
        return frozenset()

    for host, path in paths_of(each):
        is_exact = path["pathType"] == "Exact"
        answer = leads(path["backend"])
        yield Claim(controller, host, path.get("path", "/"), is_exact, is_default=False, answer=answer)
    if backend := each["spec"].get("defaultBackend"):
        yield Claim(controller, "", "/", is_exact=False, is_default=True, answer=leads(backend))


def answer(request: tuple[str, ...], claims: Iterable[Claim], *, host_first: bool) -> frozenset[Any]:
    """Return what answers a request.

    With `host_first`, a controller looks for the path only under the host that fits best, as nginx does.
    """
    controller, host, path = request
    rank = {host: 3, f"*.{host.partition('.')[2]}": 2, "": 1}
    of_host = [claim for claim in claims if claim.controller == controller and claim.host in rank]
    best = max((rank[claim.host] for claim in of_host), default=0)
    fitting = [
        claim
        for claim in of_host
        if claim.fits(path) and (claim.is_default or not host_first or rank[claim.host] == best)
    ]

    def order(claim: Claim) -> tuple[bool, int, bool, int]:
        return not claim.is_default, rank[claim.host], claim.is_exact, len(claim.path.rstrip("/"))

    return max(fitting, key=order).answer if fitting else frozenset()


def certificates(
    ingresses: list[Object], services: dict[tuple[str, str], Object]
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield each host that has TLS with its Secret, of what leads anywhere, and each Secret that is renewed.

    cert-manager makes one Certificate of a Secret's name, for the Ingress that came first, and leaves those alone that
    come later. Source: its documentation, "Annotated Ingress resource".
    """
    owners: dict[tuple[str, str], Object] = {}
    for each in ingresses:
        namespace, annotations = each["metadata"]["namespace"], each["metadata"].get("annotations", {})
        issuer = next((annotations[key] for key in RENEWERS if key in annotations), None)
        claims = list(claims_of(each, services))
        entries = each["spec"].get("tls", [])
        for host in {claim.host for claim in claims} if any(claim.answer for claim in claims) else ():
            # An entry for the host itself goes before a wildcard, and that before one without hosts.
            around = (host, f"*.{host.partition('.')[2]}", None)
            fitting = (entry for one in around for entry in entries if one in entry.get("hosts", [None]))
            for entry in islice(fitting, 1):
                yield ("TLS of", controller_of(each), host), f"{namespace}/{entry.get('secretName', '')}"
        for entry in entries:
            secret = entry.get("secretName", "")
            if issuer and secret and owners.setdefault((namespace, secret), each) is each:
                yield from ((("renewed by", issuer, namespace, secret), host) for host in entry.get("hosts", []))
