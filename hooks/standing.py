"""What stands: whether the policy allows the Ingress that was made earlier to stay.

A refused Service keeps its Ingress. So without this a host, a class or an annotation that the administrator has
forbidden would stay for as long as the Service is refused, and its owner could see to that with a mistake.

Judged is what the hook once answered with, by Metacontroller's record of it. What others have changed since is theirs:
an ingress controller, cert-manager, or a person who may edit Ingresses, and is not held by these settings.
"""

from collections.abc import Iterator

import msgspec

from hooks import refusals
from hooks.copying import ADDED, OTHERS_PREFIXES, check_copied
from hooks.errors import Problem
from hooks.kubernetes import Ingress, IngressPath, Service
from hooks.policy import NamespacePolicy
from hooks.syntax import check_path, check_path_of_type
from hooks.text import quoted

LAST_APPLIED = "metacontroller.k8s.io/last-applied-configuration"
"""An annotation that Metacontroller adds: the Ingress as the hook answered with it, as JSON."""

_records = msgspec.json.Decoder(Ingress)


def check_standing(service: Service, ingress: Ingress, policy: NamespacePolicy) -> None:
    """Raise Problem when `ingress`, which was made for `service`, may not stay."""
    if service.spec.type == "ExternalName":
        raise refusals.external_name()
    try:
        made = _records.decode((ingress.metadata.annotations or {}).get(LAST_APPLIED, ""))
    except (msgspec.DecodeError, RecursionError):
        # Somebody has edited the record. Which annotations were copied can't be known.
        made = ingress
    else:
        check_annotations(made, ingress, policy)
    for host in hosts(made):
        if not policy.allows_host(host):
            raise refusals.host_not_allowed("its host", "", [host], policy.namespace, policy.hosts or ())
    # Where none was stated, it has the cluster's default.
    ingress_class = made.spec.ingress_class_name or ingress.spec.ingress_class_name
    if not policy.allows_class(ingress_class):
        raise refusals.class_not_allowed("its class", ingress_class or "", policy.namespace, policy.classes or ())
    for path in paths(made):
        check_standing_path(path, policy)


def check_standing_path(path: IngressPath, policy: NamespacePolicy) -> None:
    """Raise Problem when the policy doesn't allow the type of a path, or a controller could read it as a pattern."""
    if path.path_type not in policy.path_types:
        raise refusals.path_type_not_allowed("its path type", "", path.path_type, policy.path_types)
    try:
        check_path_of_type(check_path(path.path), path.path_type)
    except Problem as problem:
        raise problem.about(f"its path {quoted(path.path)}") from None


def check_annotations(made: Ingress, ingress: Ingress, policy: NamespacePolicy) -> None:
    """Raise Problem when an annotation that was copied from the Service, and is still there, is not allowed.

    `made` is the Ingress as the hook answered with it, `ingress` as it is now.
    """
    annotations, present = made.metadata.annotations or {}, ingress.metadata.annotations or {}
    added, administrators = annotations.get(ADDED, "").split(", "), policy.administrators
    for key, value in annotations.items():
        if key in present and key not in added and not key.startswith(OTHERS_PREFIXES):
            if key in administrators:
                raise refusals.annotation_not_copied(key)
            check_copied(key, value, policy.copied)


def hosts(ingress: Ingress) -> Iterator[str]:
    """Yield the hosts of an Ingress; "" stands for every host."""
    for rule in ingress.spec.rules or ():
        yield rule.host
    for entry in ingress.spec.tls or ():
        yield from entry.hosts or ()


def paths(ingress: Ingress) -> Iterator[IngressPath]:
    """Yield the paths of an Ingress."""
    for rule in ingress.spec.rules or ():
        if rule.http is not None:
            yield from rule.http.paths
