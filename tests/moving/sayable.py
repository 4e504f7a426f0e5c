"""Which Ingresses the vocabulary can say: Services can ask for just what they say, and each is given that."""

from collections import Counter
from collections.abc import Iterable, Iterator

import msgspec

from devcluster.sync_requests import Object
from ingress_manager.commands.annotating.annotated import annotated_for, left_behind
from ingress_manager.commands.reading.manifests import Item, Origin
from ingress_manager.commands.view.ingresses import services_of
from ingress_manager.core.kubernetes import IngressSpec, Service
from ingress_manager.core.observed import DECORATOR
from ingress_manager.core.policy import Policy
from tests.moving.clusters import HELM, LET_GO


def sayable(objects: Iterable[Object], policy: Policy) -> Iterator[Object]:
    """Yield those Ingresses that are nobody's, and that Services can ask for, each Service for its part of it.

    Those that a chart still has are left out: adopt waits for that.
    """
    standing = list(objects)
    services = {label(each): each for each in standing if each["kind"] == "Service"}
    ingresses = [each for each in standing if each["kind"] == "Ingress"]
    leading = Counter(name for each in ingresses for name in names_of(each))
    for each in ingresses:
        names, annotations = names_of(each), each["metadata"].get("annotations", {})
        if DECORATOR in annotations or not names or not services.keys() >= {*names}:
            continue
        if HELM.keys() <= annotations.keys() and not LET_GO.keys() <= annotations.keys():
            continue
        item = Item(each, Origin("", each["metadata"]["namespace"]))
        if all(_asks(item, names, services[name], policy, beside=leading[name] > 1) for name in names):
            yield each


def label(each: Object) -> str:
    """Return the namespace and the name of an object."""
    return f"{each['metadata']['namespace']}/{each['metadata']['name']}"


def names_of(ingress: Object) -> list[str]:
    """Return the Services to which an Ingress leads, with their namespace."""
    namespace = ingress["metadata"]["namespace"]
    return [f"{namespace}/{name}" for name in services_of(msgspec.convert(ingress["spec"], IngressSpec))]


def _asks(item: Item, names: list[str], service: Object, policy: Policy, *, beside: bool) -> bool:
    """Return whether a Service can ask for its part, `beside` what it has already."""
    typed = msgspec.convert(service, Service)
    spec = msgspec.convert(part(item.object["spec"], service["metadata"]["name"]), IngressSpec)
    in_place = [item.full_name] == names
    entrance = "also" if beside and not in_place else ""
    asked = annotated_for(item, spec, typed, policy, entrance)
    if asked.refused or asked.ingress is None or not all(change.is_served_alike for change in asked.changes):
        return False
    # One that stays keeps what can't be said; a new one would lack it.
    return in_place or not left_behind(item.annotations, asked)


def part(spec: Object, service: str) -> Object:
    """Return what of a spec leads to a Service; TLS as far as its hosts have it."""

    def leads(backend: Object | None) -> bool:
        return bool(backend) and (backend or {}).get("service", {}).get("name") == service

    rules = [
        {**rule, "http": {"paths": paths}}
        for rule in spec.get("rules") or []
        if (paths := [path for path in (rule.get("http") or {}).get("paths", []) if leads(path["backend"])])
    ]
    hosts = {rule.get("host", "") for rule in rules}
    tls = [
        {**entry, "hosts": kept} if kept else {key: entry[key] for key in entry if key != "hosts"}
        for entry in spec.get("tls") or []
        if (kept := [host for host in entry.get("hosts", []) if covers(host, hosts)]) or not entry.get("hosts")
    ]
    rest = {key: spec[key] for key in ("ingressClassName",) if key in spec}
    default = {"defaultBackend": spec["defaultBackend"]} if leads(spec.get("defaultBackend")) else {}
    return {**rest, **default, **({"rules": rules} if rules else {}), **({"tls": tls} if tls else {})}


def covers(host: str, hosts: set[str]) -> bool:
    """Return whether a certificate for a host holds for one of the hosts."""
    return host in hosts or any(host == f"*.{each.partition('.')[2]}" for each in hosts)
