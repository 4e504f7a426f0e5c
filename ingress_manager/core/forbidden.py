"""Decides whether the current settings forbid an existing object.

An admission webhook can reject an update, and a refused Service keeps its objects. Without this check, a Service with a
mistake would keep an object that the administrator has forbidden.
"""

from collections.abc import Iterator, Mapping

import msgspec

from ingress_manager.core.annotations import PROFILE
from ingress_manager.core.copying import ANY, COPIED, FINGERPRINT, why_not_copied
from ingress_manager.core.effective import EffectiveSettings, effective_settings
from ingress_manager.core.errors import Problem, Reason
from ingress_manager.core.exposure import EXTERNAL_NAME
from ingress_manager.core.kubernetes import DECORATOR, LAST_APPLIED, Attachment, Object, ParentRef, Service
from ingress_manager.core.settings import Gateway, Settings
from ingress_manager.core.syntax import EVERY_HOST, wrong_path
from ingress_manager.core.text import listed, quoted
from ingress_manager.core.vocabulary import OLD_CLASS


def why_forbidden(
    existing: Attachment, service: Service, settings: Settings, desired: Object | None, *, is_refused: bool
) -> Iterator[Problem]:
    """Yield each reason why a Service's `existing` object is forbidden.

    A refused Service's objects aren't updated, so they are also compared with the current Gateway and profile.
    """
    if service.spec.type == "ExternalName":
        yield Problem(EXTERNAL_NAME, Reason.EXTERNAL_NAME)
    annotations = existing.metadata.annotations or {}
    if LAST_APPLIED not in annotations:
        return  # the object is being adopted: Metacontroller hasn't updated it yet
    effective = effective_settings(settings, service.metadata.namespace, annotations.get(PROFILE))
    problem = next(_beyond_limits(existing, annotations, effective), None)
    if problem and (is_refused or not (desired and is_as_answered(annotations, desired))):
        yield problem
    parents = [parent.name for parent in existing.parents]
    if len(parents) > len({*parents}):  # Metacontroller merges parents of the same name, so it can't correct this
        yield Problem(f"the {existing.kind} has two listeners of Gateway {parents[0]} as parents", Reason.OUTDATED)
    if is_refused:
        yield from _outdated(existing, annotations, effective)


def is_as_answered(annotations: Mapping[str, str], desired: Object) -> bool:
    """Return whether an object's annotations record `desired` as the hook's last answer.

    Metacontroller already reverts changes to such an object, so removing it wouldn't help: with a mutating webhook that
    rewrites each new object, it would be removed and recreated forever.
    """
    metadata = desired["metadata"]
    expected = {**metadata.get("annotations", {}), DECORATOR: annotations.get(DECORATOR)}
    try:
        record = msgspec.json.decode(annotations.get(LAST_APPLIED, ""))
    except (msgspec.DecodeError, RecursionError):
        return False
    return bool(record == {**desired, "metadata": {**metadata, "annotations": expected}})


def _beyond_limits(
    existing: Attachment, annotations: Mapping[str, str], effective: EffectiveSettings
) -> Iterator[Problem]:
    subject = f"the {existing.kind}'s"
    if PROFILE in annotations and (end := effective.why_not_allowed(annotations[PROFILE], effective.limits.profiles)):
        yield Problem(f"{subject} profile {end}", Reason.PROFILE_NOT_ALLOWED)
    if end := effective.why_hosts_not_allowed([host or EVERY_HOST for host in existing.hosts]):
        yield Problem(f"{subject} host {end}", Reason.HOST_NOT_ALLOWED)
    if existing.kind == "Ingress":
        ingress_class = existing.spec.ingress_class_name or annotations.get(OLD_CLASS)  # None: the cluster's default
        if end := effective.why_not_allowed(ingress_class, effective.limits.classes):
            yield Problem(f"{subject} class {end}", Reason.CLASS_NOT_ALLOWED)
    for path, path_type in existing.paths:
        if end := effective.why_not_allowed(path_type, effective.limits.path_types):
            yield Problem(f"{subject} path type {end}", Reason.PATH_TYPE_NOT_ALLOWED)
        if end := wrong_path(path, path_type):
            yield Problem(f"{subject} path {quoted(path)} {end}")
    copied = annotations[COPIED].split(", ") if COPIED in annotations else ()
    for key in copied:  # the annotation may have been removed since
        value, configured = annotations.get(key), effective.added_with_tls.get(key)
        if value is not None and value != configured:
            limits = effective.limits.copy_annotations if configured is None else {}
            yield from filter(None, [why_not_copied(key, value, limits)])


def _outdated(existing: Attachment, annotations: Mapping[str, str], effective: EffectiveSettings) -> Iterator[Problem]:
    """Yield each difference between an object and the current profile and Gateway.

    If the object's profile no longer exists, it may have been renamed, so the Gateway of any profile allowed in the
    namespace is accepted.
    """
    if PROFILE not in annotations and effective.default_profile and effective.limits.profiles != ANY:
        usable = listed(effective.usable_profiles)
        sentence = f"the {existing.kind} has no profile; allowed in namespace {effective.namespace}: {usable}"
        yield Problem(sentence, Reason.PROFILE_NOT_ALLOWED)
    profile = annotations.get(PROFILE)
    if profile == effective.profile and annotations.get(FINGERPRINT, "") != effective.fingerprint:
        sentence = f"the profile {quoted(str(effective.profile))} has changed since this {existing.kind} was made"
        yield Problem(sentence, Reason.OUTDATED)
    candidates = [effective]
    if existing.parents and profile is not None and effective.profile is None:
        names = effective.usable_profiles
        candidates += [effective_settings(effective.settings, effective.namespace, name) for name in names]
    gateways = [candidate.httproute_gateway for candidate in candidates]
    for parent in existing.parents:
        shown = f"{parent.kind} {parent.namespace}/{parent.name}"
        if parent.section_name is not None:
            shown = f"listener {quoted(parent.section_name)} of {shown}"
        if not any(gateway and is_served_by(parent, gateway) for gateway in gateways):
            yield Problem(f"the {existing.kind}'s parent, {shown}, is not in the settings", Reason.OUTDATED)


def is_served_by(parent: ParentRef, gateway: Gateway) -> bool:
    is_its_own = parent.kind == "ListenerSet" or (parent.namespace, parent.name) == (gateway.namespace, gateway.name)
    if parent.section_name is None:  # the parent of a ListenerSet, or a ListenerSet
        return is_its_own and gateway.listener_sets is not None
    return is_its_own and parent.section_name in {gateway.http, gateway.https}
