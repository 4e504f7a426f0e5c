"""HTTPRoutes: which requests at a Gateway a Service would be given with its Ingress, and take from another's."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from ingress_manager.commands.adopt.around import Around
from ingress_manager.commands.reading.kinds import HTTPROUTE, LISTENERSET
from ingress_manager.commands.reading.manifests import Item, Origin
from ingress_manager.commands.view.ingresses import overlap
from ingress_manager.commands.view.managed import is_made_for
from ingress_manager.commands.view.typed import as_type
from ingress_manager.core.annotations import PROFILE
from ingress_manager.core.kubernetes import HTTPRoute, ListenerSet, Object
from ingress_manager.core.namespace_policy import in_namespace
from ingress_manager.core.rules import location


class At(NamedTuple):
    """A host and a path at a Gateway."""

    gateway: str
    section: str
    """Its listener; empty for all."""

    host: str
    path: str
    is_exact: bool

    def __str__(self) -> str:
        return f"{self.host or '*'}{self.path} at the Gateway {self.gateway}"

    def is_within(self, other: "At") -> bool:
        """Return whether all its requests belong to the other, unless something says them more exactly."""
        labels = self.host.split(".")
        hosts = {"", self.host, *(f"*.{'.'.join(labels[number:])}" for number in range(1, len(labels)))}
        paths = self.path == other.path if other.is_exact else f"{self.path}/".startswith(f"{other.path.rstrip('/')}/")
        return (
            self.gateway == other.gateway
            and (self.section == other.section or not (self.section and other.section))
            and other.host in hosts
            and paths
            and (self.is_exact or not other.is_exact)
        )


def answered_by(item: Item) -> list[At]:
    """Return what an HTTPRoute answers; nothing if it isn't one that the API server takes."""
    route = as_type(item, item.object, HTTPRoute)
    if not isinstance(route, HTTPRoute):
        return []
    return [
        At(
            f"{parent.namespace or item.namespace}/{parent.name}",
            parent.section_name or "",
            *location(host, path, path_type),
        )
        for parent in route.spec.parent_refs or ()
        for host in route.hosts()
        for path, path_type in route.paths()
    ]


def in_the_way(service: Item, objects: Sequence[Object], around: Around) -> Iterator[str]:
    """Yield which HTTPRoute or ListenerSet that isn't a Service's own has the name of one that it would be given."""
    names = [f"{each['kind']} {service.namespace}/{each['metadata']['name']}" for each in objects]
    for each in (*around.httproutes, *around.listenersets):
        if str(each) in names and not is_made_for(each, service):
            yield (
                f"{each} is in the way: Service {service.name} would ask for one of that name, and this one isn't its "
                "own: delete it, or make it anew under another name, first; a profile whose outputs are [ingress] "
                "needs none"
            )


def why_not_routed(service: Item, objects: Sequence[Object], around: Around) -> Iterator[str]:
    """Yield which requests at a Gateway would be lost, if a Service were given these objects, and all others went.

    Of two equal claims, the older one wins: it loses nothing. Source: Gateway API reference, HTTPRouteRule.
    """
    yield from in_the_way(service, objects, around)
    standing = around.httproutes
    made = [Item(each, Origin("", service.namespace)) for each in objects if each["kind"] == HTTPROUTE]
    own = [each for each in standing if is_made_for(each, service) and answered_by(each)]
    for each in own:
        if not any(each.name == new.name and answers(each) == answers(new) for new in made):
            yield (
                f"{each} would change or go, because Service {service.name} asks for something else "
                "than this Ingress: let it ask for that as another entrance first"
            )
    claims = [(each, at) for each in standing for at in answered_by(each)] if made else []
    for new in made:
        for at in answered_by(new):
            wider = [(each, other) for each, other in claims if at.is_within(other)]
            older = any(other.is_within(at) for _, other in wider)
            taken = next((each.full_name for each, _ in wider if each not in own), None)
            if taken and not older:
                yield (
                    f"Service {service.name} would also get the HTTPRoute {new.name}, and {at}, which HTTPRoute "
                    f"{taken} answers; a profile whose outputs are [ingress] gives it none"
                )
    gateway = in_namespace(around.policy, service.namespace, service.annotations.get(PROFILE)).gateway
    for each, at in claims:
        for host, name in listening(objects, at.gateway) if gateway and at.section != gateway.http else ():
            # Of two listeners that fit, the one with the nearer host is asked, whichever is older.
            if each not in own and overlap(host, at.host):
                yield (
                    f"Service {service.name} would also get the ListenerSet {name}, whose listener takes the requests "
                    f"for {host or '*'} from {each}; a profile whose outputs are [ingress] gives it none"
                )


def listening(objects: Iterable[Object], gateway: str) -> Iterator[tuple[str, str]]:
    """Yield the hosts of the ListenerSets of a Gateway, empty for every one, each with its ListenerSet's name."""
    for each in objects:
        if each["kind"] == LISTENERSET:
            made = msgspec.convert(each, ListenerSet)
            at_gateway = f"{made.spec.parent_ref.namespace}/{made.spec.parent_ref.name}" == gateway
            yield from ((host, each["metadata"]["name"]) for host in made.hosts() if at_gateway)


def answers(item: Item) -> list[Any]:
    """Return what an HTTPRoute does with requests."""
    return [item.object["spec"].get(field) for field in ("parentRefs", "hostnames", "rules")]
