"""What stands: whether the policy allows the Ingress that was made earlier to stay.

A refused Service keeps its Ingress. So without this a host, a class or an annotation that the administrator has
forbidden would stay for as long as the Service is refused, and its owner could see to that with a mistake.
"""

from collections.abc import Iterator

import msgspec

from hooks import refusals
from hooks.copying import ADDED, OTHERS_PREFIXES, check_copied
from hooks.errors import Problem
from hooks.kubernetes import Ingress, IngressPath, Service
from hooks.policy import NamespacePolicy
from hooks.syntax import check_path
from hooks.text import quoted

LAST_APPLIED = "metacontroller.k8s.io/last-applied-configuration"
"""An annotation that Metacontroller adds: the Ingress as the hook answered with it, as JSON."""


class AppliedMeta(msgspec.Struct, frozen=True, gc=False):
    annotations: dict[str, str] = {}


class Applied(msgspec.Struct, frozen=True, gc=False):
    """What of the last answer is needed here."""

    metadata: AppliedMeta


def check_standing(service: Service, ingress: Ingress, policy: NamespacePolicy) -> None:
    """Raise Problem when `ingress`, which was made for `service`, may not stay."""
    if service.spec.type == "ExternalName":
        raise refusals.external_name()
    for host in hosts(ingress):
        if not policy.allows_host(host):
            raise refusals.host_not_allowed("its host", "", [host], policy.namespace, policy.hosts or ())
    ingress_class = ingress.spec.ingress_class_name
    if not policy.allows_class(ingress_class):
        raise refusals.class_not_allowed("its class", ingress_class or "", policy.namespace, policy.classes or ())
    for path in paths(ingress):
        if path.path_type not in policy.path_types:
            raise refusals.path_type_not_allowed("its path type", "", path.path_type, policy.path_types)
        try:
            check_path(path.path, path.path_type)
        except Problem as problem:
            raise problem.about(f"its path {quoted(path.path)}") from None
    for key, value in copied(ingress).items():
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


def copied(ingress: Ingress) -> dict[str, str]:
    """Return the annotations that were copied from the Service and are still there, with their present values.

    What the administrator has added isn't among them, nor what others, such as cert-manager, have put there.
    """
    present = ingress.metadata.annotations or {}
    try:
        applied = msgspec.json.decode(present.get(LAST_APPLIED, ""), type=Applied).metadata.annotations
    except msgspec.DecodeError:  # Somebody has edited it: what was applied can't be known.
        return {}
    added = applied.get(ADDED, "").split(", ")
    return {
        key: present[key]
        for key in applied
        if key in present and key not in added and not key.startswith(OTHERS_PREFIXES)
    }
