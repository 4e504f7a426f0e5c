"""Which of several Ingresses of the class nginx answers: at the gateway, where the longest rule does, another one may.

Of all that match a request, ingress-nginx goes by the host, a name before a wildcard, and that before none, and then by
the path, `Exact` before the longest. The gateway's Traefik goes by the length of the text that it makes of both; of two
that are as long, either may answer.
Sources: ingress-nginx 1.15, internal/ingress/controller/location.go and template.go (buildLocation); Traefik 3.7,
pkg/provider/kubernetes/ingress-nginx/translator.go (buildRule), pkg/muxer/http/mux.go (GetRulePriority).
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from ingress_manager.core.kubernetes import Backend, Ingress, Object
from ingress_manager.core.vocabulary import NGINX, protects


class Route(NamedTuple):
    """A path of a host; the host is empty for every one."""

    host: str
    path: str
    path_type: str
    is_regex: bool
    leads_to: str
    """The Service and its port."""

    def rule(self) -> str:
        """Return the text that Traefik makes of it."""
        host = f'Host("{self.host}") && ' if self.host else ""
        if self.path_type == "Exact":
            return f'{host}Path("{self.path}")'
        if self.is_regex:
            return f'{host}PathRegexp("(?i)^{self.path}")'
        path = self.path.rstrip("/")
        return f'{host}(Path("{path}") || PathPrefix("{path}/"))' if path else f'{host}PathPrefix("/")'

    def rank(self) -> tuple[int, bool, int]:
        """Return what ingress-nginx goes by: of several, the greatest."""
        name = 0 if not self.host else 1 if self.host.startswith("*.") else 2
        return name, self.path_type == "Exact", len(self.path)

    def matches(self, host: str, path: str) -> bool:
        """Return whether a request to this host, for this path, is its."""
        label, _, rest = host.partition(".")
        if self.host not in {"", host} and (self.host != f"*.{rest}" or not label):
            return False
        if self.path_type == "Exact":
            return path == self.path
        return path == self.path.rstrip("/") or path.startswith(self.path.rstrip("/") + "/")


def routes_of(ingress: Object) -> list[Route]:
    """Return the routes of an Ingress."""
    said = ingress["metadata"].get("annotations") or {}
    is_regex = said.get(f"{NGINX}use-regex", "").lower() == "true" or bool(said.get(f"{NGINX}rewrite-target"))
    return [
        Route(host, path.path or "/", path.path_type, is_regex, leads_to(path.backend))
        for host, path in msgspec.convert(ingress, Ingress).spec.paths()
    ]


def leads_to(backend: Backend) -> str:
    """Return the name of the Service and its port."""
    return f"{backend.service.name}:{backend.service.port}" if backend.service else ""


def answered_by_others(ingress: Object, beside: Iterable[Object]) -> Iterator[tuple[Route, str, Object]]:
    """Yield each route of an Ingress of whose requests another one answers some at the gateway, that, and its Ingress.

    Routes by regular expressions aren't compared.
    """
    others = [(route, each) for each in (ingress, *beside) for route in routes_of(each) if not route.is_regex]
    for route in routes_of(ingress):
        for other, by in others:
            # A request that both match: for the path of either.
            host = route.host.replace("*.", "x.") or other.host.replace("*.", "x.")
            both = any(route.matches(host, path) and other.matches(host, path) for path in (route.path, other.path))
            loses = len(route.rule()) <= len(other.rule()) and route.rank() > other.rank()
            same = by is ingress and route.leads_to == other.leads_to
            if both and loses and not route.is_regex and not same:
                yield route, f"{other.path_type} {other.host}{other.path}", by


class Estate:
    """Ingresses, by their hosts: of thousands, few are looked at beside each."""

    def __init__(self, ingresses: Sequence[Object]) -> None:
        self._all = ingresses
        self._by_host: dict[str, list[Object]] = {}
        for ingress in ingresses:
            for host in hosts_of(ingress):
                self._by_host.setdefault(host, []).append(ingress)

    def near(self, ingress: Object) -> Sequence[Object]:
        """Return the Ingresses that a request for one of its hosts may be for, this one too."""
        hosts = hosts_of(ingress)
        if "" in hosts:
            return self._all
        parents = {host.removeprefix("*.") for host in hosts if host.startswith("*.")}
        below = {host for host in self._by_host if host.partition(".")[2] in parents} if parents else set()
        wildcards = {f"*.{host.partition('.')[2]}" for host in hosts}
        found = (each for host in hosts | below | wildcards | {""} for each in self._by_host.get(host, ()))
        return [*{name_of(each): each for each in found}.values()]


def hosts_of(ingress: Object) -> set[str]:
    """Return the hosts of its rules; "" stands for every host."""
    return {rule.get("host", "") for rule in ingress["spec"].get("rules") or ()}


def meet(hosts: set[str], others: set[str]) -> bool:
    """Return whether a request may be for both: for a host of both, or for one that a wildcard or "" covers."""
    return not hosts.isdisjoint(others) or any(not host or host[0] == "*" for each in (hosts, others) for host in each)


def protection_of(ingress: Object) -> set[tuple[str, str]]:
    """Return its annotations that protect."""
    return {(key, value) for key, value in (ingress["metadata"].get("annotations") or {}).items() if protects(key)}


def name_of(ingress: Object) -> str:
    """Return the namespace and the name."""
    metadata = ingress["metadata"]
    return f"{metadata.get('namespace', 'default')}/{metadata['name']}"
