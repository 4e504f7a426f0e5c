"""Whoever moves Ingresses in and out: somebody with the rights of docs/commands/examples/mover.yaml, and no others."""

import threading
from pathlib import Path
from types import TracebackType
from typing import Any

import yaml

from devcluster.api import INGRESSES, SERVICE_ACCOUNTS, Api, path_of
from devcluster.build import REPOSITORY
from devcluster.control_plane import ControlPlane
from tests.e2e.tenant import BINDINGS, ROLES

RIGHTS = REPOSITORY / "docs/commands/examples/mover.yaml"


def mover(plane: ControlPlane, namespace: str, folder: Path) -> Path:
    """Return the kubeconfig of somebody who has the rights in a namespace."""
    name = {"name": "mover", "namespace": namespace}
    plane.api.create(SERVICE_ACCOUNTS, {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": name})
    for role in yaml.safe_load_all(RIGHTS.read_text(encoding="utf-8")):
        there = namespace if role["metadata"]["namespace"] == "team-a" else role["metadata"]["namespace"]
        metadata = {"name": f"mover-of-{namespace}", "namespace": there}
        plane.api.create(ROLES, {**role, "metadata": metadata})
        binding = {
            "apiVersion": BINDINGS.api_version,
            "kind": "RoleBinding",
            "metadata": metadata,
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": metadata["name"]},
            "subjects": [{"kind": "ServiceAccount", **name}],
        }
        plane.api.create(BINDINGS, binding)
    kubeconfig = folder / "mover.kubeconfig"
    plane.write_kubeconfig(kubeconfig, "mover", plane.api.service_account_token(namespace, "mover"))
    return kubeconfig


class Watch:
    """Collects what a watch tells of the Ingresses of a namespace. Use it as a context manager.

    At its end it has seen all that was done before.
    """

    def __init__(self, api: Api, namespace: str) -> None:
        self._api, self._namespace = api, namespace
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._version = api.request("GET", path_of(INGRESSES, namespace))["metadata"]["resourceVersion"]
        self.events: list[tuple[str, str]] = []
        """The type of each event, and the name of the Ingress."""

    def deleted(self) -> set[str]:
        """Return the names of the Ingresses that were deleted."""
        return {name for kind, name in self.events if kind == "DELETED"}

    def __enter__(self) -> "Watch":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        last = {"name": "the-last-one", "namespace": self._namespace}
        made: dict[str, Any] = {"apiVersion": INGRESSES.api_version, "kind": "Ingress", "metadata": last}
        self._api.create(INGRESSES, {**made, "spec": {"rules": [{"host": "last.example.com"}]}})
        self._api.delete(INGRESSES, "the-last-one", self._namespace)
        self._thread.join(30)
        assert not self._thread.is_alive(), "the watch has ended"

    def _run(self) -> None:
        for kind, found in self._api.watch(INGRESSES, self._version):
            if kind == "BOOKMARK":
                continue
            metadata = found["metadata"]
            if metadata["name"] == "the-last-one":
                if kind == "DELETED":
                    return
            elif metadata.get("namespace") == self._namespace:
                self.events.append((kind, metadata["name"]))
