"""What Services ask for: finders of what is wrong with their annotations, or does nothing."""

from ingress_manager.commands.audit import remedies
from ingress_manager.commands.audit.seen import Finding, Found, Seen, is_held
from ingress_manager.commands.plans.steps import kubectl
from ingress_manager.commands.view.look import ServiceView
from ingress_manager.core.copying import keys_not_copied
from ingress_manager.core.entrances import no_effect, without_http
from ingress_manager.core.namespace_policy import in_namespace
from ingress_manager.core.policy import Policy
from ingress_manager.core.text import listed
from ingress_manager.core.vocabulary import is_read_from_services, protects

PLACEHOLDER_HOST = Policy().defaults.host
"""The default host until the settings state one."""


def refused(seen: Seen) -> Found:
    for service in seen.exposed:
        if service.refused and not is_held(service.item):
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


def placeholder_host(seen: Seen) -> Found:
    policy = seen.view.policy
    if not isinstance(policy, Policy) or policy.defaults.host != PLACEHOLDER_HOST:
        return
    for service in seen.accepted:
        for entrance in service.entrances if seen.view.anew(service) else ():
            if has_placeholder(service, entrance, policy):
                whose = f"the host of its entrance {entrance}" if entrance else "its host"
                sentence = f"{whose} is {PLACEHOLDER_HOST}, which is a placeholder"
                yield Finding(service.item, sentence, remedies.other_host(service.item, entrance))


def has_placeholder(service: ServiceView, entrance: str, policy: Policy) -> bool:
    """Return whether an entrance of a Service states no host, and gets the default host that is built in."""
    stated = service.entrances.get(entrance)
    if stated is None or stated.hosts is not None or all(route.host is not None for route in stated.routes):
        return False
    # What a namespace or a profile says was meant, whatever it is.
    namespace = service.item.namespace
    profile = in_namespace(policy, namespace, stated.profile).profile
    nearer = (policy.entry_of(namespace).defaults, policy.profiles.get(profile or ""))
    return policy.defaults.host == PLACEHOLDER_HOST and not any(each and each.host for each in nearer)


def no_http(seen: Seen) -> Found:
    for service in seen.view.services.values():
        if keys := without_http(service.item.annotations):
            yield Finding(service.item, no_effect(keys), kubectl("edit", service.item))
