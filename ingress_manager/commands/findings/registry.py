"""All kinds of findings, the gravest first: this is the order of `audit`'s output and of its page."""

from collections.abc import Iterable

from ingress_manager.commands.findings import claims, services, traffic
from ingress_manager.commands.findings.evidence import Evidence
from ingress_manager.commands.findings.finding import REMEDIES, Finding, Kind, Severity

# Kinds of one severity are in the order of these modules, and of their functions.
KINDS = sorted(
    (value for module in (claims, services, traffic) for value in vars(module).values() if isinstance(value, Kind)),
    key=lambda kind: [*Severity].index(kind.severity),
)

REASONS = {reason: remedy for remedies in REMEDIES.values() for reason, remedy in remedies.items()}
"""The remedy for each reason of a refusal, in some sentences."""


def findings_of(evidence: Evidence, kinds: Iterable[Kind] = KINDS) -> list[Finding]:
    """Return the findings, by kind, namespace and name."""
    return [finding for kind in kinds for finding in kind(evidence)]
