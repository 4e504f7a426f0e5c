"""Run the stand-in: watch Services and their attachments, and sync one parent at a time."""

import logging
import os
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import click
import msgspec
import requests

from devcluster.api import (
    EVENTS,
    HTTPROUTES,
    INGRESSES,
    LISTENERSETS,
    SERVICES,
    Api,
    ApiError,
    Object,
    Resource,
    cause,
    new_session,
    path_of,
)
from devcluster.control_plane import read_kubeconfig
from devcluster.standin.children import ObjectMap, SyncError, controller_of, group_key, manage, name_of, with_annotation
from ingress_manager.core.kubernetes import DECORATOR

DECORATORS = Resource("metacontroller.k8s.io/v1alpha1", "decoratorcontrollers", "DecoratorController", namespaced=False)
KNOWN = {resource.plural: resource for resource in (SERVICES, INGRESSES, HTTPROUTES, LISTENERSETS)}
"""The resources that a DecoratorController may name, by plural."""

SELF = "metacontroller-standin"
"""The stand-in's name in Events and, as the User-Agent, in managedFields."""

FIRST_DELAY, LONGEST_DELAY = 0.005, 1000.0
"""Seconds before a failed sync is retried. The delay doubles with each failure, up to the longest."""

PAUSE = 0.8
"""Seconds to wait after a failed list or watch."""

log = logging.getLogger("devcluster.standin")


class Informer(threading.Thread):
    """A list-and-watch cache of a kind's objects. Calls on_change(before, after), with None for an absent object."""

    def __init__(self, api: Api, resource: Resource, on_change: Callable[[Object | None, Object | None], None]) -> None:
        super().__init__(daemon=True)
        self.resource, self.synced = resource, threading.Event()
        self._api, self._on_change = api, on_change
        self._objects: dict[str, dict[str, Object]] = defaultdict(dict)

    def get(self, key: str) -> Object | None:
        """Return the object with this key (namespace/name), or None."""
        return self._objects[key.rpartition("/")[0]].get(key)

    def owned_by(self, parent: Object) -> list[Object]:
        """Return the objects in the parent's namespace whose controller reference has the parent's uid."""
        beside = list(self._objects[parent["metadata"]["namespace"]].values())
        return [obj for obj in beside if (controller_of(obj) or {}).get("uid") == parent["metadata"]["uid"]]

    def run(self) -> None:
        """List the objects, then watch them, until the process ends. After an error, log it and list again."""
        version = ""  # up to which all events have been seen
        while True:
            try:
                version = version or self._list()
                for event, obj in self._api.watch(self.resource, version):
                    if event != "BOOKMARK":
                        self._note(obj, gone=event == "DELETED")
                    version = obj["metadata"]["resourceVersion"]
            except Exception as error:
                # This thread must not end: nobody would notice, and nothing would be synced any more.
                log.warning("watching %s: %s", self.resource.plural, error, exc_info=not isinstance(error, ApiError))
                version = ""  # it may be too old to continue from
                time.sleep(PAUSE)

    def _list(self) -> str:
        answer = self._api.request("GET", path_of(self.resource))
        type_of = {"apiVersion": self.resource.api_version, "kind": self.resource.kind}  # items of a list lack both
        listed = {name_of(item): type_of | item for item in answer["items"]}
        for known in [obj for objects in list(self._objects.values()) for obj in objects.values()]:
            if name_of(known) not in listed:
                self._note(known, gone=True)
        for obj in listed.values():
            self._note(obj, gone=False)
        self.synced.set()
        return str(answer["metadata"]["resourceVersion"])

    def _note(self, obj: Object, *, gone: bool) -> None:
        objects, key = self._objects[obj["metadata"].get("namespace", "")], name_of(obj)
        before = objects.pop(key, None)
        if not gone:
            objects[key] = obj
        if gone or before is None or before["metadata"]["resourceVersion"] != obj["metadata"]["resourceVersion"]:
            self._on_change(before, None if gone else obj)


class Queue:
    """The keys (namespace/name) of parents to sync, each due at the earliest time that was requested."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._due: dict[str, float] = {}

    def add(self, key: str, delay: float = 0) -> None:
        """Schedule a sync of the parent in `delay` seconds, unless one is due earlier."""
        with self._changed:
            self._due[key] = min(time.monotonic() + delay, self._due.get(key, float("inf")))
            self._changed.notify()

    def get(self) -> str:
        """Wait until a parent is due, then remove its key and return it."""
        with self._changed:
            while True:
                key = min(self._due, key=self._due.__getitem__, default="")
                remaining = self._due[key] - time.monotonic() if key else None
                if remaining is not None and remaining <= 0:
                    del self._due[key]
                    return key
                self._changed.wait(remaining)


class Controller:
    """Runs a DecoratorController: watches its resources and syncs the parents."""

    def __init__(self, dc: Object, api: Api) -> None:
        """Create the informers. Raises LookupError if the DecoratorController names a resource that isn't in KNOWN."""
        spec = dc["spec"]
        self._dc: Object = {"status": {}} | dc  # Go also sends an empty status
        self._api, self._queue, self._failures = api, Queue(), dict[str, int]()
        [parents], children = spec["resources"], spec["attachments"]
        self._parents = Informer(api, KNOWN[parents["resource"]], self._on_parent)
        self._children = [Informer(api, KNOWN[rule["resource"]], self._on_child) for rule in children]
        webhook = spec["hooks"]["sync"]["webhook"]
        self._url = "http://{name}.{namespace}:{port}{path}".format_map({"port": 80, **webhook["service"], **webhook})
        self._timeout = float(webhook.get("timeout", "10s").removesuffix("s"))
        self._session = new_session(SELF)
        self._session.trust_env = True  # Metacontroller uses HTTP_PROXY, too
        self._resync_period = spec.get("resyncPeriodSeconds", float("inf"))

    def work(self) -> None:
        """Start watching, then sync one parent at a time, forever."""
        copies = (self._parents, *self._children)
        for copy in copies:
            copy.start()
        for copy in copies:
            copy.synced.wait()
        record(self._api, self._dc, "Normal", "Started", f"Started controller: {self._dc['metadata']['name']}")
        while True:
            key = self._queue.get()
            if parent := self._parents.get(key):
                again = min(self._sync(parent), self._resync_period)
                if again < float("inf"):
                    self._queue.add(key, again)

    def _on_parent(self, before: Object | None, after: Object | None) -> None:
        self._queue.add(name_of(after or before or {}))

    def _on_child(self, before: Object | None, after: Object | None) -> None:
        for obj in (before, after):
            if obj and (owner := controller_of(obj)):
                self._queue.add(f"{obj['metadata']['namespace']}/{owner['name']}")

    def _sync(self, parent: Object) -> float:
        """Ask the hook about a parent, and apply the answer. Return the number of seconds until the next sync.

        If no sync is needed, return infinity. On failure, record an Event and return the delay before the retry.
        """
        uid = parent["metadata"]["uid"]
        try:
            again = self._asked(parent)
        except Exception as error:
            if not isinstance(error, SyncError | ApiError):
                log.exception("this is a bug in the stand-in")
            record(self._api, parent, "Warning", "SyncError", f"Sync error: {error}")
            failures = self._failures[uid] = self._failures.get(uid, -1) + 1
            return min(FIRST_DELAY * 2.0 ** min(failures, 64), LONGEST_DELAY)
        self._failures.pop(uid, None)
        return again or float("inf")

    def _asked(self, parent: Object) -> float:
        name = self._dc["metadata"]["name"]
        observed = {
            group_key(copy.resource): {
                name_of(obj): obj
                for obj in copy.owned_by(parent)
                if (obj["metadata"].get("annotations") or {}).get(DECORATOR) == name
            }
            for copy in self._children
        }
        request = {"controller": self._dc, "object": parent, "attachments": observed}
        body = msgspec.json.encode(request | {"related": {}, "finalizing": False})
        headers = {"Content-Type": "application/json"}
        try:
            response = self._session.post(self._url, data=body, headers=headers, timeout=self._timeout)
        except requests.RequestException as error:
            raise SyncError(f'sync hook failed (version=v2): http error: Post "{self._url}": {cause(error)}') from error
        if response.status_code == 429:
            return float(response.headers["Retry-After"])
        if response.status_code != 200:
            said = f"unsupported status code: {response.status_code} body: {response.content.decode(errors='replace')}"
            raise SyncError(f"sync hook failed (version=v2): {said}")
        answer = msgspec.json.decode(response.content, type=Object)
        desired: ObjectMap = defaultdict(dict)
        for obj in answer["attachments"]:
            desired[f"{obj['kind']}.{obj['apiVersion']}"][name_of(obj)] = with_annotation(obj, DECORATOR, name)
        # When the parent is being deleted, the garbage collector deletes its children.
        if "deletionTimestamp" not in parent["metadata"]:
            manage(self._api, [copy.resource for copy in self._children], parent, observed, desired)
        return float(answer.get("resyncAfterSeconds", 0))


def record(api: Api, obj: Object, type_: str, reason: str, message: str) -> None:
    """Write an Event about an object. API errors are logged, not raised."""
    log.info("event %s %s: %s", obj["metadata"]["name"], reason, message)
    names = {k: v for k, v in obj["metadata"].items() if k in {"namespace", "name", "uid", "resourceVersion"}}
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    event: Object = {
        "metadata": {"name": f"{names['name']}.{time.time_ns():x}", "namespace": names.get("namespace", "default")},
        "involvedObject": {"apiVersion": obj["apiVersion"], "kind": obj["kind"], **names},
    }
    event |= {"source": {"component": SELF}, "reportingComponent": SELF, "firstTimestamp": now, "lastTimestamp": now}
    try:
        api.create(EVENTS, event | {"count": 1, "type": type_, "reason": reason, "message": message})
    except ApiError as error:
        log.warning("event not written: %s", error)


def follow(api: Api) -> None:
    """Run the first DecoratorController that appears. If it is deleted or its spec changes, restart this program."""
    at_work: list[Object] = []
    ready = threading.Event()

    def on_change(before: Object | None, after: Object | None) -> None:
        if not at_work and after:
            at_work.append(after)
            ready.set()
        elif name_of(after or before or {}) == name_of(at_work[0]) and (after or {}).get("spec") != at_work[0]["spec"]:
            log.info("restarting, because the DecoratorController was changed or deleted")
            os.execv(sys.executable, sys.orig_argv)  # noqa: S606 - it is this program

    Informer(api, DECORATORS, on_change).start()
    ready.wait()
    Controller(at_work[0], api).work()


@click.command(help=__doc__)
@click.option("--kubeconfig", required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
def main(kubeconfig: Path) -> None:
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    # The API server can store JSON nested 10,000 levels deep, and Go can decode it.
    sys.setrecursionlimit(20_000)
    url, ca_file, token = read_kubeconfig(kubeconfig)
    follow(Api(url, token, ca_file, agent=SELF))


if __name__ == "__main__":
    main()
