"""Why nothing answers, though what was made for a Service stands as it should: what is lacking around it.

Sources: the Kubernetes API reference (Ingress v1, IngressClass v1, EndpointSlice v1) and the Gateway API reference
(HTTPRoute v1, ListenerSet v1, Gateway v1: RouteParentStatus).
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta

from ingress_manager.commands.audit.seen import Finder, Finding, Standing
from ingress_manager.commands.plans.steps import kubectl
from ingress_manager.commands.reading.kinds import INGRESS, LISTENERSET
from ingress_manager.commands.reading.manifests import Item, mappings
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
    EndpointSlice,
    Secret,
    Surroundings,
    time_of,
)
from ingress_manager.core.forbidden import parents_of
from ingress_manager.core.kubernetes import HTTPRoute, Ingress, ListenerSet
from ingress_manager.core.text import listed, quoted

ISSUERS = ("cert-manager.io/issuer", "cert-manager.io/cluster-issuer", "kubernetes.io/tls-acme")
"""Annotations of an Ingress or a ListenerSet for which cert-manager makes the Secret."""

PATIENCE = timedelta(minutes=5)
"""How old something is before it is told that a controller has said nothing of it, or has made no certificate."""

SAID = dict(zip(BY_CAUSE, ["can't resolve what it refers to", "doesn't accept it", "doesn't serve it"], strict=True))
"""The conditions of a route or a ListenerSet that count, and what a controller says for which they are false."""

NO_CERTIFICATE = "InvalidCertificateRef"
"""The reason of a listener whose Secret isn't there."""


Cause = Callable[[Standing], Iterator[str]]
"""What finds why nothing answers, in sentences."""


def of_each(cause: Cause, *, of_service: bool = False) -> Finder:
    """Return what finds a cause for each object that was made for a Service; some are seen at the Service."""
    return lambda seen: (
        Finding(one.each.item, sentence, kubectl("describe", one.service.item if of_service else one.each.item))
        for one in seen.standing
        for sentence in cause(one)
    )


def _is_minutes_old(each: ObjectView, around: Surroundings) -> bool:
    born = time_of(each.item.metadata.get("creationTimestamp"))
    return born is not None and born + PATIENCE < around.now


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
    """Yield what is wrong with the Secrets of an object, or with what is in them."""
    each, around = one.each, one.around
    field = "spec.tls" if each.kind == INGRESS else "spec.listeners"
    issuer = next((key for key in ISSUERS if key in each.item.annotations), None)
    for name, secret, hosts in _secrets_of(one):
        label = f"Secret {each.item.namespace}/{name}"
        data = (secret.data if secret else None) or {}
        if secret is None and issuer is None:
            yield f"{field} names {label}, which isn't there"
        elif secret is None:
            if _is_minutes_old(each, around):
                yield f"{label} isn't there yet: cert-manager is to make it, as {issuer} says"
        elif lacking := [key for key in ("tls.crt", "tls.key") if key not in data]:
            yield (
                f"{label}, which {field} names, lacks {listed(lacking)}: it is of the type {quoted(secret.type)}, "
                "and should be kubernetes.io/tls"
            )
        elif can_be_read() and (wrong := wrong_with(data["tls.crt"], hosts, around.now)):
            yield f"{label}: {wrong}"


def _secrets_of(one: Standing) -> Iterator[tuple[str, Secret | None, Sequence[str]]]:
    """Yield the Secrets that an object names, as far as they are known, and for which hosts each is."""
    namespace = one.each.item.namespace
    for name, hosts in certificates_of(one.each) if SECRET in one.around.read else ():
        yield name, one.around.typed.get((SECRET, f"{namespace}/{name}")), hosts


def not_accepted(one: Standing) -> Iterator[str]:
    """Yield what the controllers of Gateways say against an object as it is now, or why none says anything."""
    each, item = one.each, one.each.item
    is_awaited = any(key in item.annotations for key in ISSUERS)
    for ref in parents_of(each.typed):
        said, at_parent = said_of(item, ref), called(item, ref)
        conditions = [(condition, by) for by in said for condition in by.of_now(item) if condition.status == "False"]
        false = [(condition, by) for word in SAID for condition, by in conditions if condition.type == word]
        if isinstance(each.typed, ListenerSet):
            false = false[:1]  # what else is wrong follows from that
        for condition, by in false:
            if not (condition.reason == NO_CERTIFICATE and is_awaited):
                told = f"{condition.message} [{condition.reason}]"
                yield f"{by.controller_name} {SAID[condition.type]} ({at_parent}): {told}"
        if ref.kind == LISTENERSET:
            continue  # one that isn't there is missing, and one that isn't looked after says so itself
        label = gateway_of(item, ref)
        if (GATEWAY, label) not in one.around.typed:
            if GATEWAY in one.around.read:
                yield f"it names Gateway {label}, which isn't there"
        elif not said and _is_minutes_old(each, one.around):
            yield (
                f"no controller has said whether {at_parent} accepts it, though it was made at "
                f"{item.metadata['creationTimestamp']}: perhaps none looks after the Gateway"
            )


def no_endpoints(one: Standing) -> Iterator[str]:
    """Yield why no Pod answers behind an object, or none at the port to which it leads."""
    slices, service = _slices_of(one), one.service.item
    if slices is None:
        return
    if any(map(_is_ready, slices)):
        yield from _port_unserved(one, [each for each in slices if _is_ready(each)])
        return
    selector = _selector_of(service)
    if count := sum(len(each.endpoints or ()) for each in slices):
        why = f"no endpoint that is ready, of {count}"
    elif selector:
        why = f"no endpoints: its selector {selector} finds no Pod that runs"
    else:
        why = "no endpoints: it has no selector, and nobody has given it an EndpointSlice"
    yield f"{service} has {why}"


def _port_unserved(one: Standing, ready: Sequence[EndpointSlice]) -> Iterator[str]:
    service = one.service.item
    served = {port.name or "" for each in ready for port in each.ports or ()}
    for port in _ports_of(one.each):
        stated = next((each for each in one.service.service.ports if port in {each.name, str(each.port)}), None)
        if stated and (stated.name or "") not in served:
            sentence = f"port {port} of {service} is on none of its EndpointSlices"
            if isinstance(stated.target_port, str) and _selector_of(service):
                sentence += f": no Pod that is ready has a port called {quoted(stated.target_port)} (targetPort)"
            yield sentence


def _slices_of(one: Standing) -> Sequence[EndpointSlice] | None:
    """Return the EndpointSlices of the Service; None where they aren't known, or nothing leads to it.

    Whatever makes EndpointSlices makes one for each selector; where there is none, it hasn't looked, or isn't there.
    """
    service = one.service.item
    slices = one.around.slices.get(service.full_name, [])
    is_known = SLICE in one.around.read and (slices or not _selector_of(service))
    return slices if is_known and _ports_of(one.each) else None


def _is_ready(slice_: EndpointSlice) -> bool:
    return any(endpoint.is_ready for endpoint in slice_.endpoints or ())


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
