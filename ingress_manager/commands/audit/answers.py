"""Why nothing answers, though what was made for a Service stands as it should: what is lacking around it.

Sources: the Kubernetes API reference (Ingress v1, IngressClass v1, EndpointSlice v1) and the Gateway API reference
(HTTPRoute v1, ListenerSet v1, Gateway v1: RouteParentStatus).
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta

from ingress_manager.commands.audit.seen import Finder, Finding, Standing
from ingress_manager.commands.plans.steps import kubectl
from ingress_manager.commands.reading.kinds import INGRESS, LISTENERSET
from ingress_manager.commands.reading.manifests import Item, at, mappings
from ingress_manager.commands.view.certificates import can_be_read, wrong_with
from ingress_manager.commands.view.ingresses import backends_in, class_of
from ingress_manager.commands.view.objects import ObjectView, certificates_of
from ingress_manager.commands.view.standing import BY_CAUSE, addresses_of, called, gateway_of, said_of
from ingress_manager.commands.view.surroundings import (
    CLASS,
    GATEWAY,
    IS_DEFAULT,
    SECRET,
    SLICE,
    is_ready,
    time_of,
)
from ingress_manager.core.forbidden import parents_of
from ingress_manager.core.kubernetes import HTTPRoute, Ingress, ListenerSet
from ingress_manager.core.text import listed, quoted

PATIENCE = timedelta(minutes=5)
"""How old something is before it is told that a controller has said nothing of it, or that its Secret isn't there."""

SAID = dict(zip(BY_CAUSE, ["can't resolve what it refers to", "doesn't accept it", "doesn't serve it"], strict=True))
"""The conditions of a route or a ListenerSet that count, and what a controller says for which they are false."""

Cause = Callable[[Standing], Iterator[str]]
"""What finds why nothing answers, in sentences."""


def of_each(cause: Cause, *, of_service: bool = False) -> Finder:
    """Return what finds a cause for each object that was made for a Service; some are seen at the Service."""
    return lambda seen: (
        Finding(one.each.item, sentence, kubectl("describe", service if of_service else one.each.item), service)
        for one in seen.standing
        for service in [one.service.item]
        for sentence in cause(one)
    )


def _is_minutes_old(one: Standing) -> bool:
    born = time_of(one.each.item.metadata.get("creationTimestamp"))
    return born is not None and born + PATIENCE < one.around.now


def no_class(one: Standing) -> Iterator[str]:
    """Yield what is wrong with the class of an Ingress. One that has an address is served, whatever its class is."""
    each, around = one.each, one.around
    if not isinstance(each.typed, Ingress) or CLASS not in around.read or addresses_of(each.item):
        return
    name, classes = each.typed.spec.ingress_class_name, around.of_kind(CLASS)
    if name is not None and name not in classes:
        there = f"; there is {listed(sorted(classes))}" if classes else "; there is none at all"
        yield f"spec.ingressClassName is {quoted(name)}, and there is no IngressClass of that name{there}"
    has_default = any(item.annotations.get(IS_DEFAULT) == "true" for item in classes.values())
    if not (has_default or class_of(each.item, each.typed.spec)):
        yield "it names no class (spec.ingressClassName), and no IngressClass is the cluster's default"


def certificate(one: Standing) -> Iterator[str]:
    """Yield what is wrong with the Secrets of an object, or with what is in them. cert-manager may still make one."""
    each, around, namespace = one.each, one.around, one.each.item.namespace
    field = "spec.tls" if each.kind == INGRESS else "spec.listeners"
    for name, hosts in certificates_of(each) if SECRET in around.read else ():
        label = f"Secret {namespace}/{name}"
        secret = around.items.get((SECRET, f"{namespace}/{name}"))
        data = at(secret, "data") or {}
        if secret is None:
            if _is_minutes_old(one):
                yield f"{field} names {label}, which isn't there"
        elif lacking := [key for key in ("tls.crt", "tls.key") if key not in data]:
            yield (
                f"{label}, which {field} names, lacks {listed(lacking)}: it is of the type "
                f"{quoted(secret.object['type'])}, and should be kubernetes.io/tls"
            )
        elif can_be_read() and (wrong := wrong_with(data["tls.crt"], hosts, around.now)):
            yield f"{label}: {wrong}"


def not_accepted(one: Standing) -> Iterator[str]:
    """Yield what the controllers of Gateways say against an object as it is now, or why none says anything."""
    each, item = one.each, one.each.item
    for ref in parents_of(each.typed):
        said, at_parent = said_of(item, ref), called(item, ref)
        false = [one for word in SAID for one in said if (one.type, one.status) == (word, "False")]
        # Of a ListenerSet, what else is wrong follows from the first.
        for wrong in false[:1] if isinstance(each.typed, ListenerSet) else false:
            yield f"{wrong.controller} {SAID[wrong.type]} ({at_parent}): {wrong.told}"
        if ref.kind == LISTENERSET:
            continue  # one that isn't there is missing, and one that isn't looked after says so itself
        label = gateway_of(item, ref)
        if (GATEWAY, label) not in one.around.items:
            if GATEWAY in one.around.read:
                yield f"it names Gateway {label}, which isn't there"
        elif not said and _is_minutes_old(one):
            yield (
                f"no controller has said whether {at_parent} accepts it, though it was made at "
                f"{item.metadata['creationTimestamp']}: perhaps none looks after the Gateway"
            )


def no_endpoints(one: Standing) -> Iterator[str]:
    """Yield why no Pod answers behind an object, or none at the port to which it leads.

    Whatever makes EndpointSlices makes one for each selector; where there is none, it hasn't looked, or isn't there.
    """
    service, ports = one.service.item, _ports_of(one.each)
    slices, selector = one.around.slices.get(service.full_name, []), _selector_of(service)
    if not (ports and SLICE in one.around.read and (slices or not selector)):
        return
    if ready := [each for each in slices if is_ready(each)]:
        yield from _ports_unserved(one, ports, ready)
    elif count := sum(len(mappings(at(each, "endpoints"))) for each in slices):
        yield f"{service} has no endpoint that is ready, of {count}"
    elif selector:
        yield f"{service} has no endpoints: its selector {selector} finds no Pod that runs"
    else:
        yield f"{service} has no endpoints: it has no selector, and nobody has given it an EndpointSlice"


def _ports_unserved(one: Standing, ports: Sequence[str], ready: Sequence[Item]) -> Iterator[str]:
    served = {port.get("name") or "" for each in ready for port in mappings(at(each, "ports"))}
    for port in ports:
        stated = next((each for each in one.service.service.ports if port in {each.name, str(each.port)}), None)
        if stated and (stated.name or "") not in served:
            end = f"; its targetPort is {quoted(str(stated.target_port))}" if stated.target_port else ""
            yield f"port {port} of {one.service.item} is on none of its EndpointSlices{end}"


def _selector_of(service: Item) -> str:
    """Return the selector of a Service, as kubectl takes it; empty where it has none."""
    stated = service.object["spec"].get("selector")
    return ",".join(f"{key}={value}" for key, value in stated.items()) if isinstance(stated, dict) else ""


def _ports_of(each: ObjectView) -> list[str]:
    """Return the ports of the Service, by name or number, to which an object that was made for it leads."""
    if isinstance(each.typed, Ingress):
        found = [str(backend.service.port) for backend in backends_in(each.typed.spec) if backend.service]
    else:
        rules = each.item.object["spec"].get("rules") if isinstance(each.typed, HTTPRoute) else ()
        backends = (backend for rule in mappings(rules) for backend in mappings(rule.get("backendRefs")))
        found = [str(backend.get("port")) for backend in backends]
    return list(dict.fromkeys(found))
