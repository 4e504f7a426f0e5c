"""What owners, strangers and attackers do: steps, made up at random, that can be played."""

import functools
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from devcluster.api import INGRESSES, NAMESPACES, SERVICES, Api, ApiError, Object, T
from tests.histories.model import (
    ENTRANCE,
    INSIDE,
    LABEL,
    LABELS,
    MARK,
    PORTS,
    STRANGERS,
    TEAM,
    TIMEOUT,
    VALUES,
    Model,
    Observed,
    Service,
    apply_edit,
    body_of,
)

NAMES = ("a", "b")
"""Those of the Services."""

MADE = tuple(f"{name}{end}" for name in NAMES for end in ("", INSIDE))
"""Those of what is made for them."""

PATIENCE = 90.0
"""Seconds for which a step is tried again while the API server doesn't answer."""

ELSEWHERE = {"service": {"name": "elsewhere", "port": {"number": 1}}}
EDITS: list[dict[str, Any]] = [
    {"rule": {"host": "elsewhere.example.org"}},
    {"path": {"path": "/elsewhere"}},
    {"path": {"pathType": "ImplementationSpecific"}},
    {"path": {"backend": ELSEWHERE}},
    {"labels": {LABEL: None}},
    {"labels": {LABEL: "somebody"}},
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
"""What people do to an Ingress by hand: see model.apply_edit."""


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
    """A namespace, with the models of what is at each of its names."""

    api: Api
    namespace: str
    models: dict[str, Model] = field(default_factory=dict)
    gone: bool = False
    """Whether the namespace was deleted."""
    strangers: set[str] = field(default_factory=set)
    """The uids of the Ingresses that strangers have made."""
    denied: int = 0
    """How many writes the admission policies have denied, as they should."""

    def __post_init__(self) -> None:
        self.models = {name: Model(name, self.namespace) for name in MADE}
        for name in NAMES:
            both = self.models_of(name)
            for model, beside in zip(both, reversed(both), strict=True):
                model.beside = beside

    def models_of(self, service: str) -> list[Model]:
        """Return the models of what is made for a Service."""
        return [self.models[service], self.models[f"{service}{INSIDE}"]]

    def has(self, name: str, service: Service | None) -> None:
        """Note what a Service is now; None: it is gone."""
        for model in self.models_of(name):
            model.service = service
        for model in self.models_of(name):
            model.changed()

    def ingress(self, name: str) -> Object | None:
        """Return the Ingress of that name."""
        return certainly(lambda: self.api.get(INGRESSES, name, self.namespace))


def is_strangers(ingress: Object) -> bool:
    """Return whether a stranger has made the Ingress."""
    return STRANGERS in (ingress["metadata"].get("labels") or {})


def observed_of(ingress: Object | None) -> Observed | None:
    """Return what an Ingress is to the model."""
    if ingress is None:
        return None
    metadata = ingress["metadata"]
    if is_strangers(ingress):
        return Observed("", json.dumps([metadata["uid"], metadata["resourceVersion"]]))
    owners = metadata.get("ownerReferences") or [{"uid": "no owner"}]
    marked = MARK in (metadata.get("annotations") or {})
    return Observed(owners[0]["uid"], body_of(ingress), marked=marked)


@dataclass(frozen=True)
class Step:
    """Something that somebody does at one name: `kind` is a key of PLAYED."""

    kind: str
    name: str
    about: Mapping[str, Any] = field(default_factory=dict)

    def play(self, place: Place) -> None:
        """Do it, and tell the model what came of it. Raises Diverged, and ApiError."""
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
    model = place.models[name]
    if model.service is not None:
        return
    made = service_object(place.namespace, name, about)
    try:
        uid = certainly(lambda: place.api.create(SERVICES, made))["metadata"]["uid"]
    except ApiError as error:
        if error.status != 409:
            raise
        found = certainly(lambda: place.api.get(SERVICES, name, place.namespace))
        if found is None or "deletionTimestamp" in found["metadata"]:
            return  # the old one is still being deleted
        uid = found["metadata"]["uid"]  # the answer to an earlier try was lost
    made_as = Service(uid, dict(about["annotations"]), about["ports"], about["external"], dict(about["labels"]))
    place.has(name, made_as)


def patch_service(place: Place, name: str, patch: Object, after: Service) -> None:
    """Patch the Service; the model then has `after`, unless the Service is gone."""
    try:
        patched = certainly(lambda: place.api.patch(SERVICES, name, patch, place.namespace))
    except ApiError as error:
        if error.status == 404:
            raise Diverged(f"Service {name} is gone, which nobody deleted") from error
        raise
    if patched["metadata"]["uid"] != after.uid or "deletionTimestamp" in patched["metadata"]:
        raise Diverged(f"Service {name} is another one, or is being deleted, which nobody did")
    place.has(name, after)


def annotate(place: Place, name: str, about: Mapping[str, Any]) -> None:
    """Set one annotation of a Service; None takes it away."""
    service = place.models[name].service
    if service is None:
        return
    key, value = about["key"], about["value"]
    annotations = {other: text for other, text in service.annotations.items() if other != key}
    if value is not None:
        annotations[key] = value
    stated = value and value.replace("{namespace}", place.namespace)
    after = replace(service, annotations=annotations)
    patch_service(place, name, {"metadata": {"annotations": {key: stated}}}, after)


def set_labels(place: Place, name: str, about: Mapping[str, Any]) -> None:
    """Give a Service other labels."""
    service = place.models[name].service
    if service is not None:
        after = replace(service, labels=dict(about["labels"]))
        patch_service(place, name, {"metadata": {"labels": dict.fromkeys(LABELS) | about["labels"]}}, after)


def set_ports(place: Place, name: str, about: Mapping[str, Any]) -> None:
    """Give a Service other ports."""
    service = place.models[name].service
    if service is not None:
        after = replace(service, ports=about["ports"])
        patch_service(place, name, {"spec": {"ports": PORTS[about["ports"]]}}, after)


EXTERNAL = {"spec": {"type": "ExternalName", "externalName": "elsewhere.example.org"}}


def set_type(place: Place, name: str, about: Mapping[str, Any]) -> None:
    """Make a Service an ExternalName, which is denied while it is annotated, or take that back."""
    service = place.models[name].service
    if service is None or service.external == about["external"]:
        return
    patch = EXTERNAL if about["external"] else {"spec": {"type": "ClusterIP", "externalName": None}}
    after = replace(service, external=bool(about["external"]))
    if about["external"] and service.is_annotated:
        expect_denied(
            place, f"Service {name} becomes an ExternalName", lambda: patch_service(place, name, patch, after)
        )
    else:
        patch_service(place, name, patch, after)


def delete(place: Place, name: str, about: Mapping[str, Any]) -> None:
    """Delete a Service."""
    model = place.models[name]
    if model.service is None:
        return
    uid = model.service.uid

    def request() -> None:
        propagation = about["propagation"]
        certainly(lambda: place.api.delete(SERVICES, name, place.namespace, propagation=propagation, uid=uid))

    if about["propagation"] == "Orphan":
        if model.service.is_annotated:
            expect_denied(place, f"Service {name} is deleted without its Ingress", request)
        return
    request()
    place.has(name, None)


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
    return found if found and MARK in (found["metadata"].get("annotations") or {}) else None


def delete_ingress(place: Place, name: str, _about: Mapping[str, Any]) -> None:
    """Delete the Ingress that we made, marked or not."""
    found = place.ingress(name)
    if found and not is_strangers(found):
        uid = found["metadata"]["uid"]
        try:
            certainly(lambda: place.api.delete(INGRESSES, name, place.namespace, uid=uid))
        except ApiError as error:
            if error.status != 409:
                raise
            return  # it was another one by then
        place.models[name].found(None)


def edit_ingress(place: Place, name: str, about: Mapping[str, Any]) -> None:
    """Change the Ingress that we made."""
    change_ours(
        place, name, lambda ingress: apply_edit(ingress, about["edit"]), lambda model: model.edited(about["edit"])
    )


def unmark_ingress(place: Place, name: str, _about: Mapping[str, Any]) -> None:
    """Take Metacontroller's mark off the Ingress."""

    def change(ingress: Object) -> None:
        del ingress["metadata"]["annotations"][MARK]

    change_ours(place, name, change, Model.unmarked)


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


def change_ours(place: Place, name: str, change: Callable[[Object], None], tell: Callable[[Model], None]) -> None:
    """Change the Ingress that we made as it is now, and tell the model; do nothing when it changes meanwhile."""
    found = ours(place, name)
    if found is None:
        return
    before = found["metadata"]["resourceVersion"]
    change(found)
    try:
        place.api.update(INGRESSES, found)
    except ApiError as error:
        if error.status in {404, 409}:
            return
        if error.status == 403:
            raise
        # It may have been carried out.
        now = place.ingress(name)
        if now is None or now["metadata"]["resourceVersion"] == before or observed_of(now) != observed_of(found):
            # Either it wasn't, or it was repaired since.
            place.models[name].changed()
            maybe(place.models[name], tell)
            return
    tell(place.models[name])


def maybe(model: Model, tell: Callable[[Model], None]) -> None:
    """Tell the model of something that may have happened."""
    before = set(model.possible)
    tell(model)
    model.possible |= before


def strangers_object(namespace: str, name: str, about: Mapping[str, Any]) -> Object:
    """Return the Ingress of a stranger; with `label` it looks like ours."""
    labels = {STRANGERS: "yes"} | ({LABEL: "ingress-manager"} if about["label"] else {})
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
    place.models[name].found(observed_of(made))


def delete_strangers(place: Place, name: str, _about: Mapping[str, Any]) -> None:
    """Delete the Ingress if it is a stranger's."""
    found = place.ingress(name)
    if found and is_strangers(found):
        certainly(lambda: place.api.delete(INGRESSES, name, place.namespace, uid=found["metadata"]["uid"]))
        place.models[name].found(None)


def delete_namespace(place: Place, _name: str, _about: Mapping[str, Any]) -> None:
    """Delete the namespace with all that is in it."""
    certainly(lambda: place.api.delete(NAMESPACES, place.namespace))
    place.gone = True
    for model in place.models.values():
        model.service = None
        model.possible = {None}


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
