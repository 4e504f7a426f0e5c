"""What serves: it leads to something, redirects or listens. No advice deletes it, unless it is forbidden or off."""

from collections.abc import Iterator, Sequence

from ingress_manager.commands.plans.steps import kubectl
from ingress_manager.commands.printing.words import Command
from ingress_manager.commands.reading.kinds import INGRESS, SERVICE
from ingress_manager.commands.reading.manifests import at, mappings
from ingress_manager.commands.view.ingresses import backends_in
from ingress_manager.commands.view.look import ObjectView, ServiceView
from ingress_manager.core.kubernetes import Ingress, ListenerSet
from ingress_manager.core.text import listed

Backend = tuple[str, str]
"""The kind and the name of what an object leads to."""


def backends_of(each: ObjectView) -> list[Backend]:
    """Return what an object leads to, each once; a ListenerSet to nothing by itself."""
    return list(dict.fromkeys(_of_ingress(each.typed) if isinstance(each.typed, Ingress) else _of_route(each)))


def _of_ingress(ingress: Ingress) -> Iterator[Backend]:
    backends = (each for each in backends_in(ingress.spec) if each.service or each.resource)
    for backend in backends:
        if backend.service:
            yield SERVICE, backend.service.name
        else:
            yield str(at(backend.resource, "kind")), str(at(backend.resource, "name"))


def _of_route(route: ObjectView) -> Iterator[Backend]:
    for rule in mappings(at(route.item, "spec", "rules")):
        for backend in mappings(at(rule, "backendRefs")):
            yield str(backend.get("kind", SERVICE)), str(backend.get("name"))


def what_it_does(each: ObjectView, backends: Sequence[Backend]) -> str:
    """Return what an object answers with, as the end of a sentence: these backends, or a redirect; "" for nothing."""
    if isinstance(each.typed, ListenerSet):
        return f", and has listeners for {listed([host or '*' for host in each.typed.hosts()])}"
    if backends:
        return f", and leads to {listed(backends, ' '.join)}"
    filters = (found for rule in mappings(at(each.item, "spec", "rules")) for found in mappings(at(rule, "filters")))
    return ", and redirects" if any(found.get("type") == "RequestRedirect" for found in filters) else ""


def name_taken(service: ServiceView, other: ObjectView) -> tuple[str, Command]:
    """Return a sentence about what has the name of an object of a Service, and the command that helps."""
    sentence = f"{other} is in the way: it was not made for this Service"
    backends = backends_of(other)
    does = what_it_does(other, backends)
    if (SERVICE, service.item.name) in backends and other.kind == INGRESS and not other.is_marked:
        return f"{sentence}{does}", ("ingress-manager", "adopt", other.item.full_name)
    return f"{sentence}{does}", kubectl("edit", service.item) if does else kubectl("delete", other.item)
