"""`check`: what the settings name and others provide: IngressClasses, the Gateway API, Gateways. The pure part."""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import UNSET

from ingress_manager.commands.check.hook import policy_of, selects
from ingress_manager.commands.check.lines import Line, State
from ingress_manager.commands.check.seen import Seen, condition
from ingress_manager.commands.check.versions import GATEWAY_API, by_version
from ingress_manager.commands.printing.words import Command
from ingress_manager.commands.reading.manifests import at, mappings
from ingress_manager.core.copying import ANY
from ingress_manager.core.namespace_policy import in_namespace
from ingress_manager.core.policy import HTTPROUTE, INGRESS, Defaults, Gateway, Policy, Profile
from ingress_manager.core.vocabulary import OLD_CLASS

DEFAULT_CLASS = "ingressclass.kubernetes.io/is-default-class"
CRDS = tuple(f"{each}.gateway.networking.k8s.io" for each in ("gateways", "httproutes", "listenersets"))
PAGES = {"HTTPRoute": "docs/httproute.md", "ListenerSet": "docs/listenerset.md"}
SETTINGS = "the settings could not be read, which name them"


def stated(policy: Policy) -> Iterator[tuple[str, Defaults | Profile]]:
    """Yield where something is stated for Services, and what: in general, for a namespace, in a profile."""
    yield "defaults", policy.defaults
    for name, namespace in policy.namespaces.items():
        if namespace.defaults is not UNSET:
            yield f"namespaces.{name}.defaults", namespace.defaults
    for name, profile in policy.profiles.items():
        yield f"profiles.{name}", profile


def outputs(policy: Policy) -> set[str]:
    """Return all kinds of objects that the settings ask for."""
    return {output for _, each in stated(policy) if each.outputs is not UNSET for output in each.outputs}


def classes(seen: Seen) -> Iterator[Line]:
    """Yield whether the IngressClasses that the settings name are there, and a default one where they name none."""
    part, kind = "IngressClasses", "IngressClass"
    policy = policy_of(seen)
    if policy is None:
        yield Line(part, State.UNKNOWN, f"IngressClasses could not be looked for: {SETTINGS}")
        return
    if INGRESS not in outputs(policy):
        return
    yield from seen.unknown(part, kind, "IngressClasses")
    if kind in seen.unread:
        return
    there = {item.name for item in seen.of_kind(kind)}
    wanted: dict[str, str] = {}
    for where, each in stated(policy):
        if isinstance(each.ingress_class, str):
            wanted.setdefault(each.ingress_class, f"{where}.class")
        elif each.ingress_class is None and not (each.annotations and OLD_CLASS in each.annotations):
            wanted.setdefault("", f"{where}.class")
    for name, where in wanted.items():
        yield one_class(seen, part, name, where, there)
    allowed = policy.limits.classes
    for name in () if allowed in {ANY, UNSET} else allowed:
        if name not in there and name not in wanted:
            sentence = f"limits.classes of the settings allows the IngressClass {name}, which isn't there"
            yield Line(part, State.WARNING, sentence, "Take it out, or install its controller.")


def one_class(seen: Seen, part: str, name: str, where: str, there: Iterable[str]) -> Line:
    """Return the line for a class that the settings name; "" is the cluster's default."""
    look: Command = ("kubectl", "get", "--", "ingressclasses")
    if not name:
        defaults = [each for each in seen.of_kind("IngressClass") if each.annotations.get(DEFAULT_CLASS) == "true"]
        if defaults:
            return Line(part, State.OK, f"the cluster's default IngressClass is {defaults[0].name}")
        sentence = f"{where} of the settings is null, and the cluster has no default IngressClass"
        return Line(part, State.WRONG, sentence, f"Name a class there, or annotate one with {DEFAULT_CLASS}.", look)
    if name in there:
        return Line(part, State.OK, f"the IngressClass {name} is there")
    known = f"there is {', '.join(sorted(there))}" if there else "the cluster has none"
    sentence = f"{where} of the settings names the IngressClass {name}, which isn't there; {known}"
    return Line(part, State.WRONG, sentence, "Name one that is there, or install the controller of this one.", look)


def gateways(seen: Seen) -> Iterator[Line]:
    """Yield whether what HTTPRoutes need is there, where the settings ask for them."""
    part = "Gateway API"
    policy = policy_of(seen)
    if policy is None:
        yield Line(part, State.UNKNOWN, f"Gateways could not be looked for: {SETTINGS}")
        return
    if HTTPROUTE not in outputs(policy):
        return
    kinds = [each for each in ("HTTPRoute", "ListenerSet") if each in policy.versions]
    yield from seen.unknown(part, "CustomResourceDefinition", "its CRDs")
    if "CustomResourceDefinition" not in seen.unread:
        yield from gateway_crds(seen, part, kinds)
    lacking = [f"{kind}s" for kind in kinds if not seen.makes(f"{kind.lower()}s")]
    if seen.controller and lacking:
        sentence = f"the settings ask for {' and '.join(lacking)}, and the DecoratorController doesn't make them"
        yield Line(part, State.WRONG, sentence, f"{PAGES[kinds[-1]]} says which one does.")
    yield from seen.unknown(part, "Gateway", "Gateways")
    if "Gateway" in seen.unread:
        return
    wanted: dict[Gateway, str] = {}
    for where, each in stated(policy):
        if isinstance(each.gateway, Gateway):
            wanted.setdefault(each.gateway, f"{where}.gateway")
    for gateway, where in wanted.items():
        yield from one_gateway(seen, part, gateway, where)
        if gateway.listener_sets:
            yield from allowed(seen, part, gateway, where, policy)


def gateway_crds(seen: Seen, part: str, kinds: Sequence[str]) -> Iterator[Line]:
    """Yield whether the CRDs of the Gateway API are there, with these kinds, and in which version."""
    for kind, name in zip(("HTTPRoute", *kinds), CRDS, strict=False):
        crd = seen.one("CustomResourceDefinition", name)
        if crd is None or condition(at(crd, "status"), "Established").get("status") != "True":
            how = "isn't there" if crd is None else "is not established"
            sentence = f"the CRD {name} {how}, and the settings ask for {kind}s"
            yield Line(part, State.WRONG, sentence, f"Install the CRDs of the Gateway API: {PAGES[kind]} says how.")
            return
        version = crd.annotations.get("gateway.networking.k8s.io/bundle-version", "its CRDs")
    yield by_version(part, "the Gateway API", version, GATEWAY_API)


def one_gateway(seen: Seen, part: str, gateway: Gateway, where: str) -> Iterator[Line]:
    """Yield whether a Gateway is there, with the listeners that the settings name, and is programmed."""
    found = seen.one("Gateway", gateway.name, gateway.namespace)
    if found is None:
        look: Command = ("kubectl", "get", "--all-namespaces", "--", "gateways.gateway.networking.k8s.io")
        sentence = f"{where} of the settings names the {gateway}, which isn't there"
        yield Line(part, State.WRONG, sentence, "Name one that is there, or create it.", look)
        return
    describe: Command = ("kubectl", "describe", f"--namespace={gateway.namespace}", "--")
    command = (*describe, "gateways.gateway.networking.k8s.io", gateway.name)
    listeners = {each.get("name") for each in mappings(at(found, "spec", "listeners"))}
    named = [gateway.http] if gateway.listener_sets else [gateway.http, gateway.https]
    lacking = [name for name in named if name is not None and name not in listeners]
    for name in lacking:
        field = "http" if name == gateway.http else "https"
        sentence = f"the {gateway} has no listener {name}, which {where}.{field} of the settings names"
        remedy = f"Add the listener, or say {field}: null: then a Service that needs it is told so."
        yield Line(part, State.WRONG, sentence, remedy, command)
    troubles = [
        each
        for kind in ("Accepted", "Programmed")
        if (each := condition(at(found, "status"), kind)).get("status") != "True"
    ]
    if troubles:
        why = troubles[0].get("message") or "no controller has looked at it"
        yield Line(part, State.WRONG, f"the {gateway} doesn't serve: {why}", "See what its controller says.", command)
    elif not lacking:
        yield Line(part, State.OK, f"the {gateway} is programmed, with the listeners that the settings name")


def allowed(seen: Seen, part: str, gateway: Gateway, where: str, policy: Policy) -> Iterator[Line]:
    """Yield whether a Gateway admits the ListenerSets of the namespaces whose Services get some.

    Source: the Gateway API reference, Gateway v1, AllowedListeners.
    """
    found = seen.one("Gateway", gateway.name, gateway.namespace)
    if found is None:
        return
    stated = at(found, "spec", "allowedListeners", "namespaces") or {}
    admits = stated.get("from", "None")
    remedy = "State it in spec.allowedListeners of the Gateway: docs/listenerset.md says how."
    look: Command = ("kubectl", "get", f"--namespace={gateway.namespace}", "--output=yaml", "--")
    command = (*look, CRDS[0], gateway.name)
    if admits == "None":
        sentence = f"the {gateway} admits no ListenerSet, and {where}.listenerSets of the settings asks for some"
        yield Line(part, State.WRONG, sentence, remedy, command)
        return
    if admits == "All":
        yield Line(part, State.OK, f"the {gateway} admits the ListenerSets of all namespaces")
        return
    yield from seen.unknown(part, "Namespace", f"whose ListenerSets the {gateway} admits")
    if "Namespace" in seen.unread:
        return
    asking = [each for each in seen.of_kind("Namespace") if is_asking(policy, gateway, where, each.name)]
    fitting = [
        each
        for each in asking
        if (each.name == gateway.namespace if admits == "Same" else selects(stated.get("selector"), each.labels))
    ]
    sentence = f"the {gateway} admits the ListenerSets of {len(fitting)} of {len(asking)} namespaces"
    if fitting == asking or (fitting and admits == "Selector"):
        yield Line(part, State.OK, sentence)
    else:
        state = State.WARNING if fitting else State.WRONG
        yield Line(part, state, f"{sentence} for which {where}.listenerSets of the settings asks", remedy, command)


def is_asking(policy: Policy, gateway: Gateway, where: str, namespace: str) -> bool:
    """Return whether Services of a namespace are given to a Gateway; those of a profile may be anywhere."""
    return where.startswith("profiles.") or in_namespace(policy, namespace).gateway == gateway
