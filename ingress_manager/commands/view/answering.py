"""Why nothing answers, though what was made for a Service stands as it should: what its surroundings lack. Pure.

Sources: the Kubernetes API reference (Ingress v1, IngressClass v1, EndpointSlice v1, NetworkPolicy v1) and the Gateway
API reference (HTTPRoute v1, ListenerSet v1, Gateway v1: Listener, RouteParentStatus).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from enum import StrEnum
from typing import NamedTuple

from ingress_manager.commands.printing.words import Command
from ingress_manager.commands.reading.kinds import INGRESS, LISTENERSET, SERVICE
from ingress_manager.commands.reading.manifests import at, mappings
from ingress_manager.commands.view.certificates import can_be_read, wrong_with
from ingress_manager.commands.view.ingresses import backends_in, class_of, overlap
from ingress_manager.commands.view.look import ObjectView, ServiceView, View, is_being_deleted
from ingress_manager.commands.view.standing import BY_CAUSE, addresses_of, called, gateway_of, said_of
from ingress_manager.commands.view.surroundings import (
    CLASS,
    EVERYWHERE,
    GATEWAY,
    IS_DEFAULT,
    POLICY,
    SECRET,
    SLICE,
    Gateway,
    Listener,
    Secret,
    Selector,
    Surroundings,
    time_of,
)
from ingress_manager.core.forbidden import parents_of
from ingress_manager.core.kubernetes import HTTPRoute, Ingress, ListenerSet, ParentRef
from ingress_manager.core.text import is_seen, listed, quoted

ISSUERS = ("cert-manager.io/issuer", "cert-manager.io/cluster-issuer", "kubernetes.io/tls-acme")
"""Annotations of an Ingress or a ListenerSet for which cert-manager makes the Secret."""

PATIENCE = timedelta(minutes=5)
"""How old something is before it is told that no controller has said anything of it."""

SAID = dict(zip(BY_CAUSE, ["can't resolve what it refers to", "doesn't accept it", "doesn't serve it"], strict=True))
"""The conditions of a route or a ListenerSet that count, and what a controller says for which they are false."""


NO_CERTIFICATE = "InvalidCertificateRef"
"""The reason of a listener whose Secret isn't there."""


class CauseKind(StrEnum):
    """What is in the way. The kinds of audit's findings have the same words, and say what each means."""

    NO_CLASS = "no-class"
    NO_GATEWAY = "no-gateway"
    NO_LISTENER = "no-listener"
    NOT_ACCEPTED = "not-accepted"
    NO_ENDPOINTS = "no-endpoints"
    PORT_UNSERVED = "port-unserved"
    NO_CERTIFICATE = "no-certificate"
    WRONG_CERTIFICATE = "wrong-certificate"
    HEADLESS = "headless"
    CLASS_UNSERVED = "class-unserved"
    CERTIFICATE_AWAITED = "certificate-awaited"
    NETWORK_POLICY = "network-policy"


HINTS = {CauseKind.CLASS_UNSERVED, CauseKind.CERTIFICATE_AWAITED, CauseKind.NETWORK_POLICY}
"""Kinds of what may well be as it should."""


class Cause(NamedTuple):
    """Why nothing answers, or perhaps nothing does."""

    kind: CauseKind
    sentence: str
    command: Command = ()
    """What helps, or shows more; empty where no command does."""

    @property
    def hint(self) -> bool:
        return self.kind in HINTS


def causes(each: ObjectView, view: View, around: Surroundings) -> Iterator[Cause]:
    """Yield why nothing answers where an object that was made for a Service says so, as far as that is known."""
    service = view.owner_of(each)
    if not (each.is_marked and isinstance(service, ServiceView)) or is_being_deleted(each.item):
        return
    if isinstance(each.typed, Ingress):
        yield from _of_class(each, each.typed, around)
    yield from _of_certificates(each, around)
    for ref in parents_of(each.typed):
        if ref.kind != LISTENERSET:
            yield from _of_gateway(each, ref, gateway_of(each.item, ref), around)
        yield from _of_status(each, ref, around)
    if ports := list(dict.fromkeys(_ports_of(each))):
        yield from _of_service(service, ports, around)


def places_around(view: View) -> set[tuple[str, str]]:
    """Return what `causes` goes by in a view: the kinds, each with a namespace, or with EVERYWHERE if it is in none."""
    found: set[tuple[str, str]] = set()
    for each in view.objects.values():
        if not (each.is_marked and each.service):
            continue
        namespace = each.item.namespace
        found |= {(SLICE, namespace), (POLICY, namespace)}
        found |= {(CLASS, EVERYWHERE)} if isinstance(each.typed, Ingress) else set()
        found |= {(SECRET, namespace) for _ in certificates_of(each)}
        found |= {(GATEWAY, ref.namespace or namespace) for ref in parents_of(each.typed) if ref.kind != LISTENERSET}
    return found


def unserved_classes(view: View, around: Surroundings) -> dict[str, str]:
    """Return the classes of which no Ingress in all namespaces has an address, each with one that is minutes old."""
    oldest: dict[str, ObjectView] = {}
    served: set[str] = set()
    for each in sorted(view.objects.values(), key=lambda each: each.item.born):
        if isinstance(each.typed, Ingress):
            name = class_of(each.item, each.typed.spec)
            oldest.setdefault(name, each)
            served |= {name} if addresses_of(each.item) else set()
    is_known = view.known.is_whole and INGRESS not in {*view.known.unread, *(kind for kind, _ in view.misread)}
    return {
        name: f"{each}, which was made at {each.item.metadata.get('creationTimestamp')}"
        for name, each in oldest.items()
        if is_known and name not in served and _is_minutes_old(each, around)
    }


def _is_minutes_old(each: ObjectView, around: Surroundings) -> bool:
    born = time_of(each.item.metadata.get("creationTimestamp"))
    return born is not None and born + PATIENCE < around.now


def _kubectl(verb: str, *options: str, names: Iterable[str]) -> Command:
    """Return a command; none where a word of it can't be seen by a person."""
    command = ("kubectl", verb, *options, "--", *names)
    return command if all(map(is_seen, command)) else ()


def _of_class(each: ObjectView, ingress: Ingress, around: Surroundings) -> Iterator[Cause]:
    """Yield what is wrong with the class of an Ingress. One that has an address is served, whatever its class is."""
    if not around.knows(CLASS) or addresses_of(each.item):
        return
    name, classes = ingress.spec.ingress_class_name, around.of_kind(CLASS)
    command = _kubectl("get", names=["ingressclasses"])
    if name is not None and name not in classes:
        there = f"; there is {listed(sorted(classes))}" if classes else "; there is none at all"
        sentence = f"spec.ingressClassName is {quoted(name)}, and there is no IngressClass of that name{there}"
        yield Cause(CauseKind.NO_CLASS, sentence, command)
    elif not class_of(each.item, ingress.spec):
        if not any(item.annotations.get(IS_DEFAULT) == "true" for item in classes.values()):
            sentence = "it names no class (spec.ingressClassName), and no IngressClass is the cluster's default"
            yield Cause(CauseKind.NO_CLASS, sentence, command)
    elif name in around.unserved:
        sentence = (
            f"no Ingress of the class {name} has an address, not even {around.unserved[name]}: perhaps no ingress "
            "controller serves the class; some write no address"
        )
        yield Cause(CauseKind.CLASS_UNSERVED, sentence, _kubectl("describe", names=["ingressclass", name]))


def certificates_of(each: ObjectView) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the Secrets that an Ingress or a ListenerSet names, each with the hosts for which its certificate is."""
    if isinstance(each.typed, Ingress):
        # Without a name, the controller's default certificate is meant.
        yield from ((entry.secret_name, entry.hosts or ()) for entry in each.typed.spec.tls or () if entry.secret_name)
    for listener in mappings(at(each.item, "spec", "listeners")):
        hosts = [str(listener["hostname"])] if listener.get("hostname") else []
        yield from ((str(ref.get("name")), hosts) for ref in mappings(at(listener, "tls", "certificateRefs")))


def _of_certificates(each: ObjectView, around: Surroundings) -> Iterator[Cause]:
    namespace, field = each.item.namespace, "spec.tls" if each.kind == INGRESS else "spec.listeners"
    for name, hosts in certificates_of(each) if around.knows(SECRET, namespace) else ():
        secret: Secret | None = around.typed.get((SECRET, f"{namespace}/{name}"))
        where = f"--namespace={namespace}"
        if secret is not None:
            yield from _of_secret(f"{namespace}/{name}", secret, hosts, field, around)
        elif issuer := _issuer_of(each):
            sentence = f"Secret {namespace}/{name} isn't there yet: cert-manager is to make it, as {issuer} says"
            command = _kubectl("describe", where, names=["certificates.cert-manager.io", name])
            yield Cause(CauseKind.CERTIFICATE_AWAITED, sentence, command)
        else:
            sentence = f"{field} names Secret {namespace}/{name}, which isn't there"
            command = _kubectl("get", where, "--field-selector=type=kubernetes.io/tls", names=["secrets"])
            yield Cause(CauseKind.NO_CERTIFICATE, sentence, command)


def _issuer_of(each: ObjectView) -> str | None:
    return next((key for key in ISSUERS if key in each.item.annotations), None)


def _of_secret(label: str, secret: Secret, hosts: Iterable[str], field: str, around: Surroundings) -> Iterator[Cause]:
    namespace, _, name = label.partition("/")
    command = _kubectl("describe", f"--namespace={namespace}", names=["secret", name])
    data = secret.data or {}
    if lacking := [key for key in ("tls.crt", "tls.key") if key not in data]:
        sentence = (
            f"Secret {label}, which {field} names, lacks {listed(lacking)}: it is of the type {quoted(secret.type)}, "
            "and should be kubernetes.io/tls"
        )
        yield Cause(CauseKind.NO_CERTIFICATE, sentence, command)
    elif can_be_read() and (wrong := wrong_with(data["tls.crt"], hosts, around.now, around.latest)):
        yield Cause(CauseKind.WRONG_CERTIFICATE, f"Secret {label}: {wrong}", command)


def _ports_of(each: ObjectView) -> Iterator[str]:
    """Yield the ports of the Service, by name or number, to which an object that was made for it leads."""
    if isinstance(each.typed, Ingress):
        yield from (str(backend.service.port) for backend in backends_in(each.typed.spec) if backend.service)
    for rule in mappings(at(each.item, "spec", "rules")) if isinstance(each.typed, HTTPRoute) else ():
        yield from (str(backend.get("port")) for backend in mappings(rule.get("backendRefs")))


def _of_service(service: ServiceView, ports: Iterable[str], around: Surroundings) -> Iterator[Cause]:
    item = service.item
    called, spec = f"{SERVICE} {item.full_name}", item.object["spec"]
    stated = spec.get("selector")
    selector = {str(key): str(value) for key, value in stated.items()} if isinstance(stated, dict) else {}
    where = f"--namespace={item.namespace}"
    if spec.get("clusterIP") == "None":
        sentence = (
            f"{called} is headless (spec.clusterIP: None): a controller that sends requests to its Pods serves it, and "
            "one that sends them to the Service's address reaches nothing"
        )
        yield Cause(CauseKind.HEADLESS, sentence, _kubectl("describe", where, names=["service", item.name]))
    if around.knows(SLICE, item.namespace):
        yield from _of_endpoints(service, selector, ports, around)
    if selector and around.knows(POLICY, item.namespace):
        yield from _of_policies(item.namespace, selector, around)


def _of_endpoints(
    service: ServiceView, selector: Mapping[str, str], ports: Iterable[str], around: Surroundings
) -> Iterator[Cause]:
    item = service.item
    called, where = f"{SERVICE} {item.full_name}", f"--namespace={item.namespace}"
    describe = _kubectl("describe", where, names=["service", item.name])
    slices = around.slices.get(item.full_name, [])
    if selector and not slices:
        return  # whatever makes EndpointSlices makes one for each selector; here it hasn't looked, or isn't there
    ready = [each for each in slices if any(endpoint.is_ready for endpoint in each.endpoints or ())]
    if not ready:
        count = sum(len(each.endpoints or ()) for each in slices)
        labels = ",".join(f"{key}={value}" for key, value in selector.items())
        command = _kubectl("get", where, f"--selector={labels}", names=["pods"]) if selector else describe
        if count:
            sentence = f"{called} has no endpoint that is ready, of {count}"
        elif selector:
            sentence = f"{called} has no endpoints: its selector {labels} finds no Pod that runs"
        else:
            sentence = f"{called} has no endpoints: it has no selector, and nobody has given it an EndpointSlice"
        yield Cause(CauseKind.NO_ENDPOINTS, sentence, command)
        return
    served = {port.name or "" for each in ready for port in each.ports or ()}
    for port in ports:
        stated = next((each for each in service.service.ports if port in {each.name, str(each.port)}), None)
        if stated and (stated.name or "") not in served:
            sentence = f"port {port} of {called} is on none of its EndpointSlices"
            if isinstance(stated.target_port, str) and selector:
                sentence += f": no Pod that is ready has a port called {quoted(stated.target_port)} (targetPort)"
            yield Cause(CauseKind.PORT_UNSERVED, sentence, describe)


def _of_policies(namespace: str, selector: Mapping[str, str], around: Surroundings) -> Iterator[Cause]:
    """Yield the policies that select the Pods of a Service and let nobody in who may be an ingress controller.

    The Pods have at least the labels of the selector. A controller is in another namespace, or outside of the cluster.
    """
    policies = {
        name: policy
        for name, policy in around.policies.get(namespace, {}).items()
        if "Ingress" in (policy.spec.policy_types or ["Ingress"])
        and _selects(policy.spec.pod_selector, selector) is not False
    }
    isolating = [name for name, policy in policies.items() if _selects(policy.spec.pod_selector, selector)]
    rules = [rule for policy in policies.values() for rule in policy.spec.ingress or ()]
    if isolating and all(
        rule.from_ and not any(peer.namespace_selector or peer.ip_block for peer in rule.from_) for rule in rules
    ):
        labels = ",".join(f"{key}={value}" for key, value in selector.items())
        sentence = (
            f"NetworkPolicy {listed([f'{namespace}/{name}' for name in isolating])} selects its Pods ({labels}), and "
            "no NetworkPolicy lets an ingress controller of another namespace in"
        )
        yield Cause(
            CauseKind.NETWORK_POLICY,
            sentence,
            _kubectl("describe", f"--namespace={namespace}", names=["networkpolicies", *isolating]),
        )


def _selects(selector: Selector, labels: Mapping[str, str]) -> bool | None:
    """Return whether a selector takes what has at least these labels; None where others decide it."""
    answers = [_equals(labels, key, [value]) for key, value in (selector.match_labels or {}).items()]
    for each in selector.match_expressions or ():
        values = each.values if each.operator in {"In", "NotIn"} else None
        found = _equals(labels, each.key, values)
        is_negated = each.operator in {"NotIn", "DoesNotExist"}
        answers.append(not found if is_negated and found is not None else found)
    return False if False in answers else None if None in answers else True


def _equals(labels: Mapping[str, str], key: str, values: list[str] | None) -> bool | None:
    """Return whether a label is there, with one of the values if there are any; None where it isn't known."""
    return None if key not in labels else values is None or labels[key] in values


def _of_gateway(each: ObjectView, ref: ParentRef, label: str, around: Surroundings) -> Iterator[Cause]:
    """Yield why a route can't attach to the Gateway that it names, or that a ListenerSet's isn't there."""
    of_gateway = label.partition("/")[0]
    if not around.knows(GATEWAY, of_gateway):
        return
    gateway: Gateway | None = around.typed.get((GATEWAY, label))
    if gateway is None:
        field = "parentRefs" if isinstance(each.typed, HTTPRoute) else "parentRef"
        sentence = f"spec.{field} names Gateway {label}, which isn't there"
        yield Cause(CauseKind.NO_GATEWAY, sentence, _kubectl("get", "--all-namespaces", names=["gateways"]))
    if gateway is None or not isinstance(each.typed, HTTPRoute):
        return
    command = _kubectl("describe", f"--namespace={of_gateway}", names=["gateway", ref.name])
    listeners = [
        listener
        for listener in gateway.spec.listeners
        if ref.section_name in {"", listener.name} and ref.port in {None, listener.port}
    ]
    if sentence := _unfit(listeners, each.typed, ref, same_namespace=each.item.namespace == of_gateway):
        there = listed([listener.name for listener in gateway.spec.listeners])
        more = f"; it has {there}" if not listeners and there else ""
        yield Cause(CauseKind.NO_LISTENER, f"Gateway {label} {sentence}{more}", command)


def _unfit(listeners: list[Listener], route: HTTPRoute, ref: ParentRef, *, same_namespace: bool) -> str:
    """Return why none of some listeners takes a route, or one of its hosts, as the end of a sentence; "" if all do."""
    called = f"listener {quoted(ref.section_name)}" if ref.section_name else "listener"
    if not listeners:
        return f"has no {called}{'' if ref.port is None else f' with the port {ref.port}'}"
    taking = [each for each in listeners if _takes_httproutes(each)]
    if not taking:
        protocols = listed(sorted({each.protocol for each in listeners}))
        return f"has no {called} that takes HTTPRoutes: protocol {protocols}, or what allowedRoutes.kinds says"
    modes = {each.allowed_routes.namespaces.from_ for each in taking}
    if modes == {"Same"} and not same_namespace:
        return f"has no {called} that admits routes from this namespace (allowedRoutes.namespaces.from: Same)"
    lost = [host for host in route.spec.hostnames or () if not any(overlap(host, each.hostname) for each in taking)]
    if lost:
        return f"has no {called} for {listed(lost)} (hostname: {listed([each.hostname for each in taking])})"
    return ""


def _takes_httproutes(listener: Listener) -> bool:
    """Return whether a listener may take HTTPRoutes; of protocols that aren't Kubernetes' own, nobody knows."""
    kinds = listener.allowed_routes.kinds
    return listener.protocol not in {"TCP", "TLS", "UDP"} and (
        not kinds or any(each.kind == "HTTPRoute" for each in kinds)
    )


def _of_status(each: ObjectView, ref: ParentRef, around: Surroundings) -> Iterator[Cause]:
    """Yield what the controller of a Gateway says against an object as it is now."""
    command = _kubectl("describe", f"--namespace={each.item.namespace}", names=[each.kind.lower(), each.item.name])
    said, at_parent = said_of(each.item, ref), called(each.item, ref)
    conditions = [(condition, by) for by in said for condition in by.of_now(each.item) if condition.status == "False"]
    false = [(condition, by) for word in SAID for condition, by in conditions if condition.type == word]
    if isinstance(each.typed, ListenerSet):
        false = false[:1]  # what else is wrong follows from that
    for condition, by in false:
        if condition.reason == NO_CERTIFICATE and _issuer_of(each):
            continue  # it is awaited
        told = f"{condition.message} [{condition.reason}]"
        sentence = f"{by.controller_name} {SAID[condition.type]} ({at_parent}): {told}"
        yield Cause(CauseKind.NOT_ACCEPTED, sentence, command)
    # Of a ListenerSet that isn't looked after, it itself says so.
    is_there = ref.kind != LISTENERSET and (GATEWAY, gateway_of(each.item, ref)) in around.typed
    if not said and is_there and _is_minutes_old(each, around):
        sentence = (
            f"no controller has said whether {at_parent} accepts it, though it was made at "
            f"{each.item.metadata['creationTimestamp']}: perhaps none looks after the Gateway"
        )
        yield Cause(CauseKind.NOT_ACCEPTED, sentence, command)
