"""A cluster in memory, as our commands see it through kubectl: an API server, Metacontroller, the hook, and the rest.

The API server assigns uids and resourceVersions, and rejects outdated changes.
Metacontroller has its own copies of Services and Ingresses, each of which can lag; it calls the hook directly, which
reports missing objects at once, and syncs like the stand-in (devcluster/standin).
"""

import copy
import json
from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import count
from random import Random
from typing import Any

from devcluster.api import INGRESSES, ApiError, Object, Resource
from devcluster.standin.children import SyncError, controller_of, group_key, manage, with_annotation
from devcluster.sync_requests import sync_request
from hooks.sync import answer
from ingress_manager.commands.reading.kubectl import KubectlFailed
from ingress_manager.commands.snapshot.managed import CONTROLLER
from ingress_manager.core.decide import not_made
from ingress_manager.core.kubernetes import DECORATOR
from ingress_manager.core.kubernetes import key_of as named
from ingress_manager.core.settings import Settings
from tests.commands.commands import by_name, event, listing
from tests.dumps import patched

Key = tuple[str, str, str]
KINDS = {"services": "Service", "ingress": "Ingress", "ingresses": "Ingress", "events": "Event"}


def key_of(obj: Object) -> Key:
    return obj["kind"], obj["metadata"]["namespace"], obj["metadata"]["name"]


class Model:
    """The cluster. `lags` decides at random which changes Metacontroller sees late; None: none."""

    def __init__(self, settings: Settings, lags: Random | None) -> None:
        self._settings, self._lags = settings, lags
        self.store: dict[Key, Object] = {}
        self.time, self._count, self._reports, self._reacting = 0.0, 1000, count(1), False
        # Metacontroller's copy of the store, and the versions with which it last synced each Service.
        self._seen: dict[str, list[Object]] = {"Service": [], "Ingress": []}
        self._synced: dict[str, list[str]] = {}

    def written(self, done: str) -> None:
        """Called after each write, for subclasses."""

    def all(self, *kinds: str) -> list[Object]:
        return [self.store[key] for key in sorted(self.store) if key[0] in kinds]

    def create(self, _: Resource, obj: Object) -> None:
        """Store a new object. Raises ApiError if the name exists."""
        if (key := key_of(obj)) in self.store:
            raise ApiError(409, "AlreadyExists", f'"{key[2]}" already exists')
        self._count += 1
        born = {"uid": f"uid-{self._count}", "creationTimestamp": f"{datetime.fromtimestamp(self._count, UTC):%FT%TZ}"}
        self._write(key, obj | {"metadata": obj["metadata"] | born})

    def update(self, _: Resource, obj: Object) -> None:
        """Replace an object. Raises ApiError if it is missing or was changed meanwhile."""
        before = self.read(key := key_of(obj), obj["metadata"])
        system = {field: before["metadata"][field] for field in ("uid", "creationTimestamp", "resourceVersion")}
        after = obj | {"metadata": {field: value for field, value in (obj["metadata"] | system).items() if value}}
        if after != before:
            self._write(key, after)

    def delete(self, resource: Resource, name: str, namespace: str, **only: str) -> None:
        """Delete an object if it exists. Raises ApiError unless `only` matches its uid and resourceVersion."""
        if (key := (resource.kind, namespace, name)) in self.store:
            self.read(key, only)
            self._write(key, None)

    def read(self, key: Key, only: Object) -> Object:
        """Return an object. Raises ApiError if it is missing, or `only` has another uid or resourceVersion."""
        if key not in self.store:
            raise ApiError(404, "NotFound", f'"{key[2]}" not found')
        for field in ("uid", "resourceVersion"):
            if only.get(field) not in {None, self.store[key]["metadata"][field]}:
                raise ApiError(409, "Conflict", f'"{key[2]}" has another {field}')
        return self.store[key]

    def _write(self, key: Key, obj: Object | None) -> None:
        self._count += 1
        self.store.pop(key, None)
        if obj:
            self.store[key] = obj | {"metadata": obj["metadata"] | {"resourceVersion": str(self._count)}}
        self.written(f"{'written' if obj else 'deleted'}: {key}")
        if not self._reacting:
            self.react()

    def react(self, *, fully: bool = False) -> None:
        """Let Metacontroller see the writes, or some of them, and sync; `fully` shows it all of them."""
        self._reacting, before = True, 0
        while self._count != before and (fully or not self._lags or not before):
            before = self._count
            assert before < 10_000, "Metacontroller writes for ever"
            for kind in self._seen:
                if fully or self._lags is None or self._lags.random() < 0.5:
                    self._seen[kind] = self.all(kind)
            for ingress in self.all("Ingress"):
                self.update(INGRESSES, ingress | {"status": {"loadBalancer": {"ingress": [{"ip": "203.0.113.10"}]}}})
            for service in self._seen["Service"]:
                self._sync(service)
        self._reacting = False

    def _sync(self, parent: Object) -> None:
        uid = parent["metadata"]["uid"]
        owned = [obj for obj in self._seen["Ingress"] if (controller_of(obj) or {}).get("uid") == uid]
        decorated = [obj for obj in owned if obj["metadata"].get("annotations", {}).get(DECORATOR) == CONTROLLER]
        versions = [obj["metadata"]["resourceVersion"] for obj in (parent, *decorated)]
        # A resync of the same versions just before its copies are updated is a race of milliseconds, not modelled here.
        if self._synced.get(uid) == versions and any(seen != self.all(kind) for kind, seen in self._seen.items()):
            return
        self._synced[uid] = versions
        request = sync_request(parent, attached=decorated, httproutes=False)
        answered = answer(json.dumps(request).encode(), self._settings)
        refused = answered.body.decode().strip() if answered.status != 200 else ""
        if not refused:
            wanted = [with_annotation(obj, DECORATOR, CONTROLLER) for obj in json.loads(answered.body)["attachments"]]
            before, after = ({obj["metadata"]["name"]: obj for obj in some} for some in (decorated, wanted))
            absent = [named(obj) for name, obj in after.items() if name not in before]
            try:
                observed, desired = ({group_key(INGRESSES): side} for side in (before, after))
                manage(self, [INGRESSES], parent, observed, desired)  # type: ignore[arg-type]
                refused = not_made("{namespace}/{name}".format_map(parent["metadata"]), absent).line() if absent else ""
            except SyncError as error:
                refused = str(error)
        if refused:
            # A repeated Event gets a new resourceVersion.
            report = event(parent, refused)
            report["metadata"]["resourceVersion"] = str(next(self._reports))
            self.store["Event", uid, refused] = report

    def sleep(self, seconds: float) -> None:
        self.time += seconds
        self.react(fully=seconds > 5)

    def kubectl(self, *words: str, stdin: str = "") -> str:
        """Return kubectl's output. Raises KubectlFailed with its error message."""
        verb, *rest = by_name(words)
        options = dict(word.removeprefix("--").partition("=")[::2] for word in rest if word.startswith("-"))
        names = [word for word in rest if not word.startswith("-")]
        if verb == "get":
            return self._get(names, options)
        try:
            if verb == "delete":
                *_path, namespace, _kind, name = options["raw"].split("/")
                self.read(("Ingress", namespace, name), only := json.loads(stdin)["preconditions"])
                self.delete(INGRESSES, name, namespace, **only)
                return ""
            change: Any = json.loads(options.get("patch", "{}"))
            if verb == "annotate":
                pairs = (word.partition("=") for word in names[2:])
                changes = {key if sign else key[:-1]: value if sign else None for key, sign, value in pairs}
                change = {"metadata": {"annotations": changes, "resourceVersion": options.get("resource-version")}}
            made = operated if options.get("type") == "json" else patched
            for name in names[1:2] if verb == "annotate" else names[1:]:
                self.update(INGRESSES, made(self.read((names[0].title(), options["namespace"], name), {}), change))
        except ApiError as error:
            raise KubectlFailed(f"Error from server ({error.reason}): {error}") from error
        return ""

    def _get(self, names: list[str], options: dict[str, str]) -> str:
        kinds = {KINDS.get(resource.partition(".")[0], "") for resource in names[0].split(",")}
        if "" in kinds:
            raise KubectlFailed(f'error: the server doesn\'t have a resource type "{names[0]}"')
        objects = [obj for obj in self.all(*kinds) if names[1:] in ([], [obj["metadata"]["name"]])]
        objects = [obj for obj in objects if options.get("namespace") in {None, obj["metadata"]["namespace"]}]
        return json.dumps(listing(*objects))


def operated(obj: Object, operations: Iterable[Object]) -> Object:
    """Return an object with a JSON patch applied (RFC 6902). Raises ApiError if one of its tests fails."""
    made: Object = copy.deepcopy(obj)
    for operation in operations:
        *path, last = [key.replace("~1", "/") for key in operation["path"].split("/")[1:]]
        at: Any = made
        for key in path:
            at = at[int(key) if isinstance(at, list) else key]
        key = int(last) if isinstance(at, list) else last
        if operation["op"] == "remove":
            del at[key]
        elif at[key] != operation["value"]:
            raise ApiError(422, "Invalid", "the server rejected our request due to an error in our request")
    return made
