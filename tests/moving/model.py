"""A cluster in memory, as our commands see it by kubectl: an API server, Metacontroller with the hook, and the rest.

The API server keeps uids and resourceVersions, refuses what has changed meanwhile, and has our policy name-taken.
Metacontroller knows Services and Ingresses by copies of its own, each of which can lag; it asks the hook itself, and
does what the stand-in does (devcluster/standin). The garbage collector removes what belongs to a Service that is gone.
"""

import copy
import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from random import Random
from typing import Any

from devcluster.api import INGRESSES, SERVICES, ApiError, Resource
from devcluster.standin import children
from devcluster.standin.contract import SyncError
from devcluster.standin.objects import controller_of, group_key, with_annotation
from devcluster.sync_requests import by_name, sync_request
from hooks.sync import answer
from ingress_manager.commands.reading.kubectl import KubectlFailed
from ingress_manager.core.observed import DECORATOR
from ingress_manager.core.policy import Policy
from tests.commands.commands import by_name as called_by_name

Object = dict[str, Any]
Key = tuple[str, str, str]
KINDS = {"services": "Service", "ingress": "Ingress", "ingresses": "Ingress", "events": "Event"}
LONGEST = 50
"""Rounds of Metacontroller's, after which it would go on for ever."""


def key_of(obj: Object) -> Key:
    """Return the kind, the namespace and the name of an object."""
    return obj["kind"], obj["metadata"]["namespace"], obj["metadata"]["name"]


def is_ours(obj: Object) -> bool:
    """Return whether Metacontroller looks after an object."""
    return DECORATOR in obj["metadata"].get("annotations", {}) and controller_of(obj) is not None


class Model:
    """The cluster. `run` is kubectl; `written` is told of each write: who did what."""

    def __init__(self, policy: Policy, chance: Random | None) -> None:
        self.policy, self.chance = policy, chance
        """Draws what lags; None: nothing does."""

        self.store: dict[Key, Object] = {}
        self.seen: dict[Key, Object] = {}
        """What Metacontroller has seen of it."""

        self.written: Callable[[str], None] = lambda _: None
        self.time, self.count, self.reports = 0.0, 1000, 0
        self.events: dict[tuple[str, str], Object] = {}
        self._synced: dict[str, list[str]] = {}
        """What Metacontroller knew when it synced a Service last: the versions, by the Service's uid."""

        self._reacting = False

    # The API server.

    def all(self, *kinds: str) -> list[Object]:
        """Return the objects of some kinds, in the order of their names."""
        return [self.store[key] for key in sorted(self.store) if key[0] in kinds]

    def _next(self) -> str:
        self.count += 1
        return str(self.count)

    def create(self, _: Resource, obj: Object, by: str = "Metacontroller") -> Object:
        """Store a new object. Raises ApiError."""
        key = key_of(obj)
        if there := self.store.get(key):
            managed = there["metadata"].get("labels", {}).get("app.kubernetes.io/managed-by") == "ingress-manager"
            if DECORATOR in obj["metadata"].get("annotations", {}) and not managed:
                raise ApiError(
                    403, "Forbidden", f"denied request: {' '.join((key[0], '/'.join(key[1:])))} is in the way"
                )
            raise ApiError(409, "AlreadyExists", f'"{key[2]}" already exists')
        made = copy.deepcopy(obj)
        made["metadata"] |= {
            "uid": f"uid-{self._next()}",
            "creationTimestamp": f"{datetime.fromtimestamp(self.count, UTC):%FT%TZ}",
        }
        made |= {"status": {"loadBalancer": {}}} if obj["kind"] == "Ingress" else {}
        return self._write(key, made, f"{by} creates")

    def update(self, _: Resource, obj: Object, by: str = "Metacontroller") -> Object:
        """Replace an object that was not changed meanwhile. Raises ApiError."""
        key = key_of(obj)
        before = self.read(key, obj["metadata"])
        after = copy.deepcopy(obj)
        after["metadata"] |= {key: before["metadata"][key] for key in ("uid", "creationTimestamp", "resourceVersion")}
        after["metadata"] = {key: value for key, value in after["metadata"].items() if value}
        return before if after == before else self._write(key, after, f"{by} changes")

    def delete(self, resource: Resource, name: str, namespace: str, **only: str) -> bool:
        """Delete an object, if it is that one. Raises ApiError."""
        key = (resource.kind, namespace, name)
        if key not in self.store:
            return False
        self.read(key, only)
        del self.store[key]
        self._next()
        self._wrote(f"deletes {key}")
        return True

    def read(self, key: Key, only: Object) -> Object:
        """Return an object, if it is that one. Raises ApiError."""
        if key not in self.store:
            raise ApiError(404, "NotFound", f'"{key[2]}" not found')
        for field in ("uid", "resourceVersion"):
            if only.get(field) not in {None, self.store[key]["metadata"][field]}:
                raise ApiError(409, "Conflict", f'"{key[2]}" has another {field}')
        return self.store[key]

    def _write(self, key: Key, obj: Object, done: str) -> Object:
        obj["metadata"]["resourceVersion"] = self._next()
        self.store[key] = obj
        self._wrote(f"{done} {key}")
        return obj

    def _wrote(self, done: str) -> None:
        self.written(done)
        if not self._reacting:
            self.react()

    # Metacontroller, the hook, the garbage collector, and the controller that writes addresses.

    def react(self, *, fully: bool = False) -> None:
        """Let Metacontroller see what has been written, or some of it, and do what follows."""
        self._reacting = True
        for _ in range(LONGEST):
            before = self.count
            for kind in ("Service", "Ingress"):
                if fully or self.chance is None or self.chance.random() < 0.5:
                    self.seen = {key: each for key, each in self.seen.items() if key[0] != kind}
                    self.seen |= {key: each for key, each in self.store.items() if key[0] == kind}
            uids = {each["metadata"]["uid"] for each in self.store.values()}
            for each in self.all("Ingress"):
                owner, metadata = controller_of(each), each["metadata"]
                if owner and owner["uid"] not in uids:
                    self.delete(INGRESSES, metadata["name"], metadata["namespace"])
                elif not each["status"]["loadBalancer"]:
                    self.update(INGRESSES, {**each, "status": {"loadBalancer": {"ingress": [{"ip": "203.0.113.10"}]}}})
            for key in sorted(key for key in self.seen if key[0] == "Service"):
                self._sync(self.seen[key])
            if self.count == before or (self.chance and not fully):
                break
        else:
            raise AssertionError("Metacontroller writes for ever")
        self._reacting = False

    def _sync(self, parent: Object) -> None:
        uid = parent["metadata"]["uid"]
        is_late = any(self.store.get(key) is not each for key, each in self.seen.items())
        ours = [each for key, each in self.seen.items() if key[0] == "Ingress" and is_ours(each)]
        observed = [each for each in ours if (controller_of(each) or {})["uid"] == uid]
        versions = [each["metadata"]["resourceVersion"] for each in (parent, *observed)]
        # A try with the same just before its copies are up to date takes some milliseconds of bad luck: it is left out.
        if is_late and self._synced.get(uid) == versions:
            return
        self._synced[uid] = versions
        answered = answer(json.dumps(sync_request(parent, attached=observed, httproutes=False)).encode(), self.policy)
        if answered.status == 200:
            made = [
                with_annotation(each, DECORATOR, "ingress-manager") for each in json.loads(answered.body)["attachments"]
            ]
            before, after = ({group_key(INGRESSES): by_name(each)} for each in (observed, made))
            try:
                children.manage(self, (INGRESSES,), parent, before, after)  # type: ignore[arg-type]
            except SyncError as error:
                self._tell(parent, str(error))
        elif answered.status == 422:
            self._tell(parent, answered.body.decode())

    def _tell(self, parent: Object, sentence: str) -> None:
        """Report an Event on a Service; the same one again gets another resourceVersion."""
        about = {"kind": "Service", **{key: parent["metadata"][key] for key in ("name", "namespace", "uid")}}
        self.reports += 1
        metadata = {"name": about["uid"], "namespace": about["namespace"], "resourceVersion": f"{self.reports}"}
        event = {"apiVersion": "v1", "kind": "Event", "metadata": metadata, "involvedObject": about}
        stated = {"reason": "SyncError", "lastTimestamp": "2026-11-01T00:00:00Z", "message": sentence}
        self.events[about["uid"], sentence] = event | stated

    def sleep(self, seconds: float) -> None:
        """Let time go by."""
        self.time += seconds
        self.react(fully=seconds > 5)

    # kubectl.

    def run(self, *words: str, stdin: str = "") -> str:
        """Return what kubectl prints. Raises KubectlFailed with what it says on standard error."""
        verb, *rest = called_by_name(words)
        options = dict(each.removeprefix("--").partition("=")[::2] for each in rest if each.startswith("-"))
        names = [each for each in rest if not each.startswith("-")]
        try:
            return str(getattr(self, f"_{verb}")(names, options, stdin))
        except ApiError as error:
            raise KubectlFailed(f"Error from server ({error.reason}): {error}") from error

    def _get(self, names: list[str], options: dict[str, str], _: str) -> str:
        kinds = {KINDS.get(each.partition(".")[0], "") for each in names[0].split(",")}
        if "" in kinds:
            raise KubectlFailed(f'error: the server doesn\'t have a resource type "{names[0]}"')
        found = [*self.all(*kinds), *(self.events.values() if "Event" in kinds else ())]
        found = [each for each in found if options.get("namespace") in {None, each["metadata"]["namespace"]}]
        template = options["output"].removeprefix("jsonpath=")
        if "Event" in kinds and template != "json":
            uid = re.findall(r"involvedObject.uid=([^,]+)", options["field-selector"])
            lines = (f"{each['metadata']['resourceVersion']} {each['message']}\n" for each in found)
            return "".join(
                line for line, each in zip(lines, found, strict=True) if [each["involvedObject"]["uid"]] == uid
            )
        if template == "json":
            return json.dumps({"kind": "List", "apiVersion": "v1", "items": found})
        one = [each for each in found if each["metadata"]["name"] == names[1]]
        return re.sub(r"\{([^{}]+)\}", lambda path: printed(path[1], one[0]), template) if one else ""

    def _annotate(self, names: list[str], options: dict[str, str], _: str) -> str:
        pairs = {each.partition("=")[0]: each.partition("=")[2] for each in names[2:] if "=" in each}
        changes = {**pairs, **{each[:-1]: None for each in names[2:] if "=" not in each}}
        before = self.read((names[0].title(), options["namespace"], names[1]), {})
        has = before["metadata"].get("annotations", {})
        if "overwrite" not in options and any(has.get(key, value) != value for key, value in pairs.items()):
            raise KubectlFailed("error: --overwrite is false")
        version = {"resourceVersion": options["resource-version"]} if "resource-version" in options else {}
        self.update(SERVICES, merged(before, {"metadata": {"annotations": changes, **version}}), "kubectl")
        return "annotated\n"

    def _patch(self, names: list[str], options: dict[str, str], _: str) -> str:
        before = self.read((names[0].title(), options["namespace"], names[1]), {})
        self.update(INGRESSES, merged(before, json.loads(options["patch"])), "kubectl")
        return "patched\n"

    def _delete(self, _: list[str], options: dict[str, str], stdin: str) -> str:
        *_path, namespace, _kind, name = options["raw"].split("/")
        if not self.delete(INGRESSES, name, namespace, **json.loads(stdin)["preconditions"]):
            raise ApiError(404, "NotFound", f'"{name}" not found')
        return "{}"


def merged(target: Any, change: Any) -> Any:
    """Return what a merge patch makes of a value (RFC 7396)."""
    if not isinstance(change, dict):
        return change
    now = {**target} if isinstance(target, dict) else {}
    now |= {key: merged(now.get(key), value) for key, value in change.items()}
    return {key: value for key, value in now.items() if value is not None}


def printed(path: str, found: Any) -> str:
    """Return what kubectl prints for a JSONPath, such as .spec or .metadata.ownerReferences[?(@.controller==true)]."""
    for name, key in re.findall(r"\.((?:\\.|[^.\[\]\\])+)|\[\?\(@\.(\w+)==true\)\]", path):
        if key:
            found = next((each for each in found or [] if each.get(key)), None)
        else:
            found = (found or {}).get(re.sub(r"\\(.)", r"\1", name))
    if found is None or isinstance(found, str):
        return found or ""
    return json.dumps(found, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
