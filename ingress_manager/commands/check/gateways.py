"""`check`: what the settings name and others provide: IngressClasses, the Gateway API, Gateways. The pure part."""

from collections.abc import Iterator

from msgspec import UNSET

from ingress_manager.commands.check.lines import Line, ok, warning, wrong
from ingress_manager.commands.check.seen import CRD, Seen, condition
from ingress_manager.commands.check.versions import GATEWAY_API, by_version
from ingress_manager.commands.reading.manifests import at, mappings
from ingress_manager.core.policy import HTTPROUTE, INGRESS, Defaults, Gateway, Policy, Profile
from ingress_manager.core.vocabulary import OLD_CLASS

DEFAULT_CLASS = "ingressclass.kubernetes.io/is-default-class"
GATEWAYS = "gateways.gateway.networking.k8s.io"
CRDS = (GATEWAYS, *(f"{each}.gateway.networking.k8s.io" for each in ("httproutes", "listenersets")))
PAGES = {"HTTPRoute": "docs/httproute.md", "ListenerSet": "docs/tls.md"}


def stated(policy: Policy | None) -> Iterator[tuple[str, Defaults | Profile]]:
    """Yield where something is stated for Services, and what: in general, for a namespace, in a profile."""
    if policy is None:
        return
    yield "defaults", policy.defaults
    for name, namespace in policy.namespaces.items():
        if namespace.defaults is not UNSET:
            yield f"namespaces.{name}.defaults", namespace.defaults
    for name, profile in policy.profiles.items():
        yield f"profiles.{name}", profile


def asks_for(seen: Seen, output: str) -> bool:
    """Return whether the settings ask for a kind of objects."""
    return any(output in each.outputs for _, each in stated(seen.policy) if each.outputs is not UNSET)


def classes(seen: Seen) -> Iterator[Line]:
    """Yield whether the IngressClasses that the settings name are there, and a default one where they name none."""
    if not asks_for(seen, INGRESS):
        return
    look = ("kubectl", "get", "--", "ingressclasses")
    there = {item.name: item for item in seen.of_kind("IngressClass")}
    wanted: dict[str | None, str] = {}
    for where, each in stated(seen.policy):
        by_annotation = each.ingress_class is None and each.annotations and OLD_CLASS in each.annotations
        if each.ingress_class is not UNSET and not by_annotation:
            wanted.setdefault(each.ingress_class, f"{where}.class")
    for name, where in wanted.items():
        default = next((each for each in there.values() if each.annotations.get(DEFAULT_CLASS) == "true"), None)
        if name is None and default:
            yield ok(f"the cluster's default IngressClass is {default.name}")
        elif name is None:
            sentence = f"{where} of the settings is null, and the cluster has no default IngressClass"
            yield wrong(sentence, f"Name a class there, or annotate one with {DEFAULT_CLASS}.", look)
        elif name in there:
            yield ok(f"the IngressClass {name} is there")
        else:
            known = f"there is {', '.join(sorted(there))}" if there else "the cluster has none"
            sentence = f"{where} of the settings names the IngressClass {name}, which isn't there; {known}"
            yield wrong(sentence, "Name one that is there, or install the controller of this one.", look)


def kinds_of(seen: Seen) -> list[str]:
    """Return the kinds of the Gateway API that the settings ask for."""
    policy = seen.policy
    return [kind for kind in PAGES if policy and asks_for(seen, HTTPROUTE) and kind in policy.versions]


def crds(seen: Seen) -> Iterator[Line]:
    """Yield whether the CRDs of the Gateway API are there, with the kinds that are asked for, and in which version."""
    kinds = kinds_of(seen)
    for kind, name in zip((*kinds[:1], *kinds), CRDS, strict=False):
        crd = seen.one(CRD, name)
        if crd is None or condition(crd, "Established").get("status") != "True":
            how = "isn't there" if crd is None else "is not established"
            remedy = f"Install the CRDs of the Gateway API: {PAGES[kind]} says how."
            yield wrong(f"the CRD {name} {how}, and the settings ask for {kind}s", remedy)
            return
        version = crd.annotations.get("gateway.networking.k8s.io/bundle-version", "its CRDs")
    if kinds:
        yield by_version("the Gateway API", version, GATEWAY_API)


def makes(seen: Seen) -> Iterator[Line]:
    """Yield a line where the DecoratorController doesn't make what is asked for."""
    kinds = kinds_of(seen)
    lacking = [f"{kind}s" for kind in kinds if not seen.makes(f"{kind.lower()}s")]
    if seen.controller and lacking:
        sentence = f"the settings ask for {' and '.join(lacking)}, and the DecoratorController doesn't make them"
        yield wrong(sentence, f"{PAGES[kinds[-1]]} says which one does.")


def gateways(seen: Seen) -> Iterator[Line]:
    """Yield whether each Gateway that the settings name serves."""
    wanted: dict[Gateway, str] = {}
    for where, each in stated(seen.policy) if asks_for(seen, HTTPROUTE) else ():
        if isinstance(each.gateway, Gateway):
            wanted.setdefault(each.gateway, f"{where}.gateway")
    for gateway, where in wanted.items():
        yield from one_gateway(seen, gateway, where)


def one_gateway(seen: Seen, gateway: Gateway, where: str) -> Iterator[Line]:
    """Yield whether a Gateway is there, with the listeners that the settings name, and serves.

    Source: the Gateway API reference, Gateway v1, AllowedListeners.
    """
    found = seen.one("Gateway", gateway.name, gateway.namespace)
    if found is None:
        look = ("kubectl", "get", "--all-namespaces", "--", GATEWAYS)
        sentence = f"{where} of the settings names the {gateway}, which isn't there"
        yield wrong(sentence, "Name one that is there, or create it.", look)
        return
    describe = ("kubectl", "describe", f"--namespace={gateway.namespace}", "--", GATEWAYS, gateway.name)
    listeners = {each.get("name") for each in mappings(at(found, "spec", "listeners"))}
    named = {"http": gateway.http, "https": None if gateway.listener_sets else gateway.https}
    lacking = {field: name for field, name in named.items() if name is not None and name not in listeners}
    for field, name in lacking.items():
        sentence = f"the {gateway} has no listener {name}, which {where}.{field} of the settings names"
        yield wrong(
            sentence, f"Add the listener, or say {field}: null: then a Service that needs it is told so.", describe
        )
    conditions = [condition(found, kind) for kind in ("Accepted", "Programmed")]
    troubles = [each for each in conditions if each.get("status") != "True"]
    if troubles:
        why = troubles[0].get("message") or "no controller has looked at it"
        yield wrong(f"the {gateway} doesn't serve: {why}", "See what its controller says.", describe)
    elif not lacking:
        yield ok(f"the {gateway} is programmed, with the listeners that the settings name")
    if gateway.listener_sets:
        yield admits_listener_sets(gateway, where, at(found, "spec", "allowedListeners", "namespaces", "from"))


def admits_listener_sets(gateway: Gateway, where: str, admitted: object) -> Line:
    """Return whether a Gateway admits ListenerSets; of a selector, who has it is left to the status of each."""
    remedy = "State it in spec.allowedListeners of the Gateway: docs/tls.md says how."
    look = ("kubectl", "get", f"--namespace={gateway.namespace}", "--output=yaml", "--", GATEWAYS, gateway.name)
    if admitted in {None, "None"}:
        sentence = f"the {gateway} admits no ListenerSet, and {where}.listenerSets of the settings asks for some"
        return wrong(sentence, remedy, look)
    if admitted == "Same":
        return warning(f"the {gateway} admits the ListenerSets of its own namespace alone", remedy, look)
    whose = "all namespaces" if admitted == "All" else "the namespaces that its selector names"
    return ok(f"the {gateway} admits the ListenerSets of {whose}")
