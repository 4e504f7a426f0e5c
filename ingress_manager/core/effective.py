"""The effective settings: the values that apply to one Service, by its namespace and profile.

For each field, the first value that is set applies, in this order: the profile's, the namespace's, the general
settings', the built-in default.
"""

from collections.abc import Container, Mapping, Sequence
from functools import cached_property
from hashlib import sha256

import msgspec

from ingress_manager.core.copying import ANY, Limit
from ingress_manager.core.kubernetes import Object
from ingress_manager.core.settings import HTTPROUTE, INGRESS, Gateway, Limits, Profile, Settings, fill_in, overlay
from ingress_manager.core.syntax import EVERY_HOST, LONGEST_LABEL
from ingress_manager.core.text import listed, quoted
from ingress_manager.core.vocabulary import OLD_CLASS


class EffectiveSettings(Profile, frozen=True, forbid_unknown_fields=False, kw_only=True, dict=True):
    """The settings for all Services with the same namespace and profile."""

    namespace: str
    star: str
    """The part of the namespace's name that the * in its entry's key matches, which replaces {*} in templates."""

    settings: Settings
    limits: Limits
    default_profile: str | None
    """The profile of a Service that requests none."""
    profile: str | None
    """The requested or default profile, or None if there is neither, or if it is unknown or not allowed."""
    overrides: Object
    """The fields that the profile itself sets, as in YAML, or {} without a profile."""

    @cached_property
    def added_with_tls(self) -> Mapping[str, str]:
        """Return the annotations configured for an Ingress with TLS. Their keys are never copied from a Service."""
        return {**self.annotations, **self.tls.annotations}

    @cached_property
    def profile_annotations(self) -> Sequence[Mapping[str, str]]:
        """Return the annotations that the profile itself sets, first `annotations` and then `tls.annotations`."""
        return [part.get("annotations", {}) for part in (self.overrides, self.overrides.get("tls", {}))]

    @cached_property
    def host_patterns(self) -> tuple[str, ...] | None:
        """Return the patterns of allowed hosts, or None if any host may be claimed."""
        hosts = self.limits.hosts
        return None if hosts == ANY else tuple([fill_in(pattern, "", self.namespace, self.star) for pattern in hosts])

    @cached_property
    def makes_ingresses(self) -> bool:
        return INGRESS in self.outputs

    @cached_property
    def httproute_gateway(self) -> Gateway | None:
        """Return the Gateway for HTTPRoutes, or None if no HTTPRoutes are made."""
        return self.gateway if HTTPROUTE in self.outputs else None

    @cached_property
    def replaced_by_filters(self) -> Container[str]:
        """Return the keys of a profile's annotations if the profile has filters, which replace them in HTTPRoutes."""
        return {key for annotations in self.profile_annotations for key in annotations} if self.filters else ()

    @cached_property
    def fingerprint(self) -> str:
        """Return a hash of the profile's filters and annotations, or "" if it has neither."""
        if not (self.filters or any(self.profile_annotations)):
            return ""
        return sha256(msgspec.json.encode([self.filters, *self.profile_annotations], order="sorted")).hexdigest()[:16]

    def default_host(self, service: str) -> str:
        """Return the default host of a Service, which may be too long to be valid."""
        return fill_in(self.host, service, self.namespace, self.star)

    def default_secret(self, ingress: str) -> str | None:
        """Return the name of an Ingress's default Secret, or None if the controller uses its own certificate."""
        return None if self.tls.secret is None else fill_in(self.tls.secret, ingress, self.namespace, self.star)

    @cached_property
    def default_class(self) -> str | None:
        """Return the IngressClass set by `class` or kubernetes.io/ingress.class in the settings, or None if unset."""
        return self.ingress_class or self.annotations.get(OLD_CLASS)

    @cached_property
    def usable_profiles(self) -> Sequence[str]:
        return [*self.settings.profiles] if self.limits.profiles == ANY else self.limits.profiles

    # The limits. A check returns the end of a message, or "" if the value is allowed.

    def why_hosts_not_allowed(self, hosts: Sequence[str]) -> str:
        denied = [host for host in hosts if not self.allows_host(host)]
        if not denied:
            return ""
        shown = [f"rules without a host ({host})" if host == EVERY_HOST else host for host in self.host_patterns or ()]
        verb = "is" if len(denied) == 1 else "are"
        return f"{listed(denied, quoted)} {verb} not allowed; {self.allowed(shown)}"

    def allows_host(self, host: str) -> bool:
        """Return whether a host may be claimed or, for a wildcard, whether every matching host may be."""
        if self.host_patterns is None or host in self.host_patterns:
            return True
        # Every host that *.a.b matches ends in .a.b, so the end of a pattern *.b covers it.
        endings = tuple([pattern[1:] for pattern in self.host_patterns if pattern.startswith("*.")])
        return host.removeprefix("*").endswith(endings)

    def why_not_allowed(self, value: str | None, limit: Limit[str]) -> str:
        """Return why a class (None: the cluster's default), path type or profile isn't allowed, or ""."""
        if is_within(value, limit):
            return ""
        named = "null (the cluster's default)" if value is None else quoted(value)
        return f"{named} is not allowed; {self.allowed(limit)}"

    def allowed(self, values: Sequence[str]) -> str:
        return f"allowed in namespace {self.namespace}: {listed(values) or 'none'}"


def effective_settings(settings: Settings, namespace: str, profile: str | None = None) -> EffectiveSettings:
    """Return the settings for a Service that requests `profile`. If the profile isn't usable, no profile applies."""
    # Anyone who can reach the port could fill the cache. So unknown profiles become "" (no profile's name), and a
    # namespace is cut to one character more than a real one can have.
    requested = profile if profile is None or profile in settings.profiles else ""
    effective: EffectiveSettings = settings.cached_call(resolve, namespace[: LONGEST_LABEL + 1], requested)
    return effective


def resolve(settings: Settings, namespace: str, requested: str | None) -> EffectiveSettings:
    """Compute the settings that `effective_settings` returns. Call that function instead: it caches them."""
    entry = settings.entry_for(namespace)
    start, _, end = (settings.entry_key(namespace) or "").partition("*")
    defaults, limits = entry.defaults, entry.limits
    default_profile = defaults.profile or None  # "" names none
    name = default_profile if requested is None else requested
    overrides = settings.profiles.get(name) if name is not None and is_within(name, limits.profiles) else None
    base = {**msgspec.to_builtins(defaults), "acceptedLosses": limits.accepted_losses}
    of_namespace = {"namespace": namespace, "settings": settings, "limits": limits, "defaultProfile": default_profile}
    of_namespace["star"] = namespace[len(start) : len(namespace) - len(end)]
    of_profile = {"profile": None if overrides is None else name, "overrides": overrides or {}}
    return msgspec.convert({**overlay(base, overrides or {}, Profile), **of_namespace, **of_profile}, EffectiveSettings)


def is_within(value: str | None, limit: Limit[str]) -> bool:
    return limit == ANY or value in limit
