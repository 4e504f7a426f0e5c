"""A DecoratorController at work: events put its parents into a queue, and workers sync them.

A sync asks the hook which attachments one parent should have now, and makes it so.
Source: pkg/controller/decorator/controller.go of Metacontroller.
"""

import logging
import threading
import time
from collections import defaultdict

import msgspec

from devcluster.api import Api, ApiError, Object
from devcluster.standin import children
from devcluster.standin.contract import Hook, Spec, SyncAnswer, SyncError, TooManyRequestsError
from devcluster.standin.events import Recorder
from devcluster.standin.informer import informer_of
from devcluster.standin.objects import Key, ObjectMap, controller_of, group, group_key, name_of, with_annotation
from devcluster.standin.workqueue import WorkQueue
from ingress_manager.core.kubernetes import DECORATOR

log = logging.getLogger(__name__)

WORKERS = 20
"""Syncs at once."""


class Controller:
    """One DecoratorController, which works from `start` on, until the process ends."""

    def __init__(self, dc: Object, api: Api, recorder: Recorder) -> None:
        """Raise ValueError for a spec that the stand-in doesn't know, LookupError for a resource there isn't."""
        spec = msgspec.convert(dc["spec"], Spec)
        self.dc: Object = {"status": {}} | dc  # Go sends an empty status along
        self._name: str = dc["metadata"]["name"]
        self._api, self._recorder = api, recorder
        self._hook = Hook(spec.hooks.sync)
        parents = [informer_of(api, rule.api_version, rule.resource) for rule in spec.resources]
        self._parents = {informer.resource: informer for informer in parents}
        self._children = [informer_of(api, rule.api_version, rule.resource) for rule in spec.attachments]
        self._queue = WorkQueue()
        self._resync_period = spec.resync_period_seconds

    def start(self) -> None:
        """Listen and work, on threads of its own."""
        for informer in self._parents.values():
            informer.subscribe(self._on_parent)
        for informer in self._children:
            informer.subscribe(self._on_child)
        for _ in range(WORKERS):
            threading.Thread(target=self._work, daemon=True).start()
        if self._resync_period is not None:
            # Metacontroller has the same lower limit.
            threading.Thread(target=self._resync, args=[max(1, self._resync_period)], daemon=True).start()

    # What puts a parent in the queue.

    def _on_parent(self, key: Key, _before: Object | None, _after: Object | None) -> None:
        self._queue.add(key)

    def _on_child(self, key: Key, before: Object | None, after: Object | None) -> None:
        owner = controller_of(after or before or {})
        if owner is None:
            return
        for resource, informer in self._parents.items():
            if (resource.kind, group(resource.api_version)) == (owner["kind"], group(owner["apiVersion"])):
                parent_key = informer.key(key.namespace, owner["name"])
                parent = informer.get(parent_key)
                if parent and parent["metadata"]["uid"] == owner["uid"]:
                    self._queue.add(parent_key)

    def _resync(self, period: float) -> None:
        while True:
            time.sleep(period)
            for informer in self._parents.values():
                for key in informer.all_keys():
                    self._queue.add(key)

    # What a worker does.

    def _work(self) -> None:
        for informer in (*self._parents.values(), *self._children):
            informer.synced.wait()
        while True:
            key = self._queue.get()
            try:
                self._take(key)
            finally:
                self._queue.done(key)

    def _take(self, key: Key) -> None:
        """Sync the parent if it still exists. If that fails, record an Event and have it tried again."""
        parent = self._parents[key.resource].get(key)
        if parent is None:
            self._queue.forget(key)
            return
        try:
            self._sync(key, parent)
        except TooManyRequestsError as error:
            log.info("pause %s %s: %s", parent["kind"], name_of(parent), error)
            self._queue.add_after(key, error.seconds)
        except Exception as error:
            if not isinstance(error, SyncError | ApiError):
                log.exception("this is a mistake in the stand-in")
            self._recorder.record(parent, "Warning", "SyncError", f"Sync error: {error}")
            self._queue.add_rate_limited(key)
        else:
            self._queue.forget(key)

    def _sync(self, key: Key, parent: Object) -> None:
        observed = self._observed(parent)
        request = {
            "controller": self.dc,
            "object": parent,
            "attachments": observed,
            "related": {},  # Metacontroller sends it with or without a customize hook
            "finalizing": False,
        }
        try:
            answer = self._hook.ask(request)
            desired = self._desired(parent, answer)
        except SyncError as error:
            raise SyncError(f"sync hook failed (version=v2): {error}") from error
        if answer.resync_after_seconds > 0:
            self._queue.add_after(key, answer.resync_after_seconds)
        # When the parent is being deleted, the garbage collector deletes its children.
        if "deletionTimestamp" not in parent["metadata"]:
            kinds = [informer.resource for informer in self._children]
            children.manage(self._api, kinds, parent, observed, desired)

    def _observed(self, parent: Object) -> ObjectMap:
        """Return the attachments that this DecoratorController made for that very parent; each kind has an entry."""
        return {
            group_key(informer.resource): {
                name_of(child): child
                for child in informer.owned_by(parent["metadata"]["uid"])
                if (child["metadata"].get("annotations") or {}).get(DECORATOR) == self._name
            }
            for informer in self._children
        }

    def _desired(self, parent: Object, answer: SyncAnswer) -> ObjectMap:
        """Return the attachments of an answer, in the parent's namespace if they have none, and signed."""
        desired: ObjectMap = defaultdict(dict)
        for attachment in answer.attachments or []:
            metadata = attachment.get("metadata") or {}
            if not (attachment.get("apiVersion") and attachment.get("kind") and metadata.get("name")):
                raise SyncError("an attachment lacks apiVersion, kind or metadata.name")
            if not metadata.get("namespace") and "namespace" in parent["metadata"]:
                metadata = metadata | {"namespace": parent["metadata"]["namespace"]}
            signed = with_annotation(attachment | {"metadata": metadata}, DECORATOR, self._name)
            desired[f"{attachment['kind']}.{attachment['apiVersion']}"][name_of(signed)] = signed
        return desired
