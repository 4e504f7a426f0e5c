"""The controller that is switched from: a Traefik that plays ingress-nginx.

It serves the class `nginx` of the controller `k8s.io/ingress-nginx`, and reads ingress-nginx's annotations. No package
registry has ingress-nginx itself: it is an image alone.
"""

import contextlib
from pathlib import Path

import yaml

from devcluster.api import Object
from devcluster.cluster import DevCluster
from devcluster.gateway import LOOPBACK, answers
from devcluster.ports import ReservedPort
from devcluster.processes import Process
from devcluster.programs import find_traefik
from tests.e2e.objects import INGRESS_CLASSES

CLASS: Object = {
    "apiVersion": "networking.k8s.io/v1",
    "kind": "IngressClass",
    "metadata": {"name": "nginx"},
    "spec": {"controller": "k8s.io/ingress-nginx"},
}

ADDRESS = "203.0.113.10"
"""What it writes into the status of an Ingress."""

SERVICE_UPSTREAM = {"nginx.ingress.kubernetes.io/service-upstream": "true"}
"""Without this annotation it would send requests to a Service's Pods, and no Pod runs here."""


class OldController:
    """The controller on two ports of loopback. Use it as a context manager; inside, it is ready.

    Raises NotReady and ProcessDied.
    """

    def __init__(self, cluster: DevCluster) -> None:
        self._cluster = cluster
        self._exits = contextlib.ExitStack()

    def __enter__(self) -> "OldController":
        with contextlib.ExitStack() as exits:
            self.http_port, self.https_port, internal = (
                exits.enter_context(contextlib.closing(ReservedPort())).number for _ in range(3)
            )
            api = self._cluster.api
            api.create(INGRESS_CLASSES, CLASS)
            exits.callback(api.delete, INGRESS_CLASSES, CLASS["metadata"]["name"])
            process = self._process(self._configure(internal))
            process.start()
            exits.callback(process.kill)
            process.wait_ready(lambda: answers(internal, "/ping"))
            self._exits = exits.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._exits.close()

    def _process(self, configuration: Path) -> Process:
        # It has a role of its own, which isn't ours to test: it is admin here.
        return self._cluster.processes.add(
            "old-controller",
            [str(find_traefik().path), f"--configFile={configuration}"],
            env={"KUBECONFIG": str(self._cluster.kubeconfig)},
        )

    def _configure(self, internal: int) -> Path:
        path = self._cluster.folder / "old-controller.yaml"
        ports = {"web": self.http_port, "websecure": self.https_port, "traefik": internal}
        entry_points: Object = {
            name: {"address": f"{LOOPBACK}:{port}", "reusePort": True} for name, port in ports.items()
        }
        entry_points["websecure"]["http"] = {"tls": {}}
        content = {
            "global": {"checkNewVersion": False, "sendAnonymousUsage": False},
            "entryPoints": entry_points,
            "providers": {
                "providersThrottleDuration": "50ms",
                "kubernetesIngressNGINX": {
                    "publishStatusAddress": [ADDRESS],
                    "httpEntryPoint": "web",
                    "httpsEntryPoint": "websecure",
                },
            },
            "ping": {},
        }
        path.write_text(yaml.safe_dump(content))
        return path
