"""A reference matcher: which Service answers for a host and a path, by all Ingresses and HTTPRoutes that stand.

It is written from the Kubernetes API reference (Ingress v1) and the Gateway API reference (HTTPRoute v1). The host
itself goes before a wildcard, and that before none; an Exact path before a prefix, and the longest first; then the
oldest object. A path of the type ImplementationSpecific is a prefix. Default backends come last. A Service or a port
that isn't there answers nothing.
"""

from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any, NamedTuple

from devcluster.sync_requests import Object
from ingress_manager.core.copying import OLD_CLASS, is_for_controllers


class Probe(NamedTuple):
    """A request: to the controller of a class, or to a Gateway."""

    controller: str
    host: str
    path: str


class Answer(NamedTuple):
    """What answers a request, and on which terms."""

    backend: str
    """The Service and the number of its port, or what an HTTPRoute does in its place."""

    terms: frozenset[tuple[str, str]]
    """The annotations by which the controller treats the request, such as those that ask for a password."""


class Claim(NamedTuple):
    """One path of an object."""

    controller: str
    host: str
    path: str
    is_exact: bool
    is_default: bool
    age: tuple[str, str]
    answer: Answer | None


Facts = dict[Any, frozenset[Any]]
"""What holds of each request, host and Secret. A plan may add to it, and takes nothing away."""


def facts(objects: Iterable[Object], probes: Iterable[Probe], *, host_first: bool = False) -> Facts:
    """Return what is served: the answer for each probe, the certificates of each host, and who renews them."""
    standing = list(objects)
    services = {name_of(each): each for each in standing if each["kind"] == "Service"}
    claims = [claim for each in standing for claim in claims_of(each, services)]
    # sorted is stable: the oldest of those that fit equally well stays the first.
    ordered = sorted(claims, key=lambda claim: claim.age)
    by_controller: dict[str, list[Claim]] = {}
    for claim in ordered:
        by_controller.setdefault(claim.controller, []).append(claim)
    found: Facts = {}
    for probe in probes:
        answer = answer_of(probe, by_controller.get(probe.controller, ()), host_first=host_first)
        found[probe] = frozenset({answer.backend} | answer.terms) if answer else frozenset()
    for key, value in (*certificates(standing, services), *renewals(standing)):
        found[key] = found.get(key, frozenset()) | {value}
    return found


def lost(before: Facts, after: Facts) -> list[str]:
    """Return a line for each fact that holds no more."""
    return [
        f"{' '.join(map(str, key))}: {sorted(map(str, was))} became {sorted(map(str, after.get(key, ())))}"
        for key, was in before.items()
        if not was <= after.get(key, frozenset())
    ]


def probes_of(objects: Iterable[Object]) -> list[Probe]:
    """Return requests for all hosts and paths that objects name, and for some beside and below them."""
    standing = list(objects)
    hosts = {"nobody.example.net"}
    paths = {"/", "/below", "/cartoon"}
    for each in standing:
        for host, path in named(each):
            hosts.add(host.replace("*.", "any.") or "other.example.net")
            paths |= {path or "/", f"{path.rstrip('/')}/below", path.rstrip("/") or "/"}
    controllers = {controller for each in standing for controller in controllers_of(each)}
    return [Probe(*each) for each in product(sorted(controllers), sorted(hosts), sorted(paths))]


def name_of(each: Object) -> tuple[str, str]:
    """Return the namespace and the name of an object."""
    return each["metadata"].get("namespace", ""), each["metadata"]["name"]


def annotations_of(each: Object) -> dict[str, str]:
    """Return the annotations of an object."""
    found: dict[str, str] = each["metadata"].get("annotations") or {}
    return found


def controllers_of(each: Object) -> list[str]:
    """Return who serves an object: the class of an Ingress, or the listeners of an HTTPRoute."""
    if each["kind"] == "Ingress":
        return [each["spec"].get("ingressClassName") or annotations_of(each).get(OLD_CLASS, "")]
    if each["kind"] == "HTTPRoute":
        return [f"{ref['name']}/{ref.get('sectionName', '')}" for ref in each["spec"].get("parentRefs", [])]
    return []


def named(each: Object) -> Iterator[tuple[str, str]]:
    """Yield the hosts and paths that an object names."""
    if each["kind"] == "Ingress":
        for rule in each["spec"].get("rules") or []:
            for path in (rule.get("http") or {}).get("paths", []):
                yield rule.get("host", ""), path.get("path", "")
        for entry in each["spec"].get("tls") or []:
            yield from ((host, "") for host in entry.get("hosts") or [])
    elif each["kind"] == "HTTPRoute":
        for host in each["spec"].get("hostnames") or [""]:
            for rule in each["spec"].get("rules") or []:
                yield from ((host, match["path"]["value"]) for match in rule.get("matches", []))


def claims_of(each: Object, services: dict[tuple[str, str], Object]) -> Iterator[Claim]:
    """Yield each path of an object, the default backend, too."""
    metadata, spec = each["metadata"], each.get("spec", {})
    age = (metadata.get("creationTimestamp", ""), "/".join(name_of(each)))
    if each["kind"] == "Ingress":
        [controller] = controllers_of(each)
        terms = frozenset(
            (key, value)
            for key, value in annotations_of(each).items()
            if is_for_controllers(key) and key not in {OLD_CLASS, *RENEWERS}
        )

        def answer(backend: Object) -> Answer | None:
            if (port := port_of(backend, metadata["namespace"], services)) is None:
                return None
            return Answer(f"{metadata['namespace']}/{backend['service']['name']}:{port}", terms)

        for rule in spec.get("rules") or []:
            for path in (rule.get("http") or {}).get("paths", []):
                is_exact = path.get("pathType") == "Exact"
                where = rule.get("host", ""), path.get("path") or "/"
                yield Claim(controller, *where, is_exact, is_default=False, age=age, answer=answer(path["backend"]))
        if backend := spec.get("defaultBackend"):
            yield Claim(controller, "", "/", is_exact=False, is_default=True, age=age, answer=answer(backend))
    elif each["kind"] == "HTTPRoute":
        for controller in controllers_of(each):
            yield from claims_at(controller, each, age)


def claims_at(controller: str, route: Object, age: tuple[str, str]) -> Iterator[Claim]:
    """Yield each path of an HTTPRoute, at one listener."""
    for rule in route["spec"].get("rules") or []:
        namespace = route["metadata"]["namespace"]
        leads = [f"{namespace}/{ref['name']}:{ref['port']}" for ref in rule.get("backendRefs", [])]
        told = frozenset({("filters", str(rule.get("filters"))), ("timeouts", str(rule.get("timeouts")))})
        for host in route["spec"].get("hostnames") or [""]:
            for match in rule.get("matches", [{"path": {"type": "PathPrefix", "value": "/"}}]):
                is_exact = match["path"]["type"] == "Exact"
                where = host, match["path"]["value"]
                result = Answer(" ".join(leads), told)
                yield Claim(controller, *where, is_exact, is_default=False, age=age, answer=result)


def port_of(backend: Object, namespace: str, services: dict[tuple[str, str], Object]) -> int | None:
    """Return the number of the port that a backend names, None if there is no such port, or no such Service."""
    service = services.get((namespace, backend["service"]["name"])) if "service" in backend else None
    asked = set(backend.get("service", {}).get("port", {}).values())
    ports = service["spec"].get("ports", []) if service else []
    return next((port["port"] for port in ports if asked & {port["port"], port.get("name")}), None)


def answer_of(probe: Probe, claims: Iterable[Claim], *, host_first: bool) -> Answer | None:
    """Return what answers a request."""
    rank = {probe.host: 3, f"*.{probe.host.partition('.')[2]}": 2, "": 1}
    of_host = [claim for claim in claims if claim.host in rank]
    best = max((rank[claim.host] for claim in of_host), default=0)

    def order(claim: Claim) -> tuple[bool, int, bool, int]:
        return not claim.is_default, rank[claim.host], claim.is_exact, len(claim.path.rstrip("/"))

    fitting = [
        claim
        for claim in of_host
        if fits(claim, probe.path) and (claim.is_default or not host_first or rank[claim.host] == best)
    ]
    return max(fitting, key=order).answer if fitting else None


def fits(claim: Claim, path: str) -> bool:
    """Return whether a path is that of a claim, or below it, element by element."""
    if claim.is_exact:
        return path == claim.path
    return f"{path.rstrip('/')}/".startswith(f"{claim.path.rstrip('/')}/")


RENEWERS = ("cert-manager.io/cluster-issuer", "cert-manager.io/issuer")


def certificates(
    standing: Iterable[Object], services: dict[tuple[str, str], Object]
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield each host that has TLS, and the Secret, of those Ingresses that lead to anything."""
    for each in standing:
        leads = any(claim.answer for claim in claims_of(each, services)) if each["kind"] == "Ingress" else False
        for entry in each["spec"].get("tls") or [] if leads else []:
            [controller] = controllers_of(each)
            # An entry without hosts is for all hosts of the Ingress.
            hosts = entry.get("hosts") or sorted({host for host, _ in named(each)} | {""})
            secret = f"{each['metadata']['namespace']}/{entry['secretName']}" if "secretName" in entry else "its own"
            for host in hosts:
                yield ("TLS of", controller, host), secret


def renewals(standing: Iterable[Object]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield each Secret that cert-manager renews, and a host that is in its certificate.

    cert-manager makes one Certificate of a Secret's name, for the Ingress that came first, and leaves those alone that
    come later. Source: its documentation, "Annotated Ingress resource".
    """
    owners: dict[tuple[str, str], Object] = {}
    for each in sorted(standing, key=lambda each: str(each["metadata"].get("creationTimestamp", ""))):
        issuers = [key for key in RENEWERS if key in annotations_of(each)] if each["kind"] == "Ingress" else []
        for entry in each["spec"].get("tls") or [] if issuers else []:
            secret = entry.get("secretName")
            owner = owners.setdefault((each["metadata"]["namespace"], secret or ""), each)
            for host in entry.get("hosts") or [] if secret and owner is each else []:
                yield ("renewed by", annotations_of(each)[issuers[0]], each["metadata"]["namespace"], secret), host
