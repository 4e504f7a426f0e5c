"""What Services ask for: finders of what is wrong with their annotations, or does nothing."""

from ingress_manager.commands.audit import remedies
from ingress_manager.commands.audit.seen import Finding, Found, Seen
from ingress_manager.commands.plans.steps import kubectl
from ingress_manager.commands.view.objects import is_being_deleted
from ingress_manager.core.copying import keys_not_copied
from ingress_manager.core.entrances import no_effect, without_http
from ingress_manager.core.policy import Policy
from ingress_manager.core.text import listed
from ingress_manager.core.vocabulary import is_read_from_services, protects


def refused(seen: Seen) -> Found:
    for service in seen.exposed:
        if service.refused and not is_being_deleted(service.item):
            command = remedies.correct(service.item, service.refused)
            reasons = list(dict.fromkeys(problem.reason for problem in service.refused.problems))
            yield Finding(service.item, service.refused.line(), command, reasons)


def not_copied(seen: Seen) -> Found:
    for service in seen.accepted if isinstance(seen.view.policy, Policy) else ():
        ours: dict[str, str] = {}
        anew = seen.view.anew(service)
        for each in anew.values():
            ours |= each["metadata"].get("annotations", {})
        keys = keys_not_copied(service.item.annotations, ours) if anew else ()
        # One that protects may be lost, say the settings: else the Service would be refused.
        if left := [key for key in keys if not (is_read_from_services(key) or protects(key))]:
            sentence = f"{listed(left)} {'is' if len(left) == 1 else 'are'} not copied"
            yield Finding(service.item, sentence, remedies.annotate(service.item, [f"{key}-" for key in left]))


def no_http(seen: Seen) -> Found:
    for service in seen.view.services.values():
        if keys := without_http(service.item.annotations):
            yield Finding(service.item, no_effect(keys), kubectl("edit", service.item))
