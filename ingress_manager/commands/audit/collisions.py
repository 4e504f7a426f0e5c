"""Collisions: the names under which controllers keep what is in Ingresses, where two things have one.

Sources: ingress-nginx, internal/ingress/controller/controller.go (upstreamName); Traefik,
pkg/provider/kubernetes/ingress and ingress-nginx (the names of its services, routers and certificates) and
pkg/provider/configuration.go (Normalize).
"""

import unicodedata
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from ingress_manager.commands.audit.seen import Finding, Found, Seen
from ingress_manager.commands.audit.sharing import pairs
from ingress_manager.commands.plans.steps import kubectl
from ingress_manager.commands.printing.words import Command
from ingress_manager.commands.reading.kinds import INGRESS, SERVICE
from ingress_manager.commands.reading.manifests import Item
from ingress_manager.commands.view.ingresses import class_of, is_canary
from ingress_manager.commands.view.look import ServiceView
from ingress_manager.commands.view.objects import ObjectView
from ingress_manager.core.kubernetes import Ingress, IngressSpec

NGINX, TRAEFIK = "ingress-nginx", "Traefik"
CLASS_NGINX = "nginx"
TRAEFIK_OF_NGINX = "Traefik for the class nginx"
"""Traefik's provider that reads ingress-nginx's annotations."""
SECRET = "Secret"  # noqa: S105 - a kind


class Name(NamedTuple):
    """The name that a controller gives to something of an Ingress. What has one name is one thing to it."""

    controller: str
    ingress_class: str
    kind: str
    """What has the name: a Service, an Ingress (one of its routes) or a Secret."""
    text: str


def upstream_collision(seen: Seen) -> Found:
    """Yield each two that have one name, once, with all controllers that give them that name.

    Which controller serves a class is not known here, so each class is taken for ingress-nginx's and for Traefik's.
    """
    users: dict[Name, dict[str, ObjectView]] = {}
    for each in sorted(seen.view.objects.values(), key=lambda each: each.item.born):
        for name, user in _names_of(each):
            users.setdefault(name, {}).setdefault(user, each)
    found: dict[tuple[str, str, str, str], tuple[ObjectView, list[str]]] = {}
    for name, used in users.items():
        sharing = [(each, user) for user, each in used.items()]
        for (_, other), (younger, one) in pairs(sharing, lambda _older, _younger: True):
            found.setdefault((name.kind, name.text, one, other), (younger, []))[1].append(name.controller)
    for (kind, text, one, other), (younger, controllers) in found.items():
        # Which of two is used for longer isn't known where not all Ingresses are.
        is_known = kind == INGRESS or INGRESS not in seen.view.known.unread
        item, command = _mended(seen, kind, one, younger, controllers)
        if is_known and item:
            what = "a route of Ingress" if kind == INGRESS else kind
            sentence = f"{text} is the name of {what} {other}, too, in {' and '.join(controllers)}"
            yield Finding(item, sentence, command)


def _mended(
    seen: Seen, kind: str, one: str, younger: ObjectView, controllers: list[str]
) -> tuple[Item | None, Command]:
    """Return what a person changes of two that have one name, if it is there, and the command for that."""
    if kind == SERVICE:
        service = seen.view.services.get(one)
        return (service.item, kubectl("edit", service.item)) if service else (None, ())
    if kind == INGRESS and TRAEFIK in controllers:
        return younger.item, seen.of_another_host(younger)  # the host is in that name
    owner = seen.view.owner_of(younger)
    return younger.item, kubectl("edit", owner.item if isinstance(owner, ServiceView) else younger.item)


def _names_of(each: ObjectView) -> Iterator[tuple[Name, str]]:
    """Yield the names that an Ingress needs in ingress-nginx and in Traefik, and what has each, as namespace/name.

    gateway/name-collisions.yaml and gateway/ingress-nginx/name-collisions.yaml say the same of Traefik's names.
    """
    if not isinstance(each.typed, Ingress):
        return
    spec = each.typed.spec
    namespace, ingress_class = each.item.namespace, class_of(each.item, spec)
    routes = []
    for host, path in spec.paths():
        if service := path.backend.service:
            name, user = f"{namespace}-{service.name}-{service.port}", f"{namespace}/{service.name}"
            yield Name(NGINX, ingress_class, SERVICE, name), user
            yield Name(TRAEFIK, ingress_class, SERVICE, _normalized(name)), user
            routes.append(_normalized(f"{namespace}-{each.item.name}-{host}{path.path}"))
    if not spec.rules and spec.default_backend:
        routes.append("default-router")
    for route, count in Counter(routes).items():
        # What one Ingress needs twice gets a hash of its rule, which nobody else's name ends in by chance.
        if count == 1:
            yield Name(TRAEFIK, ingress_class, INGRESS, route), each.item.full_name
    for secret in dict.fromkeys(entry.secret_name for entry in spec.tls or () if entry.secret_name):
        yield Name(TRAEFIK, ingress_class, SECRET, f"{namespace}-{secret}"), f"{namespace}/{secret}"
    if ingress_class == CLASS_NGINX:
        yield from _names_of_nginx(each.item, spec)


def _names_of_nginx(item: Item, spec: IngressSpec) -> Iterator[tuple[Name, str]]:
    """Yield the names that an Ingress of the class nginx needs in Traefik. A canary has no routes of its own."""
    has_routes = not is_canary(item)
    prefix = f"{item.namespace}-{item.name}" if has_routes else item.namespace
    if spec.rules and has_routes:
        yield Name(TRAEFIK_OF_NGINX, CLASS_NGINX, INGRESS, prefix), item.full_name
    for service in dict.fromkeys(path.backend.service for _, path in spec.paths() if path.backend.service):
        name = f"{prefix}-{service.name}-{service.port}"
        yield Name(TRAEFIK_OF_NGINX, CLASS_NGINX, SERVICE, name), f"{item.namespace}/{service.name}"


def _normalized(text: str) -> str:
    """Return a text as Traefik has it in its names: words of letters and digits, with one `-` between two."""
    return "-".join("".join(char if unicodedata.category(char)[0] in "LN" else " " for char in text).split())
