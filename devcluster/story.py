"""The story: steps that show a Service's owner what ingress-manager does, played on a real API server.

`make demo` prints the steps, and the end-to-end tests play the same ones, so what is shown is what is tested.
"""

import contextlib
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import yaml

from devcluster.api import EVENTS, INGRESSES, SERVICES, Api, Object, Resource, T, wait_for
from devcluster.backend import Backend
from devcluster.errors import DevClusterError
from devcluster.gateway import Answer, Gateway
from ingress_manager.core.errors import Reason

STEP_TIMEOUT = 60.0
"""Seconds to wait for each effect. Most take a tenth of a second; retries and busy machines take longer."""


@dataclass
class Stage:
    """The namespace where the story is played, and the objects that its steps have seen. Call `close` at the end."""

    api: Api
    namespace: str
    gateway: Gateway | None = None
    """If None, the steps that send requests are omitted."""
    ingress_class: str | None = "nginx"
    """The default class from the settings, or None if they set no default."""
    acted_at: float = 0.0
    memory: dict[str, Object] = field(default_factory=dict)
    exits: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)

    def close(self) -> None:
        """Stop the backends."""
        self.exits.close()

    def act(self, write: Callable[[], Any]) -> None:
        """Start measuring the step's duration, and call `write`."""
        self.acted_at = time.perf_counter()
        write()

    def create_service(self, name: str, annotations: dict[str, str], port: int = 80) -> Object:
        """Create a Service with one port and return it."""
        metadata = {"name": name, "namespace": self.namespace, "annotations": annotations}
        spec = {"selector": {"app": name}, "ports": [{"name": "http", "port": port}]}
        return self.api.create(SERVICES, {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec})

    def annotate(self, name: str, value: str | None) -> None:
        """Set a Service's annotation ingress/http; None removes it."""
        self.api.patch(SERVICES, name, {"metadata": {"annotations": {"ingress/http": value}}}, self.namespace)

    def ingress(self, name: str) -> Object | None:
        """Return the current Ingress, or None if it doesn't exist."""
        return self.api.get(INGRESSES, name, self.namespace)

    def until(self, what: str, check: Callable[[], T | None]) -> T:
        """Return the first true value that `check` returns. Raises NotReady on timeout; its message contains `what`."""
        return wait_for(check, STEP_TIMEOUT, what=what, interval=0.002)

    def until_ingress(self, name: str, what: str, wanted: Callable[[Object], bool]) -> Object:
        """Return the Ingress once `wanted` accepts it. Raises NotReady on timeout; its message contains `what`."""
        return self.until_object(INGRESSES, name, what, wanted)

    def until_object(self, resource: Resource, name: str, what: str, wanted: Callable[[Object], bool]) -> Object:
        """Return the object once `wanted` accepts it. Raises NotReady on timeout; its message contains `what`."""

        def check() -> Object | None:
            obj = self.api.get(resource, name, self.namespace)
            return obj if obj is not None and wanted(obj) else None

        return self.until(what, check)

    def until_event(self, name: str, text: str) -> str:
        """Wait until one of the Service's `events` contains `text`, and return it. Raises NotReady on timeout."""
        what = f"an Event on Service {name} that says: {text}"
        return self.until(what, lambda: next((message for message in self.events(name) if text in message), None))

    def events(self, name: str) -> list[str]:
        """Return the messages of the Service's Events about failed syncs (reason SyncError)."""
        return [
            str(event["message"]).strip()
            for event in self.api.list(EVENTS, self.namespace)
            if (event["involvedObject"]["name"], event["reason"]) == (name, "SyncError")
        ]

    def until_answer(self, host: str, what: str, wanted: Callable[[Answer], bool]) -> Answer:
        """Return `host`'s answer once `wanted` accepts it. Raises NotReady on timeout; its message contains `what`."""
        if self.gateway is None:
            raise DevClusterError("there is no gateway to send a request to")
        ask = self.gateway.ask
        return self.until(what, lambda: answer if wanted(answer := ask(host)) else None)

    def expect(self, ok: bool, seen: str) -> None:
        """Raise DevClusterError with the message `seen` if `ok` is false."""
        if not ok:
            raise DevClusterError(seen)


Play = Callable[[Stage], str | None]
"""A function that plays a step and returns text to show, or None."""


@dataclass(frozen=True)
class Step:
    """A step: an action, its effect, and the function that performs the action and checks the effect."""

    done: str
    happens: str
    play: Play
    traffic: bool = False
    """Whether the step sends requests and so needs a gateway."""


STORY: list[Step] = []

HOST = "example.com"
"""The default host from the settings."""

PORT, OTHER_PORT = 8083, 8084
"""The Service's port before and after the change. Unlike port 80, neither needs privileges to listen on."""


def step(done: str, happens: str, *, traffic: bool = False) -> Callable[[Play], Play]:
    """Return a decorator that adds a step to the story. `done` and `happens` describe the action and its effect."""

    def add(play: Play) -> Play:
        STORY.append(Step(done, happens, play, traffic))
        return play

    return add


def steps_for(stage: Stage) -> list[Step]:
    """Return the steps that can be played on a stage. Without a gateway, those that send requests are omitted."""
    return [step for step in STORY if stage.gateway or not step.traffic]


@step("a Service without the annotation", "no Ingress")
def without_annotation(stage: Stage) -> None:
    stage.act(lambda: stage.memory.update(service=stage.create_service("shop", {}, PORT)))
    # The absence of an Ingress can't be awaited. But Services are synced in the order of their events: once a Service
    # that was created later has its Ingress, this one has been synced.
    stage.create_service("canary", {"ingress/http": "true"})
    stage.until_ingress("canary", "the Ingress of another Service, annotated later", lambda _: True)
    stage.expect(stage.ingress("shop") is None, "an Ingress that nobody asked for")
    stage.api.delete(SERVICES, "canary", stage.namespace)
    if stage.gateway:
        stage.exits.enter_context(Backend(stage.memory["service"]))


@step('annotate it with ingress/http: "true"', "its Ingress appears")
def annotated(stage: Stage) -> str:
    stage.act(lambda: stage.annotate("shop", "true"))
    ingress = stage.memory["shop"] = stage.until_ingress("shop", "the Ingress shop", lambda _: True)
    stage.expect(routes(ingress) == [(HOST, "/", "Prefix", "shop", PORT)], f"an Ingress with {routes(ingress)}")
    ingress_class = ingress["spec"].get("ingressClassName")
    stage.expect(ingress_class == stage.ingress_class, f"the class {ingress_class}, not {stage.ingress_class}")
    return shown(ingress)


@step(f"send a request for http://{HOST}/", "the Service answers; the time counts from the annotation", traffic=True)
def answered(stage: Stage) -> str:
    answer = stage.until_answer(HOST, "an answer of the Service", lambda got: served_by(stage, "shop", got))
    return f"{answer.status} from the Service {stage.namespace}/shop"


@step("delete the Ingress", "it is back")
def deleted(stage: Stage) -> None:
    old = stage.memory["shop"]["metadata"]["uid"]
    stage.act(lambda: stage.api.delete(INGRESSES, "shop", stage.namespace))
    ingress = stage.until_ingress("shop", "a new Ingress shop", lambda new: new["metadata"]["uid"] != old)
    stage.expect(ingress["spec"] == stage.memory["shop"]["spec"], "a different Ingress")


@step("edit the Ingress by hand", "it is repaired")
def edited(stage: Stage) -> None:
    wanted = stage.memory["shop"]["spec"]
    edit = {"spec": {"ingressClassName": "other", "rules": [{**wanted["rules"][0], "host": "elsewhere.example.com"}]}}
    stage.act(lambda: stage.api.patch(INGRESSES, "shop", edit, stage.namespace))
    stage.until_ingress("shop", "the Ingress as it was", lambda ingress: bool(ingress["spec"] == wanted))


@step(f"change the Service's port to {OTHER_PORT}", "the Ingress follows")
def port_changed(stage: Stage) -> str:
    ports = {"spec": {"ports": [{"name": "http", "port": OTHER_PORT}]}}
    stage.act(lambda: stage.api.patch(SERVICES, "shop", ports, stage.namespace))
    what = f"a backend with port {OTHER_PORT}"
    ingress = stage.until_ingress("shop", what, lambda ingress: routes(ingress)[0][4] == OTHER_PORT)
    stage.memory["shop"] = ingress
    return f"backend {routes(ingress)[0][3]}:{routes(ingress)[0][4]}"


@step('make a mistake: ingress/http: "yes"', "the Ingress stays, an Event says why")
def mistaken(stage: Stage) -> str:
    stage.act(lambda: stage.annotate("shop", "yes"))
    message = stage.until_event("shop", 'ingress/http: "yes" is not "true" or "false"')
    stage.expect(stage.ingress("shop") == stage.memory["shop"], "an Ingress that changed")
    return message


@step("remove the annotation", "the Ingress is gone")
def opted_out(stage: Stage) -> None:
    stage.act(lambda: stage.annotate("shop", None))
    stage.until("no Ingress shop", lambda: stage.ingress("shop") is None)


@step(f"send a request for http://{HOST}/ again", "the 404 page answers; the time counts as before", traffic=True)
def not_found(stage: Stage) -> str:
    answer = stage.until_answer(HOST, "the 404 page", lambda got: got.is_the_404_page)
    return answer.body.splitlines()[0]


@step("annotate it again, and delete the Service", "both are gone")
def service_deleted(stage: Stage) -> None:
    stage.annotate("shop", "true")
    stage.until_ingress("shop", "the Ingress shop", lambda _: True)
    stage.act(lambda: stage.api.delete(SERVICES, "shop", stage.namespace))
    stage.until("no Ingress shop", lambda: stage.ingress("shop") is None)
    stage.expect(stage.api.get(SERVICES, "shop", stage.namespace) is None, "a Service that hangs")


@step("a stranger's Ingress has the Service's name", "it is left alone, an Event says so")
def stranger(stage: Stage) -> str:
    metadata, spec = {"name": "blog", "namespace": stage.namespace}, {"rules": [{"host": "blog.example.com"}]}
    stage.memory["blog"] = stage.api.create(INGRESSES, {"metadata": metadata, "spec": spec})
    stage.act(lambda: stage.create_service("blog", {"ingress/http": "true"}))
    message = stage.until_event("blog", f"[{Reason.NOT_MADE}]")
    stage.expect(stage.ingress("blog") == stage.memory["blog"], "a stranger's Ingress that was touched")
    return message


@step("remove the stranger's Ingress", "the Service's own appears")
def stranger_gone(stage: Stage) -> str:
    stage.act(lambda: stage.api.delete(INGRESSES, "blog", stage.namespace))
    ingress = stage.until_ingress("blog", "the Service's own Ingress", lambda new: "ownerReferences" in new["metadata"])
    stage.expect(routes(ingress) == [(HOST, "/", "Prefix", "blog", 80)], f"an Ingress with {routes(ingress)}")
    return ""


def served_by(stage: Stage, name: str, answer: Answer) -> bool:
    """Return whether the answer came from the named Service's Backend."""
    return answer.status == 200 and bool(json.loads(answer.body)["service"] == f"{stage.namespace}/{name}")


def routes(ingress: Object) -> list[tuple[str, str, str, str, int]]:
    """Return (host, path, path type, Service, port) for each path of an Ingress."""
    paths = [(rule["host"], path) for rule in ingress["spec"]["rules"] for path in rule["http"]["paths"]]
    return [
        (host, path["path"], path["pathType"], service["name"], service["port"]["number"])
        for host, path in paths
        for service in [path["backend"]["service"]]
    ]


def shown(ingress: Object) -> str:
    """Return the Ingress as YAML, without the fields that the API server and Metacontroller add."""
    metadata = {key: ingress["metadata"][key] for key in ("name", "namespace", "labels")}
    spec = {key: ingress["spec"][key] for key in ("ingressClassName", "tls", "rules") if key in ingress["spec"]}
    brief = {"apiVersion": ingress["apiVersion"], "kind": ingress["kind"], "metadata": metadata, "spec": spec}
    return yaml.safe_dump(brief, sort_keys=False).rstrip()
