"""The policy of a namespace: what of the administrator's policy holds for one Service.

There is one rule for all of it: what is nearest to the Service holds. That is its profile, then its namespace, then the
general settings, then what is built in; each field by itself.
"""

from collections.abc import Container, Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from ingress_manager.core.copying import ANY, Limit
from ingress_manager.core.kubernetes import Object
from ingress_manager.core.policy import HTTPROUTE, INGRESS, NO_NAME, Gateway, Policy, Tls
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

    # The limits.
    hosts: Limit
    """The patterns of the hosts that may be claimed, as the settings have them."""
    classes: Limit
    path_types: tuple[str, ...]
    copy_annotations: Mapping[str, Limit]
    profiles: Limit
    accepted_losses: tuple[str, ...]

    # The defaults.
    default_profile: str | None
    """The name of the profile of a Service that asks for none."""
    host: str
    """The template of the default host, as `tls_secret` is that of the Secret's name."""
    ingress_class: str | None
    tls_enabled: bool
    tls_secret: str | None
    tls_redirect: bool
    """Whether http is answered with a redirect, where there is TLS."""
    tls_annotations: Mapping[str, str]
    annotations: Mapping[str, str]
    """Those that the administrator adds to every Ingress, and to every HTTPRoute those that are read there, too."""
    labels: Mapping[str, str]
    outputs: tuple[str, ...]
    """Which objects are made: some of OUTPUT_NAMES."""
    gateway: Gateway | None
    """Stated wherever `outputs` has httproute."""

    # The profile, by which the values above are those that they are.
    profile: str | None
    """The name of the profile that holds; None: none does."""
    own_annotations: tuple[Mapping[str, str], Mapping[str, str]]
    """Those that the profile itself states, and those that it states of Ingresses with TLS."""
    filters: tuple[Object, ...] = ()
    timeouts: Object | None = None

    @cached_property
    def added_with_tls(self) -> Mapping[str, str]:
        """Return all that the administrator adds to an Ingress with TLS. None is copied from a Service."""
        return {**self.annotations, **self.tls_annotations}

    @cached_property
    def patterns(self) -> tuple[str, ...] | None:
        """Return the patterns of the hosts that may be claimed here; None: all hosts may."""
        return None if self.hosts == ANY else tuple([fill_in(each, "", self.namespace) for each in self.hosts])

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

    @cached_property
    def default_class(self) -> str | None:
        """Return the class where a Service asks for none; it may be that of an annotation."""
        return self.ingress_class or self.annotations.get(OLD_CLASS)

    def usable_profiles(self) -> list[str]:
        """Return the names of the profiles that a Service may have."""
        return [name for name in self.settings.profiles if is_within(name, self.profiles)]

    # What may be asked for, and what may stand. Each returns the end of a sentence, "" if it may.

    def hosts_not_allowed(self, hosts: Sequence[str]) -> str:
        """Return why some of the hosts may not be claimed."""
        refused = [host for host in hosts if not self.allows_host(host)] if self.patterns else ()
        if not refused:
            return ""
        shown = [f"{host} (rules without a host)" if host == EVERY_HOST else host for host in self.patterns or ()]
        return f"{listed([*map(quoted, refused)])} may not be claimed; {self.allowed(shown)}"

    def allows_host(self, host: str) -> bool:
        """Return whether `host`, and every host that it matches when it is a wildcard, may be claimed."""
        if self.patterns is None or host in self.patterns:
            return True
        # All hosts that the wildcard *.a.b matches end in .a.b. They are allowed if .a.b ends as such a pattern does.
        return host.removeprefix("*").endswith(tuple([each[1:] for each in self.patterns if each.startswith("*.")]))

    def allows_class(self, ingress_class: str | None) -> bool:
        """Return whether an Ingress may have this class; None stands for the cluster's default."""
        return is_within(ingress_class, self.classes)

    def class_not_allowed(self, ingress_class: str | None) -> str:
        """Return why an IngressClass may not be chosen; None stands for the cluster's default."""
        if self.allows_class(ingress_class):
            return ""
        named = "null (the cluster's default)" if ingress_class is None else quoted(ingress_class)
        return self.not_chosen(named, self.classes)

    def path_type_not_allowed(self, path_type: str) -> str:
        """Return why a path type may not be chosen."""
        return "" if path_type in self.path_types else self.not_chosen(quoted(path_type), self.path_types)

    def profile_not_allowed(self, profile: str) -> str:
        """Return why a profile may not be chosen; there need be none of this name."""
        return "" if is_within(profile, self.profiles) else self.not_chosen(quoted(profile), self.usable_profiles())

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
    nearest = {
        field: value for far in (policy, entry) for each in (far.limits, far.defaults) for field, value in stated(each)
    }
    default = nearest.pop("profile")
    name = default if asked_for is None else asked_for
    chosen = policy.profiles.get(name) if is_within(name, nearest["profiles"]) else None
    own = dict(stated(chosen))
    return NamespacePolicy(
        namespace=namespace,
        settings=policy,
        default_profile=default,
        profile=name if chosen else None,
        own_annotations=(own.get("annotations", {}), own.get("tls_annotations", {})),
        **{**nearest, **own},
    )


def stated(settings: msgspec.Struct | UnsetType | None, begin: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the fields that some settings state, with their values; those of TLS as fields of their own."""
    for field in settings.__struct_fields__ if settings else ():
        value = getattr(settings, field)
        if isinstance(value, Tls):
            yield from stated(value, "tls_")
        elif value is not UNSET:
            yield f"{begin}{field}", value


def is_within(value: str | None, limit: Limit) -> bool:
    """Return whether a limit lists a value, or is lifted."""
    return limit == ANY or value in limit


def fill_in(template: str, service: str, namespace: str) -> str:
    """Return the template with the names of one Service in it."""
    return template.replace("{service}", service).replace("{namespace}", namespace)
