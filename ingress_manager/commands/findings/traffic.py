"""Findings about traffic: an object is as its Service requests, but clients can't use it as intended.

Sources: the Kubernetes API reference (Ingress v1, IngressClass v1, EndpointSlice v1) and the Gateway API reference
(HTTPRoute v1, ListenerSet v1, Gateway v1: RouteParentStatus).
"""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from functools import wraps

from ingress_manager.commands.findings.evidence import Evidence
from ingress_manager.commands.findings.finding import Blocks, Find, Finding, Severity, finding
from ingress_manager.commands.plans.steps import kubectl
from ingress_manager.commands.snapshot import items, surroundings
from ingress_manager.commands.snapshot.certificates import TIME, can_be_read, cert_problem, near_expiry
from ingress_manager.commands.snapshot.items import CLASS_KIND, GATEWAY, INGRESS, LISTENERSET, SECRET, SLICE, at
from ingress_manager.commands.snapshot.objects import ObjectSnapshot, backends_of, class_of, ports_of, secrets_of
from ingress_manager.commands.snapshot.services import ServiceSnapshot
from ingress_manager.commands.snapshot.surroundings import Surroundings
from ingress_manager.core.kubernetes import Object
from ingress_manager.core.text import listed, quoted
from ingress_manager.core.vocabulary import OLD_CLASS

GRACE_PERIOD = timedelta(minutes=5)
"""How old an object must be before its controller's silence about it, or a missing Secret, is a finding."""

TLS_TYPE = "kubernetes.io/tls"

FAULTS = {"ResolvedRefs": "can't resolve a reference in", "Accepted": "rejects", "Programmed": "doesn't serve"}
"""The phrase in a message about a False condition, for each condition in surroundings.BY_CAUSE."""

ACCEPTED_PATHS = (
    ("ingress-nginx", {"nginx", "k8s.io/ingress-nginx"}, {"Exact", "Prefix"}, "/[A-Za-z0-9./_-]*"),
    ("AWS", {"alb", "ingress.k8s.aws/alb"}, {"Exact", "ImplementationSpecific", "Prefix"}, ".{1,128}"),
    ("GKE", {"gce", "gce-internal"}, {"ImplementationSpecific"}, r"/([^*?#]*/)?\*?|[^*?#]+"),
)
"""(controller, its class names and spec.controller, path types, the pattern that paths of these types must match).
Sources: for ingress-nginx (strict-validate-path-type, on by default since 1.12), internal/ingress/inspector/rules.go
and pull request 13798; for AWS, PathPatternConfig in the ELB API; for GKE, PathRule in the Compute Engine API."""


def per_object(sentences: Callable[[ObjectSnapshot, ServiceSnapshot, Surroundings], Iterator[str]]) -> Find:
    """Turn a function that yields messages about one object into one that yields findings for all managed objects."""

    @wraps(sentences)
    def find(evidence: Evidence) -> Iterator[Finding]:
        for obj, service in evidence.managed:
            for sentence in sentences(obj, service, evidence.around):
                yield Finding(obj.item, sentence, kubectl("describe", obj.item), service.item)

    return find


def _is_minutes_old(obj: ObjectSnapshot, around: Surroundings) -> bool:
    created = surroundings.time_of(obj.item.metadata.get("creationTimestamp"))
    return surroundings.EARLIEST < created < around.now - GRACE_PERIOD


@finding(blocks=Blocks.TRAFFIC, remedy="Set ingress/class or defaults.class to the class of a running controller.")
@per_object
def no_class(obj: ObjectSnapshot, _service: ServiceSnapshot, around: Surroundings) -> Iterator[str]:
    """The Ingress names an IngressClass that doesn't exist, or names none although the cluster has no default."""
    # An Ingress with an address is served, whatever its class.
    if obj.kind != INGRESS or CLASS_KIND not in around.read or surroundings.addresses_of(obj.item):
        return
    name, classes = obj.typed.spec.ingress_class_name, around.items[CLASS_KIND]
    if name is not None and name not in classes:
        known = f"existing IngressClasses: {listed(sorted(classes)) or 'none'}"
        yield f"IngressClass {quoted(name)}, named in spec.ingressClassName, doesn't exist; {known}"
    has_default = any(item.annotations.get(surroundings.IS_DEFAULT) == "true" for item in classes.values())
    if not (has_default or class_of(obj.item, obj.typed.spec)):
        yield "spec.ingressClassName is absent, and the cluster has no default IngressClass"


@finding(
    blocks=None,
    remedy='Use another path. For ingress-nginx, strict-validate-path-type: "false" in its ConfigMap allows this one.',
    severity=Severity.WARNING,
)
def path_denied(evidence: Evidence) -> Iterator[Finding]:
    """With its default settings, the controller of the Ingress's class rejects a path."""
    for service in evidence.accepted:
        for key, obj in service.desired.items():
            for sentence in denied_paths(obj, evidence.around.items[CLASS_KIND]):
                yield Finding(service.item, sentence, kubectl("edit", service.item), service.item, about=key)


def denied_paths(obj: Object, classes: Mapping[str, items.Item]) -> Iterator[str]:
    """Yield a message for each path that `obj`'s controller rejects. A class not in `classes` is recognized by name."""
    name = at(obj, "spec", "ingressClassName") or at(obj, "metadata", "annotations", OLD_CLASS)
    known = at(classes.get(name), "spec", "controller") or name
    for controller, _, types, right in (row for row in ACCEPTED_PATHS if known in row[1]):
        for path in (path for rule in items.mappings(at(obj, "spec", "rules")) for path in rule["http"]["paths"]):
            if path["pathType"] in types and not re.fullmatch(right, path["path"]):
                rejected = f"the path {quoted(path['path'])} with pathType {path['pathType']}"
                yield f"by default, {controller} rejects {rejected}; paths must match the regular expression {right}"


@finding(
    blocks=Blocks.TRAFFIC,
    remedy="Follow the controller's message. The administrator can create a missing Gateway or set defaults.gateway.",
)
@per_object
def not_accepted(obj: ObjectSnapshot, _service: ServiceSnapshot, around: Surroundings) -> Iterator[str]:
    """The Gateway is missing, a host has no listener, or no controller reports that the object is accepted."""
    item = obj.item
    for ref in obj.typed.parents:
        conditions, label = surroundings.conditions_of(item, ref), surroundings.gateway_of(item, ref)
        if ("Conflicted", "True") in [(condition.type, condition.status) for condition in conditions]:
            continue  # `claimed-twice` reports it
        parent = f"{ref.kind or GATEWAY} {label}"
        false = [condition for condition in conditions if condition.status == "False" and condition.type in FAULTS]
        false.sort(key=lambda condition: surroundings.BY_CAUSE.index(condition.type))
        # Further false conditions of a ListenerSet follow from the first.
        for condition in false[:1] if obj.kind == LISTENERSET else false:
            yield f"{condition.controller} {FAULTS[condition.type]} this {obj.kind} for {parent}: {condition.message}"
        if ref.kind == LISTENERSET:
            continue  # the ListenerSet has its own findings: `missing`, or this one
        if label not in around.items[GATEWAY]:
            if GATEWAY in around.read:
                yield f"Gateway {label} doesn't exist"
        elif not conditions and _is_minutes_old(obj, around):
            created = item.metadata["creationTimestamp"]
            yield f"{parent} may have no controller: none has reported on this {obj.kind}, created at {created}"
        elif conditions and not false and (hosts := surroundings.hosts_without_listener(obj, ref, around)):
            yield f"{parent} ignores {listed(hosts)}: none of its listeners for this {obj.kind} has a matching hostname"


@finding(
    blocks=Blocks.TRAFFIC,
    remedy="Correct the Service's selector, targetPort or Pods. A Service without a selector needs an EndpointSlice.",
)
@per_object
def no_endpoints(obj: ObjectSnapshot, service: ServiceSnapshot, around: Surroundings) -> Iterator[str]:
    """No ready endpoint serves the Service's port, so the host answers with 502 or 503."""
    item, selector = service.item, service.item.object["spec"].get("selector")
    slices = around.slices.get(item.full_name, [])
    # A Service with a selector gets an EndpointSlice as soon as the EndpointSlice controller has seen the Service.
    if not backends_of(obj) or SLICE not in around.read or (selector and not slices):
        return
    ready = [slice_ for slice_ in slices if surroundings.is_ready(slice_)]
    served = {str(port.get("name")) for slice_ in ready for port in items.mappings(at(slice_, "ports"))}
    tcp = [port for port in service.service.spec.ports or () if port.protocol == "TCP" and port.port in ports_of(obj)]
    # Controllers differ in whether an unnamed port matches endpoint ports of any name.
    unserved = [port.name or str(port.port) for port in tcp if (port.name not in served if port.name else not served)]
    if ready and unserved:
        # An EndpointSlice lacks the port if the targetPort is a name that the Pods don't have.
        no_port = "no ready Pod has the container port that targetPort names"
        why = no_port if selector else "the EndpointSlices name other ports"
        yield f"{item} has no ready endpoint for port {listed(unserved)}: {why}"
    elif not ready and (count := sum(len(items.mappings(at(slice_, "endpoints"))) for slice_ in slices)):
        yield f"{item} has no ready endpoint ({count} not ready)"
    elif not ready:
        why = "the selector matches no running Pod" if selector else "it has neither a selector nor an EndpointSlice"
        yield f"{item} has no endpoints: {why}"


@finding(
    blocks=Blocks.TRAFFIC,
    remedy="Create a kubernetes.io/tls Secret, renew the certificate, or name another Secret in ingress/tls-secret.",
)
@per_object
def certificate(obj: ObjectSnapshot, _service: ServiceSnapshot, around: Surroundings) -> Iterator[str]:
    """The Secret is missing, or doesn't contain a certificate that is valid now and covers all hosts."""
    namespace = obj.item.namespace
    field = "spec.tls" if obj.kind == INGRESS else "spec.listeners"
    for name, hosts in secrets_of(obj) if SECRET in around.read else ():
        label = f"Secret {namespace}/{name}"
        secret = around.items[SECRET].get(f"{namespace}/{name}")
        data = at(secret, "data") or {}
        if secret is None:
            if _is_minutes_old(obj, around):  # until then, cert-manager may be creating it
                yield f"{label}, named in {field}, doesn't exist"
        elif (type_ := secret.object["type"]) != TLS_TYPE or not {"tls.crt", "tls.key"} <= data.keys():
            lacks = [f"lacks {key}" for key in ("tls.crt", "tls.key") if key not in data]
            lacks += [f"has type {quoted(type_)} instead of {TLS_TYPE}"] if type_ != TLS_TYPE else []
            yield f"{label}, named in {field}, {' and '.join(lacks)}"
        elif can_be_read() and (wrong := cert_problem(data["tls.crt"], hosts, around.now)):
            yield f"{label}: {wrong}"


@finding(
    blocks=None,
    remedy="Renew the certificate. If cert-manager issues it, see the status of Certificate and CertificateRequest.",
    severity=Severity.WARNING,
)
@per_object
def certificate_ends(obj: ObjectSnapshot, _service: ServiceSnapshot, around: Surroundings) -> Iterator[str]:
    """The certificate expires within 14 days (or `--certificate-days`), with less than a third of its lifetime left."""
    for name, hosts in secrets_of(obj) if can_be_read() else ():
        label = f"{obj.item.namespace}/{name}"
        crt = at(around.items[SECRET].get(label), "data", "tls.crt")
        if crt and not cert_problem(crt, hosts, around.now) and (end := near_expiry(crt, around.now, around.soon)):
            yield f"the certificate in Secret {label} expires at {end:{TIME}}"
