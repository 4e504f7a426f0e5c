"""The limits: what may be asked for, and what may stand. Each check returns the end of a sentence, "" if it may."""

from collections.abc import Sequence

from ingress_manager.core.policy import NamespacePolicy
from ingress_manager.core.syntax import EVERY_HOST
from ingress_manager.core.text import did_you_mean, listed, quoted


def hosts_not_allowed(hosts: Sequence[str], policy: NamespacePolicy) -> str:
    """Return why some of the hosts may not be claimed."""
    refused = [host for host in hosts if not policy.allows_host(host)]
    if not refused:
        return ""
    shown = [f"{host} (rules without a host)" if host == EVERY_HOST else host for host in policy.hosts or ()]
    return f"{listed(refused, quoted)} may not be claimed; {_allowed(shown, policy)}"


def class_not_allowed(ingress_class: str | None, policy: NamespacePolicy) -> str:
    """Return why an IngressClass may not be chosen; None stands for the cluster's default."""
    if policy.allows_class(ingress_class):
        return ""
    named = "null (the cluster's default)" if ingress_class is None else quoted(ingress_class)
    return f"{named} may not be chosen; {_allowed(policy.classes or (), policy)}"


def path_type_not_allowed(path_type: str, policy: NamespacePolicy) -> str:
    """Return why a path type may not be chosen."""
    if path_type in policy.path_types:
        return ""
    return f"{quoted(path_type)} may not be chosen; {_allowed(policy.path_types, policy)}"


def profile_not_allowed(profile: str, policy: NamespacePolicy) -> str:
    """Return why a profile may not be chosen; there need be none of this name."""
    if policy.allowed_profiles is None or profile in policy.allowed_profiles:
        return ""
    usable = policy.usable_profiles()
    return f"{quoted(profile)} may not be chosen{did_you_mean(profile, usable)}; {_allowed(usable, policy)}"


def _allowed(allowed: Sequence[str], policy: NamespacePolicy) -> str:
    return f"allowed in namespace {policy.namespace}: {listed(allowed) or 'none'}"
