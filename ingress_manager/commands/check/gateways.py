"""`check`: what the settings name and others provide: IngressClasses, the Gateway API, Gateways. The pure part."""

from collections.abc import Iterator

from msgspec import UNSET

from ingress_manager.commands.check.lines import Line, ok, wrong
from ingress_manager.commands.check.seen import CRD, Seen, condition
from ingress_manager.commands.check.versions import GATEWAY_API, by_version
from ingress_manager.core.policy import HTTPROUTE, INGRESS, Defaults, Gateway, Policy, Profile
from ingress_manager.core.vocabulary import OLD_CLASS

DEFAULT_CLASS = "ingressclass.kubernetes.io/is-default-class"
LOOK = ("kubectl", "get", "--", "ingressclasses")
GROUP = "gateway.networking.k8s.io"
GATEWAYS = f"gateways.{GROUP}"
PAGES = {"HTTPRoute": "docs/httproute.md", "ListenerSet": "docs/tls.md"}
CRDS = {kind: f"{kind.lower()}s.{GROUP}" for kind in PAGES}


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
    there = {item.name: item for item in seen.of_kind("IngressClass")}
    default = next((name for name, each in there.items() if each.annotations.get(DEFAULT_CLASS) == "true"), None)
    wanted: dict[str | None, str] = {}
    for where, each in stated(seen.policy):
        by_annotation = each.ingress_class is None and each.annotations and OLD_CLASS in each.annotations
        if each.ingress_class is not UNSET and not by_annotation:
            wanted.setdefault(each.ingress_class, f"{where}.class")
    for name, where in wanted.items():
        if name is None and default:
            yield ok(f"the cluster's default IngressClass is {default}")
        elif name is None:
            sentence = f"{where} of the settings is null, and the cluster has no default IngressClass"
            yield wrong(sentence, f"Name a class there, or annotate one with {DEFAULT_CLASS}.", LOOK)
        elif name in there:
            yield ok(f"the IngressClass {name} is there")
        else:
            known = f"there is {', '.join(sorted(there))}" if there else "the cluster has none"
            sentence = f"{where} of the settings names the IngressClass {name}, which isn't there; {known}"
            yield wrong(sentence, "Name one that is there, or install the controller of this one.", LOOK)


def crds(seen: Seen) -> Iterator[Line]:
    """Yield whether the CRDs of what the DecoratorController makes are there, and in which version."""
    version = ""
    for kind, name in CRDS.items():
        crd = seen.one(CRD, name)
        if not seen.makes(f"{kind.lower()}s"):
            continue
        if crd is None or condition(crd, "Established").get("status") != "True":
            sentence = f"the CRD {name} isn't established: Metacontroller makes nothing at all until then"
            yield wrong(sentence, f"Install the CRDs of the Gateway API: {PAGES[kind]} says how.")
            return
        version = crd.annotations.get(f"{GROUP}/bundle-version", "its CRDs")
    if version:
        yield by_version("the Gateway API", version, GATEWAY_API)


def makes(seen: Seen) -> Iterator[Line]:
    """Yield a line where the DecoratorController doesn't make what is asked for."""
    policy = seen.policy
    kinds = [kind for kind in PAGES if policy and asks_for(seen, HTTPROUTE) and kind in policy.versions]
    lacking = [f"{kind}s" for kind in kinds if not seen.makes(f"{kind.lower()}s")]
    if seen.controller and lacking:
        sentence = f"the settings ask for {' and '.join(lacking)}, and the DecoratorController doesn't make them"
        yield wrong(sentence, f"{PAGES[kinds[-1]]} says which one does.")


def gateways(seen: Seen) -> Iterator[Line]:
    """Yield whether each Gateway that the settings name is there, and serves.

    What a Gateway lacks for a Service, such as a listener, the status of its HTTPRoute or ListenerSet tells.
    """
    wanted: dict[Gateway, str] = {}
    for where, each in stated(seen.policy) if asks_for(seen, HTTPROUTE) else ():
        if isinstance(each.gateway, Gateway):
            wanted.setdefault(each.gateway, f"{where}.gateway")
    for gateway, where in wanted.items():
        found = seen.one("Gateway", gateway.name, gateway.namespace)
        describe = ("kubectl", "describe", f"--namespace={gateway.namespace}", "--", GATEWAYS, gateway.name)
        conditions = [condition(found, kind) for kind in ("Accepted", "Programmed")]
        trouble = next((each for each in conditions if each.get("status") != "True"), None)
        if found is None:
            look = ("kubectl", "get", "--all-namespaces", "--", GATEWAYS)
            sentence = f"{where} of the settings names the {gateway}, which isn't there"
            yield wrong(sentence, "Name one that is there, or create it.", look)
        elif trouble is not None:
            why = trouble.get("message") or "no controller has looked at it"
            yield wrong(f"the {gateway} doesn't serve: {why}", "See what its controller says.", describe)
        else:
            yield ok(f"the {gateway} is programmed")
