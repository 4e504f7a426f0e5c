"""Which of several Ingresses of the class nginx answers: at the gateway, where the longest rule does, another one may.

Of all that match a request, ingress-nginx goes by the host, a name before a wildcard, and that before none, and then by
the path, `Exact` before the longest. The gateway's Traefik goes by the length of the text that it makes of both; of two
that are as long, either may answer.
Sources: ingress-nginx 1.15, internal/ingress/controller/location.go and template.go (buildLocation); Traefik 3.7,
pkg/provider/kubernetes/ingress-nginx/translator.go (buildRule), pkg/muxer/http/mux.go (GetRulePriority).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import NamedTuple

from ingress_manager.commands.reading.manifests import Item
from ingress_manager.commands.view.objects import Backend, IngressSpec
from ingress_manager.core.vocabulary import NGINX, REWRITE

Stated = tuple[Item, IngressSpec]
"""An Ingress, and what it states."""


class Route(NamedTuple):
    """A path of a host, which is empty for every one; `by_regex`: the host's paths are regular expressions."""

    host: str
    path: str
    path_type: str
    backend: Backend
    by_regex: bool

    def rule(self) -> str:
        """Return the text that Traefik makes of it."""
        host = f'Host("{self.host}") && ' if self.host else ""
        if self.path_type == "Exact":
            return f'{host}Path("{self.path}")'
        if self.by_regex:
            return f'{host}PathRegexp("(?i)^{self.path}")'
        path = self.path.rstrip("/")
        return f'{host}(Path("{path}") || PathPrefix("{path}/"))' if path else f'{host}PathPrefix("/")'

    def rank(self) -> tuple[int, bool, int]:
        """Return what ingress-nginx goes by: of several, the greatest."""
        name = 0 if not self.host else 1 if self.host.startswith("*.") else 2
        return name, self.path_type == "Exact" and not self.by_regex, len(self.path)

    def matches(self, host: str, path: str) -> bool:
        """Return whether a request to this host, for this path, is its; a regular expression is taken by the letter."""
        if self.host not in {"", host, wildcard_of(host)}:
            return False
        if self.by_regex:
            return path.lower().startswith(self.path.lower())
        below = self.path.rstrip("/")
        return path == self.path if self.path_type == "Exact" else path == below or path.startswith(f"{below}/")


def wildcard_of(host: str) -> str:
    """Return the wildcard that stands for a host, among others."""
    return f"*.{host.partition('.')[2]}"


def hosts_of(spec: IngressSpec) -> set[str]:
    """Return the hosts of its rules; "" stands for every host."""
    return {rule.host for rule in spec.rules or ()}


def hosts_by_regex(ingresses: Iterable[Stated]) -> set[str]:
    """Return the hosts whose paths are regular expressions, those of all Ingresses, because one of them asks for it."""
    said = [(item.annotations, spec) for item, spec in ingresses]
    asks = [spec for its, spec in said if its.get(f"{NGINX}use-regex", "").lower() == "true" or its.get(REWRITE)]
    return {host for spec in asks for host in hosts_of(spec)}


def routes_of(spec: IngressSpec, by_regex: Set[str]) -> list[Route]:
    """Return the routes of an Ingress."""
    return [Route(host, its.path or "/", its.path_type, its.backend, host in by_regex) for host, its in spec.paths()]


def answered_by_others(one: Stated, among: Sequence[Stated], by_regex: Set[str]) -> Iterator[tuple[Route, str, Item]]:
    """Yield each route of an Ingress of whose requests another of its class answers some, that, and its Ingress."""
    item, spec = one
    others = [(route, each) for each, its in among for route in routes_of(its, by_regex)]
    for route in routes_of(spec, by_regex):
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
    is_wide = any(host[:1] in {"", "*"} for host in hosts)
    around = {*estate} if is_wide else {"", *hosts, *map(wildcard_of, hosts)}
    return [*{each[0].full_name: each for host in around for each in estate.get(host, ())}.values()]
