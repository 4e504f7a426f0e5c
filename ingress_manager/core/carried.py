"""Chooses which annotations of the Service and of the settings each kind of object carries."""

from collections.abc import Mapping, Sequence

import msgspec

from ingress_manager.core.annotations import PROFILE
from ingress_manager.core.basis import Basis
from ingress_manager.core.copying import COPIED, FINGERPRINT, NOT_COPIED, why_not_copied
from ingress_manager.core.text import listed
from ingress_manager.core.vocabulary import ALTERNATIVES, belongs_on, is_read_from_services, protects


class Carried(msgspec.Struct, frozen=True):
    copied: Mapping[str, str]
    """Copied from the Service. Keys that the settings configure, even if only with TLS, aren't copied."""
    configured: Mapping[str, str]
    """From the settings, for an Ingress of this entrance."""
    by_kind: Mapping[str, dict[str, str]]
    """All annotations for each kind of object. The kind `redirect` is an HTTPRoute that only redirects."""
    left_behind: Mapping[str, Sequence[str]]
    """For each kind of object, the sorted keys of the Service's controller annotations that it lacks or overrides."""

    @property
    def for_ingress(self) -> dict[str, str]:
        """Return the copied and configured annotations for an Ingress, even if no Ingress is made."""
        return {**self.copied, **self.configured}


def carry(basis: Basis, for_controllers: Mapping[str, str]) -> Carried:
    """Return the annotations that an entrance's objects carry. Add a problem for each value that may not be copied."""
    effective, gateway = basis.effective, basis.effective.httproute_gateway
    present, limits = basis.service.metadata.annotations or {}, effective.limits.copy_annotations
    copied: dict[str, str] = {}
    if not present.keys().isdisjoint(limits):  # for speed: most Services have none to copy
        copied = {key: present[key] for key in limits if key in present and key not in effective.added_with_tls}
        basis.problems.extend(filter(None, [why_not_copied(key, value, limits) for key, value in copied.items()]))
    configured = effective.added_with_tls if basis.tls else effective.annotations
    if copied:  # copied alternatives replace configured annotations; if protective, the Service is refused
        configured = {k: v for k, v in configured.items() if protects(k) or ALTERNATIVES.get(k) not in copied}
    from_settings = {"Ingress": configured} if effective.makes_ingresses else {}
    if gateway and gateway.listener_sets and basis.tls:
        from_settings["ListenerSet"] = configured
    if gateway:  # after the ListenerSet: HTTPRoutes may lack what it carries
        with_tls = {key: value for key, value in configured.items() if belongs_on("redirect", key)}
        from_settings["HTTPRoute"] = from_settings["redirect"] = effective.annotations | with_tls
    by_kind: dict[str, dict[str, str]] = {}
    left_behind: dict[str, list[str]] = {}
    for kind, of_settings in from_settings.items():
        annotations = {key: value for key, value in {**copied, **of_settings}.items() if belongs_on(kind, key)}
        paired = by_kind.get("ListenerSet", {})
        lacks = [key for key, value in for_controllers.items() if value not in (annotations.get(key), paired.get(key))]
        left_behind[kind] = [] if kind == "ListenerSet" else sorted(lacks)  # HTTPRoutes report what both lack
        if effective.profile is not None:
            annotations[PROFILE] = effective.profile
        if effective.fingerprint:
            annotations[FINGERPRINT] = effective.fingerprint
        of_httproutes = kind != "Ingress"
        if dropped := [key for key in left_behind[kind] if not is_read_from_services(key, of_httproutes=of_httproutes)]:
            annotations[NOT_COPIED] = listed(dropped)
        if copied_keys := sorted(annotations.keys() & copied.keys()):
            annotations[COPIED] = ", ".join(copied_keys)
        by_kind[kind] = annotations
    return Carried(copied, configured, by_kind, left_behind)
