"""kubectl in this process: what the model does with kubectl's words, on a real API server.

A program takes a tenth of a second for each call, and hundreds of moves make thousands of calls. That the real kubectl
does the same is seen by tests/e2e/test_adopt.py and others.
"""

import time

from devcluster.api import Api, Object, Resource, path_of
from ingress_manager.core.policy import Policy
from tests.moving.kubectl_words import Words
from tests.moving.model import Model, not_found


class OnACluster(Model):
    """A real cluster, behind kubectl's command line."""

    def __init__(self, api: Api) -> None:
        super().__init__(Policy())
        self._api = api

    def all(self, *kinds: Resource, namespace: str | None = None) -> list[Object]:
        """Return the objects of some kinds."""
        return [
            {"apiVersion": kind.api_version, "kind": kind.kind, **each}
            for kind in kinds
            for each in self._api.list(kind, namespace or None)
        ]

    def _one(self, words: Words, resource: Resource, name: str) -> Object:
        namespace = words.options.get("namespace", "default") if resource.namespaced else None
        found = self._api.get(resource, name, namespace)
        if found is None:
            raise not_found(resource, name)
        return found

    def update(self, _: Resource, obj: Object, by: str = "kubectl") -> Object:
        """Replace an object. Raises ApiError."""
        raise NotImplementedError(f"{by} merges: see `patch`")

    def _change(self, resource: Resource, before: Object, change: Object) -> str:
        metadata = before["metadata"]
        self._api.patch(resource, metadata["name"], change, metadata.get("namespace"))
        return "changed\n"

    def delete(
        self,
        resource: Resource,
        name: str,
        namespace: str | None = None,
        *,
        uid: str | None = None,
        version: str | None = None,
        by: str = "kubectl",
    ) -> bool:
        """Delete an object, if it is that one. Raises ApiError."""
        assert by == "kubectl"
        preconditions = {"uid": uid, "resourceVersion": version}
        only = {"preconditions": {key: value for key, value in preconditions.items() if value}}
        self._api.request("DELETE", path_of(resource, namespace, name), body=only)
        return True

    def react(self, *, fully: bool = False) -> None:
        """Let time go by, in which Metacontroller works."""
        time.sleep(1.0 if fully else 0.02)
