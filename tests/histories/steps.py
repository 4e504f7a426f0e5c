"""What owners and strangers do: steps, made up at random, that can be played."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

from devcluster.api import INGRESSES, SERVICES, Api, ApiError, Object
from ingress_manager.core.observed import DECORATOR

NAMES = ("a", "b")
"""Those of the Services."""

ENTRANCE, INSIDE = "in.", ".in"
"""How the annotations of the other entrance of a Service begin, and how the name of what is made for it ends."""

MADE = tuple(f"{name}{end}" for name in NAMES for end in ("", INSIDE))
STRANGERS, MANAGED_BY = "example.com/stranger", "app.kubernetes.io/managed-by"
TIMEOUT = "nginx.ingress.kubernetes.io/proxy-read-timeout"

VALUES: dict[str, list[str | None]] = {
    "ingress/http": ["true", "true", "true", "false", "yes", None],
    "ingress/host": [None, "shop.{namespace}.example.com", "a.example.com, b.example.com", "*", "Shop_1"],
    "ingress/path": [None, "/shop", "/shop/", "//shop"],
    "ingress/path-type": [None, "Exact", "exact", "ImplementationSpecific"],
    "ingress/port": [None, "metrics", "8081", "nope"],
    "ingress/class": [None, "other", "Not_A_Class"],
    "ingress/tls": [None, "true", "false", "maybe"],
    "ingress/tls-secret": [None, "certificate", "Not A Secret"],
    "ingress/routes": [None, "- {}\n- host: admin.{namespace}.example.com\n", "- path: [\n"],
    "ingress/profile": [None, "fast", "none-such"],
    "ingress/tls-redirect": [None, None, None, "true"],
    "ingress/hots": [None, None, None, "x"],
    TIMEOUT: [None, "30", "-1"],
}
"""What owners write, right and wrong."""

PORTS: dict[str, list[dict[str, Any]]] = {
    "one": [{"name": "http", "port": 80}],
    "two": [{"name": "http", "port": 80}, {"name": "metrics", "port": 9090}],
    "unclear": [{"name": "web", "port": 8080}, {"name": "api", "port": 8081}],
    "udp": [{"name": "dns", "port": 53, "protocol": "UDP"}],
}

EDITS: list[Object] = [
    {"metadata": {"labels": {MANAGED_BY: None}}},
    {"metadata": {"labels": {"example.com/by-hand": "yes"}}},
    {"metadata": {"annotations": {TIMEOUT: "999"}}},
    {"metadata": {"annotations": {"example.com/by-hand": "yes"}}},
    {"spec": {"ingressClassName": "edited"}},
    {"spec": {"rules": [{"host": "edited.example.org"}]}},
    {"spec": {"tls": [{"hosts": ["edited.example.org"]}]}},
    {"spec": {"tls": None}},
]
"""What people do to an Ingress by hand."""


class Diverged(Exception):  # noqa: N818 - it says what happened
    """Something is not as the docs say. The message says what."""


@dataclass
class Place:
    """A namespace, and what was done there."""

    api: Api
    namespace: str
    services: dict[str, Object | None] = field(default_factory=lambda: dict.fromkeys(NAMES))
    """The Services as they are now."""

    recent: dict[str, list[Object | None]] = field(default_factory=lambda: {name: [None] for name in NAMES})
    """What each was since all had settled last, oldest first."""

    edited: set[str] = field(default_factory=set)
    """The names of the Ingresses that somebody may have changed since then."""

    taken: set[str] = field(default_factory=set)
    """The names that strangers have had: each is tried again late."""

    strangers: set[str] = field(default_factory=set)
    """The uids of the Ingresses that strangers have made."""

    def has(self, name: str, service: Object | None) -> None:
        """Note what a Service is now; None: it is gone."""
        self.services[name] = service
        self.recent[name].append(service)

    def settle(self) -> None:
        """Note that all has settled."""
        self.recent = {name: [service] for name, service in self.services.items()}
        self.edited.clear()


def is_strangers(ingress: Object) -> bool:
    """Return whether a stranger has made the Ingress."""
    return STRANGERS in (ingress["metadata"].get("labels") or {})


@dataclass(frozen=True)
class Step:
    """Something that somebody does at one name: `kind` is a key of PLAYED."""

    kind: str
    name: str
    about: Mapping[str, Any]

    def play(self, place: Place) -> None:
        """Do it, and note what came of it. Raises Diverged, and ApiError."""
        PLAYED[self.kind](place, self.name, self.about)

    def __str__(self) -> str:
        return f"{self.kind} {self.name}: {json.dumps(self.about)}"


def create(place: Place, name: str, about: Mapping[str, Any]) -> None:
    """Create a Service, unless there is one, or the old one is still being deleted."""
    if place.services[name] is not None or place.api.get(SERVICES, name, place.namespace):
        return
    annotations = {key: value.replace("{namespace}", place.namespace) for key, value in about["annotations"].items()}
    metadata = {"name": name, "namespace": place.namespace, "annotations": annotations}
    made = {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": {"ports": PORTS[about["ports"]]}}
    place.has(name, place.api.create(SERVICES, made))


def change(place: Place, name: str, about: Mapping[str, Any]) -> None:
    """Patch a Service, unless it is gone."""
    if (service := place.services[name]) is None:
        return
    patch = json.loads(json.dumps(about).replace("{namespace}", place.namespace))
    try:
        patched = place.api.patch(SERVICES, name, patch, place.namespace)
    except ApiError as error:
        raise Diverged(f"Service {name} can't be patched: {error}") from error
    if patched["metadata"]["uid"] != service["metadata"]["uid"] or "deletionTimestamp" in patched["metadata"]:
        raise Diverged(f"Service {name} is another one, or is being deleted, which nobody did")
    place.has(name, patched)


def delete(place: Place, name: str, about: Mapping[str, Any]) -> None:
    """Delete a Service."""
    if (service := place.services[name]) is not None:
        place.api.delete(SERVICES, name, place.namespace, uid=service["metadata"]["uid"], **about)
        place.has(name, None)


def edit_ingress(place: Place, name: str, about: Mapping[str, Any]) -> None:
    """Change the Ingress that we made by hand, or delete it."""
    found = place.api.get(INGRESSES, name, place.namespace)
    if not found or DECORATOR not in (found["metadata"].get("annotations") or {}):
        return
    place.edited.add(name)
    try:
        if about["edit"]:
            place.api.patch(INGRESSES, name, about["edit"], place.namespace)
        else:
            place.api.delete(INGRESSES, name, place.namespace, uid=found["metadata"]["uid"])
    except ApiError as error:
        if error.status not in {404, 409}:  # it has changed meanwhile
            raise


def create_strangers(place: Place, name: str, about: Mapping[str, Any]) -> None:
    """Create an Ingress that isn't ours, if the name is free; it may look like ours by its label."""
    labels = {STRANGERS: "yes"} | ({MANAGED_BY: "ingress-manager"} if about["label"] else {})
    metadata = {"name": name, "namespace": place.namespace, "labels": labels}
    spec = {"rules": [{"host": "stranger.example.org"}]}
    made = {"apiVersion": INGRESSES.api_version, "kind": "Ingress", "metadata": metadata, "spec": spec}
    try:
        place.strangers.add(place.api.create(INGRESSES, made)["metadata"]["uid"])
    except ApiError as error:
        if error.status != 409:
            raise
    else:
        place.taken.add(name)


def delete_strangers(place: Place, name: str, _: Mapping[str, Any]) -> None:
    """Delete the Ingress if it is a stranger's."""
    found = place.api.get(INGRESSES, name, place.namespace)
    if found and is_strangers(found):
        place.api.delete(INGRESSES, name, place.namespace, uid=found["metadata"]["uid"])


PLAYED: dict[str, Callable[[Place, str, Mapping[str, Any]], None]] = {
    "create": create,
    "change": change,
    "delete": delete,
    "edit ingress": edit_ingress,
    "create stranger's": create_strangers,
    "delete stranger's": delete_strangers,
}
WEIGHTS = dict(zip(PLAYED, (22, 40, 8, 18, 3, 6), strict=True))


def in_entrance(begin: str, key: str) -> str:
    """Return the annotation by which an entrance is told the same; some are told of all of them."""
    return f"{begin}{key}" if key.startswith("ingress/") else key


def made_up_annotations(random: Random) -> dict[str, str]:
    """Return annotations of a Service: ingress/http nearly always, and some others; often those of another entrance."""
    found: dict[str, str | None] = {}
    for begin in ("", ENTRANCE) if random.random() < 0.4 else ("",):
        keys = ["ingress/http", *random.choices([*VALUES], k=random.choice((0, 1, 1, 2, 3)))]
        found |= {in_entrance(begin, key): random.choice(VALUES[key]) for key in keys}
    return {key: value for key, value in found.items() if value is not None}


def made_up_change(random: Random) -> Object:
    """Return a patch: an annotation, which half of the time is ingress/http, or other ports."""
    if random.random() < 0.15:
        return {"spec": {"ports": PORTS[random.choice([*PORTS])]}}
    key = random.choice(["ingress/http", random.choice([*VALUES])])
    where = in_entrance(random.choice(("", "", ENTRANCE)), key)
    return {"metadata": {"annotations": {where: random.choice(VALUES[key])}}}


ABOUT: dict[str, Callable[[Random], Mapping[str, Any]]] = {
    "create": lambda random: {"annotations": made_up_annotations(random), "ports": random.choice(["one", *PORTS])},
    "change": made_up_change,
    "delete": lambda random: {"propagation": random.choice(["Background", "Background", "Foreground"])},
    "edit ingress": lambda random: {"edit": random.choice([None, *EDITS])},
    "create stranger's": lambda random: {"label": random.random() < 0.3},
    "delete stranger's": lambda _: {},
}


def made_up_steps(seed: str, count: int) -> list[Step]:
    """Return a history: always the same one for a seed."""
    random = Random(seed)
    kinds = ["create", "create", *random.choices([*WEIGHTS], [*WEIGHTS.values()], k=count - 2)]
    names = [*NAMES, *(random.choice(MADE if "ingress" in kind or "stranger" in kind else NAMES) for kind in kinds[2:])]
    return [Step(kind, name, ABOUT[kind](random)) for kind, name in zip(kinds, names, strict=True)]
