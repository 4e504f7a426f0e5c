"""The effective settings: what holds for one Service, after its namespace and profile.

There is one rule for all of it: what is nearest to the Service holds. That is its profile, then its namespace, then the
general settings, then what is built in; each field by itself.
"""

from collections.abc import Container, Mapping, Sequence
from functools import cached_property
from hashlib import sha256

import msgspec

from ingress_manager.core.copying import ANY, Limit
from ingress_manager.core.kubernetes import Object
from ingress_manager.core.settings import (
    HTTPROUTE,
    INGRESS,
    NO_NAME,
    Gateway,
    Limits,
    Profile,
    Settings,
    fill_in,
    overlaid,
)
from ingress_manager.core.syntax import EVERY_HOST, LONGEST_LABEL
from ingress_manager.core.text import listed, quoted
from ingress_manager.core.vocabulary import OLD_CLASS


class EffectiveSettings(Profile, frozen=True, forbid_unknown_fields=False, kw_only=True, dict=True):
    """What holds for a Service in one namespace, with the profile that it has."""

    namespace: str
    settings: Settings
    """All settings, whole."""

    limits: Limits
    default: str | None
    """The name of the profile of a Service that asks for none."""

    profile: str | None
    """The name of the profile that holds; None: none does."""

    overrides: Object
    """The fields that the profile states, as plain values; {} without a profile."""

    @cached_property
    def added_with_tls(self) -> Mapping[str, str]:
        """Return all that the administrator adds to an Ingress with TLS. None is copied from a Service."""
        return {**self.annotations, **self.tls.annotations}

    @cached_property
    def profile_annotations(self) -> Sequence[Mapping[str, str]]:
        """Return the annotations that the profile itself has, and those that it has for Ingresses with TLS."""
        return [part.get("annotations", {}) for part in (self.overrides, self.overrides.get("tls", {}))]

    @cached_property
    def host_patterns(self) -> tuple[str, ...] | None:
        """Return the patterns of the hosts that may be claimed here; None: all hosts may."""
        hosts = self.limits.hosts
        return None if hosts == ANY else tuple([fill_in(pattern, "", self.namespace) for pattern in hosts])

    @cached_property
    def makes_ingresses(self) -> bool:
        """Return whether Ingresses are made."""
        return INGRESS in self.outputs

    @cached_property
    def gateway_of_httproutes(self) -> Gateway | None:
        """Return the Gateway that HTTPRoutes attach to; None: none are made."""
        return self.gateway if HTTPROUTE in self.outputs else None

    @cached_property
    def said_by_filters(self) -> Container[str]:
        """Return the keys of annotations beside which the profile states filters: they say the same of HTTPRoutes."""
        return {key for annotations in self.profile_annotations for key in annotations} if self.filters else ()

    @cached_property
    def fingerprint(self) -> str:
        """Return 16 digits that tell what the profile does to a request, as an earlier one need not; "": nothing."""
        if not (self.filters or any(self.profile_annotations)):
            return ""
        return sha256(msgspec.json.encode([self.filters, *self.profile_annotations], order="sorted")).hexdigest()[:16]

    def default_host(self, service: str) -> str:
        """Return the default host of a Service; whether it is a valid one depends on the Service's name."""
        return fill_in(self.host, service, self.namespace)

    def default_secret(self, ingress: str) -> str | None:
        """Return the Secret of an Ingress whose Service names none; None: the controller's certificate."""
        return None if self.tls.secret is None else fill_in(self.tls.secret, ingress, self.namespace)

    @cached_property
    def default_class(self) -> str | None:
        """Return the class where a Service asks for none; it may be that of an annotation."""
        return self.ingress_class or self.annotations.get(OLD_CLASS)

    @cached_property
    def usable_profiles(self) -> Sequence[str]:
        """Return the names of the profiles that a Service may have."""
        return [*self.settings.profiles] if self.limits.profiles == ANY else self.limits.profiles

    # What may be asked for, and what may stand. Each returns the end of a sentence, "" if it may.

    def hosts_not_allowed(self, hosts: Sequence[str]) -> str:
        """Return why some of the hosts may not be claimed."""
        hosts = [host for host in hosts if not self.allows_host(host)] if self.host_patterns else ()
        if not hosts:
            return ""
        shown = [f"{host} (rules without a host)" if host == EVERY_HOST else host for host in self.host_patterns or ()]
        return f"{listed(hosts, quoted)} may not be claimed; {self.allowed(shown)}"

    def allows_host(self, host: str) -> bool:
        """Return whether `host`, and every host that it matches when it is a wildcard, may be claimed."""
        if self.host_patterns is None or host in self.host_patterns:
            return True
        # All hosts that the wildcard *.a.b matches end in .a.b. They are allowed if .a.b ends as such a pattern does.
        endings = tuple([pattern[1:] for pattern in self.host_patterns if pattern.startswith("*.")])
        return host.removeprefix("*").endswith(endings)

    def not_allowed(self, value: str | None, limit: Limit[str]) -> str:
        """Return why a class, a path type or a profile may not be chosen; the class None is the cluster's default."""
        if is_within(value, limit):
            return ""
        named = "null (the cluster's default)" if value is None else quoted(value)
        return f"{named} may not be chosen; {self.allowed(limit)}"

    def allowed(self, values: Sequence[str]) -> str:
        """Return the end of a sentence that lists what is allowed."""
        return f"allowed in namespace {self.namespace}: {listed(values) or 'none'}"


def effective_settings(settings: Settings, namespace: str, profile: str | None = None) -> EffectiveSettings:
    """Return what holds in `namespace` for a Service that asks for `profile`, or for none.

    A profile that doesn't exist, or isn't allowed, has no effect.
    """
    asked_for = profile if profile is None or profile in settings.profiles else NO_NAME
    # Whoever reaches the hook's port can send a longer name than a namespace has: all of it isn't kept.
    effective: EffectiveSettings = settings.remember(resolve, namespace[: LONGEST_LABEL + 1], asked_for)
    return effective


def resolve(settings: Settings, namespace: str, asked_for: str | None) -> EffectiveSettings:
    """Return what holds in a namespace for a Service that asks for a profile, or for none."""
    entry = settings.entry_of(namespace)
    defaults, limits = entry.defaults, entry.limits
    name = defaults.profile if asked_for is None else asked_for
    overrides = settings.profiles.get(name) if name is not None and is_within(name, limits.profiles) else None
    far = {**msgspec.to_builtins(defaults), "acceptedLosses": limits.accepted_losses}
    of_namespace = {"namespace": namespace, "settings": settings, "limits": limits, "default": defaults.profile}
    of_profile = {"profile": None if overrides is None else name, "overrides": overrides or {}}
    merged = overlaid(far, overrides or {}, Profile)
    return msgspec.convert({**merged, **of_namespace, **of_profile}, EffectiveSettings)


def is_within(value: str | None, limit: Limit[str]) -> bool:
    """Return whether a limit lists a value, or is lifted."""
    return limit == ANY or value in limit
