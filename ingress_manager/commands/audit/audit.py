"""`audit`: what of a cluster needs a person, and the command that fixes it. The pure part.

Each Service is decided on as the hook would, and what stands is compared with that as Metacontroller would. So what is
found is what these two would do, or can't do. What was read is one look: a change that is a second old can be in it.

Why Metacontroller hasn't done something is in its Events: it reports each failed attempt as one of the Service, in the
API server's words or with the hook's, and tries again after 1,000 s at most.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from ingress_manager.commands.audit.kinds import KINDS
from ingress_manager.commands.audit.seen import SYNC_ALL, Finding, Seen
from ingress_manager.commands.plans.steps import kubectl
from ingress_manager.commands.reading.manifests import Item
from ingress_manager.commands.view.events import Report
from ingress_manager.commands.view.look import SETTINGS, Unknown, View
from ingress_manager.commands.view.surroundings import Surroundings
from ingress_manager.core.policy import Policy


class Looked(NamedTuple):
    """What one look has seen."""

    view: View
    around: Surroundings
    findings: list[Finding]
    events: Sequence[Item]
    """What Metacontroller has reported of Services, as far as a finding needs it."""

    unseen: list[str]
    """What could not be looked at, a sentence each."""

    is_blind: bool
    """Whether that is something on which most rests: objects, Events or the settings."""


def audit_of(
    view: View, policy: Policy | Unknown, around: Surroundings, kinds: Collection[str] = KINDS.keys()
) -> list[Finding]:
    """Return what needs a person in a view in which nothing is paused, by kind and then by namespace and name.

    `policy` says what is paused: what a pause holds back, somebody has to know. Nothing is found for want of what could
    not be looked at.
    """
    seen = Seen(view, policy, around)
    has_settings = SETTINGS not in view.unseen()
    return [
        each._replace(kind=kind, severity=row.severity)
        for kind, row in KINDS.items()
        if kind in kinds and (has_settings or not row.by_settings)
        for each in sorted(row.find(seen), key=lambda each: (each.item.full_name, str(each.item)))
    ]


def is_unexplained(finding: Finding) -> bool:
    """Return whether something was found that Events may explain."""
    return finding.command == SYNC_ALL


def with_reasons(findings: Iterable[Finding], reports: Mapping[str, Report] | None) -> list[Finding]:
    """Return the findings, with what is in the way by the Services' reports; None: these could not be looked at."""
    return [_with_reason(each, reports) if is_unexplained(each) else each for each in findings]


def _with_reason(finding: Finding, reports: Mapping[str, Report] | None) -> Finding:
    service = finding.service or finding.item
    report = (reports or {}).get(str(service.metadata.get("uid") or ""))
    if report is None and reports is not None:
        return finding._replace(sentence=f"{finding.sentence}, and no Event of its Service says why")
    said = f"; Metacontroller said at {report.time}: {report.sentence.removeprefix('Sync error: ')}" if report else ""
    return finding._replace(sentence=finding.sentence + said, command=kubectl("describe", service))
