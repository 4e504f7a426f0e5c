"""The claims of an entrance: hosts and paths that no other entrance of the Service may have, at the same place.

Two routes of one entrance that are the same are found by `rules`; those of two Services, by `ingress-manager audit`.
"""

from collections.abc import Iterator
from itertools import product
from typing import Any

from ingress_manager.core.annotations import PREFIX
from ingress_manager.core.errors import Reason
from ingress_manager.core.exposure import Exposure
from ingress_manager.core.policy import ListenerSets
from ingress_manager.core.rules import location


def check_claims(exposure: Exposure, known: dict[Any, str]) -> None:
    """Remember what an entrance claims beside what is `known`. Adds a problem if another one claims the same."""
    basis = exposure.basis
    for claim, shown in claims_of(exposure):
        if (first := known.setdefault(claim, basis.entrance)) != basis.entrance:
            other = f"{first}.ingress/http" if first else "ingress/http"
            end = (
                f': {shown} is the same to ingress controllers as that of "{other}"; '
                "state another host, path, class or profile"
            )
            basis.add("ingress/http", end, Reason.DUPLICATE_ROUTE)
            return


def claims_of(exposure: Exposure) -> Iterator[tuple[Any, str]]:
    """Yield what no other entrance of the Service may claim, and a name for each.

    That is a host and path at a listener, or of Ingresses that nothing could lead to different places.
    """
    basis, routing = exposure.basis, exposure.routing
    places: list[Any] = routing.places if routing else []
    if basis.policy.makes_ingresses:
        others = {key: value for key, value in exposure.annotations.items() if not key.startswith(PREFIX)}
        both = frozenset(others.items()), frozenset(basis.policy.labels.items())
        places.append((exposure.ingress_class, basis.tls, *both))
    for place, rule in product(places, exposure.rules):
        for path in rule.paths:
            shown = f"{rule.host}{path.path} ({path.path_type})"
            yield (place, location(rule.host, path.path, path.path_type)), shown
    if routing and isinstance(routing.listener, ListenerSets):
        # A Gateway takes one listener for a host at a port.
        yield from (((places[0], rule.host), rule.host) for rule in exposure.rules)
