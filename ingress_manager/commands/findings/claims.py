"""Claims: a host and path at a class or listener. Two objects with the same claim compete for its requests.

Sources: ingress-nginx, internal/ingress/controller/store (the order of Ingresses); the Gateway API reference,
HTTPRouteRule (which of two equal matches wins), ParentReference (sectionName) and ListenerEntryStatus (conflicts).
"""

import re
from collections.abc import Iterator, Mapping
from itertools import product
from typing import NamedTuple

import msgspec

from ingress_manager.commands.findings.evidence import Evidence
from ingress_manager.commands.findings.finding import Blocks, Finding, Severity, finding
from ingress_manager.commands.plans.steps import kubectl
from ingress_manager.commands.snapshot.items import CLASS_KIND, GATEWAY, INGRESS, LISTENERSET, at, mappings
from ingress_manager.commands.snapshot.objects import Ingress, ObjectSnapshot, class_of, places_of
from ingress_manager.commands.snapshot.surroundings import Surroundings, addresses_of, conditions_of, gateway_of
from ingress_manager.core.effective import effective_settings
from ingress_manager.core.kubernetes import Key, Object
from ingress_manager.core.rules import location
from ingress_manager.core.syntax import EVERY_HOST
from ingress_manager.core.text import listed

CONDITIONS = re.compile(
    r".*/(conditions\..*|headers(\..*)?|http-header-match.*|((exact|prefix|regex)-)?match-.*|methods"
    r"|router\.(cookie|entrypoints|header)|skipper-predicate)"
)
"""Annotations by which an Ingress takes only some requests for its paths: of AWS, Kong, haproxy-ingress, Higress, BFE,
Traefik and Skipper. Source: each controller's page on annotations."""


class Claim(NamedTuple):
    """A host and a path, or of a ListenerSet a host and a port. Two equal claims get the same requests."""

    server: tuple[str, ...]
    """The kind and the name of what takes the requests: a class, a Gateway or a ListenerSet."""

    listener: tuple[str, str]
    """Its listener's name and port; each is empty for all."""

    conflict: str
    """The message of its listener's condition Conflicted, if a ListenerSet's controller reports one."""

    host: str
    path: str
    is_exact: bool
    conditions: frozenset[tuple[str, str]] = frozenset()
    """Annotations of an Ingress. A match of an HTTPRoute with further conditions is no claim at all."""

    def __str__(self) -> str:
        if not self.path:
            return f"{self.host or '*'}:{self.listener[1]}"
        return f"{self.host or '*'}{self.path} ({'Exact' if self.is_exact else 'Prefix'})"


Claimant = tuple[ObjectSnapshot, Claim]


def claims_of(obj: ObjectSnapshot) -> Iterator[Claim]:
    typed, spec = obj.typed, at(obj.item, "spec")
    if isinstance(typed, Ingress):
        server = (INGRESS, class_of(obj.item, typed.spec))
        conditions = frozenset(pair for pair in obj.item.annotations.items() if CONDITIONS.fullmatch(pair[0]))
        yield from (Claim(server, ("", ""), "", *place, conditions) for place in places_of(typed.spec))
    elif obj.kind == LISTENERSET:
        for parent, entry in product(typed.parents, mappings(spec.get("listeners"))):
            server, listener = (LISTENERSET, gateway_of(obj.item, parent)), ("", str(entry.get("port") or 0))
            reported = conditions_of(obj.item, msgspec.structs.replace(parent, section_name=entry.get("name")))
            conflict = next((one.message for one in reported if (one.type, one.status) == ("Conflicted", "True")), "")
            yield Claim(server, listener, conflict, entry.get("hostname") or "", "", is_exact=False)
    else:
        for parent, ref in zip(typed.spec.parent_refs or (), mappings(spec.get("parentRefs")), strict=True):
            server = (parent.kind or GATEWAY, gateway_of(obj.item, parent))
            listener = (parent.section_name or "", str(ref.get("port") or ""))
            for host, (path, path_type) in product(typed.hosts, _unconditional_paths(spec)):
                if path_type in {"Exact", "PathPrefix"}:
                    yield Claim(server, listener, "", *location(host, path, path_type))


def _unconditional_paths(spec: Object) -> list[tuple[str, str]]:
    """Return each path of an HTTPRoute and its type. Matches with further conditions may share their path."""
    matches = [one for rule in mappings(spec.get("rules")) or [{}] for one in mappings(rule.get("matches")) or [{}]]
    paths = [one.get("path") or {} for one in matches if not any(map(one.get, ("headers", "queryParams", "method")))]
    return [(path.get("value") or "/", path.get("type") or "PathPrefix") for path in paths]


@finding(
    blocks=Blocks.TRAFFIC,
    remedy="Give one of them another host or path; a host has one ListenerSet, whatever its paths.",
    severity=Severity.WARNING,
)
def claimed_twice(evidence: Evidence) -> Iterator[Finding]:
    """Two objects claim one host and path, or two ListenerSets one host and port. One gets no requests.

    The finding is about the younger one, with the oldest that competes with it; about a ListenerSet, whatever its age,
    if its controller reports the conflict. If only some objects are known, there are fewer such pairs, and no others.
    """
    conflicts: dict[tuple[Key, str], tuple[ObjectSnapshot, str, list[str]]] = {}
    for claimants in _competitors(evidence):
        claimants.sort(key=lambda claimant: bool(claimant[1].conflict))  # the served one first
        for number, (loser, claim) in enumerate(claimants):
            rivals = claimants if claim.conflict else claimants[:number]
            rivals = [rival for rival in rivals if rival[0].looks_managed or loser.looks_managed]
            rival = next((rival for rival in rivals if _compete(rival, (loser, claim))), None)
            if whose := _whose((loser, claim), rival, evidence.around):
                claims = conflicts.setdefault((loser.key, whose), (loser, claim.conflict, []))[2]
                claims += [str(claim)] if str(claim) not in claims else []
    for (_, whose), (loser, conflict, claims) in conflicts.items():
        sentence = f"{whose} {listed(claims)}" + (f"; the Gateway's controller reports: {conflict}" if conflict else "")
        owner = evidence.snapshot.owner_of(loser)
        service = owner.item if owner else None
        yield Finding(loser.item, sentence, kubectl("edit", service or loser.item), service)


def _whose(claimant: Claimant, rival: Claimant | None, around: Surroundings) -> str:
    """Return what competes with a claim, and a verb; empty if nothing is known to compete."""
    loser, claim = claimant
    is_reported, gateway = claim.conflict and loser.looks_managed, claim.server[1]
    for entry in mappings(at(around.items[GATEWAY].get(gateway), "spec", "listeners")) if is_reported else ():
        if (entry.get("hostname") or "", str(entry.get("port"))) == (claim.host, claim.listener[1]):
            return f"the listener {entry.get('name')} of Gateway {gateway} has"
    if not rival:
        return f"a listener of Gateway {gateway} conflicts with" if is_reported else ""
    born, since = rival[0].item.born[0], loser.item.born[0]
    age = "older" if born < since else "younger" if born > since else "as old"
    return f"{rival[0].item} is {age}, and {'has' if claim.conflict and not rival[1].conflict else 'claims'}"


def _competitors(evidence: Evidence) -> Iterator[list[Claimant]]:
    """Yield the claimants of each place at a server, the oldest first, if one of them is ours.

    Classes share a server if they have the same controller; a class of unknown controller stands alone.
    """
    classes = evidence.around.items[CLASS_KIND].items()
    controllers = {name: str(at(item, "spec", "controller") or "") for name, item in classes}
    by_place: dict[tuple[object, ...], list[Claimant]] = {}
    for obj in sorted(evidence.snapshot.objects.values(), key=lambda obj: obj.item.born):
        for claim in dict.fromkeys(claims_of(obj)):
            for server in _servers_of(obj, claim, controllers):
                by_place.setdefault((server, *claim[3:]), []).append((obj, claim))
    yield from (claimants for claimants in by_place.values() if any(obj.looks_managed for obj, _ in claimants))


def _servers_of(obj: ObjectSnapshot, claim: Claim, controllers: Mapping[str, str]) -> list[tuple[str, ...]]:
    """Return what takes the requests of a claim: a class and its controller, or a Gateway."""
    if obj.kind != INGRESS:
        return [claim.server]
    if any(key.endswith("/canary") and value.lower() == "true" for key, value in obj.item.annotations.items()):
        return []  # a canary has to claim what another Ingress claims
    controller = controllers.get(claim.server[1])
    return [claim.server, *([("controller", controller)] if controller else [])]


def _compete(one: Claimant, other: Claimant) -> bool:
    """Return whether only one of two claimants of a place at one server gets its requests.

    An HTTPRoute without a listener's name or port attaches to all. Two Ingresses without a common address have two load
    balancers.
    """
    (first, claim), (second, rival) = one, other
    listeners = zip(claim.listener, rival.listener, strict=True)
    if first is second or not all(name == another or "" in {name, another} for name, another in listeners):
        return False
    addresses = [{*addresses_of(obj.item)} for obj in (first, second) if obj.kind == INGRESS]
    return not (addresses and all(addresses) and addresses[0].isdisjoint(addresses[1]))


@finding(blocks=None, remedy="Change the object, or allow it in its namespace's limits.", severity=Severity.WARNING)
def outside_limits(evidence: Evidence) -> Iterator[Finding]:
    """A hand-written object has a host or class that its namespace's limits don't allow."""
    settings = evidence.snapshot.settings
    for obj in evidence.snapshot.objects.values():
        if not settings or obj.is_decorated or obj.item.is_being_deleted:
            continue
        effective, spec = effective_settings(settings, obj.item.namespace), obj.typed.spec
        # As in policies.yaml: an entry of tls without hosts claims none.
        with_hosts = msgspec.structs.replace(spec, tls=tuple(entry for entry in spec.tls or () if entry.hosts))
        claimed = msgspec.structs.replace(obj.typed, spec=with_hosts).hosts
        ends = {"host": effective.hosts_not_allowed([host or EVERY_HOST for host in claimed])}
        if obj.kind == INGRESS:
            ends["class"] = effective.not_allowed(class_of(obj.item, spec) or None, effective.limits.classes)
        if sentence := "; ".join(f"its {noun} {end}" for noun, end in ends.items() if end):
            yield Finding(obj.item, sentence, kubectl("edit", obj.item))
