"""Why nothing answers, though what was made for a Service stands as it should: what is lacking around it.

Sources: the Kubernetes API reference (Ingress v1, IngressClass v1, EndpointSlice v1) and the Gateway API reference
(HTTPRoute v1, ListenerSet v1, Gateway v1: RouteParentStatus).
"""

from collections.abc import Callable, Iterator
from datetime import timedelta

from ingress_manager.commands.audit.seen import Finder, Finding
from ingress_manager.commands.plans.steps import kubectl
from ingress_manager.commands.snapshot.certificates import can_be_read, wrong_with
from ingress_manager.commands.snapshot.items import INGRESS, LISTENERSET, at, mappings
from ingress_manager.commands.snapshot.objects import ObjectSnapshot, backends_of, class_of, secrets_of
from ingress_manager.commands.snapshot.services import ServiceSnapshot
from ingress_manager.commands.snapshot.surroundings import (
    BY_CAUSE,
    CLASS,
    GATEWAY,
    IS_DEFAULT,
    LONG_AGO,
    SECRET,
    SLICE,
    Surroundings,
    addresses_of,
    conditions_of,
    gateway_of,
    is_ready,
    time_of,
)
from ingress_manager.core.text import listed, quoted

PATIENCE = timedelta(minutes=5)
"""How old something is before it is told that a controller has said nothing of it, or that its Secret isn't there."""

SAID = dict(zip(BY_CAUSE, ["can't resolve what it refers to", "doesn't accept it", "doesn't serve it"], strict=True))
"""The conditions of a route or a ListenerSet that count, and what a controller says for which they are false."""

Cause = Callable[[ObjectSnapshot, ServiceSnapshot, Surroundings], Iterator[str]]
"""What finds why nothing answers at an object that was made for a Service, in sentences."""


def of_each(cause: Cause) -> Finder:
    """Return what finds a cause for each object that was made for a Service."""
    return lambda seen: (
        Finding(each.item, sentence, kubectl("describe", each.item), owner.item)
        for each, owner in seen.standing
        for sentence in cause(each, owner, seen.around)
    )


def _is_minutes_old(each: ObjectSnapshot, around: Surroundings) -> bool:
    born = time_of(each.item.metadata.get("creationTimestamp"))
    return LONG_AGO < born < around.now - PATIENCE


def no_class(each: ObjectSnapshot, _service: ServiceSnapshot, around: Surroundings) -> Iterator[str]:
    """Yield what is wrong with the class of an Ingress. One that has an address is served, whatever its class is."""
    if each.kind != INGRESS or CLASS not in around.read or addresses_of(each.item):
        return
    name, classes = each.typed.spec.ingress_class_name, around.items[CLASS]
    if name is not None and name not in classes:
        there = f"; there is {listed(sorted(classes))}" if classes else "; there is none at all"
        yield f"spec.ingressClassName is {quoted(name)}, and there is no IngressClass of that name{there}"
    has_default = any(item.annotations.get(IS_DEFAULT) == "true" for item in classes.values())
    if not (has_default or class_of(each.item, each.typed.spec)):
        yield "it names no class (spec.ingressClassName), and no IngressClass is the cluster's default"


def certificate(each: ObjectSnapshot, _service: ServiceSnapshot, around: Surroundings) -> Iterator[str]:
    """Yield what is wrong with the Secrets of an object, or with what is in them. cert-manager may still make one."""
    namespace = each.item.namespace
    field = "spec.tls" if each.kind == INGRESS else "spec.listeners"
    for name, hosts in secrets_of(each) if SECRET in around.read else ():
        label = f"Secret {namespace}/{name}"
        secret = around.items[SECRET].get(f"{namespace}/{name}")
        data = at(secret, "data") or {}
        if secret is None:
            if _is_minutes_old(each, around):
                yield f"{field} names {label}, which isn't there"
        elif lacking := [key for key in ("tls.crt", "tls.key") if key not in data]:
            yield (
                f"{label}, which {field} names, lacks {listed(lacking)}: it is of the type "
                f"{quoted(secret.object['type'])}, and should be kubernetes.io/tls"
            )
        elif can_be_read() and (wrong := wrong_with(data["tls.crt"], hosts, around.now)):
            yield f"{label}: {wrong}"


def not_accepted(each: ObjectSnapshot, _service: ServiceSnapshot, around: Surroundings) -> Iterator[str]:
    """Yield what the controllers of Gateways say against an object as it is now, or why none says anything."""
    item = each.item
    for ref in each.typed.parents:
        said, label = conditions_of(item, ref), gateway_of(item, ref)
        at_parent = f"{ref.kind or GATEWAY} {label}"
        false = [one for word in SAID for one in said if (one.type, one.status) == (word, "False")]
        # Of a ListenerSet, what else is wrong follows from the first.
        for wrong in false[:1] if each.kind == LISTENERSET else false:
            yield f"{wrong.controller} {SAID[wrong.type]} ({at_parent}): {wrong.message}"
        if ref.kind == LISTENERSET:
            continue  # one that isn't there is missing, and one that isn't looked after says so itself
        if label not in around.items[GATEWAY]:
            if GATEWAY in around.read:
                yield f"it names Gateway {label}, which isn't there"
        elif not said and _is_minutes_old(each, around):
            yield (
                f"no controller has said whether {at_parent} accepts it, though it was made at "
                f"{item.metadata['creationTimestamp']}: perhaps none looks after the Gateway"
            )


def no_endpoints(each: ObjectSnapshot, service: ServiceSnapshot, around: Surroundings) -> Iterator[str]:
    """Yield why no Pod answers behind an object. No Pod serves a named targetPort that none has: its slice has no port.

    Whatever makes EndpointSlices makes one for each selector; where there is none, it hasn't looked, or isn't there.
    """
    item, selector = service.item, service.item.object["spec"].get("selector")
    slices = around.slices.get(item.full_name, [])
    if not backends_of(each) or SLICE not in around.read or (selector and not slices):
        return
    ready = [slice_ for slice_ in slices if is_ready(slice_)]
    if ready and not any(at(slice_, "ports") for slice_ in ready):
        yield f"{item} has no port that a Pod serves: its targetPort is the name of none"
    elif ready:
        return
    elif count := sum(len(mappings(at(slice_, "endpoints"))) for slice_ in slices):
        yield f"{item} has no endpoint that is ready, of {count}"
    else:
        why = "its selector finds no Pod that runs" if selector else "it has no selector, and no EndpointSlice"
        yield f"{item} has no endpoints: {why}"
