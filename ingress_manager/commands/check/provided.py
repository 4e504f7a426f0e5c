"""`check`: what others provide: Kubernetes, the IngressClasses that the settings name, and the Gateway API."""

import json
from collections.abc import Iterator

from msgspec import UNSET

from ingress_manager.commands.check.cluster import Cluster
from ingress_manager.commands.check.lines import Line, ok, wrong
from ingress_manager.commands.check.versions import GATEWAY_API, KUBERNETES, by_version
from ingress_manager.commands.reading.kubectl import IGNORE_NOT_FOUND
from ingress_manager.commands.reading.manifests import at, mappings
from ingress_manager.commands.view.surroundings import IS_DEFAULT
from ingress_manager.core.policy import HTTPROUTE, INGRESS, Defaults, Policy, Profile
from ingress_manager.core.vocabulary import OLD_CLASS

LOOK = ("kubectl", "get", "--", "ingressclasses")
GROUP = "gateway.networking.k8s.io"
PAGES = {"HTTPRoute": "docs/httproute.md", "ListenerSet": "docs/tls.md"}


def kubernetes(cluster: Cluster) -> Iterator[Line]:
    """Yield whether the version of Kubernetes is known to work."""
    stated = json.loads(cluster.kubectl.run("version", "--output=json"))
    yield by_version("Kubernetes", str(at(stated, "serverVersion", "gitVersion")), KUBERNETES)


def stated(policy: Policy) -> Iterator[tuple[str, Defaults | Profile]]:
    """Yield where something is stated for Services, and what: in general, for a namespace, in a profile."""
    yield "defaults", policy.defaults
    for name, namespace in policy.namespaces.items():
        if namespace.defaults is not UNSET:
            yield f"namespaces.{name}.defaults", namespace.defaults
    for name, profile in policy.profiles.items():
        yield f"profiles.{name}", profile


def asks_for(policy: Policy, output: str) -> bool:
    """Return whether the settings ask for a kind of objects."""
    return any(output in each.outputs for _, each in stated(policy) if each.outputs is not UNSET)


def classes(cluster: Cluster) -> Iterator[Line]:
    """Yield whether the IngressClasses that the settings name are there, and a default one where they name none."""
    if not asks_for(cluster.policy, INGRESS):
        return
    there = {item.name: item for item in cluster.all("ingressclasses.networking.k8s.io")}
    default = next((name for name, each in there.items() if each.annotations.get(IS_DEFAULT) == "true"), None)
    wanted: dict[str | None, str] = {}
    for where, each in stated(cluster.policy):
        by_annotation = each.ingress_class is None and each.annotations and OLD_CLASS in each.annotations
        if each.ingress_class is not UNSET and not by_annotation:
            wanted.setdefault(each.ingress_class, f"{where}.class")
    for name, where in wanted.items():
        if name is None and default:
            yield ok(f"the cluster's default IngressClass is {default}")
        elif name is None:
            sentence = f"{where} of the settings is null, and the cluster has no default IngressClass"
            yield wrong(sentence, f"Name a class there, or annotate one with {IS_DEFAULT}.", LOOK)
        elif name in there:
            yield ok(f"the IngressClass {name} is there")
        else:
            known = f"there is {', '.join(sorted(there))}" if there else "the cluster has none"
            sentence = f"{where} of the settings names the IngressClass {name}, which isn't there; {known}"
            yield wrong(sentence, "Name one that is there, or install the controller of this one.", LOOK)


def gateway_api(cluster: Cluster) -> Iterator[Line]:
    """Yield whether the CRDs of what the DecoratorController makes are there, and it makes what is asked for."""
    made = [kind for kind in PAGES if cluster.makes(f"{kind.lower()}s")]
    for kind in made:
        name = f"{kind.lower()}s.{GROUP}"
        found = cluster.all(f"customresourcedefinitions/{name}", IGNORE_NOT_FOUND)
        conditions = mappings(at(found[0], "status", "conditions")) if found else ()
        if not any((each.get("type"), each.get("status")) == ("Established", "True") for each in conditions):
            sentence = f"the CRD {name} isn't established: Metacontroller makes nothing at all until then"
            yield wrong(sentence, f"Install the CRDs of the Gateway API: {PAGES[kind]} says how.")
        else:
            version = found[0].annotations.get(f"{GROUP}/bundle-version", "its CRD")
            yield by_version(f"the Gateway API's {kind}", version, GATEWAY_API)
    kinds = ["HTTPRoute"] if asks_for(cluster.policy, HTTPROUTE) else []
    if kinds and any(each.gateway and each.gateway.listener_sets for _, each in stated(cluster.policy)):
        kinds.append("ListenerSet")
    for kind in [kind for kind in kinds if kind not in made] if cluster.controller else ():
        sentence = f"the settings ask for {kind}s, and the DecoratorController doesn't make them"
        yield wrong(sentence, f"{PAGES[kind]} says which one does.")
