"""The forbidden: whether an object that was made earlier may stand by today's settings.

An update can be denied by somebody's admission, and a refused Service keeps what it has. So without this, what the
administrator has forbidden would stay for as long as that lasts, and the owner of the Service could see to it.
"""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from ingress_manager.core.annotations import PROFILE
from ingress_manager.core.copying import ANY, COPIED, not_allowed
from ingress_manager.core.errors import Problem, Reason
from ingress_manager.core.exposure import FINGERPRINT
from ingress_manager.core.kubernetes import (
    DECORATOR,
    LAST_APPLIED,
    Attachment,
    AttachmentMeta,
    HTTPRoute,
    Ingress,
    ListenerSet,
    Object,
    ParentRef,
)
from ingress_manager.core.namespace_policy import NamespacePolicy, in_namespace
from ingress_manager.core.policy import Gateway, Policy
from ingress_manager.core.syntax import EVERY_HOST, wrong_path
from ingress_manager.core.text import listed, quoted
from ingress_manager.core.vocabulary import OLD_CLASS


class Record(msgspec.Struct, frozen=True):
    """What Metacontroller keeps of the hook's last answer."""

    metadata: AttachmentMeta
    spec: Object


_records = msgspec.json.Decoder(Record)


def is_as_answered(observed: Attachment, desired: Object) -> bool:
    """Return whether the hook's last answer was `desired`: what differs is somebody's edit, and mended in place."""
    annotations = observed.metadata.annotations or {}
    try:
        record = _records.decode(annotations.get(LAST_APPLIED, ""))
    except (msgspec.DecodeError, RecursionError):
        return False
    if _written_for_ever(observed):
        return False
    answered = {key: value for key, value in (record.metadata.annotations or {}).items() if key != DECORATOR}
    return bool(record.spec == desired["spec"] and answered == desired["metadata"].get("annotations", {}))


def forbidden(observed: Attachment, namespace: str, policy: Policy, *, is_refused: bool) -> Problem | None:
    """Return why an object of a namespace may not stand; None if it may.

    `is_refused` says that nobody mends it, because its Service is refused: it must then have what its profile gives.
    """
    annotations = observed.metadata.annotations or {}
    if LAST_APPLIED not in annotations:
        return None  # it is being adopted: Metacontroller has yet to make it what its Service asks for
    here = in_namespace(policy, namespace, annotations.get(PROFILE))
    problem = next(_beyond_limits(observed, here), None) or _written_for_ever(observed)
    return problem or (next(_outdated(observed, here), None) if is_refused else None)


def _written_for_ever(observed: Attachment) -> Problem | None:
    """Return why Metacontroller can't mend an object: it takes two parents of one name for one."""
    names = [parent.name for parent in parents_of(observed)]
    twice = len(names) > len(set(names))
    return Problem(f"its parents are two listeners of a Gateway {names[0]}", Reason.OUTDATED) if twice else None


def _beyond_limits(observed: Attachment, policy: NamespacePolicy) -> Iterator[Problem]:
    """Yield what the limits forbid in an object."""
    annotations = observed.metadata.annotations or {}
    if PROFILE in annotations and (end := policy.profile_not_allowed(annotations[PROFILE])):
        yield Problem(f"its profile {end}", Reason.PROFILE_NOT_ALLOWED)
    if end := policy.hosts_not_allowed([host or EVERY_HOST for host in observed.hosts()]):
        yield Problem(f"its host {end}", Reason.HOST_NOT_ALLOWED)
    # Where no class was stated, it has the cluster's default.
    by_annotation = annotations.get(OLD_CLASS)
    if isinstance(observed, Ingress) and (
        end := policy.class_not_allowed(observed.spec.ingress_class_name or by_annotation)
    ):
        yield Problem(f"its class {end}", Reason.CLASS_NOT_ALLOWED)
    for path, path_type in observed.paths():
        if end := policy.path_type_not_allowed(path_type):
            yield Problem(f"its path type {end}", Reason.PATH_TYPE_NOT_ALLOWED)
        if end := wrong_path(path, path_type):
            yield Problem(f"its path {quoted(path)} {end}")
    yield from _copied(annotations, policy)


def _copied(annotations: Mapping[str, str], policy: NamespacePolicy) -> Iterator[Problem]:
    """Yield what was copied from a Service, is still there, and may not be."""
    for key in annotations.get(COPIED, "").split(", "):
        value = annotations.get(key)
        if value is None or policy.added_with_tls.get(key) == value:
            continue
        limits = {} if key in policy.added_with_tls else policy.copy_annotations
        yield from filter(None, [not_allowed(key, value, limits)])


def _outdated(observed: Attachment, policy: NamespacePolicy) -> Iterator[Problem]:
    """Yield what an object has otherwise than the settings give it now."""
    annotations = observed.metadata.annotations or {}
    if PROFILE not in annotations and policy.default_profile is not None and policy.profiles != ANY:
        usable = listed(policy.usable_profiles())
        sentence = f"it has no profile; allowed in namespace {policy.namespace}: {usable}"
        yield Problem(sentence, Reason.PROFILE_NOT_ALLOWED)
    # Nothing can be said of a profile that there isn't any more.
    is_of_profile = annotations.get(PROFILE) == policy.profile
    if is_of_profile and annotations.get(FINGERPRINT, "") != policy.fingerprint:
        sentence = f"it isn't what its profile {quoted(str(policy.profile))} gives any more"
        yield Problem(sentence, Reason.OUTDATED)
    gateway = policy.gateway_of_httproutes
    for parent in parents_of(observed):
        shown = f"{parent.kind} {parent.namespace}/{parent.name}"
        if parent.section_name is not None:
            shown = f"listener {quoted(parent.section_name)} of {shown}"
        if gateway is None or not is_served_by(parent, gateway):
            yield Problem(f"its parent, {shown}, is not one that the settings name", Reason.OUTDATED)


def parents_of(observed: Attachment) -> Sequence[ParentRef]:
    """Return what an HTTPRoute, or a ListenerSet, attaches to."""
    if isinstance(observed, ListenerSet):
        return [observed.spec.parent_ref]
    return observed.spec.parent_refs or () if isinstance(observed, HTTPRoute) else ()


def is_served_by(parent: ParentRef, gateway: Gateway) -> bool:
    """Return whether what attaches to a parent is served by the Gateway: by a listener of it or a ListenerSet."""
    if parent.kind == "ListenerSet":
        return gateway.listener_sets is not None
    is_its_own = (parent.namespace, parent.name) == (gateway.namespace, gateway.name)
    if parent.section_name is None:  # of a ListenerSet
        return is_its_own and gateway.listener_sets is not None
    return is_its_own and parent.section_name in {gateway.http, gateway.https}
