"""What owners and strangers do: steps, made up at random, that can be played."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple

from devcluster.api import INGRESSES, SERVICES, Api, ApiError, Object
from ingress_manager.core.kubernetes import DECORATOR
from tests.e2e.objects import new

NAMES, MADE = ("a", "b"), ("a", "b", "a.in", "b.in")
"""The Services, and the Ingresses that are made for them: the second two for another entrance."""

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


@dataclass
class Place:
    """A namespace, and what was done there."""

    api: Api
    namespace: str
    services: dict[str, list[Object | None]] = field(default_factory=lambda: {name: [None] for name in NAMES})
    """What each Service was since all had settled last, and is now; None: it is not there."""

    edited: set[str] = field(default_factory=set)
    """The names of the Ingresses that somebody may have changed since then."""

    strangers: dict[str, str] = field(default_factory=dict)
    """The uids and the names of the Ingresses that strangers have made. Each name is tried again late."""

    def settle(self) -> None:
        """Note that all has settled."""
        self.services = {name: states[-1:] for name, states in self.services.items()}
        self.edited.clear()


def is_strangers(ingress: Object) -> bool:
    """Return whether a stranger has made the Ingress."""
    return STRANGERS in (ingress["metadata"].get("labels") or {})


class Step(NamedTuple):
    """Something that somebody does at one name: `kind` is a key of KINDS."""

    kind: str
    name: str
    about: Object

    def play(self, place: Place) -> str:
        """Do it, and note what came of it; return what is wrong, "" for nothing."""
        try:
            KINDS[self.kind].play(place, self.name, self.about)
        except ApiError as error:
            return "" if error.status in {404, 409} else f"{self}: {error}"  # an Ingress has changed meanwhile
        return ""


def create(place: Place, name: str, about: Object) -> None:
    """Create a Service, unless there is one, or the old one is still being deleted."""
    if place.services[name][-1] or place.api.get(SERVICES, name, place.namespace):
        return
    annotations = {key: value.replace("{namespace}", place.namespace) for key, value in about["annotations"].items()}
    made = new(SERVICES, name, place.namespace, {"annotations": annotations}, spec={"ports": PORTS[about["ports"]]})
    place.services[name].append(place.api.create(SERVICES, made))


def change(place: Place, name: str, about: Object) -> None:
    """Patch a Service, unless it is gone."""
    if place.services[name][-1]:
        patch = json.loads(json.dumps(about).replace("{namespace}", place.namespace))
        place.services[name].append(place.api.patch(SERVICES, name, patch, place.namespace))


def delete(place: Place, name: str, about: Object) -> None:
    """Delete a Service."""
    if service := place.services[name][-1]:
        place.api.delete(SERVICES, name, place.namespace, uid=service["metadata"]["uid"], **about)
        place.services[name].append(None)


def edit_ingress(place: Place, name: str, about: Object) -> None:
    """Change the Ingress that we made by hand, or delete it."""
    found = place.api.get(INGRESSES, name, place.namespace)
    if not found or DECORATOR not in (found["metadata"].get("annotations") or {}):
        return
    place.edited.add(name)
    if about["edit"]:
        place.api.patch(INGRESSES, name, about["edit"], place.namespace)
    else:
        place.api.delete(INGRESSES, name, place.namespace, uid=found["metadata"]["uid"])


def create_strangers(place: Place, name: str, about: Object) -> None:
    """Create an Ingress that isn't ours, if the name is free; it may look like ours by its label."""
    labels = {STRANGERS: "yes"} | ({MANAGED_BY: "ingress-manager"} if about["label"] else {})
    made = new(INGRESSES, name, place.namespace, {"labels": labels}, spec={"rules": [{"host": "stranger.example.org"}]})
    place.strangers[place.api.create(INGRESSES, made)["metadata"]["uid"]] = name


def delete_strangers(place: Place, name: str, _: Object) -> None:
    """Delete the Ingress if it is a stranger's."""
    found = place.api.get(INGRESSES, name, place.namespace)
    if found and is_strangers(found):
        place.api.delete(INGRESSES, name, place.namespace, uid=found["metadata"]["uid"])


def made_up_service(random: Random) -> Object:
    """Return annotations, ingress/http nearly always, and some others, often those of another entrance; and ports."""
    found: dict[str, str | None] = {}
    for begin in ("", "in.") if random.random() < 0.4 else ("",):
        keys = ["ingress/http", *random.choices([*VALUES], k=random.choice((0, 1, 1, 2, 3)))]
        found |= {begin + key: random.choice(VALUES[key]) for key in keys}
    stated = {key: value for key, value in found.items() if value is not None}
    return {"annotations": stated, "ports": random.choice(["one", *PORTS])}


def made_up_change(random: Random) -> Object:
    """Return a patch: an annotation, which half of the time is ingress/http, or other ports."""
    if random.random() < 0.15:
        return {"spec": {"ports": PORTS[random.choice([*PORTS])]}}
    key = random.choice(["ingress/http", random.choice([*VALUES])])
    begin = random.choice(("", "", "in."))
    return {"metadata": {"annotations": {begin + key: random.choice(VALUES[key])}}}


class Kind(NamedTuple):
    """What people do, how often beside the rest, and how what they do it with is made up."""

    play: Callable[[Place, str, Object], None]
    weight: int
    made_up: Callable[[Random], Object]


KINDS = {
    "create": Kind(create, 22, made_up_service),
    "change": Kind(change, 40, made_up_change),
    "delete": Kind(delete, 8, lambda random: {"propagation": random.choice(["Background"] * 2 + ["Foreground"])}),
    "edit ingress": Kind(edit_ingress, 18, lambda random: {"edit": random.choice([None, *EDITS])}),
    "create stranger's": Kind(create_strangers, 3, lambda random: {"label": random.random() < 0.3}),
    "delete stranger's": Kind(delete_strangers, 6, lambda _: {}),
}


def made_up_steps(seed: str, count: int) -> list[Step]:
    """Return a history: always the same one for a seed."""
    random = Random(seed)
    kinds = ["create", "create", *random.choices([*KINDS], [each.weight for each in KINDS.values()], k=count - 2)]
    names = [*NAMES, *(random.choice(MADE if "ingress" in kind or "stranger" in kind else NAMES) for kind in kinds[2:])]
    return [Step(kind, name, KINDS[kind].made_up(random)) for kind, name in zip(kinds, names, strict=True)]
