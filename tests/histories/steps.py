"""What owners, strangers and attackers do: steps, made up at random, that can be played."""

import functools
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

from devcluster.api import INGRESSES, NAMESPACES, SERVICES, Api, ApiError, Object, T
from ingress_manager.core.observed import DECORATOR
from ingress_manager.core.policy import Policy

NAME = "ingress-manager"
NAMES = ("a", "b")
"""Those of the Services."""

ENTRANCE, INSIDE = "in.", ".in"
"""How the annotations of the other entrance of a Service begin, and how the name of what is made for it ends."""

MADE = tuple(f"{name}{end}" for name in NAMES for end in ("", INSIDE))
"""The names of what is made for them."""

PATIENCE = 90.0
"""Seconds for which a step is tried again while the API server doesn't answer."""

STRANGERS = "example.com/stranger"
"""A label of what a stranger has made."""

MANAGED_BY, TEAM, TIER = "app.kubernetes.io/managed-by", "team", "tier"
TIMEOUT, APP_ROOT = "nginx.ingress.kubernetes.io/proxy-read-timeout", "nginx.ingress.kubernetes.io/app-root"
SHARED = "shared.example.org"

VALUES: dict[str, list[str | None]] = {
    "ingress/http": ["true", "true", "true", "false", "yes", None],
    "ingress/host": [
        None,
        "shop.{namespace}.example.com",
        "a.{namespace}.example.com, b.{namespace}.example.com",
        SHARED,
        SHARED,
        "*",
        "a.{namespace}.example.com, *",
        "Shop_1",
    ],
    "ingress/path": [None, "/shop", "/shop/", "//shop", "/shop/*"],
    "ingress/path-type": [None, "Exact", "exact", "ImplementationSpecific", "ImplementationSpecific"],
    "ingress/port": [None, "metrics", "8081", "nope"],
    "ingress/class": [None, "other", "Not_A_Class"],
    "ingress/tls": [None, "true", "false", "maybe"],
    "ingress/tls-secret": [None, "certificate", "Not A Secret"],
    "ingress/routes": [None, "- {}\n- host: admin.{namespace}.example.com\n", "- path: [\n"],
    "ingress/profile": [None, "fast", "slow", "none-such", "Not A Profile"],
    "ingress/tls-redirect": [None, None, None, "true"],
    "ingress/hots": [None, None, None, "x"],
    TIMEOUT: [None, "30", "-1"],
    APP_ROOT: [None, "/shop"],
}
"""What owners write, right and wrong."""

LABELS: dict[str, list[str | None]] = {TEAM: [None, "web", "web", "others"], TIER: [None, "gold"]}
"""The labels that they write."""

PORTS: dict[str, list[dict[str, Any]]] = {
    "one": [{"name": "http", "port": 80}],
    "two": [{"name": "http", "port": 80}, {"name": "metrics", "port": 9090}],
    "unclear": [{"name": "web", "port": 8080}, {"name": "api", "port": 8081}],
    "udp": [{"name": "dns", "port": 53, "protocol": "UDP"}],
    "https": [{"name": "https", "port": 443}],
}

ELSEWHERE = {"service": {"name": "elsewhere", "port": {"number": 1}}}
EDITS: list[dict[str, Any]] = [
    {"rule": {"host": "elsewhere.example.org"}},
    {"path": {"path": "/elsewhere"}},
    {"path": {"pathType": "ImplementationSpecific"}},
    {"path": {"backend": ELSEWHERE}},
    {"labels": {MANAGED_BY: None}},
    {"labels": {MANAGED_BY: "somebody"}},
    {"labels": {TEAM: None}},
    {"labels": {TEAM: "by-hand", "example.com/by-hand": "yes"}},
    {"annotations": {TIMEOUT: "999"}},
    {"annotations": {TIMEOUT: None, "ingress/not-copied": None, "ingress/copied-labels": None}},
    {"annotations": {"example.com/by-hand": "yes"}},
    {"spec": {"ingressClassName": "edited"}},
    {"spec": {"ingressClassName": None}},
    {"spec": {"rules": [{"host": "edited.example.org"}]}},
    {"spec": {"tls": [{"hosts": ["edited.example.org"]}]}},
    {"spec": {"tls": None}},
    {"spec": {"defaultBackend": ELSEWHERE}},
]
"""What people do to an Ingress by hand: fields of `labels`, of `annotations`, of `spec`, of its first `rule` and of the
first `path` there. None takes away what it stands for."""


class Diverged(Exception):  # noqa: N818 - it says what happened
    """Something is not as the docs say. The message says what."""


def certainly(request: Callable[[], T]) -> T:
    """Return the answer of the API server, which is asked again while it is down. A request may be carried out twice.

    Raises ApiError when it refuses.
    """
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return request()
        except ApiError as error:
            starts = error.status in {0, 429, 500, 503, 504} or "not yet ready to handle request" in str(error)
            if not starts or time.monotonic() > end:
                raise
        time.sleep(0.1)


@dataclass
class Place:
    """A namespace, and what was done there."""

    api: Api
    namespace: str
    services: dict[str, Object | None] = field(default_factory=lambda: dict.fromkeys(NAMES))
    """The Services as they are now."""
    recent: dict[str, list[Object | None]] = field(default_factory=lambda: {name: [None] for name in NAMES})
    """What each was since all had settled last, oldest first."""
    policy: Policy | None = None
    """The settings, if they have been the same since then."""
    edited: set[str] = field(default_factory=set)
    """The names of the Ingresses that somebody may have changed since then."""
    taken: set[str] = field(default_factory=set)
    """The names that strangers have had since then: each is tried again late."""
    gone: bool = False
    """Whether the namespace was deleted."""
    strangers: set[str] = field(default_factory=set)
    """The uids of the Ingresses that strangers have made."""
    denied: int = 0
    """How many writes the admission policies have denied, as they should."""

    def has(self, name: str, service: Object | None) -> None:
        """Note what a Service is now; None: it is gone."""
        self.services[name] = service
        self.recent[name].append(service)

    def settle(self, policy: Policy, waiting: set[str]) -> None:
        """Note that all has settled with these settings, but for names that were taken and are still waited for."""
        self.recent = {name: [service] for name, service in self.services.items()}
        self.policy = policy
        self.edited.clear()
        self.taken &= waiting

    def ingress(self, name: str) -> Object | None:
        """Return the Ingress of that name."""
        return certainly(lambda: self.api.get(INGRESSES, name, self.namespace))


def is_strangers(ingress: Object) -> bool:
    """Return whether a stranger has made the Ingress."""
    return STRANGERS in (ingress["metadata"].get("labels") or {})


@dataclass(frozen=True)
class Step:
    """Something that somebody does at one name: `kind` is a key of PLAYED."""

    kind: str
    name: str
    about: Mapping[str, Any] = field(default_factory=dict)

    def play(self, place: Place) -> None:
        """Do it, and note what came of it. Raises Diverged, and ApiError."""
        if not place.gone:
            PLAYED[self.kind](place, self.name, self.about)

    def __str__(self) -> str:
        return f"{self.kind} {self.name}" + (f": {json.dumps(self.about)}" if self.about else "")


def service_object(namespace: str, name: str, about: Mapping[str, Any]) -> Object:
    """Return the Service that a step creates."""
    annotations = {key: value.replace("{namespace}", namespace) for key, value in about["annotations"].items()}
    spec: Object = {"ports": PORTS[about["ports"]]}
    if about["external"]:
        spec |= {"type": "ExternalName", "externalName": "elsewhere.example.org"}
    metadata = {"name": name, "namespace": namespace, "annotations": annotations, "labels": about["labels"]}
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec}


def create(place: Place, name: str, about: Mapping[str, Any]) -> None:
    """Create a Service, unless there is one."""
    if place.services[name] is not None:
        return
    try:
        made = certainly(lambda: place.api.create(SERVICES, service_object(place.namespace, name, about)))
    except ApiError as error:
        if error.status != 409:
            raise
        found = certainly(lambda: place.api.get(SERVICES, name, place.namespace))
        if found is None or "deletionTimestamp" in found["metadata"]:
            return  # the old one is still being deleted
        made = found  # the answer to an earlier try was lost
    place.has(name, made)


def patch_service(place: Place, name: str, patch: Object) -> None:
    """Patch the Service, unless it is gone."""
    service = place.services[name]
    if service is None:
        return
    try:
        patched = certainly(lambda: place.api.patch(SERVICES, name, patch, place.namespace))
    except ApiError as error:
        if error.status == 404:
            raise Diverged(f"Service {name} is gone, which nobody deleted") from error
        raise
    if patched["metadata"]["uid"] != service["metadata"]["uid"] or "deletionTimestamp" in patched["metadata"]:
        raise Diverged(f"Service {name} is another one, or is being deleted, which nobody did")
    place.has(name, patched)


def annotate(place: Place, name: str, about: Mapping[str, Any]) -> None:
    """Set one annotation of a Service; None takes it away."""
    value = about["value"] and about["value"].replace("{namespace}", place.namespace)
    patch_service(place, name, {"metadata": {"annotations": {about["key"]: value}}})


def set_labels(place: Place, name: str, about: Mapping[str, Any]) -> None:
    """Give a Service other labels."""
    patch_service(place, name, {"metadata": {"labels": dict.fromkeys(LABELS) | about["labels"]}})


def set_ports(place: Place, name: str, about: Mapping[str, Any]) -> None:
    """Give a Service other ports."""
    patch_service(place, name, {"spec": {"ports": PORTS[about["ports"]]}})


def is_annotated(service: Object) -> bool:
    """Return whether a Service says of an entrance whether it asks for it."""
    annotations = service["metadata"].get("annotations") or {}
    return not {"ingress/http", f"{ENTRANCE}ingress/http"}.isdisjoint(annotations)


EXTERNAL = {"type": "ExternalName", "externalName": "elsewhere.example.org"}


def set_type(place: Place, name: str, about: Mapping[str, Any]) -> None:
    """Make a Service an ExternalName, which is denied while it is annotated, or take that back."""
    service = place.services[name]
    if service is None or (service["spec"].get("type") == "ExternalName") == about["external"]:
        return
    spec = EXTERNAL if about["external"] else {"type": "ClusterIP", "externalName": None}
    if about["external"] and is_annotated(service):
        what = f"Service {name} becomes an ExternalName"
        expect_denied(place, what, lambda: patch_service(place, name, {"spec": spec}))
    else:
        patch_service(place, name, {"spec": spec})


def delete(place: Place, name: str, about: Mapping[str, Any]) -> None:
    """Delete a Service."""
    service, propagation = place.services[name], about["propagation"]
    if service is None:
        return
    uid = service["metadata"]["uid"]

    def request() -> None:
        certainly(lambda: place.api.delete(SERVICES, name, place.namespace, propagation=propagation, uid=uid))

    if propagation != "Orphan":
        request()
        place.has(name, None)
    elif is_annotated(service):
        expect_denied(place, f"Service {name} is deleted without its Ingress", request)


def expect_denied(place: Place, what: str, request: Callable[[], object]) -> None:
    """Make a request that an admission policy has to deny. Raises Diverged when it doesn't."""
    try:
        request()
    except ApiError as error:
        if error.status != 403:
            raise
        place.denied += 1
        return
    raise Diverged(f"{what}, and nothing denies it")


def ours(place: Place, name: str) -> Object | None:
    """Return the Ingress if it is ours: somebody meddles with that."""
    found = place.ingress(name)
    return found if found and DECORATOR in (found["metadata"].get("annotations") or {}) else None


def delete_ingress(place: Place, name: str, _about: Mapping[str, Any]) -> None:
    """Delete the Ingress that we made, marked or not."""
    found = place.ingress(name)
    if found and not is_strangers(found):
        uid = found["metadata"]["uid"]
        try:
            certainly(lambda: place.api.delete(INGRESSES, name, place.namespace, uid=uid))
        except ApiError as error:
            if error.status != 409:  # it was another one by then
                raise


def edit_ingress(place: Place, name: str, about: Mapping[str, Any]) -> None:
    """Change the Ingress that we made, as one of EDITS says."""

    def change(ingress: Object) -> None:
        edit, metadata = about["edit"], ingress["metadata"]
        for parts, field_name in ((metadata, "labels"), (metadata, "annotations"), (ingress, "spec")):
            changed = parts.get(field_name, {}) | edit.get(field_name, {})
            parts[field_name] = {key: value for key, value in changed.items() if value is not None}
        for rule in ingress["spec"].get("rules", [])[:1]:
            rule.update(edit.get("rule", {}))
            for path in rule.get("http", {}).get("paths", [])[:1]:
                path.update(edit.get("path", {}))

    change_ours(place, name, change)


def unmark_ingress(place: Place, name: str, _about: Mapping[str, Any]) -> None:
    """Take Metacontroller's mark off the Ingress."""

    def change(ingress: Object) -> None:
        del ingress["metadata"]["annotations"][DECORATOR]

    change_ours(place, name, change)


def disown_ingress(place: Place, name: str, _about: Mapping[str, Any]) -> None:
    """Take the owner off the Ingress, which is denied."""
    found = ours(place, name)
    if found is None:
        return
    found["metadata"]["ownerReferences"] = []
    try:
        update = functools.partial(place.api.update, INGRESSES, found)
        expect_denied(place, f"Ingress {name} loses its owner", lambda: certainly(update))
    except ApiError as error:
        if error.status not in {404, 409}:  # it has changed meanwhile
            raise


def change_ours(place: Place, name: str, change: Callable[[Object], None]) -> None:
    """Change the Ingress that we made as it is now; do nothing when it changes meanwhile."""
    found = ours(place, name)
    if found is None:
        return
    place.edited.add(name)
    change(found)
    try:
        place.api.update(INGRESSES, found)
    except ApiError as error:
        if error.status == 403:
            raise
        # Else it has changed meanwhile, or the API server is down, and it may have been carried out.


def strangers_object(namespace: str, name: str, about: Mapping[str, Any]) -> Object:
    """Return the Ingress of a stranger; with `label` it looks like ours."""
    labels = {STRANGERS: "yes"} | ({MANAGED_BY: NAME} if about["label"] else {})
    metadata = {"name": name, "namespace": namespace, "labels": labels}
    spec = {"rules": [{"host": "stranger.example.org"}]}
    return {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": metadata, "spec": spec}


def create_strangers(place: Place, name: str, about: Mapping[str, Any]) -> None:
    """Create an Ingress that isn't ours, if the name is free."""
    try:
        made = certainly(lambda: place.api.create(INGRESSES, strangers_object(place.namespace, name, about)))
    except ApiError as error:
        if error.status != 409:
            raise
        now = place.ingress(name)
        if now is None or not is_strangers(now):
            return
        made = now  # the answer to an earlier try was lost
    place.strangers.add(made["metadata"]["uid"])
    place.taken.add(name)


def delete_strangers(place: Place, name: str, _about: Mapping[str, Any]) -> None:
    """Delete the Ingress if it is a stranger's."""
    found = place.ingress(name)
    if found and is_strangers(found):
        certainly(lambda: place.api.delete(INGRESSES, name, place.namespace, uid=found["metadata"]["uid"]))
        place.taken.add(name)


def delete_namespace(place: Place, _name: str, _about: Mapping[str, Any]) -> None:
    """Delete the namespace with all that is in it."""
    certainly(lambda: place.api.delete(NAMESPACES, place.namespace))
    place.gone = True


PLAYED: dict[str, Callable[[Place, str, Mapping[str, Any]], None]] = {
    "create": create,
    "annotate": annotate,
    "label": set_labels,
    "ports": set_ports,
    "type": set_type,
    "delete": delete,
    "delete ingress": delete_ingress,
    "edit ingress": edit_ingress,
    "unmark ingress": unmark_ingress,
    "disown ingress": disown_ingress,
    "create stranger's": create_strangers,
    "delete stranger's": delete_strangers,
    "delete namespace": delete_namespace,
}


def made_up_step(random: Random) -> Step:
    """Return a step at random."""
    kind = random.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
    return Step(kind, random.choice(MADE if "ingress" in kind or "stranger" in kind else NAMES), ABOUT[kind](random))


KEYS = [*VALUES, *["ingress/host"] * 6, *["ingress/profile"] * 3]
"""Hosts are what settings forbid most often."""


def made_up_annotations(random: Random) -> dict[str, str]:
    """Return annotations of a Service: ingress/http nearly always, and some others; often those of another entrance."""
    found: dict[str, str | None] = {}
    for begin in ("", ENTRANCE) if random.random() < 0.4 else ("",):
        keys = {"ingress/http": None} | dict.fromkeys(random.choices(KEYS, k=random.choice((0, 1, 1, 2, 3))))
        found |= {in_entrance(begin, key): random.choice(VALUES[key]) for key in keys}
    return {key: value for key, value in found.items() if value is not None}


def made_up_annotation(random: Random) -> dict[str, Any]:
    """Return an annotation and its value; half of the time it is ingress/http, and sometimes another entrance's."""
    key = random.choice(["ingress/http", random.choice(KEYS)])
    return {"key": in_entrance(random.choice(("", "", ENTRANCE)), key), "value": random.choice(VALUES[key])}


def in_entrance(begin: str, key: str) -> str:
    """Return the annotation by which an entrance is told the same; some are told of all of them."""
    return f"{begin}{key}" if key.startswith("ingress/") else key


def made_up_labels(random: Random) -> dict[str, str]:
    """Return labels of a Service."""
    return {key: value for key, values in LABELS.items() if (value := random.choice(values)) is not None}


WEIGHTS = {
    "create": 22,
    "annotate": 34,
    "label": 6,
    "ports": 6,
    "type": 3,
    "delete": 8,
    "delete ingress": 9,
    "edit ingress": 9,
    "unmark ingress": 1,
    "disown ingress": 2,
    "create stranger's": 3,
    "delete stranger's": 6,
}
ABOUT: dict[str, Callable[[Random], Mapping[str, Any]]] = dict.fromkeys(WEIGHTS, lambda _random: {}) | {
    "create": lambda random: {
        "annotations": made_up_annotations(random),
        "labels": made_up_labels(random),
        "ports": random.choice(["one", "one", "one", *PORTS]),
        "external": random.random() < 0.04,
    },
    "annotate": made_up_annotation,
    "label": lambda random: {"labels": made_up_labels(random)},
    "ports": lambda random: {"ports": random.choice(list(PORTS))},
    "type": lambda random: {"external": random.random() < 0.5},
    "delete": lambda random: {"propagation": random.choice(["Background", "Background", "Foreground", "Orphan"])},
    "edit ingress": lambda random: {"edit": random.choice(EDITS)},
    "create stranger's": lambda random: {"label": random.random() < 0.3},
}


def made_up_steps(seed: str, count: int) -> list[Step]:
    """Return a history: always the same one for a seed."""
    random = Random(seed)
    first = [Step("create", name, ABOUT["create"](random)) for name in NAMES]
    steps = [*first, *(made_up_step(random) for _ in range(count - len(first)))]
    if random.random() < 0.03:
        steps[-1] = Step("delete namespace", "a")
    return steps
