"""Informers: each keeps a copy of one resource, by list and watch, and tells its handlers of every change.

A handler is called with a key, and the object before and after the change (None: there was or is none). It is called on
the informer's own thread, so it must be quick. A new handler is called for every object that exists.
"""

import functools
import logging
import threading
import time
from collections import defaultdict
from collections.abc import Callable

from devcluster.api import Api, ApiError, Object, Resource, path_of
from devcluster.standin.objects import Key, controller_of

Handler = Callable[[Key, Object | None, Object | None], None]

PAUSE = 0.8  # seconds between attempts to watch

log = logging.getLogger(__name__)


class Informer:
    """The copy of one resource. It is kept until the process ends."""

    def __init__(self, api: Api, resource: Resource) -> None:
        self.resource = resource
        self.synced = threading.Event()
        self._api = api
        self._lock = threading.RLock()
        self._objects: dict[Key, Object] = {}
        self._owned: dict[str, dict[Key, Object]] = defaultdict(dict)  # by the controller's uid
        self._handlers: list[Handler] = []
        self._version = ""  # up to which all events have been seen
        threading.Thread(target=self._run, daemon=True).start()

    def key(self, namespace: str, name: str) -> Key:
        """Return the key of an object of this resource."""
        return Key(self.resource, namespace if self.resource.namespaced else "", name)

    def get(self, key: Key) -> Object | None:
        """Return the object, None if there is none."""
        return self._objects.get(key)

    def all_keys(self) -> list[Key]:
        """Return the keys of all objects."""
        with self._lock:
            return list(self._objects)

    def owned_by(self, uid: str) -> list[Object]:
        """Return the objects whose controller has that uid."""
        with self._lock:
            return list(self._owned.get(uid, {}).values())

    def subscribe(self, handler: Handler) -> None:
        """Call the handler for every object that exists, and for each change from now on."""
        with self._lock:
            self._handlers.append(handler)
            for key, obj in self._objects.items():
                handler(key, None, obj)

    def _run(self) -> None:
        while True:
            try:
                if not self._version:
                    self._list()
                self._watch()
            except Exception as error:
                # This thread must not end: nobody would notice, and nothing would be synced any more.
                log.warning("watching %s: %s", self.resource.plural, error, exc_info=not isinstance(error, ApiError))
                self._version = ""  # it may be too old to go on from
                time.sleep(PAUSE)

    def _list(self) -> None:
        answer = self._api.request("GET", path_of(self.resource))
        type_of = {"apiVersion": self.resource.api_version, "kind": self.resource.kind}  # items of a list lack it
        found = {self._key_of(item): type_of | item for item in answer["items"]}
        for key in self._objects.keys() - found.keys():
            self._change(key, None)
        for key, obj in found.items():
            self._change(key, obj)
        self._version = answer["metadata"]["resourceVersion"]
        self.synced.set()

    def _watch(self) -> None:
        for event, obj in self._api.watch(self.resource, self._version):
            if event != "BOOKMARK":
                self._change(self._key_of(obj), None if event == "DELETED" else obj)
            self._version = obj["metadata"]["resourceVersion"]

    def _change(self, key: Key, after: Object | None) -> None:
        with self._lock:
            before = self._objects.get(key)
            if before and after and before["metadata"]["resourceVersion"] == after["metadata"]["resourceVersion"]:
                return
            if before and (owner := controller_of(before)):
                self._owned[owner["uid"]].pop(key)
                if not self._owned[owner["uid"]]:
                    del self._owned[owner["uid"]]
            if after and (owner := controller_of(after)):
                self._owned[owner["uid"]][key] = after
            if after:
                self._objects[key] = after
            else:
                self._objects.pop(key, None)
            for handler in self._handlers:
                handler(key, before, after)

    def _key_of(self, obj: Object) -> Key:
        return self.key(obj["metadata"].get("namespace", ""), obj["metadata"]["name"])


@functools.cache
def informer_of(api: Api, api_version: str, plural: str) -> Informer:
    """Return the informer of a resource, which starts when it is first needed.

    Raises LookupError if there is no such resource, or ApiError. Not to be called by two threads at once.
    """
    resource = api.discover(api_version, plural)
    if resource is None:
        raise LookupError(f'can\'t find resource "{plural}" in apiVersion "{api_version}"')
    return Informer(api, resource)
