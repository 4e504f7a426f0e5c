"""The policy of a namespace: what of the administrator's policy holds for one Service.

There is one rule for all of it: what is nearest to the Service holds. That is its profile, then its namespace, then the
general settings, then what is built in; each field by itself.
"""

from collections.abc import Container, Mapping, Sequence
from functools import cached_property
from hashlib import sha256

import msgspec
from msgspec import UNSET

from ingress_manager.core.copying import Limit
from ingress_manager.core.kubernetes import Object
from ingress_manager.core.policy import (
    HTTPROUTE,
    INGRESS,
    NO_DEFAULTS,
    NO_LIMITS,
    NO_NAME,
    NO_PROFILE,
    Gateway,
    Policy,
    overlay,
)
from ingress_manager.core.syntax import EVERY_HOST, LONGEST_LABEL
from ingress_manager.core.text import listed, quoted
from ingress_manager.core.vocabulary import OLD_CLASS

MOST_REMEMBERED = 1000
"""Pairs of a namespace and a profile, for which what holds is remembered."""


class NamespacePolicy(msgspec.Struct, frozen=True, dict=True):
    """What holds for a Service in one namespace, with the profile that it has."""

    namespace: str
    settings: Policy
    """All settings, whole."""

    # The limits. None: everything is allowed.
    hosts: tuple[str, ...] | None
    """The patterns of the hosts that may be claimed."""
    classes: tuple[str, ...] | None
    path_types: tuple[str, ...]
    copy_annotations: Mapping[str, Limit]
    allowed_profiles: tuple[str, ...] | None
    accepted_losses: tuple[str, ...]

    # The defaults.
    default_profile: str | None
    """The name of the profile of a Service that asks for none."""
    host: str
    """The template of the default host, as `tls_secret` is that of the Secret's name."""
    ingress_class: str | None
    tls: bool
    tls_secret: str | None
    redirect: bool
    """Whether http is answered with a redirect, where there is TLS."""
    annotations: Mapping[str, str]
    """Those that the administrator adds to every Ingress, and to every HTTPRoute those that are read there, too."""
    added_with_tls: Mapping[str, str]
    """All that the administrator adds to an Ingress with TLS. Their keys are never copied from a Service."""
    labels: Mapping[str, str]
    outputs: tuple[str, ...]
    """Which objects are made: some of OUTPUT_NAMES."""
    gateway: Gateway | None
    """Stated wherever `outputs` has httproute."""

    # The profile, by which the values above are those that they are.
    profile: str | None
    """The name of the profile that holds; None: none does."""
    filters: tuple[Object, ...]
    timeouts: Object | None
    own_annotations: tuple[Mapping[str, str], Mapping[str, str]]
    """Those that the profile itself states, and those that it states of Ingresses with TLS."""

    @property
    def makes_ingresses(self) -> bool:
        """Return whether Ingresses are made."""
        return INGRESS in self.outputs

    @property
    def gateway_of_httproutes(self) -> Gateway | None:
        """Return the Gateway that HTTPRoutes attach to; None: none are made."""
        return self.gateway if HTTPROUTE in self.outputs else None

    @property
    def said_by_filters(self) -> Container[str]:
        """Return the keys of annotations beside which the profile states filters: they say the same of HTTPRoutes."""
        return {key for own in self.own_annotations for key in own} if self.filters else ()

    @cached_property
    def fingerprint(self) -> str:
        """Return 16 digits that tell what the profile does to a request, as an earlier one need not; "": nothing."""
        if not (self.filters or any(self.own_annotations)):
            return ""
        return sha256(msgspec.json.encode([self.filters, *self.own_annotations], order="sorted")).hexdigest()[:16]

    def default_host(self, service: str) -> str:
        """Return the default host of a Service; whether it is a valid one depends on the Service's name."""
        return fill_in(self.host, service, self.namespace)

    def default_secret(self, ingress: str) -> str | None:
        """Return the Secret of an Ingress whose Service names none; None: the controller's certificate."""
        return None if self.tls_secret is None else fill_in(self.tls_secret, ingress, self.namespace)

    @property
    def default_class(self) -> str | None:
        """Return the class where a Service asks for none; it may be that of an annotation."""
        return self.ingress_class or self.annotations.get(OLD_CLASS)

    def usable_profiles(self) -> list[str]:
        """Return the names of the profiles that a Service may have."""
        known, allowed = self.settings.profiles, self.allowed_profiles
        return [name for name in known if allowed is None or name in allowed]

    # What may be asked for, and what may stand. Each returns the end of a sentence, "" if it may.

    def hosts_not_allowed(self, hosts: Sequence[str]) -> str:
        """Return why some of the hosts may not be claimed."""
        refused = [host for host in hosts if not self.allows_host(host)]
        if not refused:
            return ""
        shown = [f"{host} (rules without a host)" if host == EVERY_HOST else host for host in self.hosts or ()]
        return f"{listed(refused, quoted)} may not be claimed; {self.allowed(shown)}"

    def allows_host(self, host: str) -> bool:
        """Return whether `host`, and every host that it matches when it is a wildcard, may be claimed."""
        if self.hosts is None or host in self.hosts:
            return True
        # All hosts that the wildcard *.a.b matches end in .a.b. They are allowed if .a.b ends as such a pattern does.
        return host.removeprefix("*").endswith(tuple([each[1:] for each in self.hosts if each.startswith("*.")]))

    def allows_class(self, ingress_class: str | None) -> bool:
        """Return whether an Ingress may have this class; None stands for the cluster's default."""
        return self.classes is None or ingress_class in self.classes

    def class_not_allowed(self, ingress_class: str | None) -> str:
        """Return why an IngressClass may not be chosen; None stands for the cluster's default."""
        if self.allows_class(ingress_class):
            return ""
        named = "null (the cluster's default)" if ingress_class is None else quoted(ingress_class)
        return self.not_chosen(named, self.classes or ())

    def path_type_not_allowed(self, path_type: str) -> str:
        """Return why a path type may not be chosen."""
        return "" if path_type in self.path_types else self.not_chosen(quoted(path_type), self.path_types)

    def profile_not_allowed(self, profile: str) -> str:
        """Return why a profile may not be chosen; there need be none of this name."""
        is_allowed = self.allowed_profiles is None or profile in self.allowed_profiles
        return "" if is_allowed else self.not_chosen(quoted(profile), self.usable_profiles())

    def not_chosen(self, shown: str, instead: Sequence[str]) -> str:
        """Return the end of a sentence about what may not be chosen, with what may be instead."""
        return f"{shown} may not be chosen; {self.allowed(instead)}"

    def allowed(self, values: Sequence[str]) -> str:
        """Return the end of a sentence that lists what is allowed."""
        return f"allowed in namespace {self.namespace}: {listed(values) or 'none'}"


def in_namespace(policy: Policy, namespace: str, profile: str | None = None) -> NamespacePolicy:
    """Return what holds in `namespace` for a Service that asks for `profile`, or for none.

    A profile that doesn't exist, or isn't allowed, has no effect.
    """
    asked_for = profile if profile is None or profile in policy.profiles else NO_NAME
    key, remembered = (namespace, asked_for), policy.remembered
    if key in remembered:
        found: NamespacePolicy = remembered[key]
        return found
    here = resolve(policy.whole, namespace, asked_for)
    # A tenant may name any profile, and whoever reaches the hook's port any namespace: neither is remembered.
    if len(namespace) <= LONGEST_LABEL:
        if len(remembered) >= MOST_REMEMBERED:
            del remembered[next(iter(remembered))]
        remembered[key] = here
    return here


def resolve(policy: Policy, namespace: str, asked_for: str | None) -> NamespacePolicy:
    """Return what holds in a namespace for a Service that asks for a profile, or for none, by whole settings."""
    entry = policy.entry_of(namespace)
    limits = overlay(entry.limits or NO_LIMITS, policy.limits)
    general = overlay(entry.defaults or NO_DEFAULTS, policy.defaults)
    allowed = none_if_any(limits.profiles)
    name = general.profile if asked_for is None else asked_for
    chosen = policy.profiles.get(name) if allowed is None or name in allowed else None
    profile = chosen or NO_PROFILE
    defaults, hosts = overlay(profile, general), none_if_any(limits.hosts)
    return NamespacePolicy(
        namespace=namespace,
        settings=policy,
        hosts=None if hosts is None else tuple([fill_in(pattern, "", namespace) for pattern in hosts]),
        classes=none_if_any(limits.classes),
        path_types=limits.path_types,
        copy_annotations=limits.copy_annotations,
        allowed_profiles=allowed,
        accepted_losses=limits.accepted_losses if profile.accepted_losses is UNSET else profile.accepted_losses,
        default_profile=general.profile,
        host=defaults.host,
        ingress_class=defaults.ingress_class,
        tls=defaults.tls.enabled,
        tls_secret=defaults.tls.secret,
        redirect=defaults.tls.redirect,
        annotations=defaults.annotations,
        added_with_tls={**defaults.annotations, **defaults.tls.annotations},
        labels=defaults.labels,
        outputs=defaults.outputs,
        gateway=defaults.gateway,
        profile=name if chosen else None,
        filters=profile.filters or (),
        timeouts=profile.timeouts or None,
        own_annotations=(profile.annotations or {}, (profile.tls and profile.tls.annotations) or {}),
    )


def none_if_any(limit: Limit) -> tuple[str, ...] | None:
    """Return what a limit lists; None if it is lifted."""
    return None if isinstance(limit, str) else limit


def fill_in(template: str, service: str, namespace: str) -> str:
    """Return the template with the names of one Service in it."""
    return template.replace("{service}", service).replace("{namespace}", namespace)
