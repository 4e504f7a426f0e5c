"""Related objects: those a hook wants to see beside a parent, and the parents to be synced when one of them changes.

Source: pkg/controller/common/customize/manager.go of Metacontroller.
"""

import threading
import time
from collections import defaultdict
from collections.abc import Callable

from devcluster.standin.contract import CustomizeAnswer, Hook, SyncError
from devcluster.standin.informer import Informer, Informers
from devcluster.standin.kube import Key, Object, ObjectMap, Resource, name_of

KEPT_SECONDS = 20 * 60  # how long an answer is good
LISTING_SECONDS = 10  # how long the first list of a resource may take


class Related:
    """The related objects of all parents of one DecoratorController."""

    def __init__(self, hook: Hook | None, dc: Object, all_informers: Informers, add: Callable[[Key], None]) -> None:
        self._hook, self._dc, self._all_informers, self._add = hook, dc, all_informers, add
        self._lock = threading.Lock()  # not held while an informer is called: it may be calling us
        # What is kept about a parent stays when it is gone: it is little, and only costs a sync of nothing.
        self._answers: dict[tuple[str, object], tuple[float, list[Key]]] = {}  # by uid and generation; good until when
        self._parents: dict[Key, set[Key]] = defaultdict(set)  # by related object
        self._informers: dict[Resource, Informer] = {}

    def objects(self, parent_key: Key, parent: Object) -> ObjectMap:
        """Return the objects that the hook wants to see beside the parent; errors as of Hook.ask."""
        related: ObjectMap = {}
        for key in self._keys(parent_key, parent):
            found = related.setdefault(key.resource.group_key, {})
            if obj := self._informers[key.resource].get(key):
                found[name_of(obj)] = obj
        return related

    def stop(self) -> None:
        """Listen no more."""
        for informer in list(self._informers.values()):
            informer.unsubscribe(self._on_related)

    def _keys(self, parent_key: Key, parent: Object) -> list[Key]:
        asked = parent["metadata"]["uid"], parent["metadata"].get("generation")
        good_until, known = self._answers.get(asked, (0.0, []))
        if self._hook is None or time.monotonic() < good_until:
            return known
        answer = self._hook.ask({"controller": self._dc, "parent": parent}, CustomizeAnswer)
        keys: list[Key] = []
        for rule in answer.related_resources or ():
            informer = self._listen(rule.api_version, rule.resource)
            if informer.resource.namespaced and not rule.namespace:
                raise SyncError("the stand-in takes names in a related rule only with their namespace")
            keys += [informer.key(rule.namespace, name) for name in rule.names]
        with self._lock:
            self._answers[asked] = time.monotonic() + KEPT_SECONDS, keys
            for key in keys:
                self._parents[key].add(parent_key)
        return keys

    def _listen(self, api_version: str, plural: str) -> Informer:
        try:
            informer = self._all_informers.of(api_version, plural)
        except LookupError as error:
            raise SyncError(f"discovery: {error}") from error
        if not informer.synced.wait(LISTING_SECONDS):
            raise SyncError(f"{plural} of {api_version} can't be listed: is the stand-in allowed to?")
        with self._lock:
            new = informer.resource not in self._informers
            self._informers[informer.resource] = informer
        if new:
            informer.subscribe(self._on_related)
        return informer

    def _on_related(self, key: Key, _before: Object | None, _after: Object | None) -> None:
        with self._lock:
            parents = list(self._parents.get(key, ()))
        for parent in parents:
            self._add(parent)
