"""The observed: whether the policy allows an Ingress or an HTTPRoute that was made earlier to stay.

A refused Service keeps its objects, and an update can be denied by the admission of others. So without this a host, a
class, an annotation or a label that the administrator has forbidden would stay for as long as that lasts, and the
owner of the Service could see to it.

Judged is what the hook once answered with, by Metacontroller's record of it. What others have changed since is theirs:
an ingress controller, cert-manager, or a person who may edit Ingresses, and is not held by these settings.
"""

from collections.abc import Callable, Mapping
from typing import Any, cast

import msgspec

from ingress_manager.core import refusals
from ingress_manager.core.annotations import PROFILE
from ingress_manager.core.copying import ADDED, OTHERS_PREFIXES, check_copied
from ingress_manager.core.errors import Problem
from ingress_manager.core.kubernetes import (
    API_VERSIONS,
    Attachment,
    AttachmentMeta,
    HTTPRoute,
    Ingress,
    Key,
    Object,
    RouteRule,
    Service,
    is_name_for,
)
from ingress_manager.core.policy import NamespacePolicy
from ingress_manager.core.syntax import EVERY_HOST, check_path_of_type
from ingress_manager.core.text import quoted
from ingress_manager.core.vocabulary import OLD_CLASS

METACONTROLLER = "metacontroller.k8s.io/"
"""How the keys of the annotations begin that Metacontroller adds."""

LAST_APPLIED = f"{METACONTROLLER}last-applied-configuration"
"""An annotation that Metacontroller adds: the object as the hook answered with it, as JSON."""

DECORATOR = f"{METACONTROLLER}decorator-controller"
"""An annotation that Metacontroller adds: the name of its DecoratorController. It is in the record, too."""


class Record(msgspec.Struct, frozen=True, gc=False):
    """What a policy can forbid in an object, as the hook answered with it: enough to compare, and read fast."""

    metadata: AttachmentMeta
    spec: Object


_ingresses, _httproutes = msgspec.json.Decoder(Ingress), msgspec.json.Decoder(HTTPRoute)
_records = msgspec.json.Decoder(Record)


def check_observed(
    service: Service, observed: Attachment, with_profile: Callable[[str | None], NamespacePolicy], *, is_mended: bool
) -> None:
    """Raise Problem when `observed`, which was made for `service`, may not stay.

    Judged is its record. Where somebody has made that unreadable, it is the object itself, but for its annotations and
    labels. `with_profile` returns what holds with a profile. `is_mended` says that it is given in place, now, what the
    settings have come to require of all that is made; otherwise, it may not lack that.
    """
    if service.spec.type == "ExternalName":
        raise refusals.external_name()
    if is_mended and (twice := named_twice(observed)):
        raise refusals.two_listeners(twice)
    records = _ingresses if isinstance(observed, Ingress) else _httproutes
    recorded: Attachment
    try:
        recorded = records.decode((observed.metadata.annotations or {}).get(LAST_APPLIED, ""))
    except (msgspec.DecodeError, RecursionError):
        # Somebody has edited the record. Which annotations were copied can't be known.
        recorded, policy = observed, with_profile(None)
    else:
        profile = (recorded.metadata.annotations or {}).get(PROFILE)
        policy = with_profile(profile)
        check_profile(profile, policy)
        check_annotations(recorded, observed, policy)
    for host in recorded.hosts():
        if not policy.allows_host(host or EVERY_HOST):
            raise refusals.host_not_allowed("its host", "", [host or EVERY_HOST], policy.namespace, policy.hosts or ())
    if isinstance(recorded, HTTPRoute):
        check_parents(recorded, policy)
    else:
        # The record of an Ingress is that of an object which is one.
        check_class(recorded, cast("Ingress", observed), policy)
    for path, path_type in recorded.paths():
        check_observed_path(path, path_type, policy)
    if not is_mended and recorded is not observed:
        check_required(recorded, policy)


def check_class(recorded: Ingress, observed: Ingress, policy: NamespacePolicy) -> None:
    """Raise Problem when the policy doesn't allow the class of an Ingress."""
    # Where none was stated, it has the cluster's default.
    by_annotation = (recorded.metadata.annotations or {}).get(OLD_CLASS)
    ingress_class = recorded.spec.ingress_class_name or by_annotation or observed.spec.ingress_class_name
    if not policy.allows_class(ingress_class):
        raise refusals.class_not_allowed("its class", "", ingress_class, policy.namespace, policy.classes or ())


def check_parents(recorded: HTTPRoute, policy: NamespacePolicy) -> None:
    """Raise Problem when an HTTPRoute attaches to a listener that the policy doesn't name."""
    for parent in recorded.spec.parent_refs or ():
        listener = (parent.namespace or "", parent.name, parent.section_name or "")
        if not policy.allows_listener(*listener):
            raise refusals.listener_not_allowed(*listener)


def named_twice(observed: Attachment) -> str | None:
    """Return the name that two parents of an HTTPRoute share: Metacontroller can't write such a list.

    It takes them for one, and tries for ever to give both the same listener, which the API server refuses.
    """
    refs = observed.spec.parent_refs or () if isinstance(observed, HTTPRoute) else ()
    names = [parent.name for parent in refs]
    return next((name for name in names if names.count(name) > 1), None)


def check_required(recorded: Attachment, policy: NamespacePolicy) -> None:
    """Raise Problem when an object lacks what the settings give all that is made with its profile: it is no choice.

    That there are no Ingresses any more is not enough for one to go: it would be gone when the settings make HTTPRoutes
    instead before Metacontroller looks after these.
    """
    profile = (recorded.metadata.annotations or {}).get(PROFILE)
    if profile is None and policy.requires_profile:
        raise refusals.profile_required(policy.namespace, policy.usable_profiles())
    # Nothing can be said of a profile that there isn't any more.
    has_profile = profile is not None and policy.profile == profile
    if isinstance(recorded, HTTPRoute):
        if not policy.allows_httproutes:
            raise refusals.no_httproutes_made(policy.namespace)
        for rule in recorded.spec.rules or ():
            if has_profile and rule.backend_refs:  # a rule that redirects has a filter of its own
                check_rule(rule, policy)
    elif has_profile and policy.filters and not policy.makes_ingresses:
        # An Ingress has no filters. Where a profile has them and makes both, its annotations have to say the same.
        raise refusals.not_of_profile("filters", str(profile))


def check_rule(rule: RouteRule, policy: NamespacePolicy) -> None:
    """Raise Problem when a rule of an HTTPRoute has other filters or timeouts than those of its profile."""
    for what, recorded, stated in (
        ("filters", tuple(rule.filters or ()), policy.filters),
        ("timeouts", rule.timeouts or None, policy.timeouts),
    ):
        if recorded != stated:
            raise refusals.not_of_profile(what, str(policy.profile))


def has_record(observed: Attachment) -> bool:
    """Return whether Metacontroller has a record of what the hook answered with; it needs not be readable."""
    return LAST_APPLIED in (observed.metadata.annotations or {})


def is_recorded_as(observed: Attachment, desired: Object) -> bool:
    """Return whether the hook has answered with `desired` before: then it is as allowed now as `desired` is."""
    try:
        record = _records.decode((observed.metadata.annotations or {}).get(LAST_APPLIED, ""))
    except (msgspec.DecodeError, RecursionError):
        return False
    annotations, metadata = record.metadata.annotations or {}, desired["metadata"]
    annotations.pop(DECORATOR, None)
    return bool(
        record.spec == desired["spec"]
        and annotations == metadata.get("annotations", {})
        and record.metadata.labels == metadata["labels"]
    )


def as_it_stands(service: Service, key: Key, observed: Attachment) -> Object | None:
    """Return an object of the Service as it stands, to answer with it again; None when it has another's name.

    Whoever may edit the object can write any record. So a record is never answered: it only says which of the fields
    that stand are the hook's, and which are others'. Each value is the observed object's own, as its type knows it; its
    kind is that of its type, and its name one that only this Service can have.

    It brings nothing in: all of it stands already, so Metacontroller writes no more than its record. It takes nothing
    away: Metacontroller removes what the record has and the answer lacks, and whatever the record has of labels,
    annotations and `spec` is in it if it stands. (It would take off other fields that are written into a record, such
    as finalizers, in any sync; whoever can write that could take them off, too.) It doesn't loop: this object becomes
    the record, by which the next call returns it again. What others have added, as cert-manager or the API server's
    defaults, is in no record, and stays theirs. What they have changed stays as it is; it then counts as the hook's,
    and is judged. A list is replaced whole: what the type doesn't know of its items goes, as in any other sync.
    """
    kind, full_name = key
    namespace, _, name = full_name.partition("/")
    if namespace != service.metadata.namespace or not is_name_for(service.metadata.name, name):
        return None
    spec = msgspec.to_builtins(observed.spec)
    try:
        record = _records.decode((observed.metadata.annotations or {}).get(LAST_APPLIED, ""))
    except (msgspec.DecodeError, RecursionError):
        # It is adopted, or somebody has edited the record: Metacontroller takes nothing of it away, or can't write it.
        record = Record(AttachmentMeta(), spec)
    metadata = {
        "labels": shared(record.metadata.labels, observed.metadata.labels),
        "annotations": shared(record.metadata.annotations, observed.metadata.annotations),
    }
    return {
        "apiVersion": API_VERSIONS[kind],
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace} | {key: value for key, value in metadata.items() if value},
        "spec": shared(record.spec, spec),
    }


def shared(record: Mapping[str, Any] | None, observed: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return what stands of the keys that a record has. Metacontroller adds its own annotations itself."""
    return {
        key: value
        for key, value in (observed or {}).items()
        if key in (record or {}) and not key.startswith(METACONTROLLER)
    }


def check_observed_path(path: str, path_type: str, policy: NamespacePolicy) -> None:
    """Raise Problem when the policy doesn't allow the type of a path, or the path can't have it."""
    if path_type not in policy.path_types:
        raise refusals.path_type_not_allowed("its path type", "", path_type, policy.namespace, policy.path_types)
    try:
        check_path_of_type(path, path_type)
    except Problem as problem:
        raise problem.about(f"its path {quoted(path)}") from None


def check_annotations(recorded: Attachment, observed: Attachment, policy: NamespacePolicy) -> None:
    """Raise Problem when an annotation that was copied from the Service, and is still there, is not allowed.

    `recorded` is the object as the hook answered with it, `observed` as it is now.
    """
    annotations, present = recorded.metadata.annotations or {}, observed.metadata.annotations or {}
    added, settings = annotations.get(ADDED, "").split(", "), policy.added_with_tls
    for key, value in annotations.items():
        if key in present and key not in added and not key.startswith(OTHERS_PREFIXES):
            if key not in settings:
                check_copied(key, value, policy.copy_annotations)
            elif settings[key] != value:
                raise refusals.annotation_not_copied(key)


def check_profile(profile: str | None, policy: NamespacePolicy) -> None:
    """Raise Problem when the policy doesn't allow the profile by which an object was made."""
    if profile is not None and not policy.allows_profile(profile):
        raise refusals.profile_not_allowed("its profile", "", profile, policy.namespace, policy.usable_profiles())
