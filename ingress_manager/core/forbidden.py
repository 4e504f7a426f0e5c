"""The forbidden: whether an object that was made earlier may stand by today's settings.

An update can be denied by somebody's admission, and a refused Service keeps what it has. So without this, what the
administrator has forbidden would stay for as long as that lasts, and the owner of the Service could see to it.
"""

from collections.abc import Iterator, Mapping

import msgspec

from ingress_manager.core.annotations import PROFILE
from ingress_manager.core.copying import ANY, COPIED, FINGERPRINT, not_allowed
from ingress_manager.core.errors import Problem, Reason, Refused
from ingress_manager.core.exposure import EXTERNAL_NAME
from ingress_manager.core.kubernetes import DECORATOR, LAST_APPLIED, Attachment, Object, ParentRef, Service
from ingress_manager.core.namespace_policy import NamespacePolicy, in_namespace
from ingress_manager.core.policy import Gateway, Policy
from ingress_manager.core.syntax import EVERY_HOST, wrong_path
from ingress_manager.core.text import listed, quoted
from ingress_manager.core.vocabulary import OLD_CLASS


def forbidden(
    observed: Attachment, service: Service, policy: Policy, refused: Refused | None, desired: Object | None
) -> Iterator[Problem]:
    """Yield why an object that was made for a Service may not stand; nothing if it may.

    Nobody mends that of a refused Service: it must have what its profile gives, too. Another one is to be as `desired`.
    """
    if service.spec.type == "ExternalName":
        yield Problem(EXTERNAL_NAME, Reason.EXTERNAL_NAME)
    annotations = observed.metadata.annotations or {}
    if LAST_APPLIED not in annotations:
        return  # it is being adopted: Metacontroller has yet to make it what its Service asks for
    here = in_namespace(policy, service.metadata.namespace, annotations.get(PROFILE))
    problem = next(_beyond_limits(observed, annotations, here), None)
    if problem and (refused or not (desired and is_as_answered(annotations, desired))):
        yield problem
    parents = [parent.name for parent in observed.parents]
    if len(parents) > len({*parents}):  # Metacontroller takes two of one name for one, and can't mend it
        yield Problem(f"its parents are two listeners of a Gateway {parents[0]}", Reason.OUTDATED)
    if refused:
        yield from _outdated(observed, annotations, here)


def is_as_answered(annotations: Mapping[str, str], desired: Object) -> bool:
    """Return whether Metacontroller's record of the last answer is `desired`: what differs is of others, and is mended.

    Were it removed, what somebody's admission makes of each new object would be removed, and made anew, for ever.
    """
    metadata = desired["metadata"]
    own = {**metadata.get("annotations", {}), DECORATOR: annotations.get(DECORATOR)}
    try:
        record = msgspec.json.decode(annotations[LAST_APPLIED])
    except (msgspec.DecodeError, RecursionError):
        return False
    return bool(record == {**desired, "metadata": {**metadata, "annotations": own}})


def _beyond_limits(observed: Attachment, annotations: Mapping[str, str], policy: NamespacePolicy) -> Iterator[Problem]:
    """Yield what the limits forbid in an object."""
    if PROFILE in annotations and (end := policy.not_allowed(annotations[PROFILE], policy.limits.profiles)):
        yield Problem(f"its profile {end}", Reason.PROFILE_NOT_ALLOWED)
    if end := policy.hosts_not_allowed([host or EVERY_HOST for host in observed.hosts]):
        yield Problem(f"its host {end}", Reason.HOST_NOT_ALLOWED)
    if observed.kind == "Ingress":  # where no class was stated, it has the cluster's default
        ingress_class = observed.spec.ingress_class_name or annotations.get(OLD_CLASS)
        if end := policy.not_allowed(ingress_class, policy.limits.classes):
            yield Problem(f"its class {end}", Reason.CLASS_NOT_ALLOWED)
    for path, path_type in observed.paths:
        if end := policy.not_allowed(path_type, policy.limits.path_types):
            yield Problem(f"its path type {end}", Reason.PATH_TYPE_NOT_ALLOWED)
        if end := wrong_path(path, path_type):
            yield Problem(f"its path {quoted(path)} {end}")
    copied = annotations[COPIED].split(", ") if COPIED in annotations else ()
    for key in copied:  # what was copied, is still there, and may not be
        value, of_settings = annotations.get(key), policy.added_with_tls.get(key)
        if value is not None and value != of_settings:
            limits = policy.limits.copy_annotations if of_settings is None else {}
            yield from filter(None, [not_allowed(key, value, limits)])


def _outdated(observed: Attachment, annotations: Mapping[str, str], policy: NamespacePolicy) -> Iterator[Problem]:
    """Yield what an object has otherwise than the settings give it now."""
    if PROFILE not in annotations and policy.default is not None and policy.limits.profiles != ANY:
        usable = listed(policy.usable_profiles)
        sentence = f"it has no profile; allowed in namespace {policy.namespace}: {usable}"
        yield Problem(sentence, Reason.PROFILE_NOT_ALLOWED)
    # Nothing can be said of a profile that there isn't any more.
    is_of_profile = annotations.get(PROFILE) == policy.profile
    if is_of_profile and annotations.get(FINGERPRINT, "") != policy.fingerprint:
        sentence = f"it isn't what its profile {quoted(str(policy.profile))} gives any more"
        yield Problem(sentence, Reason.OUTDATED)
    gateway = policy.gateway_of_httproutes
    for parent in observed.parents:
        shown = f"{parent.kind} {parent.namespace}/{parent.name}"
        if parent.section_name is not None:
            shown = f"listener {quoted(parent.section_name)} of {shown}"
        if gateway is None or not is_served_by(parent, gateway):
            yield Problem(f"its parent, {shown}, is not one that the settings name", Reason.OUTDATED)


def is_served_by(parent: ParentRef, gateway: Gateway) -> bool:
    """Return whether what attaches to a parent is served by the Gateway: by a listener of it or a ListenerSet."""
    is_its_own = parent.kind == "ListenerSet" or (parent.namespace, parent.name) == (gateway.namespace, gateway.name)
    if parent.section_name is None:  # it attaches to a ListenerSet, or is one
        return is_its_own and gateway.listener_sets is not None
    return is_its_own and parent.section_name in {gateway.http, gateway.https}
