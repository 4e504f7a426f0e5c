"""Which of several Ingresses of the class nginx answers: at the gateway, where the longest rule does, another one may.

Of all that match a request, ingress-nginx goes by the host, a name before a wildcard, and that before none, and then by
the path, `Exact` before the longest. The gateway's Traefik goes by the length of the text that it makes of both; of two
that are as long, either may answer.
Sources: ingress-nginx 1.15, internal/ingress/controller/location.go and template.go (buildLocation); Traefik 3.7,
pkg/provider/kubernetes/ingress-nginx/translator.go (buildRule), pkg/muxer/http/mux.go (GetRulePriority).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ingress_manager.commands.reading.manifests import Item
from ingress_manager.core.kubernetes import Backend, IngressSpec
from ingress_manager.core.vocabulary import NGINX, REWRITE

Stated = tuple[Item, IngressSpec]
"""An Ingress, and what it states."""


class Route(NamedTuple):
    """A path of a host; the host is empty for every one."""

    host: str
    path: str
    path_type: str
    backend: Backend

    def rule(self) -> str:
        """Return the text that Traefik makes of it."""
        host = f'Host("{self.host}") && ' if self.host else ""
        if self.path_type == "Exact":
            return f'{host}Path("{self.path}")'
        path = self.path.rstrip("/")
        return f'{host}(Path("{path}") || PathPrefix("{path}/"))' if path else f'{host}PathPrefix("/")'

    def rank(self) -> tuple[int, bool, int]:
        """Return what ingress-nginx goes by: of several, the greatest."""
        name = 0 if not self.host else 1 if self.host.startswith("*.") else 2
        return name, self.path_type == "Exact", len(self.path)

    def matches(self, host: str, path: str) -> bool:
        """Return whether a request to this host, for this path, is its."""
        if self.host not in {"", host, wildcard_of(host)}:
            return False
        below = self.path.rstrip("/")
        return path == self.path if self.path_type == "Exact" else path == below or path.startswith(f"{below}/")


def wildcard_of(host: str) -> str:
    """Return the wildcard that stands for a host, among others."""
    return f"*.{host.partition('.')[2]}"


def hosts_of(spec: IngressSpec) -> set[str]:
    """Return the hosts of its rules; "" stands for every host."""
    return {rule.host for rule in spec.rules or ()}


def is_by_regex(item: Item) -> bool:
    """Return whether the paths of an Ingress are regular expressions."""
    said = item.annotations
    return said.get(f"{NGINX}use-regex", "").lower() == "true" or bool(said.get(REWRITE))


def routes_of(item: Item, spec: IngressSpec) -> list[Route]:
    """Return the routes of an Ingress; none of one whose paths are regular expressions, which aren't compared."""
    paths = () if is_by_regex(item) else spec.paths()
    return [Route(host, path.path or "/", path.path_type, path.backend) for host, path in paths]


def answered_by_others(item: Item, spec: IngressSpec, beside: Iterable[Stated]) -> Iterator[tuple[Route, str, Item]]:
    """Yield each route of an Ingress of whose requests another answers some at the gateway, that, and its Ingress."""
    others = [(route, each) for each, its in ((item, spec), *beside) for route in routes_of(each, its)]
    for route in routes_of(item, spec):
        for other, by in others:
            # A request that both match: for the path of either.
            host = route.host.replace("*.", "x.") or other.host.replace("*.", "x.")
            both = any(route.matches(host, path) and other.matches(host, path) for path in (route.path, other.path))
            loses = len(route.rule()) <= len(other.rule()) and route.rank() > other.rank()
            same = by is item and route.backend == other.backend
            if both and loses and not same:
                yield route, f"{other.path_type} {other.host}{other.path}", by


def by_host(ingresses: Iterable[Stated]) -> Mapping[str, Sequence[Stated]]:
    """Return Ingresses by each of their hosts: of thousands, few are looked at beside each."""
    found: dict[str, list[Stated]] = {}
    for each in ingresses:
        for host in hosts_of(each[1]):
            found.setdefault(host, []).append(each)
    return found


def near(spec: IngressSpec, estate: Mapping[str, Sequence[Stated]]) -> list[Stated]:
    """Return the Ingresses of an estate, by their hosts, that a request for one of these hosts may be for."""
    hosts = hosts_of(spec)
    around = {"", *hosts, *map(wildcard_of, hosts)}
    if any(host[:1] in {"", "*"} for host in hosts):
        around = {*estate}
    return [*{each[0].full_name: each for host in around for each in estate.get(host, ())}.values()]
