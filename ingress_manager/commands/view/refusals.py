"""Refusals that don't depend on the settings: what is said of a Service where nobody knows which settings hold."""

from ingress_manager.core.decide import decide, refusal_of
from ingress_manager.core.entrances import read_entrances
from ingress_manager.core.errors import Reason, Refused
from ingress_manager.core.kubernetes import NOTHING, Service
from ingress_manager.core.policy import Limits, Policy, Profile

ALL_ALLOWED = Limits(
    hosts="any",
    classes="any",
    path_types=("Prefix", "Exact", "ImplementationSpecific"),
    copy_annotations={},
    profiles="any",
)
"""The limits by which nothing is refused. An annotation that isn't copied isn't, either."""

OPEN = {
    Reason.ANNOTATION_NOT_ALLOWED,
    Reason.DUPLICATE_ROUTE,
    Reason.NOT_IN_INGRESS,
    Reason.PROTECTION_LOST,
    Reason.TOO_LARGE,
}
"""Reasons for which the default host, the outputs, or what is copied, added or accepted decide, too."""


def refused_by_all(service: Service) -> Refused | None:
    """Return why a Service is refused whatever the settings are; None where some settings may allow it."""
    entrances = read_entrances(service.metadata.annotations or {})
    profiles = {stated.profile: Profile() for stated in entrances.values() if stated.profile is not None}
    refused = refusal_of(decide(service, NOTHING, Policy(limits=ALL_ALLOWED, profiles=profiles)))
    problems = [each for each in refused.problems if each.reason not in OPEN] if refused else []
    return Refused(refused.status, problems, more=refused.more) if refused and problems else None
