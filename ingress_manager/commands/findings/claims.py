"""Claims: hosts and paths at an Ingress class or a listener. Two objects with the same claim compete for requests.

Sources: internal/ingress/controller/store in ingress-nginx (the order of Ingresses), and the Gateway API reference:
HTTPRouteRule (precedence of equal matches) and ParentReference (sectionName).
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from typing import NamedTuple

import msgspec

from ingress_manager.commands.findings.evidence import Evidence
from ingress_manager.commands.findings.finding import Blocks, Finding, Severity, finding
from ingress_manager.commands.plans.steps import kubectl
from ingress_manager.commands.snapshot.items import CLASS_KIND, GATEWAY, INGRESS, LISTENERSET, at, mappings
from ingress_manager.commands.snapshot.objects import Ingress, ObjectSnapshot, claim_keys, class_of
from ingress_manager.commands.snapshot.surroundings import Surroundings, addresses_of, conditions_of, gateway_of
from ingress_manager.core.effective import effective_settings
from ingress_manager.core.kubernetes import Key
from ingress_manager.core.rules import claim_key
from ingress_manager.core.syntax import EVERY_HOST
from ingress_manager.core.text import listed, quoted

CONDITIONS = re.compile(
    r".*/(canary|conditions\..*|headers(\..*)?|http-header-match.*|((exact|prefix|regex)-)?match-.*|methods"
    r"|router\.(cookie|entrypoints|header)|skipper-predicate)"
)
"""Annotations that restrict an Ingress to some requests for its paths: canary annotations, and match conditions for
AWS, Kong, haproxy-ingress, Higress, BFE, Traefik and Skipper. Source: each controller's page on annotations."""


class Claim(NamedTuple):
    """The host and path that an object claims, or a ListenerSet's host and port. Equal claims compete."""

    server: tuple[str, ...]
    """("Ingress", class), ("ListenerSet", Gateway's namespace/name) or an HTTPRoute parent's (kind, namespace/name)."""

    listener: tuple[str, str]
    """The name and port of the listener at `server`; "" matches any name or port."""

    conflict: str
    """For a ListenerSet, the message of the listener's Conflicted condition; empty if no conflict is reported."""

    host: str
    path: str
    is_exact: bool
    conditions: frozenset[tuple[str, str]] = frozenset()
    """(key, value) pairs that restrict the claim to some requests: an Ingress's annotations or an HTTPRoute's match."""

    def __str__(self) -> str:
        if not self.path:
            return f"{self.host or '*'}:{self.listener[1]}"
        return f"{self.host or '*'}{self.path} ({'Exact' if self.is_exact else 'Prefix'})"


Claimant = tuple[ObjectSnapshot, Claim]


def claims_of(obj: ObjectSnapshot) -> Iterator[Claim]:
    typed, spec = obj.typed, at(obj.item, "spec")
    if isinstance(typed, Ingress):
        server = (INGRESS, class_of(obj.item, typed.spec))
        pairs = ((key, value) for key, value in obj.item.annotations.items() if CONDITIONS.fullmatch(key))
        conditions = frozenset(pair for pair in pairs if pair[1].lower() != "false")
        yield from (Claim(server, ("", ""), "", *key, conditions) for key in claim_keys(typed.spec))
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
            rules = mappings(spec.get("rules")) or [{}]
            matches = [match for rule in rules for match in mappings(rule.get("matches")) or [{}]]
            for host, match in product(typed.hosts, matches):
                path = match.get("path") or {}
                if (path_type := path.get("type") or "PathPrefix") in {"Exact", "PathPrefix"}:
                    conditions = frozenset((key, str(value)) for key, value in match.items() if key != "path" and value)
                    yield Claim(server, listener, "", *claim_key(host, path.get("value") or "/", path_type), conditions)


@finding(
    blocks=Blocks.TRAFFIC,
    remedy="Give one object another host or path. ListenerSets can't share a host and port, whatever their paths.",
    severity=Severity.WARNING,
)
def claimed_twice(evidence: Evidence) -> Iterator[Finding]:
    """Two objects claim the same host and path, or two ListenerSets the same host and port. Only one is served."""
    return _conflicts(evidence, conditional=False)


@finding(blocks=None, remedy="Check that both objects are intended.", severity=Severity.HINT)
def shared_claim(evidence: Evidence) -> Iterator[Finding]:
    """Two objects claim the same host and path. Match conditions or a canary decide which of them gets a request."""
    return _conflicts(evidence, conditional=True)


def _conflicts(evidence: Evidence, *, conditional: bool) -> Iterator[Finding]:
    """Yield a finding for each object that competes with an older one; the finding names the oldest.

    A ListenerSet whose status reports a conflict gets a finding whatever its age. If `conditional`, both claims'
    conditions must differ; otherwise, they must be equal. Unread objects can hide a finding, but not cause one.
    """
    conflicts: dict[tuple[Key, str], tuple[ObjectSnapshot, str, list[str]]] = {}
    for claimants in _competitors(evidence):
        for number, (loser, claim) in enumerate(claimants):
            rivals = claimants if claim.conflict else claimants[:number]
            rivals = [rival for rival in rivals if (rival[1].conditions != claim.conditions) == conditional]
            rival = next((rival for rival in rivals if _compete(rival, (loser, claim))), None)
            if not (conditional and claim.conflict) and (text := _claim_text((loser, claim), rival, evidence.around)):
                claims = conflicts.setdefault((loser.key, text), (loser, claim.conflict, []))[2]
                claims += [str(claim)] if str(claim) not in claims else []
    for (_, text), (loser, conflict, claims) in conflicts.items():
        end = ", but under different conditions" if conditional else f"; the Gateway's controller reports: {conflict}"
        sentence = f"{text} {listed(claims)}{end if conditional or conflict else ''}"
        service = owner.item if (owner := evidence.snapshot.owner_of(loser)) else None
        yield Finding(loser.item, sentence, kubectl("edit", service or loser.item), service)


def _claim_text(claimant: Claimant, rival: Claimant | None, around: Surroundings) -> str:
    """Return how a finding starts, such as "Ingress team-a/shop, which is older, also claims", or "" for no finding."""
    loser, claim = claimant
    is_reported, gateway = claim.conflict and loser.looks_managed, claim.server[1]
    for entry in mappings(at(around.items[GATEWAY].get(gateway), "spec", "listeners")) if is_reported else ():
        if (entry.get("hostname") or "", str(entry.get("port"))) == (claim.host, claim.listener[1]):
            return f"listener {quoted(str(entry.get('name')))} of Gateway {gateway} also serves"
    if not rival:
        return f"another listener of Gateway {gateway} clashes with this ListenerSet at" if is_reported else ""
    age_key, since = rival[0].item.age_key[0], loser.item.age_key[0]
    age = "older" if age_key < since else "younger" if age_key > since else "equally old"
    return f"{rival[0].item}, which is {age}, also {'serves' if claim.conflict and not rival[1].conflict else 'claims'}"


@lru_cache(maxsize=1)  # claimed_twice and shared_claim both use it
def _competitors(evidence: Evidence) -> list[list[Claimant]]:
    """Group claims by server, host and path: oldest first, reported conflicts last. Omit wholly unmanaged groups."""
    classes = evidence.around.items[CLASS_KIND].items()
    controllers = {name: str(at(item, "spec", "controller") or "") for name, item in classes}
    by_key: dict[tuple[object, ...], list[Claimant]] = {}
    for obj in sorted(evidence.snapshot.objects.values(), key=lambda obj: obj.item.age_key):
        for claim in dict.fromkeys(claims_of(obj)):
            key, controller = (claim.host, claim.path, claim.is_exact), controllers.get(claim.server[1])
            # Classes with the same controller share a server. A Gateway's name has a slash, so it can't match a class.
            for server in (claim.server, *([("controller", controller)] if controller else ())):
                by_key.setdefault((server, *key), []).append((obj, claim))
    groups = (claimants for claimants in by_key.values() if any(obj.looks_managed for obj, _ in claimants))
    return [sorted(claimants, key=lambda claimant: bool(claimant[1].conflict)) for claimants in groups]


def _compete(one: Claimant, other: Claimant) -> bool:
    """Return whether claimants of the same host, path and server compete, and at least one looks managed."""
    (first, claim), (second, rival) = one, other
    listeners = zip(claim.listener, rival.listener, strict=True)
    if first is second or not (first.looks_managed or second.looks_managed):
        return False
    # An HTTPRoute that names no listener or port attaches to every listener.
    if not all(name == another or "" in {name, another} for name, another in listeners):
        return False
    # Ingresses without a common address have different load balancers.
    addresses = [{*addresses_of(obj.item)} for obj in (first, second) if obj.kind == INGRESS]
    return not (addresses and all(addresses) and addresses[0].isdisjoint(addresses[1]))


@finding(blocks=None, remedy="Change the host or class, or the limits for the namespace.", severity=Severity.WARNING)
def outside_limits(evidence: Evidence) -> Iterator[Finding]:
    """A hand-written object has a host or class that the limits for its namespace don't allow."""
    settings = evidence.snapshot.settings
    for obj in evidence.snapshot.objects.values():
        if not settings or obj.is_decorated or obj.item.is_being_deleted:
            continue
        effective, spec = effective_settings(settings, obj.item.namespace), obj.typed.spec
        # As in policies.yaml, a tls entry without hosts claims no host.
        with_hosts = msgspec.structs.replace(spec, tls=tuple(entry for entry in spec.tls or () if entry.hosts))
        claimed = msgspec.structs.replace(obj.typed, spec=with_hosts).hosts
        ends = {"host": effective.why_hosts_not_allowed([host or EVERY_HOST for host in claimed])}
        if obj.kind == INGRESS:
            ends["class"] = effective.why_not_allowed(class_of(obj.item, spec) or None, effective.limits.classes)
        if sentence := " · ".join(f"the {noun} {end}" for noun, end in ends.items() if end):
            yield Finding(obj.item, sentence, kubectl("edit", obj.item))
