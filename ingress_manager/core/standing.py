"""What stands: whether the policy allows an object that was made earlier, an Ingress or an HTTPRoute, to stay.

A refused Service keeps its objects, and an update can be denied by the admission of others. So without this a host, a
class or an annotation that the administrator has forbidden would stay for as long as that lasts, and the owner of the
Service could see to it.

Judged is what the hook once answered with, by Metacontroller's record of it. What others have changed since is theirs:
an ingress controller, cert-manager, or a person who may edit Ingresses, and is not held by these settings.
"""

from typing import cast

import msgspec

from ingress_manager.core import refusals
from ingress_manager.core.copying import ADDED, OTHERS_PREFIXES, check_copied
from ingress_manager.core.errors import Problem
from ingress_manager.core.kubernetes import Attachment, HTTPRoute, Ingress, Object, Service
from ingress_manager.core.policy import NamespacePolicy
from ingress_manager.core.syntax import check_path, check_path_of_type
from ingress_manager.core.text import quoted

LAST_APPLIED = "metacontroller.k8s.io/last-applied-configuration"
"""An annotation that Metacontroller adds: the object as the hook answered with it, as JSON."""

_ingresses, _httproutes = msgspec.json.Decoder(Ingress), msgspec.json.Decoder(HTTPRoute)


def check_standing(service: Service, standing: Attachment, policy: NamespacePolicy) -> None:
    """Raise Problem when `standing`, which was made for `service`, may not stay."""
    if service.spec.type == "ExternalName":
        raise refusals.external_name()
    records = _ingresses if isinstance(standing, Ingress) else _httproutes
    made: Attachment
    try:
        made = records.decode((standing.metadata.annotations or {}).get(LAST_APPLIED, ""))
    except (msgspec.DecodeError, RecursionError):
        # Somebody has edited the record. Which annotations were copied can't be known.
        made = standing
    else:
        check_annotations(made, standing, policy)
    for host in made.hosts():
        if not policy.allows_host(host):
            raise refusals.host_not_allowed("its host", "", [host], policy.namespace, policy.hosts or ())
    if isinstance(made, HTTPRoute):
        check_parents(made, policy)
    else:
        # The record of an Ingress is that of an object which is one.
        check_class(made, cast("Ingress", standing), policy)
    for path, path_type in made.paths():
        check_standing_path(path, path_type, policy)


def check_class(made: Ingress, standing: Ingress, policy: NamespacePolicy) -> None:
    """Raise Problem when the policy doesn't allow the class of an Ingress."""
    # Where none was stated, it has the cluster's default.
    ingress_class = made.spec.ingress_class_name or standing.spec.ingress_class_name
    if not policy.allows_class(ingress_class):
        raise refusals.class_not_allowed("its class", ingress_class or "", policy.namespace, policy.classes or ())


def check_parents(made: HTTPRoute, policy: NamespacePolicy) -> None:
    """Raise Problem when an HTTPRoute attaches to a listener that the policy doesn't name."""
    for parent in made.spec.parent_refs or ():
        if not policy.allows_listener(parent.namespace, parent.name, parent.section_name):
            raise refusals.listener_not_allowed(parent.namespace, parent.name, parent.section_name)


def has_record(standing: Attachment) -> bool:
    """Return whether Metacontroller has a record of what the hook answered with; it needs not be readable."""
    return LAST_APPLIED in (standing.metadata.annotations or {})


def record_of(standing: Attachment) -> Object | None:
    """Return the object as the hook answered with it; None when that can't be read."""
    try:
        made: Object = msgspec.json.decode((standing.metadata.annotations or {}).get(LAST_APPLIED, ""), type=Object)
    except (msgspec.DecodeError, RecursionError):
        return None
    return made


def check_standing_path(path: str, path_type: str, policy: NamespacePolicy) -> None:
    """Raise Problem when the policy doesn't allow the type of a path, or a controller could read it as a pattern."""
    if path_type not in policy.path_types:
        raise refusals.path_type_not_allowed("its path type", "", path_type, policy.path_types)
    try:
        check_path_of_type(check_path(path), path_type)
    except Problem as problem:
        raise problem.about(f"its path {quoted(path)}") from None


def check_annotations(made: Attachment, standing: Attachment, policy: NamespacePolicy) -> None:
    """Raise Problem when an annotation that was copied from the Service, and is still there, is not allowed.

    `made` is the object as the hook answered with it, `standing` as it is now.
    """
    annotations, present = made.metadata.annotations or {}, standing.metadata.annotations or {}
    added, administrators = annotations.get(ADDED, "").split(", "), policy.administrators
    for key, value in annotations.items():
        if key in present and key not in added and not key.startswith(OTHERS_PREFIXES):
            if key not in administrators:
                check_copied(key, value, policy.copied)
            elif administrators[key] != value:
                raise refusals.annotation_not_copied(key)
