"""All kinds of findings, the most serious ones first. The output of `audit` and the docs have the same order."""

from collections.abc import Iterable

from ingress_manager.commands.findings import claims, services, traffic
from ingress_manager.commands.findings.evidence import Evidence
from ingress_manager.commands.findings.finding import REMEDIES, Finding, Kind, Severity

# Kinds of equal severity stay in the order of these modules, and of the functions in each.
KINDS = sorted(
    (value for module in (claims, services, traffic) for value in vars(module).values() if isinstance(value, Kind)),
    key=lambda kind: [*Severity].index(kind.severity),
)

REASONS = {reason: remedy for remedies in REMEDIES.values() for reason, remedy in remedies.items()}


def findings_of(evidence: Evidence, kinds: Iterable[Kind] = KINDS) -> list[Finding]:
    return [finding for kind in kinds for finding in kind(evidence)]
