"""Runs the commands in this process, with a fake kubectl."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner

from ingress_manager.commands.check import command as check
from ingress_manager.commands.main import commands
from ingress_manager.commands.plans import plan
from ingress_manager.commands.reading.kubectl import LISTS, MANAGED_RESOURCES, Kubectl, KubectlFailed
from ingress_manager.commands.reading.settings import DECORATORS
from ingress_manager.commands.snapshot.surroundings import SURROUNDING_RESOURCES as AROUND
from ingress_manager.commands.status import command as status
from ingress_manager.commands.text import with_options
from ingress_manager.core.kubernetes import Object
from tests import dumps

INGRESSES, HTTPROUTES, LISTENERSETS = MANAGED_RESOURCES.values()
DEFAULTS = "Using the default settings; --settings FILE uses others.\n"
BY_NAME = {f"--raw={path}": ("get", "--output=json", "--all-namespaces", "--", kind) for kind, path in LISTS.items()}
UNKNOWN_KIND = "error: the server doesn't have a resource type"


class Ended(NamedTuple):
    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def run(*arguments: str | Path, stdin: str | bytes = "") -> Ended:
    """Run `ingress-manager` with these arguments, and return its result. Uncaught exceptions propagate."""
    result = CliRunner(catch_exceptions=False).invoke(
        commands, [str(argument) for argument in arguments], input=stdin, prog_name="ingress-manager"
    )
    return Ended(result.exit_code, result.stdout, result.stderr)


def by_name(words: Sequence[str]) -> Sequence[str]:
    """Return the `kubectl get KIND` arguments that are equivalent to `get --raw=PATH`; others are unchanged."""
    return BY_NAME.get(words[-1], words)


def listing(*objects: Object) -> Object:
    return {"kind": "List", "apiVersion": "v1", "items": list(objects)}


def stored(*objects: Object) -> dict[str, Any]:
    """Return kubectl's answers, by resource, for a cluster with these objects and without the ListenerSet CRD."""
    kinds = {"Service": "services", "Event": "events"} | MANAGED_RESOURCES | AROUND
    answers = {name: listing(*(obj for obj in objects if obj["kind"] == kind)) for kind, name in kinds.items()}
    return {name: answer for name, answer in answers.items() if name not in {LISTENERSETS, "secrets"}}


def event(service: Object, message: str, **fields: Any) -> Object:
    """Return the Event in which Metacontroller reports why a Service's sync failed."""
    name, namespace = service["metadata"]["name"], service["metadata"]["namespace"]
    short = {"of": name, "namespace": namespace, "message": message, "at": "2026-01-01T04:00:00Z"}
    return dumps.event(short, [service]) | fields


def settings_on_a_cluster(text: str, namespace: str = "ingress-manager", name: str = "ingress-manager") -> Object:
    """Return kubectl's answers, by object, for an installation with these settings."""
    about, configmap = {"name": name, "namespace": namespace}, f"{name}-settings-abc"
    hooks = {"sync": {"webhook": {"service": about}}}
    volumes = [{"name": "tmp"}, {"name": "settings", "configMap": {"name": configmap}}]
    controller = {"apiVersion": "metacontroller.k8s.io/v1alpha1", "kind": "DecoratorController"}
    deployment = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": about}
    settings = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": about | {"name": configmap}}
    installed: dict[str, Object] = {
        DECORATORS: controller | {"metadata": {"name": "ingress-manager"}, "spec": {"hooks": hooks}},
        f"deployment/{name}": deployment | {"spec": {"template": {"spec": {"volumes": volumes}}}},
        f"configmap/{configmap}": settings | {"data": {"settings.yaml": text}},
    }
    return {asked: listing(obj) for asked, obj in installed.items()}


def put(value: Any, path: tuple[str | int, ...], other: Any) -> Any:
    if not path:
        return other
    made = value.copy()
    made[path[0]] = put(value[path[0]], path[1:], other)
    return made


class Cluster:
    """Answers in place of kubectl, as long as `monkeypatch` lasts. Sleeping takes no time.

    `answers` maps a word of a `kubectl get` command to its output: a string, or an object to print as JSON. A list
    holds one answer for each call, and the last one is repeated. If no word is a key, kubectl fails with `error`.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, answers: dict[str, Any] | None = None) -> None:
        self.answers, self.error = answers or {}, "Error from server: no"
        self.fails: dict[str, BaseException] = {}
        """Exceptions to raise, by the beginning of a call in the form of `asked`."""
        self.calls: list[str] = []
        self.asked: list[str] = []
        """The verb of each call, and the first argument after `--`."""
        self.naps: list[float] = []
        """The seconds of each sleep; no other time passes."""
        # A bound method would not receive the Kubectl instance.
        monkeypatch.setattr(Kubectl, "run", lambda kubectl, *words, stdin="": self.run(kubectl, words, stdin))
        for module in (plan, status, check):
            monkeypatch.setattr(module, "sleep", self.nap)
            monkeypatch.setattr(module, "monotonic", lambda: sum(self.naps))

    def says(self, answers: dict[str, Any], error: str = "Error from server: no") -> None:
        self.answers, self.error = answers, error
        self.calls.clear()
        self.asked.clear()

    def nap(self, seconds: float) -> None:
        self.naps.append(seconds)

    def run(self, kubectl: Kubectl, words: Sequence[str], stdin: str) -> str:
        words = by_name(words)
        self.calls.append(" ".join(with_options(words, kubectl.options)))
        name = words[words.index("--") + 1] if "--" in words else ""
        self.asked.append(f"{words[0]} {name}")
        for begin, error in self.fails.items():
            if self.asked[-1].startswith(begin):
                raise error
        return self.answer(words, stdin)

    def answer(self, words: Sequence[str], stdin: str) -> str:
        assert stdin == ""
        if words[0] != "get":
            return ""
        kinds = set(words[-1].split(","))
        key = next((word for word in words[1:] if word in self.answers), None)
        # An answer for several kinds also serves requests for some of them.
        key = key or next((names for names in self.answers if kinds <= {*names.split(",")}), None)
        if key is None:
            # Few clusters have the ListenerSet CRD.
            raise KubectlFailed(UNKNOWN_KIND if kinds == {LISTENERSETS} else self.error)
        answer = self.answers[key]
        if isinstance(answer, list):
            answer = answer.pop(0) if len(answer) > 1 else answer[0]
        return answer if isinstance(answer, str) else json.dumps(answer)
