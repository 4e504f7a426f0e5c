"""`check`: what others provide: Kubernetes, the IngressClasses that the settings name, and the Gateway API."""

import json
from collections.abc import Iterator

from msgspec import UNSET

from ingress_manager.commands.check.cluster import Cluster, Line, wrong
from ingress_manager.commands.check.versions import GATEWAY_API, KUBERNETES, by_version
from ingress_manager.commands.reading.kubectl import IGNORE_NOT_FOUND
from ingress_manager.commands.reading.manifests import at, mappings
from ingress_manager.commands.view.surroundings import IS_DEFAULT
from ingress_manager.core.policy import HTTPROUTE, INGRESS, Defaults, Policy, Profile
from ingress_manager.core.vocabulary import OLD_CLASS

GROUP = "gateway.networking.k8s.io"
PAGES = {"HTTPRoute": "docs/httproute.md", "ListenerSet": "docs/tls.md"}


def kubernetes(cluster: Cluster) -> Iterator[Line]:
    """Yield what is wrong with the version of Kubernetes."""
    stated = json.loads(cluster.kubectl.run("version", "--output=json"))
    yield from by_version("Kubernetes", str(at(stated, "serverVersion", "gitVersion")), KUBERNETES)


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
    """Yield which IngressClasses of the settings aren't there, or that there is no default one where they name none."""
    there = {item.name: item.annotations.get(IS_DEFAULT) for item in cluster.all("ingressclasses.networking.k8s.io")}
    for where, each in stated(cluster.policy) if asks_for(cluster.policy, INGRESS) else ():
        name = each.ingress_class
        by_annotation = OLD_CLASS in (each.annotations or ())
        if name is None and not by_annotation and "true" not in there.values():
            sentence = f"{where}.class of the settings is null, and the cluster has no default IngressClass"
            yield wrong(sentence, f"Name a class there, or annotate one with {IS_DEFAULT}.")
        elif isinstance(name, str) and name not in there:
            known = f"there is {', '.join(sorted(there))}" if there else "the cluster has none"
            sentence = f"{where}.class of the settings names the IngressClass {name}, which isn't there; {known}"
            yield wrong(sentence, "Name one that is there, or install the controller of this one.")


def gateway_api(cluster: Cluster) -> Iterator[Line]:
    """Yield what is asked for that the DecoratorController doesn't make, and what it makes that has no CRD."""
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
            yield from by_version(f"the Gateway API's {kind}", version, GATEWAY_API)
    kinds = ["HTTPRoute"] if asks_for(cluster.policy, HTTPROUTE) else []
    if kinds and any(each.gateway and each.gateway.listener_sets for _, each in stated(cluster.policy)):
        kinds.append("ListenerSet")
    for kind in [kind for kind in kinds if kind not in made]:
        sentence = f"the settings ask for {kind}s, and the DecoratorController doesn't make them"
        yield wrong(sentence, f"{PAGES[kind]} says which one does.")
